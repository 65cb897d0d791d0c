"""Virtual processors: windows, caps, weights, ceding; what is stolen, what ticks and PURR say."""

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.accounting import HARD_LEVEL, IRQ, PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, SYSTEM, USER
from simnet.host.cpu import Context, Cpu
from simnet.host.iowait import IowaitClock
from simnet.host.machine import Machine
from simnet.host.partition import LogicalPartition, ProcessorPool, SharedProcessor
from simnet.host.thread import Thread
from simnet.kernel.environment import Environment
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, US, Agenda, Handler, Job, make_machine
from tests.host.test_cpu import Spans

WINDOW = 10 * MS
TICK = 4 * MS


@dataclass
class Lpar:
    """A partition with its machine."""

    machine: Machine
    partition: LogicalPartition

    @property
    def processors(self) -> list[SharedProcessor]:
        return list(self.partition.processors)


def make_pool(sim: Simulator, count: int = 1, dispatch: int = 0, slice_: int = MS) -> ProcessorPool:
    return ProcessorPool(
        sim, "pool", count=count, window_ps=WINDOW, dispatch_ps=dispatch, slice_ps=slice_
    )


def add(
    pool: ProcessorPool, name: str, units: float, *, threads: int = 1, procs: int = 1, **how: Any
) -> Lpar:
    """A partition entitled to `units` processors."""
    machine = make_machine(
        pool.sim, name, cores_per_socket=procs, threads_per_core=threads, tick_ps=TICK
    )
    settings = {"capped": True, "weight": 128, "phase_ps": 0} | how
    partition = LogicalPartition(name, entitled_ps=round(units * WINDOW), **settings)
    cpus = machine.cpus
    pool.add(partition, [cpus[n : n + threads] for n in range(0, len(cpus), threads)])
    return Lpar(machine, partition)


class Endless(Context):
    """Computes without end, in pieces."""

    def __init__(self, sim: Simulator, path: str, piece: int = 70 * US) -> None:
        super().__init__(sim, path)
        self.piece = piece

    def step(self, cpu: Cpu) -> None:
        cpu.run(PROCESS_LEVEL, self, self.piece, USER)


def load(lpar: Lpar, piece: int = 70 * US) -> None:
    """Have every CPU compute."""
    for cpu in lpar.machine.cpus:
        job = Endless(cpu.sim, f"{cpu.path}.load", piece)
        cpu.run(PROCESS_LEVEL, job, piece, USER)


def share(lpar: Lpar, windows: int) -> float:
    """Mean number of physical processors."""
    return lpar.partition.consumed_ps / (windows * WINDOW)


# -- windows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("units", [0.1, 0.25, 0.5, 0.9, 1.0])
def test_a_capped_partition_gets_its_entitlement_in_each_window(units: float) -> None:
    sim = Simulator()
    pool = make_pool(sim)
    lpar = add(pool, "one", units)
    load(lpar)
    for window in range(1, 6):
        sim.run_until(window * WINDOW)
        assert share(lpar, window) == pytest.approx(units, abs=1e-12)


def test_work_takes_as_many_windows_as_the_entitlement_says() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "half", 0.5)
    job = Job(sim, "job", PROCESS_LEVEL, SYSTEM)
    job.start(lpar.machine.cpus[0], 12 * MS)
    sim.run_until(10 * WINDOW)
    # 5 ms in each of two windows, 2 ms in the third
    assert job.done_ps == [22 * MS]


@pytest.mark.parametrize(("phase", "done"), [(0, 11), (3, 6), (9, 10)])
def test_windows_begin_at_the_phase(phase: int, done: int) -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "half", 0.5, phase_ps=phase * MS)
    job = Job(sim, "job", PROCESS_LEVEL, SYSTEM)
    job.start(lpar.machine.cpus[0], 6 * MS)
    sim.run_until(5 * WINDOW)
    # 5 ms before the first boundary, or less if that comes sooner; the rest after it
    assert job.done_ps == [done * MS]


