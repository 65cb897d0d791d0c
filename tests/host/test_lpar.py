"""Processor sharing among the bursts of a partition: closed forms, SMT, PURR."""

from fractions import Fraction
from itertools import pairwise
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.lpar import LparCores, LparCpu
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from tests.house.examples import examples

US, MS = 10**6, 10**9
CORES = LparCores(16, 2, (1000, 1400), (600, 1000))


class Job(Component):
    """Does one burst, begun at a time; keeps when it ended and what it used."""

    def __init__(self, sim: Simulator, cpu: LparCpu, name: str, start_ps: int, work: int) -> None:
        super().__init__(sim, name)
        self.cpu = cpu
        self.work_ps = work
        self.end_ps = self.used_ps = -1
        sim.at(start_ps, self, 0, 0, 0)

    def on_event(self, kind: int, arg: int) -> None:
        if kind == 0:
            self.cpu.run(self, 1, self.work_ps, 0)
        else:
            self.end_ps, self.used_ps = self.sim.now, arg


def together(cores: LparCores, works: list[int], gap_ps: int = 0) -> tuple[LparCpu, list[Job]]:
    sim = Simulator()
    cpu = LparCpu(sim, "cpu", cores)
    jobs = [Job(sim, cpu, f"job{n}", n * gap_ps, work) for n, work in enumerate(works)]
    sim.run_until(10**15)
    return cpu, jobs


@pytest.mark.parametrize(
    ("busy", "speed"), [(1, 1), (16, 1), (24, Fraction(192, 240)), (32, Fraction(224, 320))]
)
def test_equal_bursts_end_when_the_cores_have_done_all_of_them(busy: int, speed: Fraction) -> None:
    _, jobs = together(CORES, [700 * MS] * busy)
    assert {job.end_ps for job in jobs} == {jobs[0].end_ps}
    assert jobs[0].end_ps == pytest.approx(700 * MS / speed, rel=1e-9)


def test_who_looks_moves_no_end() -> None:
    ends = []
    for looks in (0, 1000):
        sim = Simulator()
        cpu = LparCpu(sim, "cpu", CORES)
        jobs = [Job(sim, cpu, f"job{n}", n * 101, 7 * MS + n * 1013) for n in range(23)]
        for number in range(looks):
            sim.run_until(number * 10_007)
            cpu.purr_ps()
            cpu.busy_ps()
        sim.run_until(10**15)
        ends.append([(job.end_ps, job.used_ps) for job in jobs])
    assert ends[0] == ends[1]


def test_beyond_the_hardware_threads_bursts_take_turns() -> None:
    _, jobs = together(CORES, [700 * MS] * 64)
    assert jobs[0].end_ps == pytest.approx(700 * MS * 64 / 22.4, rel=1e-9)
    # each was on a thread half of the time
    assert jobs[0].used_ps == pytest.approx(jobs[0].end_ps / 2, rel=1e-9)


def test_a_short_burst_beside_a_long_one_on_one_core() -> None:
    one = LparCores(1, 1, (1000,), (1000,))
    _, (long, short) = together(one, [100 * MS, 10 * MS], gap_ps=20 * MS)
    assert short.end_ps == pytest.approx(40 * MS, rel=1e-6)
    assert long.end_ps == pytest.approx(110 * MS, rel=1e-6)


@pytest.mark.parametrize(("busy", "cores"), [(8, 4.8), (16, 9.6), (24, 12.8), (32, 16.0)])
def test_the_purr_counts_a_core_with_one_thread_as_partly_used(busy: int, cores: float) -> None:
    cpu, jobs = together(CORES, [100 * MS] * busy)
    assert cpu.purr_ps() == pytest.approx(cores * jobs[0].end_ps, rel=1e-9)


def test_first_threads_of_cores_are_busy_before_second_ones() -> None:
    cpu, jobs = together(CORES, [100 * MS] * 17)
    assert cpu.busy_ps() == [jobs[0].end_ps] * 17 + [0] * 15


works = st.lists(st.integers(1, 10**12), min_size=1, max_size=40)


@settings(max_examples=examples(200))
@given(works, st.integers(0, 10**10))
def test_all_work_is_done_and_all_time_accounted(given_works: list[int], gap_ps: int) -> None:
    cpu, jobs = together(CORES, given_works, gap_ps)
    assert cpu.done_ps == sum(given_works)
    # to a nanosecond: the clock of all bursts is rounded
    ends = [number * gap_ps + job.work_ps for number, job in enumerate(jobs)]
    assert all(job.end_ps + 1000 >= end for job, end in zip(jobs, ends, strict=True))
    assert sum(cpu.busy_ps()) == pytest.approx(sum(job.used_ps for job in jobs), abs=10**6)
    assert cpu.purr_ps() <= sum(cpu.busy_ps())


@settings(max_examples=examples(200))
@given(works)
def test_work_conserving(given_works: list[int]) -> None:
    """The last ends no later than if all ran at the speed of all threads, one after the other."""
    _, jobs = together(CORES, given_works)
    assert max(job.end_ps for job in jobs) <= sum(given_works) + 10**6
    assert max(job.end_ps for job in jobs) + 1000 >= sum(given_works) * 10 // 224


