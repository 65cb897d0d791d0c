"""A job of fio: when it submits, when it reaps, and the laws that its latencies keep."""

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from simnet.host.costs import Spread
from simnet.host.interrupt import IrqLine
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.scenario.parts.fio.schema import ENGINES
from simnet.storage.block.request import IoContext
from simnet.storage.multiqueue.affinity import spread
from simnet.storage.multiqueue.costs import MqCosts
from simnet.storage.multiqueue.queue import MultiQueue
from simnet.workload.fio.files import FioFile, FioFiles, Ring
from simnet.workload.fio.job import FioJob
from simnet.workload.fio.sq_thread import SqThread
from simnet.workload.fio.stats import FioCosts, FioRules, FioStats, Latency, deviation
from simnet.workload.netperf import Start
from tests.host.parts import make_costs, make_machine
from tests.storage.multiqueue.parts import US, Slots

NS = 1000
SERVICE = 100 * US
RULES = FioRules(
    ioengine=1,
    hipri=False,
    pages=1,
    iodepth=1,
    iodepth_batch=1,
    iodepth_batch_complete_min=1,
    iodepth_batch_complete_max=1,
    iodepth_low=1,
    bs_sectors=8,
    random=True,
    reads=True,
    writes=False,
    rwmixread=50,
)
PLACE = {"first_sector": 0, "blocks": 10_000, "begin_sector": 0}
COSTS = FioCosts(
    unit_ps=400 * NS, syscall_ps=200 * NS, engine_ps=300 * NS, reap_ps=100 * NS, ring_ps=50 * NS
)
BLOCK = MqCosts(submit_ps=700 * NS, page_ps=100 * NS, complete_ps=300 * NS, poll_ps=200 * NS)


class Fio:
    """Jobs of one group on CPUs of their own, before drives with slots.

    With `thread` each has a thread of the kernel on the CPU of that number.
    """

    def __init__(
        self,
        *,
        jobs: int = 1,
        slots: int = 1,
        service_ps: int = SERVICE,
        io_queue_depth: int = 1024,
        drives: int = 1,
        place: Mapping[str, int] | None = None,
        thread: int | None = None,
        **rules: Any,
    ) -> None:
        self.sim = Simulator()
        costs = make_costs(hardirq=500, wakeup=400, context_switch=600)
        machine = make_machine(self.sim, costs=costs, cores_per_socket=4, timeslice_ps=5 * 10**9)
        self.machine = machine
        self.drives = [
            Slots(self.sim, slots, service_ps, f"drive{number}") for number in range(drives)
        ]
        self.queues = [
            self._queue(number, io_queue_depth, polled=bool(rules.get("hipri")))
            for number in range(drives)
        ]
        self.drive, self.queue = self.drives[0], self.queues[0]
        self.stats = FioStats()
        given = replace(RULES, **({"iodepth_low": rules.get("iodepth", 1)} | rules))
        self.jobs = []
        self.threads = []
        for number in range(jobs):
            ring = None if thread is None else Ring()
            files = self._files(given, place)
            job = self.job(f"job{number}", number, given, files, ring)
            self.jobs.append(job)
            if ring is not None:
                assert thread is not None
                self.threads.append(
                    SqThread(
                        machine.scheduler,
                        f"{job.path}.iou-sqp",
                        machine.cpus[thread],
                        ring=ring,
                        files=files,
                        costs=COSTS,
                        pages=given.pages,
                        polls=given.hipri,
                        allowed=frozenset({thread}),
                    )
                )
        for task in (*self.jobs, *self.threads):
            Start(self.sim, f"{task.path}.start", task, 0)

    def job(
        self,
        name: str,
        cpu: int,
        rules: FioRules,
        files: FioFiles | None = None,
        ring: Ring | None = None,
        stats: FioStats | None = None,
    ) -> FioJob:
        return FioJob(
            self.machine.scheduler,
            name,
            self.machine.cpus[cpu],
            files or self._files(rules, None),
            rules=rules,
            costs=COSTS,
            stats=stats or self.stats,
            context=IoContext("fio"),
            random=stream(1, name),
            spread=Spread(1, 0),
            ring=ring,
            allowed=frozenset({cpu}),
        )

    def _queue(self, number: int, io_queue_depth: int, *, polled: bool) -> MultiQueue:
        cpus = self.machine.cpus
        groups = spread(cpus, 4)
        lines: list[IrqLine | None] = [IrqLine(n, f"q{n}", cpus, 1 << n) for n in range(4)]
        if polled:
            lines, groups = [*lines, *[None] * 4], [*groups, *groups]
        return MultiQueue(
            self.sim,
            f"nvme{number}n1",
            self.drives[number],
            machine=self.machine,
            costs=BLOCK,
            lines=lines,
            groups=groups,
            io_queue_depth=io_queue_depth,
        )

    def _files(self, rules: FioRules, place: Mapping[str, int] | None) -> FioFiles:
        where = {**PLACE, **(place or {})}
        return FioFiles(
            [FioFile(queue, bs_sectors=rules.bs_sectors, **where) for queue in self.queues]
        )

    def run(self, time_ps: int) -> FioStats:
        self.sim.run_until(time_ps)
        return self.stats

    def iops(self, time_ps: int = 2 * 10**10) -> float:
        return float(sum(self.run(time_ps).ios) / time_ps * 10**12)


