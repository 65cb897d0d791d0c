"""vmstat's columns that a simulation knows: one row a second, whole numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.study.run.result import Result

__all__ = ["vmstat"]

_TITLE = "procs  -system--- -----cpu----\n r  b     in    cs us sy  id wa\n"


def vmstat(result: Result) -> str:
    """One row a second of the measured time; the columns of memory, swap and io are left out.

    A tick sees what runs when it comes, or ran when it should have come: in a partition that has no
    processor for a while, busy is busy until the next tick.
    """
    return _TITLE + "".join(
        f"{row.runnable:2d} {row.blocked:2d} "
        f"{row.interrupts_per_s:6.0f} {row.context_switches_per_s:5.0f} "
        f"{row.user:2.0f} {row.system:2.0f} {row.idle:3.0f} {row.iowait:2.0f}\n"
        for row in result.vmstat
    )