def test_counters_begin_at_nothing_and_tell_the_kernels_work_apart() -> None:
    sim = Simulator()
    cpu = LparCpu(sim, "cpu", CORES)
    assert cpu.counters() == {"done_ps": 0, "system_done_ps": 0}
    assert (cpu.busy, cpu.purr_ps(), cpu.busy_ps()) == (0, 0, [0] * 32)
    job = Job(sim, cpu, "job", MS, 5 * MS)
    cpu.run(job, 7, 3 * MS, 2 * MS)
    cpu.background(4 * MS)
    cpu.background(0)
    assert cpu.busy == 2
    sim.run_until(2 * MS)
    # nothing is done yet, but three threads are busy
    assert cpu.counters() == {"done_ps": 0, "system_done_ps": 0}
    assert cpu.busy_ps()[:4] == [2 * MS, 2 * MS, MS, 0]
    # six tenths of a core for each
    assert cpu.purr_ps() == (2 + 2 + 1) * MS * 6 // 10
    sim.run_until(10 * MS)
    assert cpu.counters() == {"done_ps": 12 * MS, "system_done_ps": 6 * MS}
    assert (job.end_ps, job.used_ps) == (6 * MS, 5 * MS)
    assert cpu.busy_ps()[:4] == [6 * MS, 4 * MS, 2 * MS, 0]
    assert cpu.busy == 0


@pytest.mark.parametrize(
    ("busy", "throughput", "purr"),
    [(0, 0, 0), (1, 1000, 600), (2, 2000, 1200), (3, 2400, 1600), (4, 2800, 2000), (9, 2800, 2000)],
)
def test_threads_are_spread_evenly_over_the_cores(busy: int, throughput: int, purr: int) -> None:
    cores = LparCores(2, 2, (1000, 1400), (600, 1000))
    assert cores.hardware_threads == 4
    assert cores.of_all(cores.throughput_permille, busy) == throughput
    assert cores.of_all(cores.purr_permille, busy) == purr


def test_bursts_on_two_threads_of_a_core_and_what_each_used() -> None:
    one = LparCores(1, 2, (1000, 1400), (600, 1000))
    cpu, (first, second) = together(one, [7 * MS, 14 * MS])
    # 0.7 each until the first is done at 10 ms; the second has 7 ms left for itself
    assert [first.end_ps, second.end_ps] == [10 * MS, 17 * MS]
    assert [first.used_ps, second.used_ps] == [10 * MS, 17 * MS]
    assert cpu.busy_ps() == [17 * MS, 10 * MS]
    assert cpu.purr_ps() == 10 * MS + 7 * MS * 6 // 10


def test_work_of_no_length_ends_with_the_next_event() -> None:
    _, (job,) = together(CORES, [0])
    assert job.end_ps <= 1


class Logged(Job):
    """Tells in a list when it is done."""

    log: list[str]

    def on_event(self, kind: int, arg: int) -> None:
        super().on_event(kind, arg)
        if kind:
            self.log.append(self.path)


def shared(cores: LparCores, script: list[tuple[int, int]]) -> dict[int, Fraction]:
    """When bursts (start, work) end that share the cores, without rounding."""
    now, left, ends = Fraction(0), dict[int, Fraction](), dict[int, Fraction]()
    coming = sorted((start, number) for number, (start, _) in enumerate(script))
    while coming or left:
        busy = min(len(left), cores.hardware_threads)
        speed = Fraction(cores.of_all(cores.throughput_permille, busy), 1000 * max(len(left), 1))
        end = now + min(left.values()) / speed if left else None
        if coming and (end is None or coming[0][0] < end):
            start, number = coming.pop(0)
            left = {one: work - (start - now) * speed for one, work in left.items()}
            left[number] = Fraction(script[number][1])
            now = Fraction(start)
            continue
        assert end is not None
        least = min(left.values())
        ends |= {one: end for one, work in left.items() if work == least}
        left = {one: work - least for one, work in left.items() if work > least}
        now = end
    return ends


@pytest.mark.parametrize("seed", range(5))
def test_many_bursts_end_when_and_in_the_order_in_which_sharing_ends_them(seed: int) -> None:
    random = Random(seed)  # noqa: S311 - a script
    starts = [0] * 40 + [random.randrange(2000) * US for _ in range(60)]
    # some of the first are equally long: they end at once, in their order
    works = [random.choice([700, 900, 1100]) for _ in range(20)]
    works += [random.sample(range(10, 5000), 80)[number] for number in range(80)]
    script = list(zip(starts, (work * US for work in works), strict=True))
    cores = LparCores(3, 2, (1000, 1400), (600, 1000))
    sim, log = Simulator(), list[str]()
    cpu = LparCpu(sim, "cpu", cores)
    jobs = [Logged(sim, cpu, f"{number}", *one) for number, one in enumerate(script)]
    for job in jobs:
        job.log = log
    sim.run_until(10**15)
    ends = shared(cores, script)
    for number, job in enumerate(jobs):
        assert job.end_ps == pytest.approx(float(ends[number]), abs=2 * US)
    apart = [pair for pair in pairwise(log) if abs(ends[int(pair[0])] - ends[int(pair[1])]) > US]
    assert all(ends[int(one)] < ends[int(other)] for one, other in apart)
    for work in (700, 900, 1100):
        alike = [number for number in range(20) if works[number] == work]
        assert [int(one) for one in log if int(one) in alike] == alike
    assert cpu.busy == 0
    assert cpu.counters()["done_ps"] == sum(work for _, work in script)
    # threads are busy for what the bursts used
    assert sum(cpu.busy_ps()) == pytest.approx(sum(job.used_ps for job in jobs), rel=1e-6)
