"""What versions of the fair scheduler do: times of a machine with eight CPUs or more.

Source: kernel/sched/fair.c and kernel/sched/features.h of Linux 5.4 to 6.12.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from simnet.host.release import values_in

_MS_PS: Final = 10**9


@dataclass(frozen=True)
class FairRules:
    """How a kernel's scheduler shares a CPU; the defaults are those of CFS."""

    slice_ps: int = 3 * _MS_PS  # that a thread runs for at least while others wait
    credit_ps: int = 12 * _MS_PS  # by how much a thread that slept may be behind those that run
    granularity_ps: int = 4 * _MS_PS  # by how much it has to be behind to preempt
    latency_ps: int = 24 * _MS_PS  # in which each of those that wait has its turn (`sched_latency`)
    smt_first: bool = False  # the idle sibling of the CPU that a task was on is taken before others
    # fewer CPUs are looked at for an idle one where they are busy (SIS_UTIL)
    scans_by_use: bool = False
    eevdf: bool = False  # who is not ahead of the mean and has the earliest deadline runs


#: Versions from which on a rule has a value, in order.
_CHANGES: Final[tuple[tuple[tuple[int, ...], dict[str, Any]], ...]] = (
    ((5, 13), {"smt_first": True}),
    ((6, 0), {"scans_by_use": True}),
    ((6, 6), {"credit_ps": 0, "eevdf": True}),
)


def fair_rules(version: str) -> FairRules:
    """The scheduler of Linux `version`.

    Raises:
        InputError: that is not a version.
    """
    return FairRules(**values_in(version, _CHANGES))
