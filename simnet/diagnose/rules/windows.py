"""Streams over a distance that wait for their window: rate = window / round trip."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import sysctl
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule

# below that a host's own work is as long as the way
_FAR_MS: Final = 5.0
_STANDS: Final = 0.03
_FITS: Final = 0.25
_INTERVALS: Final = 3
# of the largest buffer, what a window may be: tcp_adv_win_scale, the memory of segments
_OF_BUFFER: Final = (0.4, 1.0)
_LARGE: Final = 32 << 20
_MIB: Final = 1 << 20
_BYTES: Final = {"Bytes": 1, "KBytes": 1 << 10, "MBytes": _MIB, "GBytes": 1 << 30}


def _waits(evidence: Evidence) -> Iterator[Found]:
    ways = [fact for fact in evidence.of("ping", "rtt") if fact.value >= _FAR_MS]
    rates = [fact for fact in evidence.of("test", "rate") if fact.value]
    if len({round(fact.value) for fact in ways}) != 1 or not rates:
        return
    way = ways[-1]
    rate = max(rates, key=lambda fact: fact.value)
    standing = _standing(evidence)
    if standing is not None:
        cwnd, own = standing
        window = own * 1e6 / 8 * way.value / 1e3
        size = cwnd.value * _BYTES[cwnd.name.partition(" ")[2]]
        if abs(window / size - 1) <= _FITS:
            said = f"the window stands at {cwnd.text} and nothing is lost; {cwnd.text} in"
            said += f" {way.text} is {size * 8 / way.value / 1e3:,.0f} Mbit/s"
            facts = (cwnd, way, *_buffers(evidence))
            yield Hit("", facts, said, 66, "likely", _larger(evidence, way, window))
            return
    for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem"):
        fact = evidence.last("sysctl", name)
        most = _third(fact)
        window = rate.value * 1e6 / 8 * way.value / 1e3
        if fact is None or not most:
            continue
        said = f"{rate.text} over {way.text} is a window of {window / _MIB:,.1f} MiB, the largest"
        said += f" buffer of {name} is {most / _MIB:,.1f} MiB"
        if _OF_BUFFER[0] * most <= window <= _OF_BUFFER[1] * most:
            actions = _larger(evidence, way, window)
            yield Hit("", (rate, way, fact), said, 52, "possible", actions)
            return
        yield Clear(fact, said)


def _standing(evidence: Evidence) -> tuple[Fact, float] | None:
    """Return the last window and the rate of a test whose window stands still without any loss."""
    for test in dict.fromkeys(fact.subject for fact in evidence.of("interval", "cwnd .*")):
        windows = evidence.of("interval", "cwnd .*", test)[-_INTERVALS:]
        rates = evidence.of("interval", "rate", test)[-_INTERVALS:]
        again = sum(fact.value for fact in evidence.of("interval", "again", test)[-_INTERVALS:])
        least, most = (f(fact.value for fact in windows) for f in (min, max))
        alike = len({fact.name for fact in windows}) == 1
        if alike and len(windows) == _INTERVALS and not again and most <= least * (1 + _STANDS):
            return windows[-1], sum(fact.value for fact in rates) / len(rates)
    return None


def _buffers(evidence: Evidence) -> tuple[Fact, ...]:
    return tuple(
        fact
        for name in ("net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem")
        if (fact := evidence.last("sysctl", name)) is not None
    )


def _third(fact: Fact | None) -> float:
    words = fact.text.split() if fact is not None else []
    return float(words[2]) if len(words) == 3 and words[2].isdecimal() else 0.0  # noqa: PLR2004 - least, default, most


def _larger(evidence: Evidence, way: Fact, window: float) -> tuple[Action, ...]:
    """Return what makes room for twice what the port can have on its way, as far as it is known."""
    speeds = [fact.value for fact in evidence.of("phy", "Speed") if fact.value]
    wanted = 2 * max(speeds) * 1e6 / 8 * way.value / 1e3 if speeds else 4 * window
    most = max(int(wanted // _MIB + 1) * _MIB, _LARGE)
    return (
        sysctl(evidence, "net.ipv4.tcp_rmem", f"4096 131072 {most}", modelled=True),
        sysctl(evidence, "net.ipv4.tcp_wmem", f"4096 65536 {most}", modelled=True),
    )


RULES: Final = (
    Rule(
        "window-limited",
        "socket",
        "A stream over a long way waits for its window {subject}",
        "Cwnd of iperf3 and rtt of ping; or a rate, rtt, tcp_rmem and tcp_wmem",
        "likely: the window stands for 3 intervals without loss, and window / rtt is the rate"
        " within a quarter; possible: rate x rtt is 40 to 100 % of the largest buffer",
        "What is on the way may not exceed the window: the smallest of the receiver's buffer, the"
        " sender's buffer, and what the program has set with SO_RCVBUF.",
        "Raise the third value of tcp_rmem at the receiver and of tcp_wmem at the sender, to the"
        " rate times the round trip and more; or several streams.",
        "RFC 7323, 1.1; Linux Documentation/networking/ip-sysctl.rst, tcp_rmem",
        _waits,
        hides=("tcp-buffer-small",),
    ),
)
