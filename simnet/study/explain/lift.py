"""What a scenario gains when one sort of part is lifted: each is tried, nothing is concluded.

Subjects announce what can be lifted and how, see `simnet.scenario.system.lifting`.

The order of bottlenecks (`bottleneck`) supposes that the work for each byte stays as it is. Whether
it does is measured by a run with the same seeds and everything else as it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby
from typing import TYPE_CHECKING

from pydantic import Field

from simnet.rows import Row
from simnet.scenario.system.lifting import liftings
from simnet.study.run.run import simulate

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective
    from simnet.study.explain.bottleneck import Limit, ResourceUse
    from simnet.study.run.result import Result


class Lift(Row):
    """One sort of part, lifted alone."""

    part: str
    by: str = Field(description="what was changed, and how much")
    throughput_bps: float
    gain: float = Field(
        description="of throughput, relative; of jobs, by how much more of them would be done in"
        " the same time"
    )
    p99_us: float | None = Field(description="of messages or transactions; null of streams")
    latency_kind: str = Field(default="", description="of what that is: one-way or round trip")
    p99_gain: float | None = Field(description="change of that, relative; less is better")


def lifts(effective: Effective) -> Iterator[tuple[str, str, Effective]]:
    """Yield name, what is changed, and configuration of everything that can be lifted."""
    before = effective.digest()
    for part, same in groupby(liftings(), key=lambda one: one.part):
        changed, by = effective, ""
        for one in same:
            changed, by = one.change(changed), by or one.by
        if changed.digest() != before:
            yield part, by, changed


def lifted_results(effective: Effective, base: Result) -> tuple[Lift, ...]:
    """Simulate each lift; the largest gain first."""
    found = []
    for part, what, changed in lifts(effective):
        result = simulate(changed)
        was, now = _p99_us(base), _p99_us(result)
        found.append(
            Lift(
                part=part,
                by=what,
                throughput_bps=result.throughput_bps,
                gain=_gain(base, result),
                p99_us=now,
                latency_kind=result.latency_kind,
                p99_gain=_relative(was, now),
            )
        )
    return tuple(sorted(found, key=lambda one: -one.gain))


def not_lifted(
    limits: Iterable[Limit], resources: Iterable[ResourceUse], lifted: Iterable[Lift]
) -> tuple[str, ...]:
    """Name what holds flows back, or would be next, and no lift made larger."""
    kinds = {one.name: one.kind for one in resources}
    parts = {one.part for one in lifted}
    part_of = {kind: one.part for one in liftings() for kind in one.kinds}
    part_for = {reason: one.part for one in liftings() for reason in one.reasons}
    found: dict[str, None] = {}
    for limit in limits:
        for name in (limit.first, limit.next):
            if name is not None and part_of.get(kinds.get(name, "")) not in parts:
                found[name] = None
        if limit.verdict in {"window", "latency"}:
            reason = limit.waits[0].reason
            if part_for.get(reason) not in parts:
                found[reason] = None
    return tuple(found)


def _gain(base: Result, result: Result) -> float:
    """What is gained; a job that finds more in memory moves less and ends sooner."""
    was, now = (sum(job.real_s or 0.0 for job in one.jobs) for one in (base, result))
    if was and now:
        return was / now - 1
    return _relative(base.throughput_bps, result.throughput_bps) or 0.0


def _relative(before: float | None, after: float | None) -> float | None:
    return after / before - 1 if before and after is not None else None


def _p99_us(result: Result) -> float | None:
    """Of an open-loop load, or the worst of flows of transactions."""
    if result.messages is not None:
        return result.messages.latency_us.p99
    late = [
        flow.latency_us.p99
        for flow in result.flows
        if flow.transactions_per_s is not None and flow.latency_us.p99 is not None
    ]
    return max(late, default=None)
