"""The fair scheduler's run queues: who runs, for how long, and who preempts.

Source: kernel/sched/fair.c of Linux 5.4 (CFS: `update_curr`, `place_entity`, `check_preempt_tick`,
`wakeup_preempt_entity`) and 6.6 (EEVDF: `avg_vruntime`, `entity_eligible`, `update_deadline`,
`update_entity_lag`, `pick_eevdf` with RUN_TO_PARITY).

- CFS runs who has had least. Who slept has at most half of `sched_latency` as credit, and preempts
  one that has had more by `sched_wakeup_granularity`.
- EEVDF runs, of those that have had no more than the mean, the one whose deadline is first. A
  deadline is one slice ahead. Who runs goes on until its slice is over or it is ahead of the mean,
  whichever is looked at first: at a tick, or when another wakes. Who sleeps keeps its lag.

Time of interrupts and softirqs is nobody's (CONFIG_IRQ_TIME_ACCOUNTING), but those of ksoftirqd.
A slice ends at a tick. All tasks have the weight of nice 0. Not modelled: buddies, autogroups, and
tasks that stay queued while they sleep until their lag is gone (DELAY_DEQUEUE of 6.12).
"""

# mypy: no-strict-optional
from __future__ import annotations

from array import array
from typing import Any

import cython

from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.fair.rules import FairRules
from simnet.host.fair.select_idle_sibling import WakePlacement
from simnet.host.scheduler import Scheduler, Task
from simnet.kernel.compiled import Array
from simnet.kernel.simulator import Simulator


