"""Where a woken task runs, and who runs next (kernel/sched.c of Linux 2.6.16 to 18)."""

import pytest

from simnet.host.accounting import SOFT_LEVEL, SOFTIRQ
from simnet.host.cpu import Cpu
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, US, Busy, Job, Once, make_costs, make_machine

TICK = 4 * MS


class Host:
    """Two nodes with two cores of two threads: 0-3 and 4-7, siblings 0 and 1, 2 and 3, ..."""

    def __init__(self, **cost_ns: int) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim,
            "host",
            make_costs(**cost_ns),
            nodes=2,
            cores_per_socket=2,
            threads_per_core=2,
            smt_slowdown_permille=1000,
        )
        self.cpus = self.machine.cpus
        self.scheduler = self.machine.scheduler
        self.busy: dict[int, list[Busy]] = {}

    def task(self, cpu: int, allowed: set[int] | None = None) -> Once:
        return Once(
            self.scheduler,
            f"task{len(self.sim.components)}",
            self.cpus[cpu],
            0,
            None if allowed is None else frozenset(allowed),
        )

    def occupy(self, *numbers: int) -> None:
        """Have a task compute on each of these CPUs, for long enough that averages know."""
        for number in numbers:
            task = Busy(
                self.scheduler,
                f"busy{len(self.sim.components)}",
                self.cpus[number],
                0,
                frozenset({number}),
            )
            self.busy.setdefault(number, []).append(task)
            task.wake_on(self.cpus[number])
            self.cpus[number].kick()
        self.sim.run_until(self.sim.now + 20 * TICK)

    def soft(self, number: int) -> None:
        """Keep a CPU in softirqs."""
        job = Job(self.sim, f"soft{number}", SOFT_LEVEL, SOFTIRQ)
        job.start(self.cpus[number], 1000 * MS)
        self.sim.run_until(self.sim.now + 20 * TICK)


@pytest.mark.parametrize(
    ("last", "waker", "busy", "chosen"),
    [
        # the waker is where it ran last
        (0, 0, (), 0),
        (0, 0, (0,), 1),  # wake_idle: its sibling is idle
        (0, 0, (0, 1), 0),
        # sibling
        (1, 0, (), 0),
        (1, 0, (0,), 1),
        (1, 0, (1,), 0),
        # same node: pulled if the waker's load is no higher and both together make one task
        (2, 0, (), 0),
        (2, 0, (0,), 2),
        (2, 0, (2,), 0),
        (2, 0, (0, 2), 3),
        (2, 0, (0, 2, 3), 2),
        # other node: pulled if the waker's load is no higher than 100/112 of the other
        (4, 0, (), 0),
        (4, 0, (0,), 4),
        (4, 0, (4,), 0),
        (4, 0, (0, 4), 5),
        (4, 0, (0, 4, 5), 4),
        # pulled to a loaded waker whose sibling is idle
        (2, 0, (0, 2, 2, 2), 1),
        (4, 0, (0, 4, 4), 1),
        # one task is 100 * (1 + 1) <= 112 * 2 less than two
        (2, 0, (0, 1, 2, 2), 0),
        (2, 0, (0, 1, 2), 3),
    ],
)
def test_placement(last: int, waker: int, busy: tuple[int, ...], chosen: int) -> None:
    host = Host()
    host.occupy(*busy)
    assert host.scheduler.place(host.task(last), host.cpus[waker]).cpu_id == chosen


class TestBlindness:
    """Load numbers count tasks: softirqs do not show."""

    def test_task_is_pulled_onto_a_cpu_that_is_busy_with_softirqs(self) -> None:
        host = Host()
        host.soft(0)
        assert host.scheduler.place(host.task(4), host.cpus[0]).cpu_id == 0

    def test_softirqs_do_not_drive_it_to_the_sibling_either(self) -> None:
        host = Host()
        host.soft(0)
        assert host.scheduler.place(host.task(0), host.cpus[0]).cpu_id == 0