def mean_us(latencies: Any, rw: int = 0) -> float:
    return float(latencies[rw].sum_ps / latencies[rw].times.count / US)


def test_registered_buffers_are_not_pinned() -> None:
    slat = [
        mean_us(
            Fio(ioengine=ENGINES.index("io_uring"), pages=0 if fixed else 1).run(20 * 10**9).slat
        )
        for fixed in (False, True)
    ]
    assert slat[0] - slat[1] == pytest.approx(BLOCK.page_ps / US, abs=1e-6)


# interrupt, completion, wake-up, switch: from the drive until the process runs again
WAY_BACK = 0.5 + 0.3 + 0.4 + 0.6


@pytest.mark.parametrize(
    ("engine", "slat", "clat"),
    [
        # preparing, the call; then the call that waits overlaps with the drive
        ("libaio", 0.4 + 0.2 + 0.3 + 0.8, 100 + WAY_BACK + 0.1),
        ("io_uring", 0.4 + 0.2 + 0.3 + 0.8, 100 + WAY_BACK + 0.1),
        ("sync", None, 0.2 + 0.3 + 0.8 + 100 + WAY_BACK + 0.1),
    ],
)
def test_one_unit_takes_the_drive_and_the_host(
    engine: str, slat: float | None, clat: float
) -> None:
    stats = Fio(ioengine=ENGINES.index(engine)).run(20 * 10**9)
    assert mean_us(stats.clat) == pytest.approx(clat, abs=1e-6)
    if slat is None:
        assert stats.slat[0].times.count == 0
        assert mean_us(stats.lat) == pytest.approx(0.4 + clat, abs=1e-6)
    else:
        assert mean_us(stats.slat) == pytest.approx(slat, abs=1e-6)
        assert mean_us(stats.lat) == pytest.approx(slat + clat, abs=1e-6)
    assert stats.ios[0] == pytest.approx(20 * 10**9 / (mean_us(stats.lat) * US), abs=1)


def test_polling_takes_no_interrupt_and_no_switch() -> None:
    fio = Fio(ioengine=ENGINES.index("io_uring"), hipri=True)
    stats = fio.run(10 * 10**9)
    assert fio.queue.counters()["interrupts"] == 0
    assert stats.switches == 0
    # it looks every 0.2 us
    assert 100 + 0.3 + 0.1 <= mean_us(stats.clat) <= 100 + 0.3 + 0.1 + 0.4
    assert fio.machine.cpus[0].times()["idle_ps"] < 10 * US
    assert 0.95 < fio.machine.cpus[0].waited_ps / 10**10 < 0.99


@pytest.mark.parametrize("hipri", [False, True])
@pytest.mark.parametrize("jobs", [1, 2])
def test_what_finds_no_tag_is_submitted_later(jobs: int, *, hipri: bool) -> None:
    """Three tags a queue: no more is in the drive, and no less, waiting or polling."""
    fio = Fio(
        ioengine=ENGINES.index("io_uring"), hipri=hipri, jobs=jobs, iodepth=8, slots=8,
        io_queue_depth=4,
    )  # fmt: skip
    assert fio.iops() == pytest.approx(3 * jobs * 10**12 / SERVICE, rel=0.1)
    assert (fio.queue.counters()["interrupts"] == 0) == hipri
    assert (fio.stats.switches == 0) == hipri


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_throughput_is_that_of_the_slots_or_of_what_is_in_flight(depth: int) -> None:
    """D/D/4: below four in flight each takes its time, beyond that the drive is full."""
    fio = Fio(iodepth=depth, slots=4)
    assert fio.iops() == pytest.approx(min(depth, 4) * 10**12 / SERVICE, rel=0.05)
    # Little's law of the whole loop: what is in flight is the depth
    assert fio.iops() * mean_us(fio.stats.lat) / 10**6 == pytest.approx(depth, rel=0.05)


