"""A job of fio: when it submits, when it reaps, and the laws that its latencies keep."""

from __future__ import annotations

import itertools
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
from simnet.workload.fio import FioJob
from simnet.workload.fio_stats import FioCosts, FioRules, FioStats, Latency, deviation
from simnet.workload.netperf import Start
from tests.host.parts import make_costs, make_machine
from tests.storage.multiqueue.parts import US, Slots

NS = 1000
SERVICE = 100 * US
RULES = FioRules(
    ioengine=1,
    hipri=False,
    fixedbufs=False,
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
    first_sector=0,
    blocks=10_000,
    begin_sector=0,
)
COSTS = FioCosts(unit_ps=400 * NS, syscall_ps=200 * NS, engine_ps=300 * NS, reap_ps=100 * NS)
BLOCK = MqCosts(submit_ps=700 * NS, page_ps=100 * NS, complete_ps=300 * NS, poll_ps=200 * NS)


class Fio:
    """Jobs of one group on CPUs of their own, before a drive with slots."""

    def __init__(
        self,
        *,
        jobs: int = 1,
        slots: int = 1,
        service_ps: int = SERVICE,
        io_queue_depth: int = 1024,
        **rules: Any,
    ) -> None:
        self.sim = Simulator()
        costs = make_costs(hardirq=500, wakeup=400, context_switch=600)
        machine = make_machine(self.sim, costs=costs, cores_per_socket=4, timeslice_ps=5 * 10**9)
        self.drive = Slots(self.sim, slots, service_ps)
        groups = spread(machine.cpus, 4)
        lines: list[IrqLine | None] = [IrqLine(n, f"q{n}", machine.cpus, 1 << n) for n in range(4)]
        if rules.get("hipri"):
            lines, groups = [*lines, *[None] * 4], [*groups, *groups]
        self.machine = machine
        self.queue = MultiQueue(
            self.sim,
            "nvme0n1",
            self.drive,
            machine=machine,
            costs=BLOCK,
            lines=lines,
            groups=groups,
            io_queue_depth=io_queue_depth,
        )
        self.stats = FioStats()
        given = replace(RULES, **({"iodepth_low": rules.get("iodepth", 1)} | rules))
        self.jobs = [
            FioJob(
                machine.scheduler,
                f"job{number}",
                machine.cpus[number],
                self.queue,
                rules=given,
                costs=COSTS,
                stats=self.stats,
                context=IoContext("fio"),
                random=stream(1, f"job{number}"),
                spread=Spread(1, 0),
                allowed=frozenset({number}),
            )
            for number in range(jobs)
        ]
        for job in self.jobs:
            Start(self.sim, f"{job.path}.start", job, 0)

    def run(self, time_ps: int) -> FioStats:
        self.sim.run_until(time_ps)
        return self.stats

    def iops(self, time_ps: int = 2 * 10**10) -> float:
        return float(sum(self.run(time_ps).ios) / time_ps * 10**12)


def mean_us(latencies: Any, rw: int = 0) -> float:
    return float(latencies[rw].sum_ps / latencies[rw].times.count / US)


def test_registered_buffers_are_not_pinned() -> None:
    slat = [
        mean_us(Fio(ioengine=ENGINES.index("io_uring"), fixedbufs=fixed).run(20 * 10**9).slat)
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
    fio = Fio(random=False, blocks=5, begin_sector=16, first_sector=0)
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
    other = FioJob(
        fio.machine.scheduler,
        "other",
        fio.machine.cpus[0],
        fio.queue,
        rules=replace(RULES, iodepth=4, iodepth_low=4),
        costs=COSTS,
        stats=stats,
        context=IoContext("other"),
        random=stream(2, "other"),
        spread=Spread(1, 0),
        allowed=frozenset({0}),
    )
    Start(fio.sim, "other.start", other, 0)
    fio.run(4 * 10**10)
    assert stats.ios[0] == pytest.approx(fio.stats.ios[0], rel=0.5)


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