class TestAverages:
    """wake_idx 1: the source counts as the lower, the target as the higher of now and average."""

    def test_waker_that_was_busy_until_now_does_not_pull(self) -> None:
        host = Host()
        host.occupy(0)
        host.busy[0][0].stop = True
        host.sim.run_until(host.sim.now + MS)
        assert host.cpus[0].current is None
        task = host.task(4)
        assert host.scheduler.place(task, host.cpus[0]).cpu_id == 4
        # the average halves with every tick: 64, 32, 16, 8, 4, 2, 1, 0
        host.sim.run_until(host.sim.now + 7 * TICK)
        assert host.scheduler.place(task, host.cpus[0]).cpu_id == 4
        host.sim.run_until(host.sim.now + TICK)
        assert host.scheduler.place(task, host.cpus[0]).cpu_id == 0

    def test_siblings_look_at_the_present_alone(self) -> None:
        host = Host()
        host.occupy(0)
        host.busy[0][0].stop = True
        host.sim.run_until(host.sim.now + MS)
        assert host.scheduler.place(host.task(1), host.cpus[0]).cpu_id == 0

    def test_two_tasks_that_came_just_now_keep_a_third(self) -> None:
        host = Host()
        host.occupy(1)
        before = host.sim.now
        for number in range(2):
            other = Busy(host.scheduler, f"new{number}", host.cpus[2], 0, frozenset({2}))
            other.wake_on(host.cpus[2])
        host.cpus[2].kick()
        host.sim.run_until(before + 2 * US)
        # the average of CPU 2 is still 0, but as a target it has the load of two
        assert host.scheduler.place(host.task(2), host.cpus[0]).cpu_id == 3


class TestAllowed:
    def test_waker_outside_does_not_pull(self) -> None:
        host = Host()
        assert host.scheduler.place(host.task(4, {4, 5}), host.cpus[0]).cpu_id == 4

    def test_idle_sibling_outside_is_not_taken(self) -> None:
        host = Host()
        host.occupy(4)
        assert host.scheduler.place(host.task(4, {4}), host.cpus[0]).cpu_id == 4
        assert host.scheduler.place(host.task(4, {4, 5}), host.cpus[0]).cpu_id == 5

    def test_waker_inside_does(self) -> None:
        host = Host()
        assert host.scheduler.place(host.task(6, {4, 5, 6}), host.cpus[4]).cpu_id == 4


class TestWaking:
    def test_on_the_wakers_cpu_after_a_context_switch(self) -> None:
        host = Host(context_switch=3000, ipi=2000)
        task = host.task(0)
        assert task.wake_on(host.cpus[0])
        host.cpus[0].kick()
        host.sim.run_until(MS)
        assert task.log == [(3 * US, 0)]
        assert host.scheduler.ipis == 0
        assert host.cpus[0].times()["system_ps"] == 3 * US
        assert host.machine.costs.ledger.work()["wakeup"] == 3 * US

    def test_elsewhere_after_an_interrupt_too(self) -> None:
        host = Host(context_switch=3000, ipi=2000)
        host.occupy(0, 1)
        start = host.sim.now
        before = host.machine.costs.ledger.work()["wakeup"]
        task = host.task(4)
        task.wake_on(host.cpus[0])
        host.sim.run_until(start + MS)
        assert host.machine.costs.ledger.work()["wakeup"] == before + 5 * US
        assert task.log == [(start + 5 * US, 4)]
        assert (host.scheduler.ipis, host.cpus[4].hard_interrupts) == (1, 1)

    def test_awake_already_is_nothing(self) -> None:
        host = Host()
        task = host.task(0)
        assert task.wake_on(host.cpus[0])
        assert not task.wake_on(host.cpus[4])
        assert (task.wakeups, task.migrations) == (1, 0)

    def test_migrations_are_counted(self) -> None:
        host = Host()
        task = host.task(4)
        task.wake_on(host.cpus[0])
        assert (task.cpu.cpu_id, task.migrations) == (0, 1)

    def test_not_before_the_softirq_that_woke_it_has_ended(self) -> None:
        host = Host()
        soft = Job(host.sim, "soft", SOFT_LEVEL, SOFTIRQ)
        task = host.task(0)
        soft.start(host.cpus[0], 50 * US)
        host.sim.run_until(10 * US)
        task.wake_on(host.cpus[0])
        host.sim.run_until(MS)
        assert task.log == [(50 * US, 0)]