def test_a_cpu_limits_what_one_process_can_do() -> None:
    """A drive without end: fio, two calls, the block layer and the interrupt by themselves."""
    fio = Fio(iodepth=64, slots=64, service_ps=US)
    cost_us = 0.4 + 0.2 + 0.3 + 0.8 + 0.2 + 0.1
    assert fio.iops(10**10) <= 10**6 / (cost_us + 0.3)
    assert fio.iops(10**10) >= 10**6 / (cost_us + 0.3 + 0.5 + 0.4 + 0.6)


def test_more_latency_never_gives_more_throughput() -> None:
    found = [
        Fio(jobs=4, iodepth=8, slots=16, service_ps=service * US).iops(5 * 10**9)
        for service in (5, 10, 20, 40, 80, 160)
    ]
    # where the CPUs are the limit, what is under way at the end differs by a few
    for more, less in itertools.pairwise(found):
        assert less <= more * 1.001


def test_batches_are_submitted_and_reaped_together() -> None:
    fio = Fio(
        iodepth=32,
        iodepth_batch=8,
        iodepth_batch_complete_min=8,
        iodepth_batch_complete_max=8,
        slots=32,
    )
    stats = fio.run(10**10)
    assert stats.submits[2] == sum(stats.submits) > 100
    assert stats.completes[2] == sum(stats.completes) > 100
    alone = Fio(iodepth=32, slots=32).run(10**10)
    saved_ps = alone.system_ps / sum(alone.ios) - stats.system_ps / sum(stats.ios)
    # two calls a unit or two for eight
    assert saved_ps == pytest.approx(7 / 8 * 2 * COSTS.syscall_ps, rel=0.05)


def test_iodepth_low_drains_before_it_fills_again() -> None:
    stats = Fio(iodepth=16, iodepth_low=4, slots=16).run(10**10)
    # refilled from 4: 5 to 16 in flight after each submission
    assert stats.depths[5] == stats.depths[6] == 0
    assert stats.depths[2] > 0
    # one of twelve finds the others there
    assert 0 < stats.depths[4] < sum(stats.depths) / 4
    assert stats.depths[3] > 0


def test_reads_and_writes_are_mixed_as_asked() -> None:
    stats = Fio(iodepth=16, slots=16, writes=True, rwmixread=75).run(2 * 10**10)
    assert stats.ios[0] / sum(stats.ios) == pytest.approx(0.75, abs=0.03)


def test_sequential_units_follow_each_other_and_start_over() -> None:
    fio = Fio(random=False, place={"blocks": 5, "begin_sector": 16})
    fio.run(10 * SERVICE)
    assert fio.drive.order[:7] == [16, 24, 32, 0, 8, 16, 24]


def test_the_same_seed_gives_the_same_run() -> None:
    def run() -> tuple[Any, ...]:
        fio = Fio(jobs=3, iodepth=7, slots=5, writes=True)
        stats = fio.run(10**10)
        return (fio.drive.order, stats.ios, [one.squares for one in stats.lat], fio.sim.events)

    assert run() == run()


def test_processes_that_share_a_cpu_take_turns() -> None:
    fio = Fio(jobs=1, iodepth=4, slots=64, service_ps=US)
    stats = FioStats()
    other = fio.job("other", 0, replace(RULES, iodepth=4, iodepth_low=4), stats=stats)
    Start(fio.sim, "other.start", other, 0)
    fio.run(4 * 10**10)
    assert stats.ios[0] == pytest.approx(fio.stats.ios[0], rel=0.5)


def test_drives_of_a_job_take_turns() -> None:
    fio = Fio(drives=3, random=False, place={"blocks": 4})
    fio.run(11 * SERVICE)
    assert [drive.order[:4] for drive in fio.drives] == [[0, 8, 16, 24]] * 2 + [[0, 8, 16, 24][:3]]


@pytest.mark.parametrize("engine", ["libaio", "io_uring"])
@pytest.mark.parametrize("hipri", [False, True])
def test_two_drives_carry_twice_what_one_does(engine: str, *, hipri: bool) -> None:
    hipri = hipri and engine == "io_uring"
    rates = [
        Fio(
            drives=drives, iodepth=32, slots=4, ioengine=ENGINES.index(engine), hipri=hipri,
            iodepth_batch=8,
        ).iops()
        for drives in (1, 2)
    ]  # fmt: skip
    assert rates[1] == pytest.approx(2 * rates[0], rel=0.1)
    assert rates[0] == pytest.approx(4 * 10**12 / SERVICE, rel=0.05)


