"""Environment: SimPy's environment, on the simulator's clock and queue.

SimPy's processes, resources, stores and conditions run on it unchanged, beside components, and
its events, timeouts and processes are instances of SimPy's own classes. It differs from SimPy in
these points:

- Time is a whole number of picoseconds inside; `simnet.kernel.clock` says what becomes of
  fractions, and of units. It starts at 0 or later.
- `schedule` takes priorities 0 to 3 (SimPy's URGENT and NORMAL are 0 and 1).
- When `run(until=event)` has nothing left to do, the error is a `DeadlockError`, still a
  `RuntimeError` with SimPy's text, that goes on to say who waits for what.
- A process that waits is kept until the environment goes, even if nothing refers to it, so that
  it can be named, and no `finally` of its generator runs at the whim of the garbage collector.
- Tracebacks name this package's files where they would name SimPy's.

`RealtimeEnvironment` remains SimPy's own, on its own queue: pacing events by the wall clock is
of no use to a simulation that is meant to give the same result everywhere.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import simpy
from simpy.core import EmptySchedule, Infinity, StopSimulation
from simpy.events import URGENT, AllOf, AnyOf, Initialize, Interruption

from simnet.errors import SimulationError
from simnet.kernel import events, processes
from simnet.kernel.events import EnvironmentCore, EventCore, TimeoutCore
from simnet.kernel.processes import InitializeCore, InterruptionCore, ProcessCore
from simnet.kernel.watch import report_time

if TYPE_CHECKING:
    from collections.abc import Iterable

# some hundredths of a second when compiled
_SLICE_EVENTS = 1 << 16
_MOST_NAMED = 10


class DeadlockError(SimulationError, RuntimeError):
    """Nothing is left to do, and what `run` was to wait for has not happened."""

    def __str__(self) -> str:
        """Give the text that SimPy gives, and who waits for what."""
        return self.message


class Event(EventCore, simpy.Event):  # type: ignore[misc]
    """A `simpy.Event`."""

    __slots__ = ()


class Timeout(TimeoutCore, simpy.Timeout):  # type: ignore[misc]
    """A `simpy.Timeout`."""

    __slots__ = ()


class Process(ProcessCore, simpy.Process):  # type: ignore[misc]
    """A `simpy.Process`."""

    __slots__ = ()


class _Initialize(InitializeCore, Initialize):  # type: ignore[misc]
    __slots__ = ()


class _Interruption(InterruptionCore, Interruption):  # type: ignore[misc]
    __slots__ = ()


events.declare(Timeout)
processes.declare(_Initialize, _Interruption)


class Environment(EnvironmentCore, simpy.Environment):
    """Runs SimPy processes and components on one clock.

    Args:
        initial_time: time at which the clock starts, in units.
        unit_ps: what a process means by 1, in ps. Components count in ps whatever it is.

    Attributes:
        sim: the `Simulator` below, for components; its `now` is in ps.
        now: the time in units: an int when it is whole, else a float.
    """

    def __init__(self, initial_time: float = 0, *, unit_ps: int = 1) -> None:
        """Start the clock."""
        self._start(initial_time, unit_ps)

    def event(self) -> Event:
        """Return an event that happens when it is triggered."""
        return Event(self)

    def process(self, generator: Any) -> Process:
        """Start a process that runs a generator."""
        return Process(self, generator)

    def all_of(self, events: Iterable[simpy.Event]) -> AllOf:
        """Return an event that happens when all of `events` have."""
        return AllOf(self, events)

    def any_of(self, events: Iterable[simpy.Event]) -> AnyOf:
        """Return an event that happens when one of `events` has."""
        return AnyOf(self, events)

    @property
    def _eid(self) -> itertools.count[int]:  # type: ignore[override]
        """SimPy's count of scheduled events, from which its benchmarks take the next one."""
        return itertools.count(self._scheduled)

    def peek(self) -> Any:
        """Return the time of the next event in units; infinity if there is none."""
        if self._unfinished:
            return self.now
        time_ps = self.sim.peek_ps()
        return Infinity if time_ps is None else self.in_units(time_ps)

    def step(self) -> None:
        """Let one event happen; `simpy.core.EmptySchedule` if there is none."""
        if not self._unfinished and self.sim.pending == 0:
            raise EmptySchedule
        self.dispatch(1)

    def run(self, until: Any = None) -> Any:
        """Let events happen until nothing is left, or a time, or an event.

        Args:
            until: None; a time in units, whose events are not dispatched any more; or an
                event, whose value is returned.

        Raises:
            ValueError: the time is not after `now`.
            DeadlockError: nothing is left to do, and the event has not happened.
            SimulationError: a component raised an exception, which is the cause.
            Exception: what a process raised, if nothing waited for it; notes name the process.
        """
        if until is not None:
            if not isinstance(until, simpy.Event):
                until = self._clock_event(until)
            elif until.processed:
                return until.value
            until.callbacks.append(StopSimulation.callback)
        try:
            self._dispatch_all()
        except StopSimulation as stop:
            return stop.args[0]
        if until is not None:
            until.callbacks.remove(StopSimulation.callback)
            if self.sim.pending == 0:
                raise self._deadlock(until)
        return None

    def _dispatch_all(self) -> None:
        """Let everything happen, in slices: interrupts and watchers come between them."""
        while True:
            full = self.sim.events + _SLICE_EVENTS - len(self._unfinished)
            self.dispatch(_SLICE_EVENTS)
            if self.sim.events < full:
                return
            report_time(self.sim.now)

    def _clock_event(self, until: Any) -> Event:
        at = until if isinstance(until, int) else float(until)
        if at <= self.now:
            message = f"until ({at}) must be greater than the current simulation time"
            raise ValueError(message)
        event = Event(self)
        self.succeed_at(event, URGENT, at)
        return event

    def waiting(self) -> list[str]:
        """Say who waits for what: processes that are alive, and components that know."""
        lines = [f"process {process.name!r} for {_target(process)}" for process in self._alive]
        for path, component in self.sim.components.items():
            reason = component.waiting_for()
            if reason is not None:
                lines.append(f"component {path} for {reason}")
        return lines

    def _deadlock(self, until: Any) -> DeadlockError:
        waiting = self.waiting()
        named = waiting[:_MOST_NAMED]
        if len(waiting) > len(named):
            named.append(f"and {len(waiting) - len(named)} more")
        message = (
            f'No scheduled events left but "until" event was not triggered: {until};'
            f" at {self.now} these wait: {'; '.join(named) or 'none'}"
        )
        return DeadlockError(message, time_ps=self.sim.now)


def _target(process: Process) -> str:
    target = process.target
    resource = getattr(target, "resource", None)
    if resource is None:
        return f"{target}"
    return f"{target} of {resource}"
