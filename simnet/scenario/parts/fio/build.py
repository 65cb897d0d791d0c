"""Build a host with NVMe drives, and the processes of fio on it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final

from simnet.host.costs import cycles_ps
from simnet.kernel.random import stream
from simnet.scenario.parts.fio.columns import group_counts, group_extremes
from simnet.scenario.parts.fio.resources import FioPath, Group
from simnet.scenario.parts.fio.schema import ENGINES, PATTERNS
from simnet.scenario.parts.host.build import make_spread
from simnet.scenario.parts.nvme.build import FIRST_IRQ, make_queue
from simnet.scenario.parts.storage.columns import DiskCounts
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import System
from simnet.storage.block.request import IoContext
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.workload.fio import FioJob
from simnet.workload.fio_stats import FioCosts, FioRules, FioStats
from simnet.workload.netperf import Start

if TYPE_CHECKING:
    from simnet.host.cpu import Cpu
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.parts.fio.schema import FioGroup
    from simnet.storage.multiqueue.queue import MultiQueue

_CLASSES: Final = ("none", "rt", "be", "idle")
# fio forks one process after the other
_FORK_PS: Final = 100 * 10**6


@dataclass(frozen=True)
class _Waiting:
    """What vmstat shows: processes in an uninterruptible sleep are counted as idle time here."""

    queues: dict[str, MultiQueue]
    groups: tuple[Group, ...]

    def iowait_ps(self, cpu: Cpu) -> int:  # noqa: ARG002 - as every system
        """None: it is idle time here."""
        return 0

    def blocked(self) -> int:
        """Processes of the sync engine that wait for the drive."""
        jobs = (job for one in self.groups if one.given.ioengine == "sync" for job in one.jobs)
        return sum(job.waits for job in jobs)

    def interrupts(self) -> int:
        """Of all queues."""
        return sum(queue.counters()["interrupts"] for queue in self.queues.values())


def build_fio(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Put drives and jobs on a host; see `build` of the system."""
    ground = Ground(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    queues: dict[str, MultiQueue] = {}
    irq = FIRST_IRQ
    for drive in effective.host.drives:
        queue = make_queue(ground, effective.host, effective.nvme, drive, irq)
        irq += len(queue.hardware)
        queues[drive.name] = queue
    starts: list[Start] = []
    groups = tuple(
        _group(ground, given, queues[given.filename], starts)
        for given in effective.fio
        if given.numjobs
    )

    def disks() -> tuple[DiskCounts, ...]:
        now = ground.sim.now
        return tuple(
            DiskCounts("client", name, queue.stats.snapshot(now)) for name, queue in queues.items()
        )

    ground.observed["fio"] = lambda: tuple(group_extremes(one.stats) for one in groups)
    return System(
        ground.env,
        ground.machine,
        ground.ports,
        [(group.given.name, group.given.filename, group) for group in groups],
        {"queues": queues, "groups": groups, "starts": starts},
        offers=FioPath(ground.machine, queues, groups),
        waiting=_Waiting(queues, groups),
        counters={
            "disks": disks,
            "fio": lambda: tuple(group_counts(one.given.name, one.stats) for one in groups),
            "queues": lambda: tuple(queue.counters() for queue in queues.values()),
        },
        ground=ground,
    )


def _group(ground: Ground, given: FioGroup, queue: MultiQueue, starts: list[Start]) -> Group:
    """The processes of a job; fio forks them one after the other."""
    machine, host = ground.machine, ground.effective.host
    rules, costs = _rules(given, queue), _costs(given, ground)
    stats = FioStats()
    allowed = given.cpus_allowed or tuple(cpu.cpu_id for cpu in machine.online)
    jobs = []
    for number in range(given.numjobs):
        name = f"{given.name}.{number}"
        mine = allowed
        if given.cpus_allowed and given.cpus_allowed_policy == "split":
            mine = (allowed[number % len(allowed)],)
        span = rules.blocks * rules.bs_sectors
        later = number * given.offset_increment_bytes // SECTOR_BYTES % span
        begin = rules.first_sector + later // rules.bs_sectors * rules.bs_sectors
        job = FioJob(
            machine.scheduler,
            name,
            machine.cpus[mine[0]],
            queue,
            rules=replace(rules, begin_sector=begin),
            costs=costs,
            stats=stats,
            context=IoContext(name, ioprio_class=_CLASSES[given.prioclass], ioprio=given.prio),
            random=stream(ground.seed, name),
            spread=make_spread(host, f"{name}.spread", ground.seed),
            allowed=frozenset(mine) if given.cpus_allowed else None,
        )
        jobs.append(job)
        starts.append(Start(ground.sim, f"{name}.start", job, len(starts) * _FORK_PS))
    return Group(given, queue, stats, tuple(jobs))


def _rules(given: FioGroup, queue: MultiQueue) -> FioRules:
    random, reads, writes = PATTERNS[given.rw]
    first = given.offset_bytes // SECTOR_BYTES
    sectors = given.bs_bytes // SECTOR_BYTES
    length = given.size_bytes // SECTOR_BYTES or queue.drive.sectors - first
    return FioRules(
        ioengine=ENGINES.index(given.ioengine),
        hipri=given.hipri,
        fixedbufs=given.fixedbufs,
        iodepth=given.iodepth,
        iodepth_batch=given.iodepth_batch,
        iodepth_batch_complete_min=given.iodepth_batch_complete_min,
        iodepth_batch_complete_max=given.iodepth_batch_complete_max
        or max(given.iodepth_batch_complete_min, 1),
        iodepth_low=given.iodepth_low or given.iodepth,
        bs_sectors=sectors,
        random=random,
        reads=reads,
        writes=writes,
        rwmixread=given.rwmixread,
        first_sector=first,
        blocks=length // sectors,
        begin_sector=first,
    )


def _costs(given: FioGroup, ground: Ground) -> FioCosts:
    clock_hz = ground.effective.cpu.clock_hz

    def ps(cycles: int) -> int:
        return cycles_ps(cycles, clock_hz)

    return FioCosts(
        unit_ps=ps(given.unit_cycles),
        syscall_ps=ground.machine.costs.syscall_ps,
        engine_ps=ps(getattr(given, f"{given.ioengine}_cycles")),
        reap_ps=ps(given.reap_cycles),
    )
