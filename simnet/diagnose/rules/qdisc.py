"""Queues for sending."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.actions import look, named
from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import percent, weight_of
from simnet.diagnose.rule import Action, Clear, Found, Hit, Rule
from simnet.printable import typed

# of a subject: `eth0 police 0x1`
_POLICE: Final = "police 0x"
# their length is the port's, 1,000 as it comes
_PFIFO: Final = re.compile(r"\b[pb]fifo")
_USUAL: Final = 1000
_ALL: Final = 1.01
_BUCKET_MS: Final = 0.5
_SHAPERS: Final = (" htb ", " tbf ", " hfsc ", " cake ")
# of packets: held back where a rate is set; dropped by that queue to tell senders of it
_HELD: Final = 0.1
_TOLD: Final = 0.05


def _policed(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("qdisc", "dropped"):
        fact = series.last
        if _POLICE not in fact.subject:
            continue
        sent = evidence.value("qdisc", "sent", fact.subject) or 0.0
        share = min(fact.value / sent, 1.0) if sent else 0.0
        said = f"dropped {fact.shown} of {sent:,.0f}, {percent(share)}"
        if share >= 1e-3 and fact.value >= 10 and series.growing:  # noqa: PLR2004 - as of queues
            port = fact.subject.partition(" police")[0]
            act = (look("tc", "-s", "filter", "show", "dev", named(port), "ingress"),)
            yield Hit(fact.subject, (fact,), said, weight_of(share), "certain", act)
        else:
            yield Clear(fact, said if fact.value else "dropped 0")


def _drops(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("qdisc", "dropped"):
        fact = series.last
        if _POLICE in fact.subject:
            continue
        sent = evidence.value("qdisc", "sent", fact.subject) or 0.0
        share = fact.value / (sent + fact.value) if sent + fact.value else 0.0
        said = f"dropped {fact.shown} of {sent + fact.value:,.0f}, {percent(share)}"
        told = share < _TOLD and _held(evidence, fact.subject) >= _HELD
        if share >= 1e-3 and fact.value >= 10 and series.growing and not told:  # noqa: PLR2004 - AQMs drop some
            sure = "certain" if share >= 1e-2 else "likely"  # noqa: PLR2004 - a hundredth
            facts, actions = [fact], tuple[Action, ...]()
            weight = weight_of(share)
            port = fact.subject.partition(" ")[0]
            of_port = evidence.last("link", "tx_dropped", port)
            if of_port is not None and of_port.value and of_port.value <= _ALL * fact.value:
                # what the port counts as dropped are these
                weight, said = min(weight + 1, 100), f"{said}, all that {port} has dropped"
            length = _short(evidence, port)
            if length is not None:
                facts.append(length)
                said += f"; qlen {length.shown} is all that may wait"
                actions = (_longer(length),)
            yield Hit(fact.subject, tuple(facts), said, weight, sure, actions)
        else:
            yield Clear(fact, said if fact.value else "dropped 0")


def _flows_full(evidence: Evidence) -> Iterator[Found]:
    for series in evidence.series("qdisc", "flows_plimit"):
        fact = series.last
        dropped = evidence.last("qdisc", "dropped", fact.subject)
        sent = evidence.value("qdisc", "sent", fact.subject) or 0.0
        share = fact.value / (sent + fact.value) if sent + fact.value else 0.0
        said = f"flows_plimit {fact.shown} of {sent + fact.value:,.0f}, {percent(share)}"
        most = dropped is not None and 2 * fact.value >= dropped.value
        if share >= 1e-3 and fact.value >= 10 and series.growing and most:  # noqa: PLR2004 - as of queues
            yield Hit(fact.subject, (fact,), said, min(weight_of(share) + 1, 100), "certain")
        else:
            yield Clear(fact, said if fact.value else "flows_plimit 0")


def _small_bucket(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("qdisc", "bucket"):
        said = f"{fact.text}: the bucket lasts {fact.value:.2g} ms"
        if fact.value < _BUCKET_MS:
            dropped = evidence.value("qdisc", "dropped", fact.subject)
            weight, sure = (90, "likely") if dropped else (38, "possible")
            yield Hit(fact.subject, (fact,), said, weight, sure)
        else:
            yield Clear(fact, said)


def _short(evidence: Evidence, port: str) -> Fact | None:
    """Return the length of a port's queue, where it is one for packets and shorter than usual."""
    length = evidence.last("addr", "qlen", port)
    queues = [one for one in evidence.subjects("qdisc") if one.partition(" ")[0] == port]
    if length is None or length.value >= _USUAL or not any(map(_PFIFO.search, queues)):
        return None
    return length


def _longer(length: Fact) -> Action:
    port = named(length.subject)
    link = ("ip", "link", "set", port, "txqueuelen")
    return Action(typed(*link, "1000"), typed(*link, f"{length.value:.0f}"))


