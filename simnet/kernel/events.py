# ruff: noqa: SLF001 - C functions take no keywords, and SimPy's names are private ones
# mypy: no-strict-optional
"""The halves of SimPy's environment, events and timeouts that machine code makes fast.

`simnet.kernel.environment` joins each with the class of SimPy that it stands for. Semantics are
those of SimPy 4.1 (`simpy/core.py` and `simpy/events.py`). One thing is added: the first process
that waits for an event is kept in the event itself, and the list of callbacks comes into being
when it is asked for.
"""

from __future__ import annotations

import operator
from typing import Any

import cython
from simpy.core import StopSimulation
from simpy.events import PENDING

from simnet.errors import SimulationError
from simnet.kernel.clock import to_ps
from simnet.kernel.compiled import Public
from simnet.kernel.failures import failure
from simnet.kernel.sentinel import LATEST_PS
from simnet.kernel.simulator import OBJECT, OCCURRENCE, Simulator
from simnet.kernel.target import CallbackEvent

_PENDING = cython.declare(object, PENDING)

_NORMAL: cython.int = 1

# The joined class, as `simnet.kernel.environment` declares it.
_timeout_class: Any = cython.declare(type, object)


def declare(timeout: type) -> None:
    """Say which class the factory of timeouts makes."""
    global _timeout_class  # noqa: PLW0603 - set once, when the joined class exists
    _timeout_class = timeout


@cython.cclass
class EnvironmentCore:
    """Time in units, scheduling and dispatching."""

    sim: Simulator = None
    unit_ps: cython.longlong = 0
    _active_proc: Public[Any] = None
    _alive: dict[Any, None] = None
    _scheduled: cython.longlong = 0
    _unfinished: list[Any] = None

    def _start(self, initial_time: Any, unit_ps: int) -> None:
        self.unit_ps = 1
        start_ps = 0
        if unit_ps < 1:
            message = f"unit_ps must be a whole number of ps from 1 on, not {unit_ps}"
            raise ValueError(message)
        self.unit_ps = unit_ps
        self.sim = Simulator()
        self.sim.fire_python_event = self._fire_python_event
        if initial_time:
            start_ps = self.delay_ps(initial_time)
            self.sim.run_until(start_ps)
        self._active_proc = None
        self._alive = {}
        self._scheduled = 0
        self._unfinished = []

    @property
    def now(self) -> Any:
        """Current time in the environment's unit: an int when it is whole, else a float."""
        if self.unit_ps == 1:
            return self.sim.now
        return self.in_units(self.sim.now)

    def in_units(self, time_ps: cython.longlong) -> Any:
        """Return a time in ps in the environment's unit."""
        if time_ps % self.unit_ps == 0:
            return time_ps // self.unit_ps
        # Of Python's integers, to round once.
        return operator.truediv(time_ps, self.unit_ps)

    @property
    def active_process(self) -> Any:
        """The process that is running now, or None."""
        return self._active_proc

    def timeout(self, delay: Any = 0, value: Any = None) -> Any:
        """Return an event that happens after `delay` units, with `value`."""
        event: TimeoutCore = _timeout_class.__new__(_timeout_class)
        delay_ps: cython.longlong = self.delay_ps(delay)
        event.prepare(self, value, True)
        event._delay = delay
        self.post(event, _NORMAL, delay_ps)
        return event

    def schedule(self, event: Any, priority: Any = 1, delay: Any = 0) -> None:
        """Let an event happen `delay` units from now."""
        delay_ps: cython.longlong = 0
        if delay != 0:
            delay_ps = self.delay_ps(delay)
        self.post(event, priority, delay_ps)

    def succeed_at(self, event: EventCore, priority: int, time: Any) -> None:
        """Let an event succeed at a time in units."""
        event._ok = True
        event._value = None
        self.post(event, priority, self.delay_ps(time) - self.sim.now)

    @cython.cfunc
    def post(self, event: object, priority: cython.int, delay_ps: cython.longlong) -> cython.int:
        """Let an event happen `delay_ps` from now."""
        self._scheduled += 1
        if delay_ps > LATEST_PS - self.sim.now:
            message = f"a delay of {delay_ps} ps leads beyond the clock's end, {LATEST_PS} ps"
            raise SimulationError(message, time_ps=self.sim.now)
        if isinstance(event, EventCore):
            self.sim.post(self.sim.now + delay_ps, event, OCCURRENCE, priority)
        else:
            self.sim.post(self.sim.now + delay_ps, event, OBJECT, priority)
        return 0

    @cython.cfunc
    def delay_ps(self, delay: Any) -> cython.longlong:
        """Return a delay, or a time, in ps; raise ValueError if it is none."""
        whole: cython.longlong
        if type(delay) is int and 0 <= delay <= LATEST_PS // self.unit_ps:
            whole = delay
            return whole * self.unit_ps
        return to_ps(delay, self.unit_ps)

    def dispatch(self, most: cython.longlong) -> cython.int:
        """Let up to `most` events happen, those that were stopped half-way first."""
        while self._unfinished and most > 0:
            most -= 1
            event = self._unfinished.pop(0)
            if isinstance(event, EventCore):
                cython.cast(EventCore, event).fire()
            else:
                self._fire_python_event(event)
        self.sim.dispatch(LATEST_PS, most)
        return 0

    def _fire_python_event(self, event: Any) -> None:
        """Let an event happen that is one of SimPy's own classes, such as a resource's."""
        callbacks = event.callbacks
        event.callbacks = None
        self._call(event, callbacks)
        if not event._ok and not hasattr(event, "_defused"):
            raise failure(event, self.sim.now)

    def _call(self, event: Any, callbacks: list[Any]) -> None:
        index: cython.Py_ssize_t = 0
        try:
            # The list may not change from here on, but its length is read anew all the same.
            while index < len(callbacks):
                index += 1
                callbacks[index - 1](event)
        except StopSimulation:
            # What remains happens first when the simulation resumes.
            if isinstance(event, EventCore):
                cython.cast(EventCore, event)._processed = False
            event.callbacks = callbacks[index:]
            self._unfinished.append(event)
            self._scheduled += 1
            raise


