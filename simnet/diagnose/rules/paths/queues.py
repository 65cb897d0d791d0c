"""Queues on the way that stand full: nothing is lost, and everything waits (bufferbloat)."""

from collections.abc import Iterator
from typing import Final

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.rule import Clear, Found, Hit, Rule

_TIMES: Final = 5
# a queue that a person notices; delayed acknowledgements take 40 ms
_MORE_MS: Final = 60
# no way on land is that long; and what a queue that keeps itself short does not hold
_SLOW_MS: Final = 300
_WAIT: Final = 100


def _stands(evidence: Evidence) -> Iterator[Found]:
    yield from _before_a_slow_line(evidence)
    for target in evidence.subjects("echo"):
        means = evidence.of("echo", r"mean \d+", target)
        if len(means) > 1:
            yield from _compared(means, f"round trip to {target}", "between two pings")
    worst: tuple[Fact, Fact] | None = None
    least = {(fact.file, fact.line): fact for fact in evidence.of("tcp", "minrtt")}
    for now in evidence.of("tcp", "rtt"):
        before = least.get((now.file, now.line))
        if before and (worst is None or now.value - before.value > worst[1].value - worst[0].value):
            worst = before, now
    if worst is not None:
        yield from _compared(list(worst), "rtt of a connection", "of its least", worst[1].subject)


def _before_a_slow_line(evidence: Evidence) -> Iterator[Found]:
    """Look for packets that wait in a queue here while a ping takes long."""
    pings = [fact for fact in evidence.of("echo") if fact.name.startswith("mean")]
    slow = max(pings, key=lambda fact: fact.value, default=None)
    for waiting in evidence.of("qdisc", "waiting"):
        if slow is not None and slow.value >= _SLOW_MS and waiting.value >= _WAIT:
            said = f"{waiting.shown} packets wait in {waiting.subject}, a ping takes {slow.text}"
            yield Hit(waiting.subject, (waiting, slow), said, 58, "likely")


def _compared(means: list[Fact], what: str, how: str, subject: str = "") -> Iterator[Found]:
    least = min(means, key=lambda fact: fact.value)
    most = max(means, key=lambda fact: fact.value)
    said = f"{what} {most.text}, {least.text} at the least"
    if most.value >= _TIMES * least.value and most.value - least.value >= _MORE_MS:
        said += f": {most.value / least.value:.0f} times as long {how}"
        yield Hit(subject, (most, least), said, 58, "likely")
    else:
        yield Clear(most, said)


RULES: Final = (
    Rule(
        "standing-queue",
        "qdisc",
        "Packets wait in a long queue on the way {subject}",
        "ping without and with load; rtt and minrtt of ss -i; backlog of tc -s qdisc beside a ping",
        "5 times as long, and 60 ms more: a way does not become longer, a queue does; or 100"
        " packets that wait, and 300 ms",
        "A line is full, and the buffer before it (a modem, a router, a qdisc) holds far more than"
        " it needs: nothing is lost, everything waits, short requests and calls as well.",
        "Shape to some 90 % of the line where you can, with a queue that keeps itself short: cake"
        " or fq_codel (SQM) at the router for both ways; or lower the sender's rate (BBR).",
        "RFC 8290; RFC 7567, 2.2; man tc-cake",
        _stands,
    ),
)