class TestTurns:
    def test_better_priority_runs_first(self) -> None:
        host = Host()
        cpu = host.cpus[0]
        host.occupy(0)
        first, second = (
            Once(host.scheduler, f"nice{nice}", cpu, nice, frozenset({0})) for nice in (5, -5)
        )
        first.wake_on(cpu)
        second.wake_on(cpu)
        start = host.sim.now
        host.sim.run_until(start + 1000 * MS)
        # nice -5 preempts when the running one next returns to user mode; nice 5 waits for its
        # slice of 100 ms to end
        assert start <= second.log[0][0] <= start + 100 * US
        assert first.log[0][0] > start + 10 * MS

    @pytest.mark.parametrize(
        ("nice", "expected_ms"), [(0, 100), (10, 50), (18, 10), (19, 5), (-1, 420), (-20, 800)]
    )
    def test_slice_depends_on_nice(self, nice: int, expected_ms: int) -> None:
        host = Host()
        cpu = host.cpus[0]
        task = Busy(host.scheduler, "task", cpu, nice, frozenset({0}))
        task.wake_on(cpu)
        cpu.kick()
        host.sim.run_until(US)
        rival = Once(host.scheduler, "rival", cpu, nice, frozenset({0}))
        rival.wake_on(cpu)
        host.sim.run_until(1000 * MS)
        assert rival.log[0][0] == pytest.approx(expected_ms * MS, abs=200 * US)


def _two_on_one_of_two(*, idle_balance: bool) -> tuple[list[Busy], Simulator, list[Cpu]]:
    """Two CPUs; two tasks are woken on the first."""
    sim = Simulator()
    machine = make_machine(sim, cores_per_socket=2, idle_balance=idle_balance)
    cpus = machine.cpus
    tasks = [Busy(machine.scheduler, f"task{n}", cpus[0]) for n in range(2)]
    for task in tasks:
        machine.scheduler.wake(task, cpus[0])
    cpus[0].kick()
    return tasks, sim, cpus


def test_an_idle_cpu_takes_a_waiting_task_at_the_next_tick() -> None:
    tasks, sim, cpus = _two_on_one_of_two(idle_balance=True)
    sim.run_until(TICK - US)
    assert [task.cpu.cpu_id for task in tasks] == [0, 0]
    sim.run_until(TICK + MS)
    assert [task.cpu.cpu_id for task in tasks] == [0, 1]
    assert cpus[1].times()["user_ps"] == MS


def test_a_task_that_was_taken_weighs_where_it_went_and_not_where_it_was() -> None:
    tasks, sim, cpus = _two_on_one_of_two(idle_balance=True)
    sim.run_until(3 * TICK)
    for task in tasks:
        task.stop = True
    sim.run_until(20 * TICK)
    scheduler = tasks[0].scheduler
    other = Once(scheduler, "other", cpus[1])
    # both are idle now, whoever had run there: the waker's CPU takes it
    assert scheduler.place(other, cpus[0]) is cpus[0]
    assert scheduler.place(Once(scheduler, "another", cpus[0]), cpus[1]) is cpus[1]


def test_without_balancing_a_waiting_task_waits() -> None:
    tasks, sim, cpus = _two_on_one_of_two(idle_balance=False)
    sim.run_until(3 * TICK)
    assert [task.cpu.cpu_id for task in tasks] == [0, 0]
    assert cpus[1].times()["idle_ps"] == 3 * TICK


def test_a_cpu_whose_last_task_sleeps_takes_a_waiting_one() -> None:
    sim = Simulator()
    machine = make_machine(sim, cores_per_socket=2, idle_balance=True)
    cpus = machine.cpus
    once = Once(machine.scheduler, "once", cpus[1])
    busy = [Busy(machine.scheduler, f"task{n}", cpus[0]) for n in range(2)]
    machine.scheduler.wake(once, cpus[1])
    cpus[1].kick()
    for task in busy:
        machine.scheduler.wake(task, cpus[0])
    cpus[0].kick()
    sim.run_until(MS + US)
    assert once.sleeping
    assert [task.cpu.cpu_id for task in busy] == [0, 1]


def test_a_waiting_task_that_may_not_run_there_stays() -> None:
    sim = Simulator()
    machine = make_machine(sim, cores_per_socket=2, idle_balance=True)
    cpus = machine.cpus
    tasks = [Busy(machine.scheduler, f"task{n}", cpus[0], allowed=frozenset({0})) for n in range(2)]
    for task in tasks:
        machine.scheduler.wake(task, cpus[0])
    cpus[0].kick()
    sim.run_until(3 * TICK)
    assert [task.cpu.cpu_id for task in tasks] == [0, 0]
