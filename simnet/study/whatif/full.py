"""Which CPUs a tuning fills, and which it relieves: the usual reason for what is lost or late."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import fmean
from typing import TYPE_CHECKING, Final

from simnet.host.cpulist import cpulist_text

if TYPE_CHECKING:
    from simnet.study.run.result import Result

# percent of the time; a CPU that has less to do than that is not full in any run
_FULL: Final = 98.0
_NOT_FULL: Final = 95.0


def filled(before: Sequence[Result], after: Sequence[Result]) -> tuple[str, ...]:
    """A line of the CPUs that are full with a tuning alone, and one of those without it alone."""
    was, now = _busy(before), _busy(after)
    lines = []
    for full, other, here, there in ((now, was, "with", "without"), (was, now, "without", "with")):
        found = [cpu for cpu, busy in full.items() if busy >= _FULL and _less(other, cpu)]
        if found:
            who = f"CPU {found[0]} is" if len(found) == 1 else f"CPUs {cpulist_text(found)} are"
            rest = fmean(other[cpu] for cpu in found)
            lines.append(f"{who} full {here} it, {rest:.0f} % busy {there} it")
    return tuple(lines)


def _less(busy: dict[int, float], cpu: int) -> bool:
    return busy.get(cpu, _FULL) < _NOT_FULL


def _busy(results: Sequence[Result]) -> dict[int, float]:
    """Percent of each CPU, in the mean of the runs."""
    return {
        each[0].id: fmean(one.busy for one in each)
        for each in zip(*(result.cpus for result in results), strict=True)
    }