def test_units_of_a_call_that_are_next_to_each_other_on_a_drive_are_merged() -> None:
    reaped: dict[str, Any] = {"iodepth_batch_complete_min": 8, "iodepth_batch_complete_max": 8}
    fio = Fio(drives=2, random=False, iodepth=8, iodepth_batch=8, **reaped)
    stats = fio.run(10 * SERVICE)
    reads = sum(queue.counters()["reads"] for queue in fio.queues)
    assert sum(queue.counters()["merges"] for queue in fio.queues) >= 3 * reads
    assert stats.ios[0] >= 8 * 8


@pytest.mark.parametrize("hipri", [False, True])
def test_what_finds_no_tag_on_one_of_two_drives_is_submitted_later(*, hipri: bool) -> None:
    fio = Fio(
        ioengine=ENGINES.index("io_uring"), hipri=hipri, drives=2, iodepth=16, slots=8,
        iodepth_batch=4, io_queue_depth=4,
    )  # fmt: skip
    assert fio.iops() == pytest.approx(2 * 3 * 10**12 / SERVICE, rel=0.2)


URING = ENGINES.index("io_uring")


def test_a_thread_that_submits_costs_no_system_call_and_no_switch() -> None:
    fio = Fio(ioengine=URING, thread=1)
    stats = fio.run(20 * 10**9)
    assert stats.system_ps == stats.switches == stats.slat[0].times.count == 0
    # both look again and again: no CPU is ever idle
    idle = [cpu.times()["idle_ps"] for cpu in fio.machine.cpus]
    assert idle[0] < US
    assert idle[1] < US
    assert idle[2] == 20 * 10**9
    # the thread finds it within two looks, submits, the drive, the interrupt on the thread's CPU
    # and the event, which the process finds within one
    way = 0.05 + 0.3 + 0.8 + 100 + 0.5 + 0.3 + 0.1 + 0.05
    assert way - 0.01 < mean_us(stats.clat) < way + 4 * 0.05
    # nearly all of it in vain
    assert fio.machine.cpus[0].spun_ps > 0.98 * 20 * 10**9
    assert fio.machine.cpus[1].waited_ps > 0.96 * 20 * 10**9
    interrupts = [queue.interrupts for queue in fio.queue.hardware]
    assert interrupts[1] == sum(interrupts) > 100


def test_a_thread_that_polls_takes_no_interrupt() -> None:
    fio = Fio(ioengine=URING, thread=1, hipri=True)
    stats = fio.run(20 * 10**9)
    assert fio.queue.counters()["interrupts"] == 0
    way = 0.05 + 0.3 + 0.8 + 100 + 0.3 + 0.1 + 0.05
    assert way - 0.01 < mean_us(stats.clat) < way + 4 * 0.05 + 2 * 0.2


@pytest.mark.parametrize("hipri", [False, True])
def test_a_thread_submits_later_what_finds_no_tag(*, hipri: bool) -> None:
    fio = Fio(ioengine=URING, thread=1, hipri=hipri, iodepth=8, slots=8, io_queue_depth=4)
    assert fio.iops() == pytest.approx(3 * 10**12 / SERVICE, rel=0.1)


def test_process_and_thread_work_at_the_same_time() -> None:
    """Of a unit the process does 0.4 us, the thread 1.8: without a drive that limits."""
    busy: dict[str, Any] = {"ioengine": URING, "iodepth": 64, "slots": 64, "service_ps": US}
    alone = Fio(**busy).iops(10**10)
    helped = Fio(**busy, thread=1).iops(10**10)
    assert helped > 1.2 * alone
    # engine, block layer, completion and event of each
    assert helped < 10**6 / (0.3 + 0.8 + 0.3 + 0.1)


def test_a_thread_on_the_cpu_of_its_process_takes_turns_with_it() -> None:
    fio = Fio(ioengine=URING, thread=0, iodepth=4, slots=4)
    # a timeslice of 5 ms each
    assert mean_us(fio.run(10**11).lat) > 4_000


def test_extremes_are_those_between_two_marks() -> None:
    latency = Latency()
    for time_ps in (7000, 9001, 5000):
        latency.add(time_ps)
    assert latency.mark() == ((5000, 9001),)
    latency.add(6003)
    first, second = latency.mark()
    assert first == (5000, 9001)
    assert second == (6003, 6003)
    least, largest = latency.mark()[2]
    assert least > largest


def test_deviation_of_one_value_is_none() -> None:
    assert deviation(1, 5000, 25.0) == 0.0
    assert deviation(2, 4000, 10.0) == pytest.approx(2**0.5)