def test_who_cedes_keeps_what_is_left_of_the_window() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "half", 0.5)
    cpu = lpar.machine.cpus[0]
    jobs = [Job(sim, f"job{n}", PROCESS_LEVEL, SYSTEM) for n in range(3)]
    agenda = Agenda(sim)
    for number, job in enumerate(jobs):
        agenda.at(number * 3 * MS, job.start, cpu, 2 * MS)
    sim.run_until(2 * WINDOW)
    # 2 ms at once, 2 ms at once, of the third 1 ms and the rest in the next window
    assert [job.done_ps[0] for job in jobs] == [2 * MS, 5 * MS, 11 * MS]
    assert lpar.processors[0].cedes == 3


def test_an_interrupt_wakes_who_has_ceded_and_waits_for_who_is_out_of_time() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim, dispatch=20 * US), "tenth", 0.1)
    cpu = lpar.machine.cpus[0]
    handler = Job(sim, "handler", HARD_LEVEL, IRQ)
    busy = Job(sim, "busy", PROCESS_LEVEL, SYSTEM)
    agenda = Agenda(sim)
    agenda.at(2 * MS, cpu.raise_irq, handler, 50 * US)
    agenda.at(4 * MS, busy.start, cpu, 3 * MS)
    agenda.at(8 * MS, cpu.raise_irq, handler, 50 * US)
    sim.run_until(2 * WINDOW)
    assert handler.done_ps == [2 * MS + 70 * US, 10 * MS + 70 * US]


def test_a_partition_of_dedicated_size_is_never_interrupted() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim, dispatch=5 * US), "whole", 1.0)
    job = Job(sim, "job", PROCESS_LEVEL, SYSTEM)
    job.start(lpar.machine.cpus[0], 95 * MS)
    sim.run_until(12 * WINDOW)
    assert job.done_ps == [95 * MS + 5 * US]
    assert lpar.processors[0].dispatches == 1


# -- the pool -----------------------------------------------------------------------------------


def test_parts_that_fit_only_when_split_still_fit() -> None:
    # three of two thirds on two processors: the third runs first on one, then on the other
    sim = Simulator()
    pool = make_pool(sim, count=2)
    lpars = [add(pool, f"p{n}", 0.66) for n in range(3)]
    for lpar in lpars:
        load(lpar)
    sim.run_until(20 * WINDOW)
    assert [share(lpar, 20) for lpar in lpars] == pytest.approx([0.66] * 3, abs=1e-12)


@pytest.mark.parametrize(("weights", "expected"), [((128, 128), 0.5), ((192, 64), 0.75)])
def test_spare_time_goes_by_weight(weights: tuple[int, int], expected: float) -> None:
    sim = Simulator()
    pool = make_pool(sim, slice_=500 * US)
    lpars = [
        add(pool, f"p{n}", 0.1, capped=False, weight=weight) for n, weight in enumerate(weights)
    ]
    for lpar in lpars:
        load(lpar)
    sim.run_until(100 * WINDOW)
    spare = [share(lpar, 100) - 0.1 for lpar in lpars]
    assert sum(spare) == pytest.approx(0.8, abs=1e-9)
    assert spare[0] / sum(spare) == pytest.approx(expected, abs=0.01)


def test_weight_0_is_as_good_as_capped() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "soft", 0.3, capped=False, weight=0)
    load(lpar)
    sim.run_until(10 * WINDOW)
    assert share(lpar, 10) == pytest.approx(0.3, abs=1e-12)


def test_entitlements_come_before_spare_time() -> None:
    sim = Simulator()
    pool = make_pool(sim)
    greedy = add(pool, "greedy", 0.1, capped=False, weight=255)
    modest = add(pool, "modest", 0.6)
    load(greedy)
    load(modest)
    sim.run_until(20 * WINDOW)
    assert share(modest, 20) == pytest.approx(0.6, abs=1e-9)
    assert share(greedy, 20) == pytest.approx(0.4, abs=1e-9)


