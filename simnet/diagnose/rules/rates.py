"""Losses per second, as sar shows them."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import Find, percent, weight_of
from simnet.diagnose.rule import Clear, Found, Hit, Rule

_SAR: Final = "man sar"
_FULL: Final = 95.0
# TCP of 1,500 bytes: 1,448 of 1,538
_CARRIES: Final = 0.93
_GIGABIT: Final = 1000
_PAYLOAD: Final = 0.96
_SLOWER: Final = (10, 100, 1000)


def _rate(name: str, of: str, least: float, sure: str) -> Find:
    """Look at the highest rate of a loss, against the rate of what was sent or received."""

    def find(evidence: Evidence) -> Iterator[Found]:
        for series in evidence.series("sar", name):
            worst = max(series.facts, key=lambda fact: fact.value)
            whole = max((fact.value for fact in evidence.of("sar", of, worst.subject)), default=0.0)
            share = worst.value / whole if whole else 0.0
            said = f"{worst.name} {worst.text.removesuffix(' 1/s')}"
            said += f" of {whole:,.0f}, {percent(share)}" if whole else ""
            if worst.value >= 1 and (share >= least or not whole):
                weight = weight_of(share) if whole else 45.0
                yield Hit(worst.subject, (worst,), said, weight, sure)
            else:
                yield Clear(worst, said)

    return find


def _usual(evidence: Evidence) -> Iterator[Fact]:
    """Yield the median rate of each port and way: a line may be of a start."""
    for series in evidence.series("traffic"):
        yield sorted(series.facts, key=lambda fact: fact.value)[len(series.facts) // 2]


def _full_line(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("sar", "%ifutil"):
        highest = max(series.facts, key=lambda fact: fact.value)
        if highest.value >= _FULL:
            said = f"%ifutil {highest.text} of {highest.subject}"
            yield Hit(highest.subject, (highest,), said, 56, "likely")
        else:
            yield Clear(highest, f"%ifutil at most {highest.text}")
    speeds = {fact.subject: fact.value for fact in evidence.of("phy", "Speed") if fact.value}
    for traffic in _usual(evidence):
        port = traffic.subject or (next(iter(speeds)) if len(speeds) == 1 else "")
        line = speeds.get(port, 0.0)
        # the kernel counts 1,514 of 1,538 bytes that a full frame takes
        share = 100 * traffic.value * 1538 / 1514 / line if line else 0.0
        if share >= _FULL:
            said = f"{traffic.name} {traffic.text} is {min(share, 100):.0f} % of the line"
            yield Hit(port, (traffic,), said, 56, "likely")
    tests = [fact for fact in evidence.of("test", "rate") if fact.value]
    for speed in evidence.of("phy", "Speed"):
        fitting = [one for one in tests if _CARRIES * speed.value <= one.value <= speed.value]
        if fitting and speed.value >= _GIGABIT:
            best = max(fitting, key=lambda one: one.value)
            said = f"a test carried {best.value:,.0f} Mbit/s, the port has {speed.value:,.0f}"
            yield Hit(speed.subject, (best, speed), said, 30, "likely")


def _slow_way(evidence: Evidence) -> Iterator[Found]:
    """A test that stands at what a slower kind of Ethernet carries has one on its way."""
    tests = [fact for fact in evidence.of("test", "rate") if fact.value]
    ports = [fact for fact in evidence.of("phy", "Speed") if fact.value]
    best = max(tests, key=lambda fact: fact.value, default=None)
    if best is None or not ports or any(fact.value > _SLOWER[-1] for fact in tests):
        return
    for line in _SLOWER:
        fits = _CARRIES * line <= best.value <= _PAYLOAD * line
        if fits and all(port.value > line for port in ports):
            said = f"the test stands at {best.value:,.1f} Mbit/s, what {line:,} Mbit/s carry;"
            said += f" the port has {ports[0].value:,.0f}"
            yield Hit("", (best, ports[0]), said, 47, "possible")


RULES: Final = (
    Rule(
        "slow-way",
        "cable",
        "A slower link is on the way {subject}",
        "rate of a test, and Speed of ethtool",
        "93 to 96 % of 10, 100 or 1000 Mbit/s: what their headers and gaps leave",
        "Another device between, or the other end, has the slower kind of Ethernet: a converter, a"
        " switch, a cable with two pairs; or a rate limit of just that.",
        "Look at the speed of each port on the way, and of the other end.",
        "IEEE 802.3, 4.2.3.2.2; RFC 6349, 3.3",
        _slow_way,
        outside=True,
    ),
    Rule(
        "line-full",
        "cable",
        "{subject} carries all that its line can",
        "%ifutil of sar -n DEV; dstat or the rate of a test, and Speed of ethtool",
        "95 % of the line; a test of 93 %: the rest are headers and gaps",
        "The line is the limit, not the host: more does not fit.",
        "A faster port, a second one (bond), or less to carry. No setting helps.",
        "man sar; IEEE 802.3, 4.2.3.2.2",
        _full_line,
        outside=True,
    ),
    Rule(
        "drop-rate",
        "ring",
        "Packets are lost at {subject}",
        "rxdrop/s, rxfifo/s of sar -n EDEV",
        "1 a second, and 1 packet in 10,000 where sar -n DEV tells the packets",
        "The ring or the card's buffer was full, or nobody wanted the packets.",
        "Look at ethtool -S; widen the ring, spread its interrupts.",
        _SAR,
        _rate(r"rx(drop|fifo)/s", "rxpck/s", 1e-4, "likely"),
        hides=("link-dropped",),
    ),
    Rule(
        "error-rate",
        "cable",
        "Frames arrive damaged at {subject}",
        "rxerr/s, rxfram/s of sar -n EDEV",
        "1 a second, and 1 frame in 100,000",
        "Bits change on the cable, in an optic or in the PHY.",
        "Replace or clean cable and optic. No setting helps.",
        _SAR,
        _rate(r"rx(err|fram)/s", "rxpck/s", 1e-5, "likely"),
        outside=True,
    ),
    Rule(
        "udp-error-rate",
        "socket",
        "UDP loses what it has received {subject}",
        "idgmerr/s of sar -n UDP",
        "1 a second, and 1 datagram in 1,000",
        "A socket's buffer is full: the program reads too slowly or in bursts.",
        "Raise rmem_max and the program's SO_RCVBUF; look at RcvbufErrors of nstat.",
        _SAR,
        _rate(r"idgmerr/s", "idgm/s", 1e-3, "likely"),
    ),
    Rule(
        "retransmit-rate",
        "protocol",
        "TCP sends again what was lost on the way {subject}",
        "retrans/s of sar -n ETCP against oseg/s of sar -n TCP",
        "1 a second, and 1 segment in 200",
        "Segments or acknowledgements are lost between this host and its peers.",
        "Look at ports, rings and queues of both ends; then at the network.",
        _SAR,
        _rate(r"retrans/s", "oseg/s", 5e-3, "possible"),
    ),
)
