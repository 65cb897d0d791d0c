"""A logical CPU: hard interrupt over softirq over process, SMT contention, tick accounting.

A context (interrupt handler, softirq, task) asks for work with `Cpu.run`; when the work has
been executed, `Context.step` is called at that instant and may ask for more. A higher level
suspends a lower one, which later goes on where it stopped.

While the SMT sibling executes anything, work takes `smt_slowdown_permille / 1000` times as
long, and longer while the memory of its node answers late. Work is kept in whole nanoseconds, so
stretching and shrinking it is exact integer arithmetic and splitting a piece of work in two never
changes when it ends.

Accounting follows Linux 2.6.16 (kernel/sched.c `account_system_time`): exact times are kept
beside what the era's tick sampling saw. A tick that falls into a hard interrupt is seen when
interrupts are enabled again, so it counts for what runs next.

A CPU of a partition is a thread of a virtual processor: while that has no physical one, nothing
executes, and what is in the middle of something has its time stolen. Ticks that are lost meanwhile
are caught up when it is back, and all counted for what was interrupted (arch/powerpc/kernel/time.c
`timer_interrupt`, without the accounting by PURR that came with 2.6.17).
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.accounting import (
    HARD_LEVEL,
    IDLE,
    IRQ,
    PROCESS_LEVEL,
    SOFT_LEVEL,
    SOFTIRQ,
    STEAL,
    SYSTEM,
    USER,
)
from simnet.host.idle import IdleStates
from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator

_FULL_SPEED: cython.longlong = 1000
# events: the running piece of work ends; an idle state has been left
_ENDS: cython.int = 0
_WAKES: cython.int = 1

_MODE_NAMES = ("idle", "user", "system", "softirq", "hard interrupt", "stolen")


@cython.cclass
class Context(Component):
    """Something that a CPU executes."""

    @cython.ccall
    def step(self, cpu: Cpu) -> None:
        """Continue after the work asked for with `Cpu.run` has been executed."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class Occupation(Context):
    """Work whose effect came with its cause, such as a timer's or a reschedule interrupt's."""

    def step(self, cpu: Cpu) -> None:
        """Nothing beyond the time it took."""


@cython.cclass
class Softirqs(Context):
    """The softirqs of one CPU, as the CPU sees them."""

    pending: Public[cython.bint] = False

    @cython.ccall
    def begin(self, cpu: Cpu) -> None:
        """Start executing pending softirqs (called at interrupt exit)."""
        raise NotImplementedError(self.path)


@cython.cclass
class VirtualProcessor(Component):
    """What a hypervisor dispatches: one logical CPU, or the two threads of one processor."""

    def work_arrived(self, cpu: Cpu) -> cython.int:
        """A CPU of it, which is away, has something to execute."""
        raise NotImplementedError(self.path)

    def became_idle(self, cpu: Cpu) -> cython.int:
        """A CPU of it has nothing to execute."""
        raise NotImplementedError(self.path)

    def changed(self, cpu: Cpu) -> cython.int:
        """A CPU of it has begun or ceased to execute."""
        raise NotImplementedError(self.path)