@cython.final
@cython.cclass
class FairScheduler(Scheduler):
    """Places and dispatches the tasks of one machine; see `Scheduler`.

    Args:
        rules: of the kernel's version.
    """

    slice_ps: cython.longlong = 0
    credit_ps: cython.longlong = 0
    granularity_ps: cython.longlong = 0
    latency_ps: cython.longlong = 0
    eevdf: cython.bint = False
    most_lag_ps: cython.longlong = 0
    placement: WakePlacement = None
    floors: Array[cython.longlong] = None
    counted: Array[cython.longlong] = None
    stolen: Array[cython.longlong] = None
    begun: Array[cython.longlong] = None
    parities: Array[cython.longlong] = None
    waiting: Array[cython.longlong] = None

    def __init__(
        self,
        sim: Simulator,
        path: str,
        cpus: list[Cpu],
        costs: Costs,
        tick_ps: int,
        rules: FairRules,
    ) -> None:
        super().__init__(sim, path, cpus, costs, tick_ps, rules.slice_ps, idle_balance=True)
        self.slice_ps = rules.slice_ps
        self.credit_ps = rules.credit_ps
        self.granularity_ps = rules.granularity_ps
        self.latency_ps = rules.latency_ps
        self.eevdf = rules.eevdf
        self.most_lag_ps = max(2 * rules.slice_ps, tick_ps)
        self.placement = WakePlacement(self, rules)
        zeros = array("q", [0]) * len(cpus)
        # of each CPU: the least that one of its tasks has had (`min_vruntime`); until when the
        # running one's time is counted, and what interrupts had had then; what it had had when it
        # was chosen, and its deadline then; since when another waits
        self.floors = zeros[:]
        self.counted = zeros[:]
        self.stolen = zeros[:]
        self.begun = zeros[:]
        self.parities = zeros[:]
        self.waiting = zeros[:]

    def place(self, task: Task, waker: Cpu) -> Cpu:
        """CPU that `select_task_rq_fair` wakes `task` on."""
        return self.placement.place(task, waker)

    # -- what tasks have had --------------------------------------------------------------

    def _stolen_ps(self, cpu: Cpu, task: Task) -> cython.longlong:
        """Time of the CPU that was no task's."""
        cpu._account()  # noqa: SLF001 - C method of a CPU
        if task.runs_softirqs:
            return cpu.irq_ps + cpu.steal_ps
        return cpu.irq_ps + cpu.steal_ps + cpu.softirq_ps

    def _update(self, cpu: Cpu) -> cython.int:
        """`update_curr`, `update_min_vruntime`."""
        number: cython.int = cpu.cpu_id
        now: cython.longlong = self.sim.now
        stolen: cython.longlong
        least: cython.longlong = -1
        task: Task
        if cpu.current is not None:
            task = cpu.current
            stolen = self._stolen_ps(cpu, task)
            task.virtual_ps += now - self.counted[number] - (stolen - self.stolen[number])
            self.counted[number] = now
            self.stolen[number] = stolen
            least = task.virtual_ps
        for task in cpu.runqueue:
            if least < 0 or task.virtual_ps < least:
                least = task.virtual_ps
        if least > self.floors[number]:
            self.floors[number] = least
        return 0

    def _sum(self, cpu: Cpu) -> cython.longlong:
        """What all tasks of a CPU have had together."""
        task: Task
        total: cython.longlong = 0
        if cpu.current is not None:
            task = cpu.current
            total = task.virtual_ps
        for task in cpu.runqueue:
            total += task.virtual_ps
        return total

    def _renewed(self, task: Task, ahead_ps: cython.longlong) -> cython.bint:
        """`update_deadline`, as of so long ago: whether its slice was over."""
        if not self.eevdf or task.virtual_ps - ahead_ps < task.deadline_ps:
            return False
        task.deadline_ps = task.virtual_ps + self.slice_ps
        return True

    def _renew_alone(self, task: Task) -> cython.int:
        """Slices that ended while nothing waited were followed by others."""
        over: cython.longlong = task.virtual_ps - task.deadline_ps
        if over >= 0:
            task.deadline_ps += (over // self.slice_ps + 1) * self.slice_ps
        return 0

    # -- the run queue --------------------------------------------------------------------

    def queued(self, task: Task, cpu: Cpu) -> cython.int:
        """`place_entity`, `check_preempt_wakeup_fair`."""
        current: Task = cpu.current
        count: cython.longlong = len(cpu.runqueue) + (1 if current is not None else 0)
        floor: cython.longlong
        self._update(cpu)
        if len(cpu.runqueue) == 0:
            self.waiting[cpu.cpu_id] = self.sim.now
            if current is not None:
                self._renew_alone(current)
        floor = self.floors[cpu.cpu_id]
        if not self.eevdf:
            task.virtual_ps = max(task.virtual_ps, floor - self.credit_ps)
        elif count == 0:
            task.virtual_ps = floor
        else:
            # the mean moves when it joins: it shall be behind that by its lag
            task.virtual_ps = self._sum(cpu) // count - task.lag_ps * (count + 1) // count
        task.deadline_ps = task.virtual_ps + self.slice_ps
        cpu.runqueue.append(task)
        if current is None:
            return 0
        if not self.eevdf:
            if current.virtual_ps - task.virtual_ps > self.granularity_ps:
                cpu.need_resched = True
        elif self._renewed(current, 0) or self._pick(cpu) is task:
            cpu.need_resched = True
        return 0

    def stopped(self, task: Task) -> cython.int:
        """The running task goes to sleep: `update_entity_lag`."""
        cpu: Cpu = task.cpu
        lag: cython.longlong
        self._update(cpu)
        lag = self._sum(cpu) // (len(cpu.runqueue) + 1) - task.virtual_ps
        task.lag_ps = min(max(lag, -self.most_lag_ps), self.most_lag_ps)
        return Scheduler.stopped(self, task)

    def migrated(self, task: Task, cpu: Cpu) -> cython.int:
        """What it has had is relative to the others of its CPU."""
        shift: cython.longlong = self.floors[cpu.cpu_id] - self.floors[task.cpu.cpu_id]
        task.virtual_ps += shift
        task.deadline_ps += shift
        return Scheduler.migrated(self, task, cpu)

    def gives_way(self, task: Task, cpu: Cpu) -> cython.bint:
        """`task_tick_fair` at the last tick, or a wake-up before: whether another runs next."""
        since_tick: cython.longlong = self.sim.now - (cpu.tick_after(self.sim.now) - self.tick_ps)
        ticked: cython.bint = self.sim.now - since_tick > self.waiting[cpu.cpu_id]
        ideal: cython.longlong
        ran: cython.longlong
        self._update(cpu)
        if self.eevdf:
            if not ((ticked and self._renewed(task, since_tick)) or cpu.need_resched):
                return False
            # it stays asked until another runs (`TIF_NEED_RESCHED`)
            cpu.need_resched = self._pick(cpu) is not task
            return cpu.need_resched
        ran = task.virtual_ps - self.begun[cpu.cpu_id] - since_tick
        ideal = max(self.latency_ps // (len(cpu.runqueue) + 1), self.slice_ps)
        if cpu.need_resched or not ticked:
            return cpu.need_resched
        return ran > ideal or (
            ran >= self.slice_ps
            and task.virtual_ps - since_tick - self._least(cpu).virtual_ps > ideal
        )

    def next_task(self, cpu: Cpu) -> Task:
        """`pick_next_entity`, `set_next_entity`."""
        number: cython.int = cpu.cpu_id
        best: Task
        self._update(cpu)
        best = self._pick(cpu) if self.eevdf else self._least(cpu)
        cpu.need_resched = False
        self.counted[number] = self.sim.now
        self.stolen[number] = self._stolen_ps(cpu, best)
        self.begun[number] = best.virtual_ps
        self.parities[number] = best.deadline_ps
        return best

    def _least(self, cpu: Cpu) -> Task:
        """The waiting task that has had least."""
        task: Task
        best: Task = None
        for task in cpu.runqueue:
            if best is None or task.virtual_ps < best.virtual_ps:
                best = task
        return best

    def _pick(self, cpu: Cpu) -> Task:
        """`pick_eevdf`."""
        current: Any = cpu.current
        running: Task = current
        task: Task
        best: Task = None
        count: cython.longlong = len(cpu.runqueue) + (1 if running is not None else 0)
        total: cython.longlong = self._sum(cpu)
        if running is not None and running.virtual_ps * count > total:
            running = None
        if running is not None and running.deadline_ps == self.parities[cpu.cpu_id]:
            return running
        for task in cpu.runqueue:
            if task.virtual_ps * count <= total and (
                best is None or task.deadline_ps < best.deadline_ps
            ):
                best = task
        if running is not None and (best is None or running.deadline_ps < best.deadline_ps):
            return running
        return best
