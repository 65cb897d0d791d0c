"""Which CPU a woken task is put on by the fair scheduler.

Source: kernel/sched/fair.c of Linux 5.4 to 6.12: `select_task_rq_fair` (`wake_affine_idle`,
`wake_affine_weight`) chooses between the CPU of the waker and the one that the task was on;
`select_idle_sibling` takes that, or an idle one that shares its last-level cache:

1. the chosen one; the previous one; the one before that (`recent_used_cpu`);
2. a core of which all threads are idle, if there is one;
3. since 5.13, the idle sibling of the previous one (`select_idle_smt`);
4. the next idle CPU of the cache's. Since 6.0 (SIS_UTIL), the busier these are, the fewer of them
   are looked at, and none if they are used for more than 85 % or so (`update_idle_cpu_scan`).

CPUs share a cache where they are of one socket: a model of a die with several says so. In place of
decaying averages (PELT) there is the number of runnable tasks, and for the use of a cache's CPUs
the mean between two looks, of as many ms as there are CPUs. Before 6.0 all are looked at: what a
scan costs, and so how far it goes (SIS_PROP), is not modelled. That a task wakes many others by
turns (`wake_wide`) does not occur here.
"""

# mypy: no-strict-optional
from __future__ import annotations

from array import array
from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.host.fair.rules import FairRules
from simnet.host.scheduler import Scheduler, Task
from simnet.kernel.compiled import Array

_MS_PS: cython.longlong = 1_000_000_000
# SCHED_CAPACITY_SCALE; imbalance_pct of the domains of a core, a cache, and above
_SCALE: cython.longlong = 1024
_CORE_PERCENT: cython.longlong = 110
_CACHE_PERCENT: cython.longlong = 117
_ABOVE_PERCENT: cython.longlong = 125