@cython.cclass
class Dispatcher(Component):
    """Chooses the next task of a CPU."""

    @cython.ccall
    def switch_in(self, cpu: Cpu) -> None:
        """Take a task off `cpu.runqueue` and give it to the CPU."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class Cpu(Component):
    """One logical CPU.

    Args:
        sim: the simulation.
        path: component path.
        cpu_id: Linux's number of the CPU.
        node: NUMA node.
        socket: physical package.
        bus: front-side bus (machine-wide number).
        slow_permille: duration of work while the sibling is busy, in 1/1000.
        tick_ps: timer tick (1 / HZ).

    Attributes:
        waited_ps: system time in which processes polled a device that had nothing.
        spun_ps: user time in which they looked for something that was not there.
    """

    cpu_id: cython.int = 0
    node: cython.int = 0
    socket: cython.int = 0
    bus: cython.int = 0
    core: Public[cython.int] = 0
    online: Public[cython.bint] = False
    sibling: Public[Cpu] = None
    softirqs: Public[Softirqs] = None
    dispatcher: Public[Dispatcher] = None
    virtual: Public[VirtualProcessor] = None
    away: cython.bint = False
    wants: cython.bint = False
    interrupted: cython.int = 0
    current: Public[Any] = None
    runqueue: Public[list[Any]] = None
    need_resched: Public[cython.bint] = False
    idle_states: Public[IdleStates] = None
    waking: cython.bint = False
    level: cython.int = 0
    slow_permille: cython.longlong = 0
    tick_ps: cython.longlong = 0
    context0: Context = None
    context1: Context = None
    context2: Context = None
    set0: cython.bint = False
    set1: cython.bint = False
    set2: cython.bint = False
    work0: cython.longlong = 0
    work1: cython.longlong = 0
    work2: cython.longlong = 0
    mode0: cython.int = 0
    mode1: cython.int = 0
    mode: cython.int = 0
    running: cython.bint = False
    stepping: cython.bint = False
    stretch_permille: cython.longlong = 0
    alone_permille: cython.longlong = 0
    full_slow_permille: cython.longlong = 0
    given_ps: cython.longlong = 0
    irq_exit: cython.bint = False
    irq_contexts: list[Context] = None
    irq_works: list[int] = None
    irqs_waiting: cython.int = 0
    end_ps: cython.longlong = 0
    system_left_ps: cython.longlong = 0
    system_from_ps: cython.longlong = 0
    timer: cython.longlong = 0
    timer_ps: cython.longlong = 0
    since_ps: cython.longlong = 0
    next_tick_ps: cython.longlong = 0
    idle_ps: cython.longlong = 0
    user_ps: cython.longlong = 0
    system_ps: cython.longlong = 0
    softirq_ps: cython.longlong = 0
    irq_ps: cython.longlong = 0
    steal_ps: cython.longlong = 0
    waited_ps: Public[cython.longlong] = 0
    spun_ps: Public[cython.longlong] = 0
    purr_ps: Public[cython.longlong] = 0
    idle_ticks: cython.longlong = 0
    user_ticks: cython.longlong = 0
    system_ticks: cython.longlong = 0
    softirq_ticks: cython.longlong = 0
    irq_ticks: cython.longlong = 0
    hard_interrupts: cython.longlong = 0

    needs = ("dispatcher",)

    def __init__(
        self,
        sim: Simulator,
        path: str,
        cpu_id: int,
        node: int,
        socket: int,
        bus: int,
        slow_permille: int,
        tick_ps: int,
    ) -> None:
        super().__init__(sim, path)
        self.cpu_id = cpu_id
        self.node = node
        self.socket = socket
        self.bus = bus
        self.core = cpu_id
        self.online = True
        # the thread of a virtual processor that it is, if any; whether that is not running, and
        # whether there is something to execute nevertheless; the mode that ticks count for then
        self.interrupted = IDLE
        self.runqueue = []
        # without idle states it is never late; waking: an interrupt waits for it to leave one
        self.level = -1
        # how long work takes while the sibling is busy, while it idles, and the first at full pace
        self.slow_permille = slow_permille
        self.alone_permille = 1000
        self.full_slow_permille = slow_permille
        self.tick_ps = tick_ps
        self.mode0 = SYSTEM
        self.mode1 = SOFTIRQ
        self.mode = IDLE
        # how long the running piece of work takes, in 1/1000 of what it would at full speed
        self.stretch_permille = 1000
        self.irq_contexts = []
        self.irq_works = []
        # of the running process in the kernel, at full speed, as of `system_from_ps`
        # ticks of different CPUs are spread over the jiffy, as the kernel's per-CPU timers are
        self.next_tick_ps = (cpu_id * 7919 % 64) * tick_ps // 64 + 1

    def run(
        self, level: cython.int, context: Context, work_ps: cython.longlong, mode: cython.int
    ) -> cython.int:
        """Give `context` `work_ps` of CPU time (at full speed) at `level`, then step it.

        Args:
            level: PROCESS, SOFT_LEVEL or HARDIRQ.
            context: whose `step` is called when the work is done.
            work_ps: whole nanoseconds, in picoseconds.
            mode: USER, SYSTEM, SOFTIRQ or IRQ: what the time is accounted to.
        """
        self.given_ps += work_ps
        if level == PROCESS_LEVEL:
            self.context0 = context
            self.work0 = work_ps
            self.mode0 = mode
            self.set0 = True
        elif level == SOFT_LEVEL:
            self.context1 = context
            self.work1 = work_ps
            self.mode1 = mode
            self.set1 = True
        else:
            self.context2 = context
            self.work2 = work_ps
            self.set2 = True
        if not self.stepping:
            self._dispatch()
        return 0

    def run_to_user(
        self, context: Context, system_ps: cython.longlong, user_ps: cython.longlong
    ) -> cython.int:
        """Give a process `system_ps` in the kernel, then `user_ps` in user mode, as one piece."""
        if self.mode == USER:
            # what ran until now had a kernel part of its own
            self._settle()
        self.system_left_ps = system_ps
        self.run(PROCESS_LEVEL, context, system_ps + user_ps, USER)
        return 0

    def raise_irq(self, context: Context, work_ps: cython.longlong) -> cython.int:
        """Deliver a hard interrupt whose handler takes `work_ps`."""
        self.hard_interrupts += 1
        self.given_ps += work_ps
        if self.idle_states is not None and self.level < 0 and not self.waking:
            self.waking = True
            self.sim.after(self.idle_states.left_ps(self.sim.now), self, _WAKES, 0, 2)
        if self.set2 or self.irqs_waiting > 0:
            self.irq_contexts.append(context)
            self.irq_works.append(work_ps)
            self.irqs_waiting += 1
        else:
            self.context2 = context
            self.work2 = work_ps
            self.set2 = True
        if not self.stepping:
            self._dispatch()
        return 0

    def set_pace(self, permille: cython.longlong) -> cython.int:
        """From the next piece on, work takes `permille` / 1000 of what it does at full speed."""
        self.alone_permille = permille
        self.slow_permille = self.full_slow_permille * permille // 1000
        return 0

    def kick(self) -> cython.int:
        """Run pending softirqs as soon as none runs (local_bh_enable, ksoftirqd, a new task)."""
        self.irq_exit = True
        if not self.stepping:
            self._dispatch()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """End of the running piece of work, or of an idle state."""
        if kind == _WAKES:
            self.waking = False
            self._dispatch()
            return
        self.timer = 0
        if self.end_ps > self.sim.now:
            # the sibling has slowed the work down since the event was placed
            self._place_event()
            return
        self.running = False
        self._dispatch()

    def _dispatch(self) -> cython.int:  # noqa: C901, PLR0912, PLR0915 - one case a level
        """Let whoever is due go on, and start on the highest level that has work."""
        level: cython.int
        while True:
            if not self.running and self.level >= 0 and self.end_ps == self.sim.now:
                # the piece of work that was running has ended: let its owner go on
                self.end_ps = -1
                self.stepping = True
                if self.level == SOFT_LEVEL:
                    self.set1 = False
                    self.context1.step(self)
                elif self.level == PROCESS_LEVEL:
                    self.set0 = False
                    self.context0.step(self)
                else:
                    self.set2 = False
                    self.context2.step(self)
                    if not self.set1:
                        self.irq_exit = True
                self.stepping = False
                continue
            if self.away:
                if not self.wants:
                    self._want()
                return 0
            if self.waking:
                return 0
            if self.set2:
                level = HARD_LEVEL
            elif self.irqs_waiting > 0:
                self.irqs_waiting -= 1
                self.context2 = self.irq_contexts.pop(0)
                self.work2 = self.irq_works.pop(0)
                self.set2 = True
                level = HARD_LEVEL
            elif self.set1:
                level = SOFT_LEVEL
            elif self.irq_exit and self.softirqs is not None and self.softirqs.pending:
                self.irq_exit = False
                self.stepping = True
                self.softirqs.begin(self)
                self.stepping = False
                continue
            elif self.set0:
                level = PROCESS_LEVEL
            elif len(self.runqueue) > 0 and self.current is None:
                self.stepping = True
                self.dispatcher.switch_in(self)
                self.stepping = False
                continue
            else:
                level = -1
            if level < HARD_LEVEL:
                self.irq_exit = False
            if self.running:
                if level == self.level:
                    return 0
                self._suspend()
            if level < 0:
                self._set_level(-1)
                if self.virtual is not None:
                    self.virtual.became_idle(self)
                return 0
            if level == HARD_LEVEL:
                self._start(HARD_LEVEL, self.work2, IRQ)
            elif level == SOFT_LEVEL:
                self._start(SOFT_LEVEL, self.work1, self.mode1)
            else:
                self._start(PROCESS_LEVEL, self.work0, self.mode0)
            if self.running:
                return 0

    def _start(self, level: cython.int, work_ps: cython.longlong, mode: cython.int) -> cython.int:
        """Begin a piece of work; one of no length ends at once."""
        now: cython.longlong = self.sim.now
        stretch: cython.longlong
        if mode != self.mode:
            self._settle()
            self.mode = mode
        if level != self.level:
            self._set_level(level)
        if work_ps == 0:
            self.end_ps = now
            return 0
        stretch = self.alone_permille
        if self.sibling is not None and self.sibling.level >= 0:
            stretch = self.slow_permille
        self.system_from_ps = now
        if stretch != self.stretch_permille:
            if self.system_left_ps > 0:
                self._settle()
            self.stretch_permille = stretch
        if stretch != _FULL_SPEED:
            work_ps = work_ps * stretch // 1000
        self.end_ps = now + work_ps
        self.running = True
        self._place_event()
        return 0

    def _suspend(self) -> cython.int:
        """Stop the running piece, and keep what is left of it at full speed."""
        left: cython.longlong = self.end_ps - self.sim.now
        if self.stretch_permille != _FULL_SPEED:
            left = left * 1000 // self.stretch_permille
        self.sim.cancel(self.timer)
        self.timer = 0
        self.running = False
        self.end_ps = -1
        if self.level == PROCESS_LEVEL:
            self.work0 = left
        elif self.level == SOFT_LEVEL:
            self.work1 = left
        else:
            self.work2 = left
        return 0

    def _set_level(self, level: cython.int) -> cython.int:
        """Note what level runs, and tell those whose pace it changes."""
        was: cython.int = self.level
        if level < 0 and not (self.mode == IDLE or self.away):
            self._settle()
            self.mode = IDLE
        self.level = level
        if (was < 0) != (level < 0):
            if self.idle_states is not None and level < 0:
                self.idle_states.entered(self.sim.now)
            if self.sibling is not None:
                self.sibling._sibling_changed()  # noqa: SLF001 - C method of this class
            if self.virtual is not None:
                self.virtual.changed(self)
        return 0

    # -- a virtual processor's thread -----------------------------------------------------

    def _want(self) -> cython.int:
        """Ask for the processor if there is something to execute."""
        if (
            self.set0
            or self.set1
            or self.set2
            or self.irqs_waiting > 0
            or (self.irq_exit and self.softirqs is not None and self.softirqs.pending)
            or (len(self.runqueue) > 0 and self.current is None)
        ):
            self._settle()
            self.mode = STEAL
            self.interrupted = IDLE
            self.wants = True
            self.virtual.work_arrived(self)
        return 0

    def leave(self) -> cython.int:
        """The virtual processor loses its physical one: stop whatever is being executed."""
        self.away = True
        if self.level < 0:
            return 0
        if self.running:
            self._suspend()
        self._settle()
        self.interrupted = self.mode
        if self.mode == USER and self.system_left_ps > 0:
            self.interrupted = SYSTEM
        self.mode = STEAL
        self.wants = True
        self._set_level(-1)
        return 0

    def arrive(self) -> cython.int:
        """The virtual processor has a physical one: catch up with ticks, then go on."""
        ticks: cython.longlong
        self.away = False
        if self.wants:
            self.wants = False
            self._account()
            if self.sim.now >= self.next_tick_ps:
                ticks = (self.sim.now - self.next_tick_ps) // self.tick_ps + 1
                self.next_tick_ps += ticks * self.tick_ps
                self._count_ticks(ticks)
            self.mode = IDLE
        self._dispatch()
        return 0

    def _count_ticks(self, ticks: cython.longlong) -> cython.int:
        """Count lost ticks for what was interrupted."""
        if self.interrupted == IDLE:
            self.idle_ticks += ticks
        elif self.interrupted == USER:
            self.user_ticks += ticks
        elif self.interrupted == SYSTEM:
            self.system_ticks += ticks
        elif self.interrupted == SOFTIRQ:
            self.softirq_ticks += ticks
        else:
            self.irq_ticks += ticks
        return 0

    def _sibling_changed(self) -> cython.int:
        """Stretch or shrink what runs, now that the sibling works or idles."""
        stretch: cython.longlong = self.alone_permille
        left: cython.longlong
        if self.sibling.level >= 0:
            stretch = self.slow_permille
        if not self.running or stretch == self.stretch_permille:
            return 0
        left = self.end_ps - self.sim.now
        if self.stretch_permille != _FULL_SPEED:
            left = left * 1000 // self.stretch_permille
        if stretch != _FULL_SPEED:
            left = left * stretch // 1000
        if self.system_left_ps > 0:
            self._settle()
        self.stretch_permille = stretch
        self.end_ps = self.sim.now + left
        if self.end_ps < self.timer_ps:
            self.sim.cancel(self.timer)
            self._place_event()
        return 0

    def _place_event(self) -> cython.int:
        """Have `on_event` called at the end of the running piece (it may end later than that)."""
        self.timer_ps = self.end_ps
        self.timer = self.sim.at(self.end_ps, self, _ENDS, 0, 2)
        return 0

    def _settle(self) -> cython.int:
        """Account, before mode or speed change; looking alone must not round what is left."""
        done: cython.longlong
        self._account()
        if self.mode == USER and self.system_left_ps > 0:
            done = self.sim.now - self.system_from_ps
            self.system_left_ps -= done * 1000 // self.stretch_permille
            self.system_from_ps = self.sim.now
        return 0

    def _account(self) -> cython.int:  # noqa: PLR0912 - one case a mode
        """Count the time since the last change, and the ticks in it, for the mode."""
        now: cython.longlong = self.sim.now
        elapsed: cython.longlong = now - self.since_ps
        ticks: cython.longlong = 0
        tick_ps: cython.longlong = self.next_tick_ps
        mode: cython.int = self.mode
        kernel: cython.longlong
        seen: cython.longlong
        if mode < IRQ and now >= self.next_tick_ps:
            ticks = (now - self.next_tick_ps) // self.tick_ps + 1
            self.next_tick_ps += ticks * self.tick_ps
        if mode == IDLE:
            self.idle_ps += elapsed
            self.idle_ticks += ticks
        elif mode == USER:
            if self.system_left_ps > 0:
                kernel = self.system_left_ps
                if self.stretch_permille != _FULL_SPEED:
                    kernel = kernel * self.stretch_permille // 1000
                kernel += self.system_from_ps - self.since_ps
                if kernel > elapsed:
                    kernel = elapsed
                else:
                    self.system_left_ps = 0
                self.system_ps += kernel
                elapsed -= kernel
                if ticks > 0 and tick_ps <= self.since_ps + kernel:
                    # a tick sees the part that it falls into
                    seen = (self.since_ps + kernel - tick_ps) // self.tick_ps + 1
                    self.system_ticks += seen
                    ticks -= seen
            self.user_ps += elapsed
            self.user_ticks += ticks
        elif mode == SYSTEM:
            self.system_ps += elapsed
            self.system_ticks += ticks
        elif mode == SOFTIRQ:
            self.softirq_ps += elapsed
            self.softirq_ticks += ticks
        elif mode == STEAL:
            self.steal_ps += elapsed
        else:
            self.irq_ps += elapsed
        if self.sim.tracer is not None and mode != IDLE and now > self.since_ps:
            self._trace(now)
        self.since_ps = now
        return 0

    def tick_after(self, now: cython.longlong) -> cython.longlong:
        """When its timer ticks next, after `now`; what the tick sees is what ran until then."""
        return self.next_tick_ps + (now - self.next_tick_ps + self.tick_ps) // self.tick_ps * (
            self.tick_ps
        )

    def _trace(self, now: int) -> None:
        """Report to the tracer what has run since the last change."""
        context = self.context2 if self.mode == IRQ else self.context0
        name = _MODE_NAMES[self.mode]
        if self.mode != SOFTIRQ and context is not None:
            name = f"{name}: {context.path}"
        self.sim.tracer.span(self.path, name, self.since_ps, now)

    def times(self) -> dict[str, int]:
        """Cumulative time by mode: exact (``*_ps``) and as tick sampling saw it (``*_ticks``)."""
        self._account()
        return {
            "user_ps": self.user_ps,
            "system_ps": self.system_ps,
            "softirq_ps": self.softirq_ps,
            "irq_ps": self.irq_ps,
            "idle_ps": self.idle_ps,
            "steal_ps": self.steal_ps,
            "user_ticks": self.user_ticks,
            "system_ticks": self.system_ticks,
            "softirq_ticks": self.softirq_ticks,
            "irq_ticks": self.irq_ticks,
            "idle_ticks": self.idle_ticks,
        }
