"""Wake-up placement and dispatch of the O(1) scheduler (Linux 2.6.16).

Source: kernel/sched.c `try_to_wake_up`, `wake_idle`, `source_load`, `target_load` and
include/linux/topology.h of 2.6.18. Load numbers count runnable tasks only, so a CPU that is
busy with softirqs looks idle, and a task woken from its softirq is pulled onto it, even from
another node (SD_NODE has WAKE_BALANCE). Balancing moves queued tasks only: with at most one
runnable task a CPU it moves nothing, and it is left out unless `idle_balance` asks for it. Then an
idle CPU takes the task that has waited longest in the longest run queue of another: when its last
task goes to sleep (`idle_balance` of 3.8), and at the next tick (`rebalance_domains`).
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.costs import Costs, Memory
from simnet.host.cpu import Context, Cpu, Dispatcher, Occupation
from simnet.kernel.compiled import Array, Public
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator

_LOAD_SCALE: cython.longlong = 128
_NICE_0: cython.int = 120
_LEAST_PRIORITY: cython.int = 140
_LEAST_SLICE_PS: cython.longlong = 5_000_000_000
_PERCENT = 100
# 100 + (imbalance_pct - 100) / 2 of a domain with imbalance_pct 125
_EXEC_IMBALANCE = 112


@cython.cclass
class Task(Context):
    """A process. Subclasses implement `step`: ask the CPU for work, or sleep.

    Args:
        scheduler: of the machine.
        path: component path.
        cpu: where it ran last.
        nice: -20 to 19.
        allowed: CPU numbers it may run on (None: all), as `taskset` and numactl set them.
    """

    cpu: Public[Cpu] = None
    scheduler: Scheduler = None
    priority: cython.int = 0
    sleeping: cython.bint = False
    expired: cython.bint = False
    allowed: Public[Any] = None
    switched_in_ps: cython.longlong = 0
    # what it has had of its CPU, until when its slice lasts, and by how much it was behind
    # when it went to sleep; of the fair scheduler
    virtual_ps: Public[cython.longlong] = 0
    deadline_ps: Public[cython.longlong] = 0
    lag_ps: Public[cython.longlong] = 0
    runs_softirqs: Public[cython.bint] = False  # what softirqs take while it runs is its own time
    sync: Public[cython.bint] = False  # who wakes it is about to sleep, or says so (WF_SYNC)
    recent: Cpu = None  # the CPU that it was on before its last one
    wakeups: cython.longlong = 0
    migrations: cython.longlong = 0

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        nice: int = 0,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler.sim, path)
        self.scheduler = scheduler
        self.cpu = cpu
        self.priority = 120 + nice
        self.allowed = allowed
        self.sleeping = True

    def sleep(self) -> cython.int:
        """Leave the CPU; called from `step`, which then asks for no more work."""
        self.sleeping = True
        self.scheduler.stopped(self)
        if self.scheduler.idle_balance and len(self.cpu.runqueue) == 0:
            self.scheduler._pull(self.cpu)  # noqa: SLF001 - C method of this module
        if len(self.cpu.runqueue) == 0:
            self.scheduler._switched(self.cpu, None)  # noqa: SLF001 - C method of this module
        return 0

    def wake_on(self, waker: Cpu) -> cython.bint:
        """Wake the task from code that runs on `waker`; False if it was awake."""
        if not self.sleeping:
            return False
        self.wakeups += 1
        self.scheduler.wake(self, waker)
        return True

    def yield_if_needed(self, cpu: Cpu) -> cython.bint:
        """Return to user mode: give the CPU up if a better task or the end of the slice asks so.

        True when the task was put back on the run queue; `step` is called when it runs again.
        """
        if not self.should_yield(cpu):
            return False
        cpu.need_resched = False
        cpu.current = None
        cpu.runqueue.append(self)
        return True

    def should_yield(self, cpu: Cpu) -> cython.bint:
        """`need_resched`: a better task, or the end of the slice, asks for the CPU."""
        return len(cpu.runqueue) > 0 and self.scheduler.gives_way(self, cpu)


@cython.cclass
class Scheduler(Dispatcher):
    """Places and dispatches the tasks of one machine.

    Args:
        sim: the simulation.
        path: component path.
        cpus: by number.
        costs: of the CPUs.
        tick_ps: timer tick, at which load averages are taken.
        timeslice_ps: of nice 0.
        idle_balance: an idle CPU takes a waiting task from another.
    """

    cpus: list[Any] = None
    costs: Costs = None
    tick_ps: cython.longlong = 0
    timeslice_ps: cython.longlong = 0
    loads: Array[cython.longlong] = None
    load_ticks: Array[cython.longlong] = None
    running_counts: Array[cython.longlong] = None
    resched: Occupation = None
    idle_balance: cython.bint = False
    balance_timer: cython.longlong = 0
    ipis: cython.longlong = 0
    executed: list[Any] = None
    switches: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        cpus: list[Cpu],
        costs: Costs,
        tick_ps: int,
        timeslice_ps: int,
        *,
        idle_balance: bool = False,
    ) -> None:
        super().__init__(sim, path)
        self.idle_balance = idle_balance
        self.cpus = cpus
        self.costs = costs
        self.tick_ps = tick_ps
        self.timeslice_ps = timeslice_ps
        self.loads = array("q", [0]) * len(cpus)
        self.load_ticks = array("q", [0]) * len(cpus)
        self.running_counts = array("q", [0]) * len(cpus)
        self.resched = Occupation(sim, path + ".resched")
        # the last task of each CPU, None for its idle task; `nr_switches`
        self.executed = [None] * len(cpus)
        for cpu in cpus:
            cpu.dispatcher = self

    # -- the run queue --------------------------------------------------------------------

    def queued(self, task: Task, cpu: Cpu) -> cython.int:
        """A woken task is runnable on `cpu`: does it preempt who runs there?"""
        current: Task
        cpu.runqueue.append(task)
        if cpu.current is not None:
            current = cpu.current
            if task.priority < current.priority:
                cpu.need_resched = True
        return 0

    def stopped(self, task: Task) -> cython.int:
        """The running task goes to sleep."""
        task.cpu.current = None
        return self._count(task.cpu, -1)

    def migrated(self, task: Task, cpu: Cpu) -> cython.int:
        """A task that does not run changes its CPU."""
        task.migrations += 1
        task.cpu = cpu
        return 0

    def gives_way(self, task: Task, cpu: Cpu) -> cython.bint:
        """Whether the running task leaves the CPU to one that waits."""
        task.expired = self.sim.now - task.switched_in_ps >= self._timeslice_ps(task)
        return cpu.need_resched or task.expired

    def _timeslice_ps(self, task: Task) -> cython.longlong:
        """`task_timeslice`: in proportion to 140 less the priority, fourfold below nice 0."""
        slice_ps: cython.longlong = self.timeslice_ps
        if task.priority < _NICE_0:
            slice_ps *= 4
        slice_ps = slice_ps * (_LEAST_PRIORITY - task.priority) // (_LEAST_PRIORITY - _NICE_0)
        return slice_ps if slice_ps > _LEAST_SLICE_PS else _LEAST_SLICE_PS

    # -- load -----------------------------------------------------------------------------

    def _count(self, cpu: Cpu, change: cython.int) -> cython.int:
        """A task became runnable (+1) or stopped being so (-1) on `cpu`."""
        self._load(cpu)
        self.running_counts[cpu.cpu_id] += change
        return 0

    def _load(self, cpu: Cpu) -> cython.longlong:
        """`cpu_load[1]`: moves half of the way to the current load at every tick."""
        number: cython.int = cpu.cpu_id
        tick: cython.longlong = self.sim.now // self.tick_ps
        passed: cython.longlong = tick - self.load_ticks[number]
        load: cython.longlong = self.loads[number]
        current: cython.longlong
        if passed > 0:
            self.load_ticks[number] = tick
            current = self.running_counts[number] * _LOAD_SCALE
            while passed > 0 and load != current:
                passed -= 1
                load = (load + current + 1) >> 1 if current > load else (load + current) >> 1
            self.loads[number] = load
        return load

    def _pull(self, idle: Cpu) -> cython.int:
        """Move the task that has waited longest in the longest run queue to an idle CPU."""
        cpu: Cpu
        busiest: Cpu = None
        task: Task
        for cpu in self.cpus:
            if len(cpu.runqueue) > 0 and (
                busiest is None or len(cpu.runqueue) > len(busiest.runqueue)
            ):
                busiest = cpu
        if busiest is None:
            return 0
        for task in busiest.runqueue:
            if task.allowed is None or idle.cpu_id in task.allowed:
                busiest.runqueue.remove(task)
                self._count(busiest, -1)
                self.migrated(task, idle)
                self._count(idle, 1)
                idle.runqueue.append(task)
                return 0
        return 0

    def _await_tick(self) -> cython.int:
        """A task waits for a CPU: at the next tick, an idle one will look for it."""
        if self.balance_timer == 0:
            self.balance_timer = self.sim.at(
                (self.sim.now // self.tick_ps + 1) * self.tick_ps, self, 0, 0, CPU
            )
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A tick, with tasks that wait."""
        cpu: Cpu
        waiting: cython.bint = False
        self.balance_timer = 0
        for cpu in self.cpus:
            if cpu.online and self.idle(cpu):
                self._pull(cpu)
                if len(cpu.runqueue) > 0:
                    cpu.kick()
        for cpu in self.cpus:
            waiting = waiting or len(cpu.runqueue) > 0
        if waiting:
            self._await_tick()

    def _switched(self, cpu: Cpu, task: Any) -> cython.int:
        """`schedule` has chosen: a switch unless it is the task that ran before."""
        if self.executed[cpu.cpu_id] is not task:
            self.executed[cpu.cpu_id] = task
            self.switches += 1
        return 0

    # -- wake-up --------------------------------------------------------------------------

    def place(self, task: Task, waker: Cpu) -> Cpu:
        """CPU that `try_to_wake_up`, called on `waker`, puts `task` on."""
        last: Cpu = task.cpu
        near: cython.bint
        load: cython.longlong
        stay: cython.longlong
        target: cython.longlong
        instant: cython.longlong
        imbalance: cython.longlong
        if task.allowed is not None and waker.cpu_id not in task.allowed:
            return self._wake_idle(last, task)
        if waker is last:
            return self._wake_idle(waker, task)
        near = waker.node == last.node
        load = self.running_counts[last.cpu_id] * _LOAD_SCALE
        stay = load
        target = self.running_counts[waker.cpu_id] * _LOAD_SCALE
        if last.sibling is waker:
            imbalance = 105
        else:
            imbalance = 112
            # wake_idx 1: the lower of now and average for the source, the higher for the target
            instant = self._load(last)
            if instant < load:
                load = instant
            else:
                stay = instant
            instant = self._load(waker)
            if instant > target:
                target = instant
        if near:
            if (target <= load and target + stay <= _LOAD_SCALE) or (
                100 * (target + _LOAD_SCALE) <= imbalance * load
            ):
                return self._wake_idle(waker, task)
        elif imbalance * target <= 100 * load:
            return self._wake_idle(waker, task)
        return self._wake_idle(last, task)

    def _wake_idle(self, cpu: Cpu, task: Task) -> Cpu:
        """`wake_idle`: prefer an idle SMT sibling if `cpu` runs a task."""
        sibling: Cpu = cpu.sibling
        if self.idle(cpu) or sibling is None or not self.idle(sibling):
            return cpu
        if task.allowed is not None and sibling.cpu_id not in task.allowed:
            return cpu
        return sibling

    def idle(self, cpu: Cpu) -> cython.bint:
        """`idle_cpu`: the current task is the idle task (interrupts do not count)."""
        return cpu.current is None and len(cpu.runqueue) == 0

    def _running(self, cpus: list[Cpu]) -> cython.longlong:
        """Tasks that run or could on some CPUs."""
        found: cython.longlong = 0
        cpu: Cpu
        for cpu in cpus:
            found += self.running_counts[cpu.cpu_id]
        return found

    def exec_cpu(self, task: Task, starter: Cpu) -> Cpu:
        """CPU that `sched_balance_self` moves a process to when it calls exec on `starter`.

        From the nodes down to the cores and their threads, the least loaded group is taken, its
        own only if no other is clearly less loaded. The process itself counts where it is.
        """
        allowed = [
            cpu
            for cpu in self.cpus
            if cpu.online and (task.allowed is None or cpu.cpu_id in task.allowed)
        ]
        here = starter if starter in allowed else allowed[0]
        for level in ("node", "core", "thread"):
            groups: dict[int, list[Cpu]] = {}
            for cpu in allowed:
                group = (
                    cpu.node
                    if level == "node"
                    else cpu.cpu_id
                    if level == "thread" or cpu.sibling is None
                    else min(cpu.cpu_id, cpu.sibling.cpu_id)
                )
                groups.setdefault(group, []).append(cpu)
            loads = {group: self._running(cpus) for group, cpus in groups.items()}
            own = next(group for group, cpus in groups.items() if here in cpus)
            others = [group for group in groups if group != own]
            allowed = groups[own]
            if others:
                best = min(others, key=lambda group: loads[group])
                if _PERCENT * (1 + loads[own]) >= _EXEC_IMBALANCE * loads[best]:
                    allowed = groups[best]
            here = here if here in allowed else allowed[0]
        return here

    def wake(self, task: Task, waker: Cpu) -> cython.int:
        """Make `task` runnable on the CPU that placement chooses."""
        cpu: Cpu = self.place(task, waker)
        task.sleeping = False
        task.expired = False
        if cpu is not task.cpu:
            self.migrated(task, cpu)
        self._count(cpu, 1)
        self.queued(task, cpu)
        if self.idle_balance and (cpu.current is not None or len(cpu.runqueue) > 1):
            self._await_tick()
        if cpu is not waker:
            self.ipis += 1
            self.costs.ledger.wakeup += self.costs.ipi_ps
            cpu.raise_irq(self.resched, self.costs.ipi_ps)
        return 0

    def switch_in(self, cpu: Cpu) -> None:
        """`schedule`: give the CPU to the best task of its run queue."""
        best: Task = self.next_task(cpu)
        if len(cpu.runqueue) == 1:
            del cpu.runqueue[0]
        else:
            cpu.runqueue.remove(best)
        cpu.current = best
        self._switched(cpu, best)
        best.switched_in_ps = self.sim.now
        self.costs.ledger.wakeup += self.costs.context_switch_ps
        cpu.run(PROCESS_LEVEL, best, self.costs.context_switch_ps, SYSTEM)

    def next_task(self, cpu: Cpu) -> Task:
        """The best task of the CPU's run queue.

        Tasks that have used up their slices come after those that have not, whatever their
        priority (the expired array); when there are no others, all get new slices.
        """
        queue: list[Any] = cpu.runqueue
        best: Task = queue[0]
        task: Task
        for task in queue:
            if task.expired != best.expired:
                if best.expired:
                    best = task
            elif task.priority < best.priority:
                best = task
        if best.expired:
            for task in queue:
                task.expired = False
        return best


@cython.final
@cython.cclass
class Wakeups:
    """Those by one socket or epoll instance."""

    # of the host
    costs: Costs = None
    memory: Memory = None
    runqueue_lines: cython.int = 0  # cache lines that waking a process on another CPU writes

    def __init__(self, costs: Costs, memory: Memory, runqueue_lines: int) -> None:
        self.costs = costs
        self.memory = memory
        self.runqueue_lines = runqueue_lines

    @cython.cfunc
    def woken_ps(self, cpu: Cpu, task: Task) -> cython.longlong:
        """`cpu` has put `task` on the run queue of that one's CPU: book the work, and return it."""
        work: cython.longlong = self.costs.wakeup_ps
        if task.cpu is not cpu:
            work += self.memory.dirty_lines_ps(cpu, task.cpu, self.runqueue_lines)
        self.costs.ledger.wakeup += work
        return work