def test_who_waits_runs_as_soon_as_another_cedes() -> None:
    sim = Simulator()
    pool = make_pool(sim)
    jobs = [Job(sim, f"job{n}", PROCESS_LEVEL, SYSTEM) for n in range(2)]
    for job, work in zip(jobs, (2 * MS, 3 * MS), strict=True):
        job.start(add(pool, f"p-{job.path}", 0.5).machine.cpus[0], work)
    sim.run_until(WINDOW)
    assert [job.done_ps for job in jobs] == [[2 * MS], [5 * MS]]


def test_who_runs_goes_on_before_one_whose_window_begins() -> None:
    sim = Simulator()
    pool = make_pool(sim)
    load(add(pool, "busy", 0.3))
    late = add(pool, "late", 0.5, phase_ps=5 * MS)
    job = Job(sim, "job", PROCESS_LEVEL, SYSTEM)
    Agenda(sim).at(8 * MS, job.start, late.machine.cpus[0], 5 * MS)
    sim.run_until(2 * WINDOW)
    # `busy` has had its part until 3 ms, and gets another at 10 ms that still fits in after this
    assert job.done_ps == [13 * MS]


def test_who_has_to_make_room_goes_behind_those_that_wait() -> None:
    sim = Simulator()
    pool = make_pool(sim)
    lpars = [add(pool, "first", 0.5), add(pool, "urgent", 0.2, phase_ps=4 * MS)]
    lpars.append(add(pool, "third", 0.2))
    jobs = [Job(sim, f"job{n}", PROCESS_LEVEL, SYSTEM) for n in range(3)]
    for lpar, job, work in zip(lpars, jobs, (5 * MS, 2 * MS, 2 * MS), strict=True):
        job.start(lpar.machine.cpus[0], work)
    sim.run_until(WINDOW)
    # 2 ms of the first; from then on `urgent` would not get its part; then the third
    assert [job.done_ps for job in jobs] == [[9 * MS], [4 * MS], [6 * MS]]


def test_who_is_on_its_way_to_a_processor_may_have_to_make_room() -> None:
    sim = Simulator()
    pool = make_pool(sim, dispatch=MS)
    lpars = [add(pool, "first", 0.5), add(pool, "urgent", 0.2, phase_ps=4 * MS)]
    jobs = [Job(sim, f"job{n}", PROCESS_LEVEL, SYSTEM) for n in range(2)]
    agenda = Agenda(sim)
    agenda.at(11_600 * US, jobs[0].start, lpars[0].machine.cpus[0], 3 * MS)
    agenda.at(12 * MS, jobs[1].start, lpars[1].machine.cpus[0], MS)
    sim.run_until(3 * WINDOW)
    # the first would run from 12.6 ms on, but until 14 ms `urgent` has no time to lose: it runs
    # from 13 to 14 ms, and the first, which is dispatched again then, from 15 ms on
    assert [job.done_ps for job in jobs] == [[18 * MS], [14 * MS]]
    assert [lpar.partition.consumed_ps for lpar in lpars] == [3 * MS, MS]


def test_windows_of_a_pools_partitions_lag_behind_each_other() -> None:
    sim = Simulator()
    pool = ProcessorPool(
        sim, "pool", count=4, window_ps=WINDOW, dispatch_ps=0, slice_ps=MS, phase_ps=4 * MS
    )
    jobs = [Job(sim, f"job{n}", PROCESS_LEVEL, SYSTEM) for n in range(4)]
    for job in jobs:
        job.start(add(pool, f"p-{job.path}", 0.5).machine.cpus[0], 6 * MS)
    sim.run_until(2 * WINDOW)
    # windows begin at 0, 4, 8 and, a whole one later, 2 ms
    assert [job.done_ps for job in jobs] == [[11 * MS], [6 * MS], [9 * MS], [6 * MS]]


def test_virtual_processors_have_equal_parts_of_the_entitlement() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim, count=2), "two", 0.5, procs=2)
    load(lpar)
    sim.run_until(2 * MS)
    assert lpar.partition.consumed_ps == 4 * MS
    sim.run_until(WINDOW)
    assert [processor.total_ps() for processor in lpar.processors] == [2500 * US, 2500 * US]


