"""Whether a run is meaningful: what it was too short for, and which flows got nothing.

A number from a run that ends before what matters has happened looks like any other. So each run is
asked: had everything acted that acts only now and then, was anything delivered, were there more
than a few packets? If not, it is inconclusive.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Final

from simnet.errors import seconds_text
from simnet.printable import few
from simnet.scenario.core.subject import subjects
from simnet.scenario.core.units import KINDS, format_quantity, parse_quantity

if TYPE_CHECKING:
    from simnet.host.delayed_action import DelayedAction
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.parts.tcp.columns import SendingHalf
    from simnet.scenario.system.system import Snapshot, System
    from simnet.study.run.result import Result

# packets a port, fewer of which say little of interrupts and round trips
_FEWEST: Final = 20


@dataclass(frozen=True)
class Validity:
    """What to know of the numbers of a run."""

    warnings: tuple[str, ...] = ()  # one line each
    conclusive: bool = True  # False where no conclusion can be drawn from the numbers
    silent: tuple[str, ...] = ()  # names of the flows that got nothing while others did


def validity(effective: Effective, system: System, start: Snapshot, end: Snapshot) -> Validity:
    """What to know of what was measured between two snapshots."""
    if system.ends:
        return Validity()
    late = missed(effective, start.time_ps, end.time_ps)
    spoilt = [_too_short(one, start.time_ps, end.time_ps) for one in late]
    span = f"{_s(end.time_ps - start.time_ps)} measured"
    spoilt += _too_few(start, end, span)
    silent = tuple(
        last.name
        for first, last in zip(start.flows, end.flows, strict=True)
        if first.bytes == last.bytes and end.ports  # a disk may have had no request
    )
    if not silent or len(silent) == len(end.flows):
        return Validity(tuple(spoilt), not spoilt)
    sentence = f"{len(silent)} of {len(end.flows)} flows got nothing in the {span}: {few(silent)}"
    return Validity((*spoilt, sentence + _waiting(system, silent)), not spoilt, silent)


def missed(effective: Effective, start_ps: int, end_ps: int) -> Iterator[DelayedAction]:
    """What a measurement between two instants comes too early for."""
    reached = {"start": start_ps, "end": end_ps, "length": end_ps - start_ps}
    return (one for one in delayed_actions(effective) if one.after_ps > reached[one.by])


def lengthened(usual: str, effectives: Iterable[Effective]) -> tuple[str, tuple[str, ...]]:
    """The usual warm-up, or a longer one where something acts only later, and what that is."""
    usual_ps = parse_quantity(usual, KINDS["time"])
    late = {
        one: None
        for effective in effectives
        for one in delayed_actions(effective)
        if one.by == "start" and one.after_ps > usual_ps
    }
    if not late:
        return usual, ()
    needed = format_quantity(max(one.after_ps for one in late) + usual_ps, KINDS["time"])
    return needed, tuple(f"{_first_acts(one)}: the warm-up is {needed}" for one in late)


def inconclusive(results: Iterable[Result]) -> tuple[int, str]:
    """How many of the results are inconclusive, and why the first of them is."""
    doubtful = [result.warnings[0] for result in results if not result.conclusive]
    return len(doubtful), doubtful[0] if doubtful else ""


def _first_acts(action: DelayedAction) -> str:
    """What acts, and when: a part of a sentence."""
    when = "" if action.by == "length" else f" at {_s(action.after_ps)}"
    return f"{action.name} {action.does}{when}"


def _too_short(action: DelayedAction, start_ps: int, end_ps: int) -> str:
    sentence = f"this run is too short: {_first_acts(action)}, "
    if action.by == "start":
        needed = _s(action.after_ps + start_ps)
        return f"{sentence}the measurement starts at {_s(start_ps)}; a warm-up of {needed} would do"
    if action.by == "end":
        return f"{sentence}the measurement ends at {_s(end_ps)}"
    return f"{sentence}{_s(end_ps - start_ps)} is measured; {_s(action.after_ps)} would do"


def _too_few(start: Snapshot, end: Snapshot, span: str) -> Iterator[str]:
    """Nothing has come, or next to nothing has happened."""
    if end.messages is not None and start.messages is not None:
        delivered = end.messages.delivered - start.messages.delivered
    else:
        delivered = sum(flow.bytes for flow in end.flows) - sum(f.bytes for f in start.flows)
    packets = _packets(end) - _packets(start)
    if not delivered and end.flows:
        yield f"nothing was delivered in the {span}: these numbers mean nothing"
    elif packets < _FEWEST * _at_work(start, end):
        yield f"only {packets} packets in the {span}: too few for meaningful numbers"


def _at_work(start: Snapshot, end: Snapshot) -> int:
    """Ports that any packet has passed: those that a scenario leaves idle have nothing to say."""
    pairs = zip(start.ports, end.ports, strict=True)
    return sum(
        first.rx_packets + first.tx_packets < last.rx_packets + last.tx_packets
        for first, last in pairs
    )


def _packets(counted: Snapshot) -> int:
    """Packets that ports have received and sent."""
    return sum(port.rx_packets + port.tx_packets for port in counted.ports)


def _waiting(system: System, flows: Sequence[str]) -> str:
    """How long they wait at most until what is lost is sent again, if that is it."""
    halves: Sequence[SendingHalf] = system.parts.get("halves", ())
    silent = set(flows)
    waits = [
        half.sender.timer.rto * half.jiffy_ps
        for half in halves
        if half.flow in silent and half.sender.packets_out()
    ]
    if not waits:
        return ""
    return f"; what they wait for is sent again after {_s(max(waits))} at most, if it was lost"


def _s(time_ps: int) -> str:
    return f"{seconds_text(time_ps)} s"


def delayed_actions(effective: Effective) -> tuple[DelayedAction, ...]:
    """All of them, the first one first."""
    found = chain.from_iterable(subject.delayed_actions(effective) for subject in subjects())
    return tuple(sorted(found, key=lambda one: (one.after_ps, one.name)))
