"""What a CPU executes when: levels, preemption, SMT, interrupts, accounting. Times are exact."""

from collections import deque
from fractions import Fraction
from functools import partial

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.accounting import HARD_LEVEL, PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, SYSTEM, USER
from simnet.host.cpu import Cpu, Softirqs
from simnet.kernel.priority import LAST, NIC, WIRE
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, NS, US, Agenda, Handler, Job, make_machine
from tests.house.examples import examples


def make_cpus(count: int = 1, *, slow_permille: int = 2000) -> tuple[Simulator, list[Cpu], Agenda]:
    """One CPU, or two SMT siblings."""
    sim = Simulator()
    machine = make_machine(sim, threads_per_core=count, smt_slowdown_permille=slow_permille)
    return sim, machine.cpus, Agenda(sim)


class TestLevels:
    def test_higher_ones_suspend_lower_ones(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        soft = Job(sim, "soft", SOFT_LEVEL, SOFTIRQ)
        handler = Handler(sim, "handler")
        agenda.at(0, process.start, cpu, 100 * US)
        agenda.at(30 * US, soft.start, cpu, 20 * US)
        agenda.at(40 * US, cpu.raise_irq, handler, 5 * US)
        sim.run_until(MS)
        assert handler.done_ps == [45 * US]
        assert soft.done_ps == [55 * US]
        assert process.done_ps == [125 * US]

    def test_interrupt_at_the_very_end_of_a_piece_comes_before_what_follows_it(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        handler = Handler(sim, "handler")
        agenda.at(0, process.start, cpu, 10 * US, 10 * US)
        agenda.at(10 * US, cpu.raise_irq, handler, 4 * US)
        sim.run_until(MS)
        assert handler.done_ps == [14 * US]
        assert process.done_ps == [14 * US, 24 * US]

    @pytest.mark.parametrize(
        ("priority", "device_first"), [(WIRE, True), (NIC, True), (LAST, False)]
    )
    def test_what_devices_do_when_a_piece_ends_comes_before_what_follows_it(
        self, priority: int, *, device_first: bool
    ) -> None:
        sim, (cpu,), _ = make_cpus()
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        process.start(cpu, 10 * US)
        seen: list[bool] = []
        device = Agenda(sim, "device")
        device.things.append(lambda: seen.append(not process.done_ps))
        sim.at(10 * US, device, 0, 0, priority)
        sim.run_until(MS)
        assert seen == [device_first]

    def test_interrupts_wait_for_each_other_in_order(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        handlers = [Handler(sim, f"handler{n}") for n in range(3)]
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        agenda.at(0, process.start, cpu, 10 * US)
        for number, handler in enumerate(handlers):
            agenda.at((5 + number) * US, cpu.raise_irq, handler, 4 * US)
        sim.run_until(MS)
        assert [handler.done_ps for handler in handlers] == [[9 * US], [13 * US], [17 * US]]
        assert process.done_ps == [22 * US]
        assert cpu.hard_interrupts == 3

    def test_interrupt_raised_by_a_handler_follows_it(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        second = Handler(sim, "second")
        first = Handler(sim, "first", lambda cpu: cpu.raise_irq(second, 3 * US))
        agenda.at(0, cpu.raise_irq, first, 2 * US)
        sim.run_until(MS)
        assert (first.done_ps, second.done_ps) == ([2 * US], [5 * US])

    def test_work_of_no_length_is_done_at_once_and_in_order(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        agenda.at(7 * US, process.start, cpu, 0, 0, 5 * US, 0)
        sim.run_until(MS)
        assert process.done_ps == [7 * US, 7 * US, 12 * US, 12 * US]

    @given(
        st.lists(
            st.tuples(
                st.integers(0, 60),
                st.sampled_from([HARD_LEVEL, SOFT_LEVEL, PROCESS_LEVEL]),
                st.integers(0, 15),
            ),
            max_size=25,
        )
    )
    def test_preemptive_resume_in_order_of_arrival(
        self, arrivals: list[tuple[int, int, int]]
    ) -> None:
        sim, (cpu,), agenda = make_cpus()
        done: list[tuple[int, int]] = []

        def finish(number: int, _: Cpu) -> None:
            done.append((sim.now // US, number))

        queues = {level: Queue(sim, level, done) for level in (SOFT_LEVEL, PROCESS_LEVEL)}
        for number, (at_us, level, work_us) in enumerate(arrivals):
            if level == HARD_LEVEL:
                handler = Handler(sim, f"handler{number}", partial(finish, number))
                agenda.at(at_us * US, cpu.raise_irq, handler, work_us * US)
            else:
                agenda.at(at_us * US, queues[level].arrive, cpu, number, work_us * US)
        sim.run_until(MS)
        assert sorted(done) == sorted(literal(arrivals))


class Queue(Job):
    """Customers of one level, served in order."""

    def __init__(
        self, sim: Simulator, level: int, done: list[tuple[int, int]], path: str = "queue"
    ) -> None:
        super().__init__(sim, f"{path}.{level}", level, SYSTEM)
        self.done = done
        self.waiting: deque[tuple[int, int]] = deque()

    def arrive(self, cpu: Cpu, number: int, work_ps: int) -> None:
        self.waiting.append((number, work_ps))
        if len(self.waiting) == 1:
            cpu.run(self.level, self, work_ps, self.mode)

    def step(self, cpu: Cpu) -> None:
        number, _ = self.waiting.popleft()
        self.done.append((self.sim.now // US, number))
        if self.waiting:
            cpu.run(self.level, self, self.waiting[0][1], self.mode)


def literal(arrivals: list[tuple[int, int, int]]) -> list[tuple[int, int]]:
    """When each customer is done, microsecond by microsecond."""
    waiting: dict[int, deque[list[int]]] = {level: deque() for level in (2, 1, 0)}
    done = []
    for now in range(1000):
        for number, (at, level, work) in enumerate(arrivals):
            if at == now:
                waiting[level].append([number, work])
        # who is done leaves, unless somebody above is at work
        for level in (2, 1, 0):
            while waiting[level] and waiting[level][0][1] == 0:
                done.append((now, waiting[level].popleft()[0]))
            if waiting[level]:
                waiting[level][0][1] -= 1
                break
    return done


class TestSmt:
    def test_work_takes_longer_exactly_while_the_sibling_is_busy(self) -> None:
        sim, (one, other), agenda = make_cpus(2)
        long, short = (Job(sim, name, PROCESS_LEVEL, USER) for name in ("long", "short"))
        agenda.at(0, long.start, one, 100 * US)
        agenda.at(10 * US, short.start, other, 30 * US)
        sim.run_until(MS)
        # the short one takes 60 us, in which the long one does 30 of its remaining 90
        assert short.done_ps == [70 * US]
        assert long.done_ps == [130 * US]

    def test_interrupts_and_softirqs_slow_the_sibling_too(self) -> None:
        sim, (one, other), agenda = make_cpus(2)
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        agenda.at(0, process.start, one, 100 * US)
        agenda.at(10 * US, lambda: other.raise_irq(Handler(sim, "handler"), 5 * US))
        agenda.at(50 * US, lambda: Job(sim, "soft", SOFT_LEVEL, SOFTIRQ).start(other, 5 * US))
        sim.run_until(MS)
        assert process.done_ps == [110 * US]

    def test_waiting_between_pieces_does_not(self) -> None:
        sim, (one, other), agenda = make_cpus(2)
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        nothing = Job(sim, "nothing", PROCESS_LEVEL, USER)
        agenda.at(0, process.start, one, 100 * US)
        agenda.at(10 * US, nothing.start, other, 0, 0)
        sim.run_until(MS)
        assert process.done_ps == [100 * US]

    @settings(max_examples=examples(200))
    @given(
        st.integers(1000, 3000),
        st.lists(st.tuples(st.integers(0, 40_000), st.integers(1, 20_000)), max_size=12),
        st.lists(st.tuples(st.integers(0, 40_000), st.integers(1, 20_000)), max_size=12),
    )
    def test_stretching_is_exact(
        self, slow_permille: int, mine: list[tuple[int, int]], its: list[tuple[int, int]]
    ) -> None:
        """Against rational arithmetic: each change of speed may cost one picosecond."""
        sim, cpus, agenda = make_cpus(2, slow_permille=slow_permille)
        done: list[tuple[int, int]] = []
        finished: list[list[int]] = [[], []]
        for side, (cpu, jobs) in enumerate(zip(cpus, (mine, its), strict=True)):
            queue = Watcher(sim, f"side{side}", finished[side])
            for at_ns, work_ns in jobs:
                agenda.at(at_ns * NS, queue.arrive, cpu, 0, work_ns * NS)
        sim.run_until(MS)
        expected = rational(slow_permille, mine, its)
        changes = 2 * (len(mine) + len(its)) + 2
        for side in (0, 1):
            for got, exact in zip(finished[side], expected[side], strict=True):
                assert abs(got - exact) <= changes
        assert done == []

    @settings(max_examples=examples(200))
    @given(
        st.integers(1000, 3000),
        st.lists(st.integers(0, 500), min_size=1, max_size=8),
        st.lists(st.tuples(st.integers(0, 3_000_000), st.integers(0, 700)), max_size=6),
    )
    def test_splitting_work_never_changes_when_it_ends(
        self, slow_permille: int, pieces_ns: list[int], disturbances: list[tuple[int, int]]
    ) -> None:
        ends = []
        for pieces in (pieces_ns, [sum(pieces_ns)]):
            sim, (one, other), agenda = make_cpus(2, slow_permille=slow_permille)
            job = Job(sim, "job", PROCESS_LEVEL, USER)
            agenda.at(0, job.start, one, *(n * NS for n in pieces))
            sibling = Watcher(sim, "sibling", [])
            for number, (at_ps, work_ns) in enumerate(disturbances):
                handler = Handler(sim, f"handler{number}")
                agenda.at(at_ps, sibling.arrive, other, 0, work_ns * NS)
                agenda.at(at_ps + 1, one.raise_irq, handler, work_ns * NS)
            sim.run_until(MS)
            ends.append(job.done_ps[-1])
        assert ends[0] == ends[1]


class Watcher(Queue):
    """A queue that writes down when its customers are done, to the picosecond."""

    def __init__(self, sim: Simulator, path: str, finished: list[int]) -> None:
        super().__init__(sim, PROCESS_LEVEL, [], path)
        self.finished = finished

    def step(self, cpu: Cpu) -> None:
        self.finished.append(self.sim.now)
        super().step(cpu)


def rational(
    slow_permille: int, *jobs: list[tuple[int, int]]
) -> tuple[list[Fraction], list[Fraction]]:
    """When the jobs of two siblings are done, in ps."""
    queues = [sorted(side) for side in jobs]
    # sorted() is stable in arrival; equal arrivals keep their order of submission
    queues = [sorted(side, key=lambda job: job[0]) for side in jobs]
    work: list[Fraction] = [Fraction(0), Fraction(0)]
    finished: tuple[list[Fraction], list[Fraction]] = ([], [])
    now = Fraction(0)
    while any(queues) or any(work):
        for side in (0, 1):
            if not work[side] and queues[side] and queues[side][0][0] * NS <= now:
                work[side] = Fraction(queues[side].pop(0)[1] * NS)
        busy = [side for side in (0, 1) if work[side]]
        speed = Fraction(1000, slow_permille) if len(busy) == 2 else Fraction(1)
        steps = [work[side] / speed for side in busy]
        steps += [
            queues[side][0][0] * NS - now for side in (0, 1) if not work[side] and queues[side]
        ]
        step = min(steps)
        now += step
        for side in busy:
            work[side] -= step * speed
            if not work[side]:
                finished[side].append(now)
    return finished


class Recorder(Softirqs):
    """Softirqs that take 10 us and can be made pending."""

    def __init__(self, sim: Simulator, cpu: Cpu) -> None:
        super().__init__(sim, "recorder")
        self.log: list[tuple[int, str]] = []
        self.pending = False
        cpu.softirqs = self

    def begin(self, cpu: Cpu) -> None:
        self.pending = False
        self.log.append((self.sim.now, "begin"))
        cpu.run(SOFT_LEVEL, self, 10 * US, SOFTIRQ)

    def step(self, cpu: Cpu) -> None:  # noqa: ARG002 - the interface of contexts
        self.log.append((self.sim.now, "end"))


class TestSoftirqEntry:
    """`irq_exit` and `local_bh_enable` run pending softirqs, nothing else does."""

    def make(self) -> tuple[Simulator, Cpu, Agenda, Recorder]:
        sim, (cpu,), agenda = make_cpus()
        return sim, cpu, agenda, Recorder(sim, cpu)

    @staticmethod
    def mark(softirqs: Recorder) -> Handler:
        """A handler that makes softirqs pending."""

        def then(_: Cpu) -> None:
            softirqs.pending = True

        return Handler(softirqs.sim, f"handler{softirqs.sim.now}", then)

    def test_at_interrupt_exit_before_the_process_goes_on(self) -> None:
        sim, cpu, agenda, softirqs = self.make()
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        agenda.at(0, process.start, cpu, 20 * US)
        agenda.at(5 * US, lambda: cpu.raise_irq(self.mark(softirqs), 2 * US))
        sim.run_until(MS)
        assert softirqs.log == [(7 * US, "begin"), (17 * US, "end")]
        assert process.done_ps == [32 * US]

    def test_after_all_interrupts_that_wait(self) -> None:
        sim, cpu, agenda, softirqs = self.make()
        agenda.at(5 * US, lambda: cpu.raise_irq(self.mark(softirqs), 2 * US))
        agenda.at(6 * US, lambda: cpu.raise_irq(Handler(sim, "other"), 3 * US))
        sim.run_until(MS)
        assert softirqs.log[0] == (10 * US, "begin")

    def test_not_inside_softirqs(self) -> None:
        sim, cpu, agenda, softirqs = self.make()
        agenda.at(0, lambda: cpu.raise_irq(self.mark(softirqs), US))
        agenda.at(5 * US, lambda: cpu.raise_irq(self.mark(softirqs), 2 * US))
        sim.run_until(MS)
        # the interrupt came while softirqs ran: whoever runs them looks again, not the exit
        assert softirqs.log == [(US, "begin"), (13 * US, "end")]
        assert softirqs.pending

    def test_not_while_a_process_keeps_them_out_but_when_it_lets_them_in(self) -> None:
        sim, cpu, agenda, softirqs = self.make()
        section = Job(sim, "section", SOFT_LEVEL, SOFTIRQ)
        process = Job(sim, "process", PROCESS_LEVEL, SYSTEM)
        agenda.at(0, section.start, cpu, 20 * US)
        agenda.at(0, process.start, cpu, 50 * US)
        agenda.at(5 * US, lambda: cpu.raise_irq(self.mark(softirqs), 2 * US))
        agenda.at(30 * US, cpu.kick)
        sim.run_until(MS)
        assert section.done_ps == [22 * US]
        assert softirqs.log == [(30 * US, "begin"), (40 * US, "end")]
        assert process.done_ps == [82 * US]

    def test_pending_ones_wait_for_an_occasion(self) -> None:
        sim, cpu, agenda, softirqs = self.make()
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        softirqs.pending = True
        agenda.at(0, process.start, cpu, 20 * US)
        sim.run_until(MS)
        assert softirqs.log == []


class Spans:
    """A tracer that keeps spans."""

    def __init__(self) -> None:
        self.log: list[tuple[str, str, int, int]] = []

    def span(self, track: str, name: str, start_ps: int, end_ps: int) -> None:
        self.log.append((track, name, start_ps, end_ps))


class TestAccounting:
    def test_every_mode_gets_its_time(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        agenda.at(10 * US, lambda: Job(sim, "user", PROCESS_LEVEL, USER).start(cpu, 7 * US))
        agenda.at(30 * US, lambda: Job(sim, "system", PROCESS_LEVEL, SYSTEM).start(cpu, 5 * US))
        agenda.at(50 * US, lambda: Job(sim, "soft", SOFT_LEVEL, SOFTIRQ).start(cpu, 3 * US))
        agenda.at(51 * US, lambda: cpu.raise_irq(Handler(sim, "handler"), 2 * US))
        sim.run_until(100 * US)
        times = cpu.times()
        expected = {"user": 7, "system": 5, "softirq": 3, "irq": 2, "idle": 83}
        assert {mode: times[f"{mode}_ps"] // US for mode in expected} == expected

    def test_a_trace_tells_who_had_the_cpu_and_why(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        spans = Spans()
        sim.tracer = spans
        agenda.at(0, Job(sim, "user", PROCESS_LEVEL, USER).start, cpu, 4 * US)
        agenda.at(5 * US, Job(sim, "system", PROCESS_LEVEL, SYSTEM).start, cpu, 3 * US)
        agenda.at(20 * US, Job(sim, "soft", SOFT_LEVEL, SOFTIRQ).start, cpu, 2 * US)
        agenda.at(30 * US, cpu.raise_irq, Handler(sim, "handler"), US)
        sim.run_until(100 * US)
        cpu.times()
        assert spans.log == [
            (cpu.path, "user: user", 0, 4 * US),
            (cpu.path, "system: system", 5 * US, 8 * US),
            (cpu.path, "softirq", 20 * US, 22 * US),
            (cpu.path, "hard interrupt: handler", 30 * US, 31 * US),
        ]

    def test_tick_in_a_handler_counts_for_what_follows(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        process = Job(sim, "process", PROCESS_LEVEL, USER)
        # the first tick of CPU 0 is at 1 ps, the second 4 ms later
        agenda.at(MS, process.start, cpu, 10 * MS)
        agenda.at(4 * MS - US, lambda: cpu.raise_irq(Handler(sim, "handler"), 2 * US))
        sim.run_until(5 * MS)
        times = cpu.times()
        assert (times["idle_ticks"], times["irq_ticks"], times["user_ticks"]) == (1, 0, 1)

    @pytest.mark.parametrize(("mode", "name"), [(USER, "user"), (SYSTEM, "system")])
    def test_ticks_sample_the_mode(self, mode: int, name: str) -> None:
        sim, (cpu,), agenda = make_cpus()
        agenda.at(5 * MS, lambda: Job(sim, "job", PROCESS_LEVEL, mode).start(cpu, 100 * MS))
        sim.run_until(200 * MS)
        times = cpu.times()
        # at 0 and 4; from 8 to 104; from 108 to 196
        assert (times[f"{name}_ticks"], times["idle_ticks"]) == (25, 2 + 23)

    def test_kernel_and_user_part_of_one_piece(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        job = Both(sim, [(6, 4), (3, 9), (5, 0), (0, 7)])
        agenda.at(10 * US, job.step, cpu)
        sim.run_until(MS)
        assert job.done_ps == [20 * US, 32 * US, 37 * US, 44 * US]
        times = cpu.times()
        assert (times["system_ps"], times["user_ps"]) == (14 * US, 20 * US)

    @settings(max_examples=examples(200))
    @given(
        st.lists(st.tuples(st.integers(0, 900), st.integers(0, 900)), min_size=1, max_size=12),
        st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 300)), max_size=8),
        st.lists(st.tuples(st.integers(0, 9000), st.integers(0, 900)), max_size=8),
    )
    def test_parts_are_kept_apart_through_interrupts_and_changes_of_speed(
        self,
        parts: list[tuple[int, int]],
        interrupts: list[tuple[int, int]],
        disturbances: list[tuple[int, int]],
    ) -> None:
        sim, (cpu, sibling), agenda = make_cpus(2, slow_permille=1000)
        job = Both(sim, parts)
        agenda.at(0, job.step, cpu)
        for number, (at_us, work_us) in enumerate(interrupts):
            handler = Handler(sim, f"handler{number}")
            agenda.at(at_us * US, cpu.raise_irq, handler, work_us * US)
        watcher = Watcher(sim, "sibling", [])
        for at_us, work_us in disturbances:
            agenda.at(at_us * US, watcher.arrive, sibling, 0, work_us * US)
        sim.run_until(100 * MS)
        times = cpu.times()
        assert times["system_ps"] == sum(system for system, _ in parts) * US
        assert times["user_ps"] == sum(user for _, user in parts) * US
        assert times["irq_ps"] == sum(work for _, work in interrupts) * US

    def test_a_tick_sees_the_part_that_it_falls_into(self) -> None:
        sim, (cpu,), agenda = make_cpus()
        # ticks at 4 and 8 ms: the first in the kernel, the second in the application
        job = Both(sim, [(3000, 6000)])
        agenda.at(2 * MS, job.step, cpu)
        sim.run_until(20 * MS)
        times = cpu.times()
        assert (times["system_ticks"], times["user_ticks"]) == (1, 1)


class Both(Job):
    """Pieces that begin in the kernel and end in the application, lengths in us."""

    def __init__(self, sim: Simulator, parts: list[tuple[int, int]]) -> None:
        super().__init__(sim, "both", PROCESS_LEVEL, USER)
        self.parts = list(parts)
        self.begun = False

    def step(self, cpu: Cpu) -> None:
        if self.begun:
            self.done_ps.append(self.sim.now)
        self.begun = True
        if self.parts:
            system_us, user_us = self.parts.pop(0)
            cpu.run_to_user(self, system_us * US, user_us * US)


def test_the_next_tick_is_a_whole_number_of_ticks_on_and_never_now() -> None:
    sim = Simulator()
    machine = make_machine(sim)
    cpu = machine.cpus[0]
    first = cpu.tick_after(0)
    second = cpu.tick_after(first)
    assert 0 < first < second
    assert [cpu.tick_after(first + late) for late in (-1, 0, 1)] == [first, second, second]
    assert cpu.tick_after(second - 1) == second
    assert cpu.tick_after(second) == second + (second - first)
    assert second - first == machine.layout.tick_ps