def test_who_has_some_of_its_part_left_does_not_wait_for_the_end_of_a_slice() -> None:
    sim = Simulator()
    pool = make_pool(sim, slice_=8 * MS)
    load(add(pool, "greedy", 0.1, capped=False))
    job = Job(sim, "job", PROCESS_LEVEL, SYSTEM)
    Agenda(sim).at(3 * MS, job.start, add(pool, "modest", 0.5).machine.cpus[0], MS)
    sim.run_until(WINDOW)
    assert job.done_ps == [4 * MS]


def test_spare_time_comes_in_slices() -> None:
    sim = Simulator()
    pool = make_pool(sim, slice_=2 * MS)
    lpars = [add(pool, f"p{n}", 0.1, capped=False) for n in range(2)]
    for lpar in lpars:
        load(lpar)
    # they ask for a processor that they are not entitled to: whoever has a slice keeps it
    agenda = Agenda(sim)
    for number in range(3):
        cpu = add(pool, f"asks{number}", 0.0).machine.cpus[0]
        job = Job(sim, f"job{number}", PROCESS_LEVEL, SYSTEM)
        agenda.at(2500 * US + number * 500 * US, job.start, cpu, US)
    for now, used in ((1, [1, 0]), (2, [1, 1]), (4, [1, 3]), (6, [3, 3]), (8, [5, 3])):
        sim.run_until(now * MS)
        assert [lpar.partition.consumed_ps for lpar in lpars] == [n * MS for n in used]


def test_spare_time_that_went_unused_is_no_claim_later() -> None:
    sim = Simulator()
    pool = make_pool(sim)
    lpars = [add(pool, f"p{n}", 0.1, capped=False) for n in range(2)]
    load(lpars[0])
    sim.run_until(20 * WINDOW)
    load(lpars[1])
    before = lpars[0].partition.consumed_ps
    sim.run_until(22 * WINDOW)
    assert lpars[0].partition.consumed_ps - before == pytest.approx(WINDOW, abs=MS)


plans = st.lists(
    st.tuples(
        st.integers(10, 100),  # hundredths of a processor
        st.booleans(),  # capped
        st.integers(1, 255),  # weight
        st.integers(20, 900),  # us that it computes
        st.integers(0, 900),  # us that it then rests
    ),
    min_size=1,
    max_size=5,
)


