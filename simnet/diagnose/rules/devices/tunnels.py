"""Tunnels that a card puts into one queue, as it cannot see what is inside."""

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from simnet.diagnose.evidence import Evidence
from simnet.diagnose.fact import Fact
from simnet.diagnose.families import Find, percent
from simnet.diagnose.queues import NEARLY_ALL, every_cpu, fullest_queues, handed_to
from simnet.diagnose.rule import Action, Found, Hit, Rule
from simnet.diagnose.vectors import busiest, cpus, loads, ports

_SCALING: Final = "Linux Documentation/networking/scaling.rst, RPS"
_FEWEST: Final = 100_000
# percent of a CPU
_FULL: Final = 75.0
_OTHERS: Final = 0.5
# percent of one CPU, where only the mean of all is known
_NEARLY: Final = 90
_ONE: Final = 105


class _Crowd(NamedTuple):
    """Where nearly everything is in one place."""

    subject: str  # the port; the CPU where none is known
    queue: int | None  # its receive queue; None if that is not known
    fact: Fact  # what shows it
    said: str  # the same in words
    weight: float  # how much it matters
    sure: str  # how sure it is


def _crowded(evidence: Evidence) -> Iterator[_Crowd]:
    """Yield the queue, the CPU or the vector that takes nearly all; what tells most comes first."""
    for one in fullest_queues(evidence, least=2):
        if one.share >= NEARLY_ALL:
            said = f"{one.fact.name} has {percent(one.share)} of the packets"
            yield _Crowd(one.port, one.queue, one.fact, said, 66, "likely")
    yield from _full(evidence)
    found = []
    for port, vectors in ports(evidence).items():
        by_cpu = loads(vectors)
        whole = sum(by_cpu.values())
        if whole < _FEWEST or cpus(evidence) < 2:  # noqa: PLR2004 - of several
            continue
        cpu = max(by_cpu, key=lambda one: by_cpu[one])
        if by_cpu[cpu] >= NEARLY_ALL * whole:
            hot = max(vectors.values(), key=lambda facts: busiest(facts).value)
            said = f"{cpu} takes {percent(by_cpu[cpu] / whole)} of the interrupts of {port}"
            queue = 0 if len(vectors) == 1 else None
            found.append(_Crowd(port, queue, busiest(hot), said, 45, "possible"))
    yield from sorted(found, key=lambda one: -one.fact.value)


def _full(evidence: Evidence) -> Iterator[_Crowd]:
    """Yield the CPU whose time softirqs take, while others have some left."""
    shares = {fact.subject: fact for fact in evidence.of("cpu", "soft")}
    mean = shares.pop("all", None)
    if len(shares) > 1:
        most = max(shares.values(), key=lambda fact: fact.value)
        others = (sum(one.value for one in shares.values()) - most.value) / (len(shares) - 1)
        if most.value >= _FULL and others < _OTHERS * most.value:
            said = f"%soft {most.shown} on {most.subject}, {others:.0f} % on the others"
            yield _Crowd(most.subject, None, most, said, 70, "likely")
    elif mean is not None and (count := cpus(evidence)) > 1:
        whole = mean.value * count
        if _NEARLY <= whole <= _ONE:
            said = f"%soft {mean.shown} of {count} CPUs is {whole:.0f} % of one"
            yield _Crowd("one CPU", None, mean, said, 66, "likely")


def _tunnels(kinds: str) -> Find:
    def find(evidence: Evidence) -> Iterator[Found]:
        tunnels = evidence.of("tunnel", kinds)
        crowds = list(_crowded(evidence))
        if not tunnels or not crowds:
            return
        first = crowds[0]
        shown = ", ".join(dict.fromkeys(f"{one.name} {one.subject}".strip() for one in tunnels))
        facts = [first.fact, tunnels[0]]
        said = first.said
        port = next((one for one in crowds if one.queue is not None), None)
        if port is not None and port is not first:
            facts.append(port.fact)
            said += f"; {port.said}"
        actions = _handed_on(evidence, port) if kinds == _OPEN and port is not None else ()
        subject = f"{shown[:60]} at {(port or first).subject}"
        yield Hit(subject, tuple(facts), said, first.weight, first.sure, actions)

    return find


def _handed_on(evidence: Evidence, crowd: _Crowd) -> tuple[Action, ...]:
    """Return what lets RPS spread a queue over all CPUs but the interrupt's own."""
    every = every_cpu(evidence)
    own = re.fullmatch(r"CPU(\d{1,2})", crowd.fact.name)
    mask = every & ~(1 << int(own[1])) if own else every
    # simnet has no tunnels, so nothing can be asked of it
    return (replace(handed_to(crowd.subject, crowd.queue or 0, mask or every), whatif=""),)


_OPEN: Final = "GRE|IPIP|PPPoE"
_HIDES: Final = (
    *("rss-one-queue", "hash-of-addresses", "one-busy-queue", "softirq-full", "irq-one-cpu"),
    "one-vector",
)
RULES: Final = (
    Rule(
        "tunnel-one-queue",
        "card",
        "The card sees one flow where a tunnel has many: {subject}",
        "ip -d link, names of PPPoE; packets of each queue, /proc/interrupts, or mpstat",
        "a tunnel, and 90 % of packets or interrupts in one place, or one CPU full of softirqs",
        "Cards hash addresses and ports of the outer header: GRE and IPIP have no ports, PPPoE has"
        " not even IP there. All packets of a tunnel come to one queue and its CPU.",
        "Let the kernel spread them: RPS looks inside GRE, IPIP and PPPoE. More queues and RSS do"
        " not help.",
        f"{_SCALING}; net/core/flow_dissector.c, __skb_flow_dissect",
        _tunnels(_OPEN),
        hides=_HIDES,
    ),
    Rule(
        "encrypted-one-queue",
        "card",
        "Nobody can spread the packets of one encrypted tunnel: {subject}",
        "ip xfrm state, wg; packets of each queue, /proc/interrupts, or mpstat",
        "a tunnel, and 90 % of packets or interrupts in one place, or one CPU full of softirqs",
        "All packets of a tunnel of ESP or WireGuard have the same addresses and ports outside:"
        " card and kernel see one flow, one queue and one CPU receive it.",
        "Several tunnels or child SAs, or a card that decrypts or hashes SPIs. RPS can take what is"
        " behind decryption to other CPUs, not the tunnel itself.",
        f"{_SCALING}; net/core/flow_dissector.c; man 8 ip-xfrm",
        _tunnels("ESP|L2TP|WireGuard"),
        outside=True,
        hides=_HIDES,
    ),
)
