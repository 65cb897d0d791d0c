"""Where a task is woken and who runs next, against kernel/sched.c of Linux 2.6.18 in its words.

`try_to_wake_up`, `wake_idle`, `update_cpu_load` at every tick, `source_load` and `target_load`, and
the two arrays of `struct rq`. Two nodes of two cores of two threads; tasks wait and never run.
"""

from dataclasses import dataclass, field

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from simnet import _engine
from simnet.host.machine import Machine
from simnet.host.scheduler import Task
from simnet.kernel.simulator import Simulator
from tests.host.parts import MS, make_machine

TICK = 4 * MS
CPUS = 8
SCHED_LOAD_SCALE = 128


@dataclass
class Kernel:
    """`nr_running` and `cpu_load[1]` of each CPU."""

    running: list[int] = field(default_factory=lambda: [0] * CPUS)
    load: list[int] = field(default_factory=lambda: [0] * CPUS)

    def tick(self) -> None:
        """`update_cpu_load`."""
        for cpu, running in enumerate(self.running):
            old, new = self.load[cpu], running * SCHED_LOAD_SCALE
            self.load[cpu] = (old + new + (new > old)) // 2

    def source_load(self, cpu: int, index: int) -> int:
        now = self.running[cpu] * SCHED_LOAD_SCALE
        return min(now, self.load[cpu]) if index else now

    def target_load(self, cpu: int, index: int) -> int:
        now = self.running[cpu] * SCHED_LOAD_SCALE
        return max(now, self.load[cpu]) if index else now

    def wake_idle(self, cpu: int, allowed: set[int]) -> int:
        sibling = cpu ^ 1
        if self.running[cpu] and not self.running[sibling] and sibling in allowed:
            return sibling
        return cpu

    def try_to_wake_up(self, cpu: int, this_cpu: int, allowed: set[int]) -> int:
        if this_cpu not in allowed:
            return self.wake_idle(cpu, allowed)
        if cpu != this_cpu:
            # the domain that has both: of siblings, of a node, of all
            if cpu == this_cpu ^ 1:
                index, imbalance_pct, affine = 0, 110, True
            else:
                index, imbalance_pct, affine = 1, 125, cpu // 4 == this_cpu // 4
            imbalance = 100 + (imbalance_pct - 100) // 2
            load = self.source_load(cpu, index)
            this_load = self.target_load(this_cpu, index)
            if affine:
                both = this_load + self.target_load(cpu, index)
                if (this_load <= load and both <= SCHED_LOAD_SCALE) or 100 * (
                    this_load + SCHED_LOAD_SCALE
                ) <= imbalance * load:
                    cpu = this_cpu
            elif imbalance * this_load <= 100 * load:
                cpu = this_cpu
        return self.wake_idle(cpu, allowed)


class Host:
    """A machine whose CPUs dispatch nobody."""

    def __init__(self) -> None:
        self.sim = Simulator()
        self.machine: Machine = make_machine(
            self.sim, nodes=2, cores_per_socket=2, threads_per_core=2
        )
        self.cpus = self.machine.cpus
        self.waiting: list[list[Task]] = [[] for _ in range(CPUS)]
        self.made = 0

    def task(self, cpu: int, allowed: set[int] | None = None, nice: int = 0) -> Task:
        self.made += 1
        mask = None if allowed is None else frozenset(allowed)
        return Task(self.machine.scheduler, f"task{self.made}", self.cpus[cpu], nice, mask)

    def add(self, cpu: int) -> None:
        task = self.task(cpu, {cpu})
        assert task.wake_on(self.cpus[cpu])
        self.waiting[cpu].append(task)

    def remove(self, cpu: int) -> None:
        task = self.waiting[cpu].pop()
        self.cpus[cpu].runqueue.remove(task)
        task.sleep()


ANY = set(range(CPUS))
STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.integers(0, 7), st.integers(1, 3)),
        st.tuples(st.just("remove"), st.integers(0, 7), st.integers(1, 3)),
        st.tuples(st.just("pass"), st.integers(1, 3), st.just(0)),
    ),
    min_size=1,
    max_size=12,
)
MASKS = st.one_of(st.just(ANY), st.sets(st.integers(0, 7), min_size=1))
CROWD = [(what, cpu, 3) for what in ("add", "pass") for cpu in range(3)]


@settings(max_examples=12)
@given(steps=STEPS, allowed=MASKS, last=st.integers(0, 7))
@example(steps=CROWD, allowed=ANY, last=2)
@example(steps=CROWD, allowed=ANY, last=4)
def test_a_task_is_woken_where_the_kernel_wakes_it(
    steps: list[tuple[str, int, int]], allowed: set[int], last: int
) -> None:
    host, kernel = Host(), Kernel()
    for what, cpu, count in steps:
        if what == "pass":
            for _ in range(cpu):
                host.sim.run_until(host.sim.now + TICK)
                kernel.tick()
        else:
            for _ in range(count):
                if what == "add":
                    host.add(cpu)
                    kernel.running[cpu] += 1
                elif kernel.running[cpu]:
                    host.remove(cpu)
                    kernel.running[cpu] -= 1
        task = host.task(last, None if allowed == ANY else allowed)
        for waker in range(CPUS):
            found = host.machine.scheduler.place(task, host.cpus[waker]).cpu_id
            assert found == kernel.try_to_wake_up(last, waker, allowed)


QUEUES = st.lists(st.tuples(st.integers(-20, 19), st.booleans()), min_size=1, max_size=12)


@pytest.mark.skipif(_engine.active() != "interpreted", reason="it sets a C field")
@settings(max_examples=15)
@given(queue=QUEUES)
def test_the_best_of_the_active_array_runs_first_and_then_the_arrays_change(
    queue: list[tuple[int, bool]],
) -> None:
    host = Host()
    tasks = []
    for nice, expired in queue:
        task = host.task(0, {0}, nice)
        assert task.wake_on(host.cpus[0])
        tasks.append((task, nice, expired))
    active = [(nice, number) for number, (_, nice, expired) in enumerate(tasks) if not expired]
    rest = [(nice, number) for number, (_, nice, expired) in enumerate(tasks) if expired]
    # who is woken is in the active array; a slice that is over moves it
    for task, _, expired in tasks:
        task.expired = expired
    order = []
    while host.cpus[0].runqueue:
        best = host.machine.scheduler.next_task(host.cpus[0])
        host.cpus[0].runqueue.remove(best)
        order.append(next(number for number, (task, *_) in enumerate(tasks) if task is best))
    assert order == [number for _, number in sorted(active) + sorted(rest)]
    assert not any(task.expired for task, *_ in tasks if not active)
