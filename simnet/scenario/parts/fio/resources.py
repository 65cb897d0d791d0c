"""Resources of a host under fio: its CPUs, the drives' dies, links and locks, units in flight."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from simnet.scenario.system.resource import Wait, busy, carried, cpus
from simnet.storage.disk.model import SECTOR_BYTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simnet.host.machine import Machine
    from simnet.scenario.parts.fio.schema import FioGroup
    from simnet.scenario.system.resource import Resource
    from simnet.storage.multiqueue.queue import MultiQueue
    from simnet.workload.fio.job import FioJob
    from simnet.workload.fio.stats import FioStats


@dataclass(frozen=True)
class Group:
    """The processes of one job, as a flow: bytes moved, and the time of each unit."""

    given: FioGroup
    queues: tuple[MultiQueue, ...]
    latency_kind: ClassVar[str] = "response"

    stats: FioStats
    jobs: tuple[FioJob, ...]

    @property
    def delivered(self) -> int:
        """Bytes that have been read or written."""
        return SECTOR_BYTES * int(sum(self.stats.sectors))

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the times from a unit's preparation to its completion: (upper ps, count)."""
        found: dict[int, int] = {}
        for latency in self.stats.lat:
            for upper, count in latency.times.buckets():
                found[upper] = found.get(upper, 0) + count
        return tuple(sorted(found.items()))


class FioPath:
    """What units of fio pass; a flow is a job.

    Args:
        machine: the host.
        queues: of its drives, by name.
        groups: the jobs.
    """

    def __init__(
        self, machine: Machine, queues: Mapping[str, MultiQueue], groups: Sequence[Group]
    ) -> None:
        self._machine = machine
        self._queues = queues
        self._groups = groups

    def resources(self) -> Iterator[Resource]:
        """CPUs; of each drive dies and both ways of its link; the lock of its scheduler."""
        flows: dict[int, tuple[str, ...]] = {}
        for group in self._groups:
            for job in group.jobs:
                of_cpu = flows.get(job.cpu.cpu_id, ())
                if group.given.name not in of_cpu:
                    flows[job.cpu.cpu_id] = (*of_cpu, group.given.name)
        yield from cpus(self._machine, flows=flows)
        for name, queue in self._queues.items():
            drive: Any = queue.drive
            users = tuple(one.given.name for one in self._groups if queue in one.queues)
            yield busy(f"{name} dies", "drive", drive.die_ps, servers=drive.dies, flows=users)
            rate = drive.model.bus_rate_bps
            for way, sectors in (("read", drive.read_sectors), ("write", drive.written_sectors)):
                size = sectors * SECTOR_BYTES
                yield carried(f"{name} {way} link", "drive", size, rate, flows=users)
            if queue.scheduler is not None and queue.scheduler.shared:
                yield busy(f"{name} scheduler lock", "lock", queue.locked_ps, flows=users)

    def waits(self) -> Iterator[Wait]:
        """What each job waits for: tags, completions if most of its processes do, or nothing."""
        for group in self._groups:
            name, jobs = group.given.name, group.jobs
            limit = group.given.iodepth * len(jobs)
            full = [one for one in group.queues if any(each.sleepers for each in one.hardware)]
            if full:
                tags = full[0].nr_requests
                yield Wait(name, "nr_requests", tags, "request", bound=True)
            elif 2 * sum(job.waits for job in jobs) >= len(jobs):
                yield Wait(name, "iodepth", limit, "request", bound=True)
            else:
                yield Wait(name, "application")
