"""What both ends of a network spend: CPU time, and their work by kind.

Counted where caches are modelled, whose kernels are those that profiles sort by kind.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from simnet.host.ledger import KINDS
from simnet.rows import Row
from simnet.scenario.core.subject import Column

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.scenario.core.effective import Host
    from simnet.scenario.system.ground import Ground
    from simnet.scenario.system.system import Snapshot

_PERCENT: Final = 100
_WORKING: Final = ("user_ps", "system_ps", "softirq_ps", "irq_ps")
Percent = Annotated[float, Field(ge=0.0)]


@dataclass(frozen=True)
class EndCounts:
    """Of one machine, cumulative: time that its CPUs worked, and work by kind, in ps."""

    name: str
    busy_ps: int
    kinds: tuple[int, ...]


class EndUse(Row):
    """CPU time of one machine, in percent of one CPU, and the share of its work by kind."""

    name: str = Field(description="sut, or a peer as in peer0")
    cpu_percent: Percent
    copy_percent: Percent = Field(description="copies to and from the user")
    tcpip_percent: Percent = Field(description="TCP and IP")
    netdev_percent: Percent = Field(description="driver, poll and completion")
    skb_percent: Percent = Field(description="making and freeing socket buffers")
    mm_percent: Percent = Field(description="pages of receive buffers")
    lock_percent: Percent = Field(description="lines of the socket that another CPU held")
    sched_percent: Percent = Field(description="wake-ups and context switches")
    other_percent: Percent = Field(description="interrupts, system calls, application")


def join(ground: Ground, machine: Machine, _host: Host) -> None:
    """Count what a machine spends, if its caches are modelled."""
    if machine.memory.caches:
        ends = ground.kept.setdefault("ends", [])
        ends.append(machine)
        ground.counters["ends"] = lambda: tuple(_counts(end) for end in ends)


def _counts(machine: Machine) -> EndCounts:
    times = [cpu.times() for cpu in machine.cpus]
    return EndCounts(
        machine.path,
        sum(time[name] for time in times for name in _WORKING),
        tuple(machine.costs.ledger.kinds().values()),
    )


def _use(start: Snapshot, end: Snapshot) -> tuple[EndUse, ...]:
    """Shares between two snapshots."""
    elapsed_ps = end.time_ps - start.time_ps
    found = []
    for first, last in zip(start.more.get("ends", ()), end.more.get("ends", ()), strict=True):
        spent = [after - before for before, after in zip(first.kinds, last.kinds, strict=True)]
        work = max(1, sum(spent))
        shares = {
            f"{kind}_percent": max(0.0, _PERCENT * amount / work)
            for kind, amount in zip(KINDS, spent, strict=True)
        }
        busy = _PERCENT * (last.busy_ps - first.busy_ps) / elapsed_ps
        found.append(EndUse(name=last.name, cpu_percent=busy, **shares))
    return tuple(found)


COLUMNS: Final = (
    Column(
        "ends",
        tuple[EndUse, ...],
        "CPU time of both ends, and their work by kind, where caches are modelled",
        _use,
        table=True,
        order=15,
    ),
)