class Bursts(Context):
    """Computes, rests, computes."""

    def __init__(self, cpu: Cpu, path: str, work: int, rest: int) -> None:
        super().__init__(cpu.sim, path)
        self.cpu, self.work, self.rest = cpu, work, rest

    def step(self, cpu: Cpu) -> None:  # noqa: ARG002 - the interface of contexts
        self.sim.at(self.sim.now + self.rest, self, 0, 0, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - the interface of components
        self.cpu.run(PROCESS_LEVEL, self, self.work, USER)


@given(plans, st.integers(1, 3), st.integers(0, 20), st.integers(1, 2))
def test_laws_of_any_pool(
    plan: list[tuple[int, bool, int, int, int]], count: int, dispatch: int, threads: int
) -> None:
    wanted = sum(units for units, *_ in plan)
    count = max(count, -(-wanted // 100))
    sim = Simulator()
    pool = make_pool(sim, count=count, dispatch=dispatch * US)
    lpars = []
    for number, (units, capped, weight, work, rest) in enumerate(plan):
        lpar = add(pool, f"p{number}", units / 100, threads=threads, capped=capped, weight=weight)
        for cpu in lpar.machine.cpus:
            Bursts(cpu, f"{cpu.path}.bursts", work * US, rest * US).on_event(0, 0)
        lpars.append(lpar)
    windows = 4
    before = [0] * len(lpars)
    for window in range(1, windows + 1):
        sim.run_until(window * WINDOW)
        for number, (lpar, (units, capped, *_)) in enumerate(zip(lpars, plan, strict=True)):
            used = lpar.partition.consumed_ps - before[number]
            before[number] += used
            # never more than the entitlement, or than one processor
            assert used <= (units * WINDOW // 100 if capped else WINDOW)
    # no more processors than there are
    assert sum(before) <= count * windows * WINDOW
    for lpar in lpars:
        processor = lpar.processors[0]
        processor.count()
        cpus = lpar.machine.cpus
        # PURR: every ps of a physical processor goes to one thread
        assert sum(cpu.purr_ps for cpu in cpus) == lpar.partition.consumed_ps
        for cpu in cpus:
            times = cpu.times()
            exact = {name: ps for name, ps in times.items() if name.endswith("_ps")}
            assert sum(exact.values()) == windows * WINDOW
            # what a CPU executes, it executes while its virtual processor runs
            assert exact["user_ps"] <= lpar.partition.consumed_ps


@given(st.lists(st.integers(10, 100), min_size=1, max_size=4), st.integers(0, 9))
def test_who_always_has_work_gets_all_of_its_part_and_waits_no_longer_than_the_rest(
    units: list[int], phase: int
) -> None:
    sim = Simulator()
    pool = make_pool(sim, count=-(-sum(units) // 100))
    lpars = [
        add(pool, f"p{n}", share_ / 100, phase_ps=phase * MS) for n, share_ in enumerate(units)
    ]
    for lpar in lpars:
        load(lpar)
    sim.run_until(phase * MS + WINDOW)
    start = [lpar.partition.consumed_ps for lpar in lpars]
    sim.run_until(phase * MS + 4 * WINDOW)
    for lpar, hundredths, before in zip(lpars, units, start, strict=True):
        assert lpar.partition.consumed_ps - before == 3 * hundredths * WINDOW // 100


# -- what Linux sees --------------------------------------------------------------------------


def test_stolen_time_is_what_work_waits_for() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "half", 0.5)
    load(lpar)
    sim.run_until(10 * WINDOW)
    times = lpar.machine.cpus[0].times()
    assert times["user_ps"] == times["steal_ps"] == 5 * WINDOW
    assert times["idle_ps"] == 0


def test_waiting_for_a_processor_is_stolen_time_too() -> None:
    sim = Simulator()
    pool = make_pool(sim, dispatch=20 * US)
    cpu = add(pool, "one", 0.5).machine.cpus[0]
    spans = Spans()
    sim.tracer = spans
    agenda = Agenda(sim)
    for start in (1, 2):
        agenda.at(start * MS, Job(sim, f"job{start}", PROCESS_LEVEL, SYSTEM).start, cpu, 100 * US)
    sim.run_until(WINDOW)
    times = cpu.times()
    assert (times["steal_ps"], times["system_ps"]) == (40 * US, 200 * US)
    assert [(name, end - start) for _, name, start, end in spans.log] == [
        ("stolen: job1", 20 * US),
        ("system: job1", 100 * US),
        ("stolen: job2", 20 * US),
        ("system: job2", 100 * US),
    ]


def test_an_idle_partition_has_nothing_stolen() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "idle", 0.5)
    sim.run_until(10 * WINDOW)
    times = lpar.machine.cpus[0].times()
    assert times["idle_ps"] == 10 * WINDOW
    assert times["idle_ticks"] == 10 * WINDOW // TICK


def test_lost_ticks_are_caught_up_and_count_for_what_was_interrupted() -> None:
    # one thread computes, the other idles: 100 % and 0 %, though half of the time is stolen
    sim = Simulator()
    lpar = add(make_pool(sim), "half", 0.5, threads=2)
    cpu = lpar.machine.cpus[0]
    cpu.run(PROCESS_LEVEL, Endless(sim, "load"), 70 * US, SYSTEM)
    sim.run_until(20 * WINDOW)
    busy, idle = (cpu.times() for cpu in lpar.machine.cpus)
    ticks = 20 * WINDOW // TICK
    assert busy["user_ticks"] + busy["system_ticks"] >= ticks - 2
    assert busy["idle_ticks"] == 0
    assert idle["idle_ticks"] == ticks


def test_a_system_call_that_is_interrupted_gets_the_ticks_that_are_lost() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "tenth", 0.1)
    (cpu,) = lpar.machine.cpus
    job = Job(sim, "job", PROCESS_LEVEL, SYSTEM)
    cpu.run_to_user(job, 2500 * US, 1000 * US)
    sim.run_until(4 * WINDOW)
    # a tenth of each window: system time until the third, in which user time begins
    assert job.done_ps == [30 * MS + 500 * US]
    times = cpu.times()
    assert (times["system_ps"], times["user_ps"]) == (2500 * US, 1000 * US)
    assert (times["system_ticks"], times["user_ticks"]) == (6, 2)


def test_an_interrupt_that_has_to_wait_changes_nothing_of_what_lost_ticks_count_for() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "tenth", 0.1)
    (cpu,) = lpar.machine.cpus
    cpu.run(PROCESS_LEVEL, Job(sim, "job", PROCESS_LEVEL, SYSTEM), 2 * MS, SYSTEM)
    handler = Handler(sim, "handler")
    Agenda(sim).at(5 * MS, cpu.raise_irq, handler, 10 * US)
    sim.run_until(3 * WINDOW)
    assert handler.done_ps == [10 * MS + 10 * US]
    times = cpu.times()
    # at 1 ps, 4, 8, ... 20 ms: the last 10 us of it come in the third window
    assert (times["system_ticks"], times["irq_ticks"]) == (6, 0)


def test_a_process_that_is_woken_wakes_the_virtual_processor() -> None:
    env = Environment()
    lpar = add(make_pool(env.sim, count=2), "two", 2.0, procs=2)
    first, second = lpar.machine.cpus
    thread = Thread(env, lpar.machine, "thread", second, IowaitClock(lpar.machine.cpus))
    first.run(PROCESS_LEVEL, Endless(env.sim, "load"), 70 * US, USER)

    def program() -> Any:
        yield env.timeout(2 * MS)
        yield thread.work(system_ps=MS)
        done.append((env.now, thread.cpu))

    done: list[Any] = []
    env.process(program())
    env.run(until=WINDOW)
    assert done == [(3 * MS, second)]


def test_purr_splits_a_core_between_threads_that_both_execute() -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "whole", 1.0, threads=2)
    first, second = lpar.machine.cpus
    Job(sim, "long", PROCESS_LEVEL, SYSTEM).start(first, 8 * MS)
    Job(sim, "short", PROCESS_LEVEL, SYSTEM).start(second, 2 * MS)
    sim.run_until(WINDOW)
    lpar.processors[0].count()
    # both at half speed until 4 ms; then 6 ms alone
    assert (first.purr_ps, second.purr_ps) == (8 * MS, 2 * MS)


@pytest.mark.parametrize(
    ("level", "mode", "name"),
    [
        (PROCESS_LEVEL, USER, "user"),
        (PROCESS_LEVEL, SYSTEM, "system"),
        (SOFT_LEVEL, SOFTIRQ, "softirq"),
        (HARD_LEVEL, IRQ, "irq"),
    ],
)
def test_lost_ticks_count_for_the_mode_that_was_interrupted_and_all_add_up(
    level: int, mode: int, name: str
) -> None:
    sim = Simulator()
    lpar = add(make_pool(sim), "tenth", 0.1)
    (cpu,) = lpar.machine.cpus
    job = Job(sim, "job", level, mode)
    job.start(cpu, 2500 * US)
    sim.run_until(6 * WINDOW)
    assert job.done_ps == [20 * MS + 500 * US]
    times = cpu.times()
    modes = ("user", "system", "softirq", "irq", "idle")
    # at 1 ps, 4, 8, ... 20 ms; the others find the CPU idle, to the one at 56 ms. In the third
    # window a handler keeps the tick from coming before it ends
    found = 5 if mode == IRQ else 6
    assert {one: times[f"{one}_ticks"] for one in modes} == dict.fromkeys(modes, 0) | {
        name: found,
        "idle": 15 - found,
    }
    assert times[f"{name}_ps"] == 2500 * US