@cython.final
@cython.cclass
class WakePlacement:
    """The choice of one machine.

    Args:
        scheduler: of the machine.
        rules: of the kernel's version.
    """

    scheduler: Scheduler = None
    smt_first: cython.bint = False
    scans_by_use: cython.bint = False
    smt: cython.bint = False
    caches: dict[int, list[Cpu]] = None
    scans: Array[cython.longlong] = None
    looked: Array[cython.longlong] = None
    used: Array[cython.longlong] = None

    def __init__(self, scheduler: Scheduler, rules: FairRules) -> None:
        self.scheduler = scheduler
        self.smt_first = rules.smt_first
        self.scans_by_use = rules.scans_by_use
        self.smt = any(cpu.sibling is not None for cpu in scheduler.cpus)
        # of each last-level cache: its CPUs; how many of them are looked at; when that was decided,
        # and what tasks had had of them then
        self.caches = {}
        for cpu in scheduler.cpus:
            if cpu.online:
                self.caches.setdefault(cpu.socket, []).append(cpu)
        zeros = array("q", [0]) * (1 + max(self.caches, default=0))
        self.scans = zeros[:]
        self.looked = zeros[:]
        self.used = zeros[:]
        number: cython.int
        for number, cpus in self.caches.items():
            self.scans[number] = len(cpus)

    def place(self, task: Task, waker: Cpu) -> Cpu:
        """`select_task_rq_fair` of a wake-up by code on `waker`."""
        previous: Cpu = task.cpu
        target: Cpu = previous
        if waker is not previous and self._may(task, waker):
            target = self._affine(task, waker, previous)
        return self._idle_sibling(task, previous, target)

    def _may(self, task: Task, cpu: Cpu) -> cython.bint:
        return task.allowed is None or cpu.cpu_id in task.allowed

    def _affine(self, task: Task, waker: Cpu, previous: Cpu) -> Cpu:
        """`wake_affine`: the waker's CPU or the previous one."""
        scheduler: Scheduler = self.scheduler
        runnable: cython.longlong = scheduler.running_counts[waker.cpu_id]
        percent: cython.longlong = _ABOVE_PERCENT
        here: cython.longlong
        there: cython.longlong
        if waker.socket == previous.socket:
            percent = _CORE_PERCENT if waker.sibling is previous else _CACHE_PERCENT
            if scheduler.idle(waker):
                return previous if scheduler.idle(previous) else waker
        if task.sync and runnable == 1:
            return waker
        if scheduler.idle(previous):
            return previous
        if task.sync and runnable > 0:
            runnable -= 1
        here = (runnable + 1) * 100
        there = scheduler.running_counts[previous.cpu_id] * (100 + (percent - 100) // 2)
        return waker if here < there + (1 if task.sync else 0) else previous

    def _idle_sibling(self, task: Task, previous: Cpu, target: Cpu) -> Cpu:
        """`select_idle_sibling`."""
        scheduler: Scheduler = self.scheduler
        recent: Cpu = task.recent
        chosen: Cpu
        if scheduler.idle(target):
            return target
        if previous is not target and previous.socket == target.socket and scheduler.idle(previous):
            return previous
        task.recent = previous
        if (
            recent is not None
            and recent is not previous
            and recent is not target
            and recent.socket == target.socket
            and scheduler.idle(recent)
            and self._may(task, recent)
        ):
            return recent
        chosen = self._idle_cpu(task, previous, target)
        return target if chosen is None else chosen

    def _idle_cpu(self, task: Task, previous: Cpu, target: Cpu) -> Cpu:
        """`select_idle_smt`, `select_idle_core` and `select_idle_cpu`."""
        scheduler: Scheduler = self.scheduler
        cpus: list[Any] = self.caches[target.socket]
        cores: cython.bint = self.smt and self._has_idle_core(cpus)
        left: cython.longlong = len(cpus)
        after: cython.Py_ssize_t
        number: cython.Py_ssize_t
        cpu: Cpu
        sibling: Cpu = previous.sibling
        found: Cpu = None
        if (
            self.smt_first
            and sibling is not None
            and not cores
            and previous.socket == target.socket
            and scheduler.idle(sibling)
            and self._may(task, sibling)
        ):
            return sibling
        if self.scans_by_use:
            left = self._scan(target.socket, cpus)
            if left == 0:
                return None
        after = cpus.index(target) + 1
        for number in range(len(cpus)):
            cpu = cpus[(after + number) % len(cpus)]
            if not cores:
                if left == 0:
                    return None
                left -= 1
            if not (scheduler.idle(cpu) and self._may(task, cpu)):
                continue
            if not cores or cpu.sibling is None or scheduler.idle(cpu.sibling):
                return cpu
            if found is None:
                found = cpu
        return found

    def _has_idle_core(self, cpus: list[Any]) -> cython.bint:
        """`test_idle_cores`."""
        cpu: Cpu
        for cpu in cpus:
            if self.scheduler.idle(cpu) and (
                cpu.sibling is None or self.scheduler.idle(cpu.sibling)
            ):
                return True
        return False

    def _scan(self, cache: cython.int, cpus: list[Any]) -> cython.longlong:
        """`update_idle_cpu_scan`, if it is due: how many CPUs are looked at."""
        now: cython.longlong = self.scheduler.sim.now
        count: cython.longlong = len(cpus)
        elapsed: cython.longlong = now - self.looked[cache]
        used: cython.longlong = 0
        mean: cython.longlong
        cpu: Cpu
        if elapsed < count * _MS_PS:
            return self.scans[cache]
        for cpu in cpus:
            cpu._account()  # noqa: SLF001 - C method of a CPU
            used += cpu.user_ps + cpu.system_ps
        mean = _SCALE * ((used - self.used[cache]) // count) // elapsed
        mean = mean * mean * _CACHE_PERCENT * _CACHE_PERCENT // (10000 * _SCALE)
        self.scans[cache] = (_SCALE - min(mean, _SCALE)) * count // _SCALE
        self.looked[cache] = now
        self.used[cache] = used
        return self.scans[cache]