def _overlimits(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("qdisc", "over"):
        if _held(evidence, fact.subject) >= _HELD:
            sent = evidence.value("qdisc", "sent", fact.subject) or 0.0
            said = f"overlimits {fact.shown} for {sent:,.0f} packets"
            yield Hit(fact.subject, (fact,), said, 45, "likely")


def _held(evidence: Evidence, queue: str) -> float:
    """Return how often a shaper held packets back, for each that it sent; 0 of other queues."""
    if not any(kind in queue for kind in _SHAPERS):
        return 0.0
    sent = evidence.value("qdisc", "sent", queue) or 0.0
    return (evidence.value("qdisc", "over", queue) or 0.0) / sent if sent else 0.0


def _requeues(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("qdisc", "requeues"):
        sent = evidence.value("qdisc", "sent", fact.subject) or 0.0
        share = fact.value / sent if sent else 0.0
        if share >= 0.1 and fact.value > 1000:  # noqa: PLR2004 - the driver stops all the time
            said = f"requeues {fact.shown} of {sent:,.0f}, {percent(share)}"
            yield Hit(fact.subject, (fact,), said, 25, "possible")


def _netem(evidence: Evidence) -> Iterator[Found]:
    for fact in evidence.of("netem"):
        said = f"netem {fact.name} {fact.text} on {fact.subject}"
        undo = Action(f"tc qdisc show dev {fact.subject}")
        weight = 88 if fact.name in {"loss", "corrupt"} else 60
        yield Hit(fact.subject, (fact,), said, weight, "certain", (undo,))


RULES: Final = (
    Rule(
        "qdisc-drops",
        "qdisc",
        "The queue for sending drops packets: {subject}",
        "dropped of tc -s qdisc",
        "1 packet in 1,000: queues that manage delay drop a few on purpose; 1 in 20 of a shaper",
        "More is sent than the port, the shaper or the AQM lets through.",
        "Lengthen the queue (limit, txqueuelen), or use fq; see who sends in bursts.",
        "man tc; Linux Documentation/networking/statistics.rst, tx_dropped",
        _drops,
    ),
    Rule(
        "fq-flow-limit",
        "qdisc",
        "Single flows have more packets in fq than it lets them have: {subject}",
        "flows_plimit of tc -s qdisc, against dropped",
        "1 packet in 1,000, half of what the queue drops",
        "fq holds no more than flow_limit packets (100) of a flow, and drops what a program sends"
        " beyond: one that sends UDP without a pause, or whose rate is paced.",
        "Raise flow_limit with the options of the line (tc qdisc replace ... fq flow_limit 1000);"
        " more sockets; let the program wait where sending fails (ENOBUFS).",
        "man tc-fq; Linux net/sched/sch_fq.c, fq_enqueue",
        _flows_full,
        hides=("qdisc-drops",),
    ),
    Rule(
        "small-bucket",
        "qdisc",
        "The bucket of a shaper is too small for its rate: {subject}",
        "rate and burst of tc qdisc (tbf)",
        "0.5 ms of the rate: less than a tick of 1,000 Hz, and a few large packets",
        "A bucket that empties between two packets or ticks never lets the rate through, and what"
        " waits is dropped.",
        "A burst of a millisecond of the rate or more, 10 KiB for 10 Mbit/s at the least.",
        "man tc-tbf, burst",
        _small_bucket,
        hides=("qdisc-drops", "shaped"),
    ),
    Rule(
        "policed",
        "qdisc",
        "A policer drops what exceeds a rate: {subject}",
        "dropped of actions of tc -s filter",
        "1 packet in 1,000",
        "Somebody has set a rate: what comes faster is dropped, and TCP falls far below that rate.",
        "Raise rate and burst, or shape with a queue (htb, cake) in place of the policer.",
        "man tc-police",
        _policed,
    ),
    Rule(
        "shaped",
        "qdisc",
        "A shaper holds back what is sent: {subject}",
        "overlimits of tc -s qdisc of htb, tbf, hfsc, cake",
        "one for each ten packets",
        "Packets wait as the rate is limited by somebody's configuration.",
        "Raise the rate if that is not wanted.",
        "man tc-htb, man tc-tbf",
        _overlimits,
    ),
    Rule(
        "requeued",
        "qdisc",
        "The driver refuses packets for a while: {subject}",
        "requeues of tc -s qdisc",
        "one packet of ten",
        "The transmit ring, or BQL, was full when the queue handed over a packet.",
        "Look for pause frames and slow completions; widen the transmit ring.",
        "Linux net/sched/sch_generic.c, dev_requeue_skb",
        _requeues,
    ),
    Rule(
        "netem",
        "qdisc",
        "netem damages the traffic of {subject} on purpose",
        "tc qdisc",
        "always",
        "Somebody has told this queue to lose or delay packets, for a test.",
        "Remove it, if the test is over.",
        "man tc-netem",
        _netem,
        hides=("qdisc-drops",),
    ),
)
