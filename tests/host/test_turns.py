"""Whose turn it is on a CPU, to the microsecond: slices, the expired, preemption, balancing."""

import pytest

from simnet.host.accounting import PROCESS_LEVEL, USER
from simnet.host.cpu import Cpu
from simnet.host.machine import Machine
from simnet.host.scheduler import Task
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, US, make_costs, make_machine

Turns = list[tuple[int, str]]
SLICE = 10 * MS


class Worker(Task):
    """Computes in pieces of 100 us, for ever or so many; says when it gets the CPU."""

    turns: Turns
    pieces = -1

    def step(self, cpu: Cpu) -> None:
        if not self.turns or self.turns[-1][1] != self.path:
            self.turns.append((self.sim.now // US, self.path))
        if self.pieces == 0:
            self.sleep()
        elif not self.yield_if_needed(cpu):
            self.pieces -= 1
            cpu.run(PROCESS_LEVEL, self, 100 * US, USER)


class Bench:
    """A machine with slices of 10 ms at nice 0, and workers on its first CPU unless told."""

    def __init__(self, cpus: int = 1, *, balanced: bool = False, **cost_ns: int) -> None:
        self.sim = Simulator()
        self.machine: Machine = make_machine(
            self.sim,
            costs=make_costs(**cost_ns),
            cores_per_socket=cpus,
            timeslice_ps=SLICE,
            idle_balance=balanced,
        )
        self.turns: Turns = []

    def worker(
        self,
        name: str,
        nice: int = 0,
        *,
        cpu: int = 0,
        pieces: int = -1,
        allowed: set[int] | None = None,
    ) -> Worker:
        task = Worker(
            self.machine.scheduler,
            name,
            self.machine.cpus[cpu],
            nice,
            None if allowed is None else frozenset(allowed),
        )
        task.turns, task.pieces = self.turns, pieces
        return task

    def start(self, *tasks: Worker, on: int = 0) -> None:
        for task in tasks:
            self.machine.scheduler.wake(task, self.machine.cpus[on])
        self.machine.cpus[on].kick()

    def run(self, until_us: int) -> Turns:
        self.sim.run_until(until_us * US)
        return self.turns


class TestSlices:
    def test_two_of_one_priority_take_turns_of_a_slice(self) -> None:
        bench = Bench()
        bench.start(bench.worker("a"), bench.worker("b"))
        assert bench.run(39_999) == [(0, "a"), (10_000, "b"), (20_000, "a"), (30_000, "b")]
        assert bench.machine.scheduler.switches == 4

    def test_who_is_alone_goes_on(self) -> None:
        bench = Bench()
        bench.start(bench.worker("a"))
        bench.run(25_000)
        # its slice is long over when the other comes: it gives way after its piece
        bench.start(bench.worker("b"))
        assert bench.run(35_150) == [(0, "a"), (25_100, "b"), (35_100, "a")]

    def test_who_has_used_its_slice_waits_for_all_that_have_not(self) -> None:
        bench = Bench()
        bench.start(bench.worker("a"), bench.worker("b", 5), bench.worker("c", 10))
        # nice 5 has three quarters of the time, nice 10 half; then all have new slices
        assert bench.run(32_000) == [*((0, "a"), (10_000, "b"), (17_500, "c"), (22_500, "a"))]

    @pytest.mark.parametrize(("nice", "turns"), [(-1, 3), (0, 2), (1, 2)])
    def test_who_is_better_goes_first_at_the_next_piece(self, nice: int, turns: int) -> None:
        bench = Bench()
        bench.start(bench.worker("a"))
        bench.run(1050)
        better = bench.worker("b", nice, pieces=2)
        bench.start(better)
        found = bench.run(30_000)
        if turns == 3:
            assert found == [(0, "a"), (1100, "b"), (1300, "a")]
        else:
            assert found == [(0, "a"), (10_000, "b"), (10_200, "a")]
        assert better.sleeping

    def test_a_turn_costs_a_switch_and_the_last_one_to_sleep_makes_the_cpu_idle(self) -> None:
        bench = Bench(context_switch=3000)
        bench.start(bench.worker("a", pieces=2), bench.worker("b", pieces=1))
        assert bench.run(1000) == [(3, "a"), (206, "b")]
        scheduler = bench.machine.scheduler
        # to a, to b, to the idle task
        assert scheduler.switches == 3
        assert bench.machine.costs.ledger.wakeup == 6 * US
        times = bench.machine.cpus[0].times()
        assert (times["system_ps"], times["user_ps"]) == (6 * US, 300 * US)
        assert times["idle_ps"] == 1000 * US - 306 * US


class TestWaking:
    def test_elsewhere_it_costs_an_interrupt(self) -> None:
        bench = Bench(2, ipi=2000, context_switch=1000)
        task = bench.worker("a", cpu=1, pieces=1, allowed={1})
        assert task.wake_on(bench.machine.cpus[0])
        assert bench.run(1000) == [(3, "a")]
        scheduler = bench.machine.scheduler
        assert (scheduler.ipis, task.wakeups, task.migrations) == (1, 1, 0)
        assert bench.machine.costs.ledger.wakeup == 3 * US
        assert bench.machine.cpus[1].times()["irq_ps"] == 2 * US
        assert bench.machine.cpus[1].hard_interrupts == 1

    def test_awake_it_is_not_woken(self) -> None:
        bench = Bench()
        task = bench.worker("a", pieces=3)
        bench.start(task)
        assert not task.wake_on(bench.machine.cpus[0])
        assert task.wakeups == 0
        bench.run(1000)
        assert task.wake_on(bench.machine.cpus[0])
        assert task.wakeups == 1


class TestBalancing:
    def test_the_longest_queue_gives_the_one_that_has_waited_longest(self) -> None:
        bench = Bench(3, balanced=True)
        here = [bench.worker(f"a{n}", allowed={0, 2}) for n in range(2)]
        there = [bench.worker(f"b{n}", cpu=1, allowed={1, 2}) for n in range(3)]
        bench.start(*here)
        bench.start(*there, on=1)
        bench.run(3999)
        assert [task.cpu.cpu_id for task in (*here, *there)] == [0, 0, 1, 1, 1]
        bench.run(4001)
        assert [task.cpu.cpu_id for task in (*here, *there)] == [0, 0, 1, 2, 1]
        assert [task.migrations for task in (*here, *there)] == [0, 0, 0, 1, 0]

    def test_one_that_may_not_go_is_passed_over(self) -> None:
        bench = Bench(2, balanced=True)
        tasks = [bench.worker("a"), bench.worker("b", allowed={0}), bench.worker("c")]
        bench.start(*tasks)
        bench.run(4001)
        assert [task.cpu.cpu_id for task in tasks] == [0, 0, 1]

    def test_of_two_queues_as_long_the_first_gives(self) -> None:
        bench = Bench(3, balanced=True)
        here = [bench.worker(f"a{n}", allowed={0, 2}) for n in range(2)]
        there = [bench.worker(f"b{n}", cpu=1, allowed={1, 2}) for n in range(2)]
        bench.start(*here)
        bench.start(*there, on=1)
        bench.run(4001)
        assert [task.cpu.cpu_id for task in (*here, *there)] == [0, 2, 1, 1]

    def test_it_is_looked_for_at_every_tick_while_anybody_waits(self) -> None:
        bench = Bench(2, balanced=True)
        tasks = [bench.worker("a"), bench.worker("b"), bench.worker("c", cpu=1, pieces=50)]
        bench.start(tasks[2], on=1)
        bench.start(*tasks[:2])
        bench.run(4500)
        assert [task.cpu.cpu_id for task in tasks] == [0, 0, 1]
        # c ends at 5 ms and leaves its CPU to b at once
        bench.run(5000)
        assert [task.cpu.cpu_id for task in tasks] == [0, 1, 1]
        assert bench.machine.cpus[1].times()["idle_ps"] == 0
        assert bench.machine.scheduler.switches == 3
