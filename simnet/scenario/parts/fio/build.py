"""Build a host with NVMe drives, and the processes of fio on it."""

from dataclasses import dataclass
from typing import Any, Final

from simnet.host.costs import cycles_ps
from simnet.host.cpu import Cpu
from simnet.kernel.random import stream
from simnet.scenario.core.effective import Effective
from simnet.scenario.parts.fio.columns import group_counts, group_extremes
from simnet.scenario.parts.fio.resources import FioPath, Group
from simnet.scenario.parts.fio.schema import ENGINES, PATTERNS, FioGroup
from simnet.scenario.parts.host.build import make_spread
from simnet.scenario.parts.nvme.build import FIRST_IRQ, make_queue
from simnet.scenario.parts.storage.columns import DiskCounts
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import System
from simnet.storage.block.request import IoContext
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.storage.multiqueue.queue import MultiQueue
from simnet.workload.fio.files import FioFile, FioFiles, Ring
from simnet.workload.fio.job import FioJob
from simnet.workload.fio.sq_thread import SqThread
from simnet.workload.fio.stats import FioCosts, FioRules, FioStats
from simnet.workload.netperf import Start

_CLASSES: Final = ("none", "rt", "be", "idle")
# fio forks one process after the other
_FORK_PS: Final = 100 * 10**6
_PAGE_BYTES: Final = 4096


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
        _group(ground, given, tuple(queues[name] for name in given.drives), starts)
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


def _group(
    ground: Ground, given: FioGroup, queues: tuple[MultiQueue, ...], starts: list[Start]
) -> Group:
    """The processes of a job; fio forks them one after the other."""
    machine, host = ground.machine, ground.effective.host
    rules, costs = _rules(given), _costs(given, ground)
    stats = FioStats()
    allowed = given.cpus_allowed or tuple(cpu.cpu_id for cpu in machine.online)
    jobs = []

    def start(task: Any) -> None:
        starts.append(Start(ground.sim, f"{task.path}.start", task, len(starts) * _FORK_PS))

    for number in range(given.numjobs):
        name = f"{given.name}.{number}"
        mine = allowed
        if given.cpus_allowed and given.cpus_allowed_policy == "split":
            mine = (allowed[number % len(allowed)],)
        files = FioFiles([_file(given, queue, len(queues), number) for queue in queues])
        ring = Ring() if given.sqthread_poll else None
        job = FioJob(
            machine.scheduler,
            name,
            machine.cpus[mine[0]],
            files,
            rules=rules,
            costs=costs,
            stats=stats,
            context=IoContext(name, ioprio_class=_CLASSES[given.prioclass], ioprio=given.prio),
            random=stream(ground.seed, name),
            spread=make_spread(host, f"{name}.spread", ground.seed),
            ring=ring,
            allowed=frozenset(mine) if given.cpus_allowed else None,
        )
        jobs.append(job)
        start(job)
        if ring is not None:
            start(_thread(ground, given, job, files, ring))
    return Group(given, queues, stats, tuple(jobs))


def _thread(ground: Ground, given: FioGroup, job: FioJob, files: FioFiles, ring: Ring) -> SqThread:
    """The kernel's thread of a process: on its CPU, or beside it."""
    cpus = ground.machine.cpus
    pinned = given.sqthread_poll_cpu
    return SqThread(
        ground.machine.scheduler,
        f"{job.path}.iou-sqp",
        cpus[pinned] if pinned >= 0 else job.cpu,
        ring=ring,
        files=files,
        costs=_costs(given, ground),
        pages=_rules(given).pages,
        polls=given.hipri,
        allowed=frozenset({pinned}) if pinned >= 0 else None,
    )


def _file(given: FioGroup, queue: MultiQueue, of: int, number: int) -> FioFile:
    """A drive as a process uses it; each of several has its part of the size."""
    first = given.offset_bytes // SECTOR_BYTES
    sectors = given.bs_bytes // SECTOR_BYTES
    length = given.size_bytes // of // SECTOR_BYTES or queue.drive.sectors - first
    blocks = length // sectors
    later = number * given.offset_increment_bytes // SECTOR_BYTES % (blocks * sectors)
    return FioFile(
        queue,
        first_sector=first,
        blocks=blocks,
        begin_sector=first + later // sectors * sectors,
        bs_sectors=sectors,
    )


def _rules(given: FioGroup) -> FioRules:
    random, reads, writes = PATTERNS[given.rw]
    return FioRules(
        ioengine=ENGINES.index(given.ioengine),
        hipri=given.hipri,
        pages=0 if given.fixedbufs else -(-given.bs_bytes // _PAGE_BYTES),
        iodepth=given.iodepth,
        iodepth_batch=given.iodepth_batch,
        iodepth_batch_complete_min=given.iodepth_batch_complete_min,
        iodepth_batch_complete_max=given.iodepth_batch_complete_max
        or max(given.iodepth_batch_complete_min, 1),
        iodepth_low=given.iodepth_low or given.iodepth,
        bs_sectors=given.bs_bytes // SECTOR_BYTES,
        random=random,
        reads=reads,
        writes=writes,
        rwmixread=given.rwmixread,
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
        ring_ps=max(ps(given.ring_cycles), 1000),
    )