@cython.cclass
class EventCore(CallbackEvent):
    """State and life of an event."""

    env: Public[EnvironmentCore] = None
    _value: Public[Any] = None
    _ok: Public[cython.bint] = False
    _defused: Public[cython.bint] = False
    _processed: cython.bint = False
    _callbacks: list[Any] = None
    _waiter: EventCore = None

    def __init__(self, env: EnvironmentCore) -> None:
        self.prepare(env, _PENDING, False)

    @cython.cfunc
    def prepare(self, env: EnvironmentCore, value: object, ok: cython.bint) -> cython.int:
        """Set all there is of a new event."""
        self.env = env
        self._value = value
        self._ok = ok
        self._defused = False
        self._processed = False
        self._callbacks = None
        self._waiter = None
        return 0

    @property
    def callbacks(self) -> list[Any]:
        """Functions to call when the event happens; None once it has."""
        if self._processed:
            return None
        if self._callbacks is None:
            self._callbacks = []
            if self._waiter is not None:
                self._callbacks.append(self._waiter._resume)
                self._waiter = None
        return self._callbacks

    @callbacks.setter
    def callbacks(self, callbacks: list[Any]) -> None:
        self._processed = callbacks is None
        self._callbacks = callbacks
        self._waiter = None

    @property
    def triggered(self) -> bool:
        """Whether the event has a value and is about to happen, or has happened."""
        return self._value is not _PENDING

    @property
    def processed(self) -> bool:
        """Whether the event has happened."""
        return self._processed

    @property
    def ok(self) -> bool:
        """Whether the event succeeded; AttributeError before it is triggered."""
        if self._value is _PENDING:
            message = f"{self} is not triggered yet"
            raise AttributeError(message)
        return self._ok

    @property
    def defused(self) -> bool:
        """Whether a process has handled the failure."""
        return self._defused

    @defused.setter
    def defused(self, value: bool) -> None:
        self._defused = True

    @property
    def value(self) -> Any:
        """The value or the exception; AttributeError before the event is triggered."""
        if self._value is _PENDING:
            message = f"Value of {self} is not yet available"
            raise AttributeError(message)
        return self._value

    def trigger(self, event: Any) -> None:
        """Take over another event's outcome; serves as a callback of that event."""
        self._ok = event._ok
        self._value = event._value
        self.env.post(self, _NORMAL, 0)

    def succeed(self, value: Any = None) -> Any:
        """Let the event happen now with `value`, and return it."""
        if self._value is not _PENDING:
            message = f"{self} has already been triggered"
            raise RuntimeError(message)
        self._ok = True
        self._value = value
        self.env.post(self, _NORMAL, 0)
        return self

    def fail(self, exception: Any) -> Any:
        """Let the event happen now by raising `exception` in who waits, and return it."""
        if self._value is not _PENDING:
            message = f"{self} has already been triggered"
            raise RuntimeError(message)
        if not isinstance(exception, BaseException):
            message = f"{exception} is not an exception."
            raise TypeError(message)
        self._ok = False
        self._value = exception
        self.env.post(self, _NORMAL, 0)
        return self

    def fire(self) -> cython.int:
        """Resume who waits."""
        waiter: EventCore = self._waiter
        self._processed = True
        if waiter is not None:
            self._waiter = None
            waiter.resume(self)
        elif self._callbacks is not None:
            callbacks = self._callbacks
            self._callbacks = None
            self.env._call(self, callbacks)
        if not self._ok and not self._defused:
            self.crash()
        return 0

    @cython.cfunc
    def crash(self) -> cython.int:
        """Raise the failure that no process has handled."""
        raise failure(self, self.env.sim.now)

    @cython.cfunc
    def forget(self, process: EventCore) -> cython.int:
        """Strike a process from those who wait."""
        if self._waiter is process:
            self._waiter = None
        else:
            self._callbacks.remove(process._resume)
        return 0

    @cython.cfunc
    def resume(self, event: object) -> cython.int:
        """Go on with the outcome of another event, as a process does."""
        raise NotImplementedError

    def _resume(self, event: Any) -> None:
        self.resume(event)


@cython.cclass
class TimeoutCore(EventCore):
    """Happens when a delay has passed."""

    _delay: Public[Any] = None

    def __init__(self, env: EnvironmentCore, delay: Any, value: Any = None) -> None:
        delay_ps: cython.longlong = env.delay_ps(delay)
        self.prepare(env, value, True)
        self._delay = delay
        env.post(self, _NORMAL, delay_ps)
