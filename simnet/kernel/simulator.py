# ruff: noqa: SLF001 - `Target` keeps what is the simulator's own under such names
"""Simulator: the clock, and the loop that hands events to components in order."""

from __future__ import annotations

from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.kernel.compiled import Public
from simnet.kernel.prefetch import prefetch, prefetch_item
from simnet.kernel.queue import (
    ARG,
    KIND,
    MOST_SLOTS,
    PRIORITIES,
    PRIORITY_BITS,
    TARGET,
    WORDS,
    EventQueue,
)
from simnet.kernel.sentinel import LATEST_PS
from simnet.kernel.target import CallbackEvent, Target

# Target numbers of what is not a component.
OBJECT: cython.int = 0
OCCURRENCE: cython.int = -1
NO_LIMIT: cython.longlong = (1 << 63) - 1

# of a component: where it keeps what it consists of
_HEAD_BYTES: cython.int = 208


@cython.final
@cython.cclass
class Simulator:
    """One simulated time line in integer picoseconds, with its queue of future events."""

    now: cython.longlong = 0  # simulated time in ps, from 0 to 2**62 - 1 (53 days)
    events: cython.longlong = 0  # events dispatched so far
    tracer: Public[Any] = None  # None, or a `simnet.kernel.trace.Tracer`
    fire_python_event: Public[Any] = None
    _queue: EventQueue = None
    _targets: list[Any] = None
    _objects: list[Any] = None
    _numbers: dict[str, int] = None
    _running: cython.bint = False
    _stopped: cython.bint = False
    _current: cython.longlong = 0

    def __init__(self) -> None:
        """Start at time 0 with nothing to do."""
        self._queue = EventQueue()
        # Component numbers start at 1: see OBJECT.
        self._targets = [None]
        self._objects = []
        self._numbers = {}

    def register(self, target: Target, path: str) -> cython.int:
        """Give a component its number under a path that must be new, else `SimulationError`."""
        if target._sim_owner is not None:
            message = f"it is part of a simulation already, as {target.path!r}"
            raise SimulationError(message, component=path, time_ps=self.now)
        if path in self._numbers:
            message = "two components have this path"
            raise SimulationError(message, component=path, time_ps=self.now)
        target.path = path
        target._sim_number = len(self._targets)
        target._sim_owner = self
        self._numbers[path] = target._sim_number
        self._targets.append(target)
        return 0

    @property
    def components(self) -> dict[str, Any]:
        """The components by path, in the order in which they were made."""
        return {path: self._targets[number] for path, number in self._numbers.items()}

    @property
    def pending(self) -> int:
        """Number of events that are scheduled and not cancelled."""
        return self._queue.pending

    def at(
        self,
        time_ps: cython.longlong,
        target: Target,
        kind: cython.int,
        arg: cython.longlong,
        priority: cython.int,
    ) -> cython.longlong:
        """Call `target.on_event(kind, arg)` at `time_ps`, and return a handle for `cancel`.

        Among events of one time, a smaller `priority` (see `simnet.kernel.priority`) comes first,
        and among equals what was scheduled first. A time before `now` or beyond the clock's
        range, a priority that does not exist or a component of another simulation raise
        `SimulationError`.
        """
        if (
            time_ps < self.now
            or time_ps > LATEST_PS
            or priority < 0
            or priority >= PRIORITIES
            or target._sim_owner is not self
        ):
            raise self._refusal(time_ps, target, priority)
        handle: cython.longlong = self._queue.push(time_ps, priority, target._sim_number, kind, arg)
        return handle

    def after(
        self,
        delay_ps: cython.longlong,
        target: Target,
        kind: cython.int,
        arg: cython.longlong,
        priority: cython.int,
    ) -> cython.longlong:
        """Do as `at`, `delay_ps` from now."""
        if (
            delay_ps < 0
            or delay_ps > LATEST_PS - self.now
            or priority < 0
            or priority >= PRIORITIES
            or target._sim_owner is not self
        ):
            raise self._refusal(int(self.now) + int(delay_ps), target, priority)
        handle: cython.longlong = self._queue.push(
            self.now + delay_ps, priority, target._sim_number, kind, arg
        )
        return handle

    def close(self) -> None:
        """End the simulation: nothing will happen in it, and its components know nobody any more.

        They and the simulator refer to each other. Broken up they are freed when they are dropped;
        see `release`.
        """
        target: Target
        targets: list[Any] = self._targets
        self._targets = [None]
        self._numbers = {}
        self._objects = []
        self._queue = EventQueue()
        self.fire_python_event = None
        for target in targets[1:]:
            target.disconnect()

    def cancel(self, handle: cython.longlong) -> cython.bint:
        """Take an event back. Return False if it has happened or was cancelled before."""
        slot: cython.longlong = self._queue.find(handle)
        if slot == 0:
            return False
        self._queue.remove(slot)
        if self._queue.words[slot * WORDS + TARGET] >> PRIORITY_BITS <= OBJECT:
            self._objects[slot] = None
        self._queue.release(slot)
        return True

    def run_until(self, time_ps: cython.longlong) -> None:
        """Dispatch every event up to and including `time_ps`, and let `now` be `time_ps`.

        An exception that a component raises arrives as the cause of a `SimulationError` that
        names the component and the time; a `SimulationError` arrives as it is.
        """
        if time_ps < self.now or time_ps > LATEST_PS:
            raise self._refusal(time_ps, None, 0)
        self.dispatch(time_ps, NO_LIMIT)
        if not self._stopped:
            self.now = time_ps

    def stop(self) -> None:
        """Let the running `run_until` return when the event under way has been handled."""
        self._stopped = True

    def peek_ps(self) -> int | None:
        """Return the time of the next event in ps, None if there is none."""
        time_ps = self._queue.peek()
        return None if time_ps < 0 else time_ps

    def dispatch(self, limit_ps: cython.longlong, most: cython.longlong) -> cython.int:
        """Dispatch the events due by `limit_ps`, at most `most` of them."""
        if self._running:
            message = "the simulation is running already: it was started from within an event"
            raise SimulationError(message, time_ps=self.now)
        self._running = True
        self._stopped = False
        try:
            self._loop(limit_ps, most)
        except SimulationError:
            raise
        except Exception as error:
            if self._current <= OBJECT:
                raise
            path = self._targets[self._current].path
            message = f"{type(error).__name__}: {error}"
            raise SimulationError(message, component=path, time_ps=self.now) from error
        finally:
            self._running = False
        return 0

    def _loop(self, limit_ps: cython.longlong, most: cython.longlong) -> cython.int:
        """Take events and hand them over, until a limit."""
        queue: EventQueue = self._queue
        slot: cython.longlong
        word: cython.longlong
        number: cython.longlong
        kind: cython.int
        arg: cython.longlong
        while most > 0:
            slot = queue.take(limit_ps)
            if slot == 0:
                break
            # All that is needed leaves the slot, which is free, before anything is scheduled.
            word = slot * WORDS
            number = queue.words[word + TARGET] >> PRIORITY_BITS
            kind = queue.words[word + KIND]
            arg = queue.words[word + ARG]
            self.now = queue.times[slot * 2]
            if cython.compiled and queue.near != 0:
                self._look_ahead()
            self.events += 1
            self._current = number
            most -= 1
            if number > OBJECT:
                cython.cast(Target, self._targets[number]).on_event(kind, arg)
            elif number == OCCURRENCE:
                item = self._objects[slot]
                self._objects[slot] = None
                cython.cast(CallbackEvent, item).fire()
            else:
                item = self._objects[slot]
                self._objects[slot] = None
                self.fire_python_event(item)
            if self._stopped:
                break
        return 0

    def _look_ahead(self) -> cython.int:
        """Have in the cache what the next events of this instant need, such as timers' targets.

        Of the third the entry is asked for, of the second the target, and of the first what the
        target says: each is found in what was asked for before.
        """
        queue: EventQueue = self._queue
        slot: cython.longlong = queue.ahead(0)
        number: cython.longlong
        if slot == 0:
            return 0
        number = queue.words[slot * WORDS + TARGET] >> PRIORITY_BITS
        if number > OBJECT:
            cython.cast(Target, self._targets[number]).expect(queue.words[slot * WORDS + KIND])
        slot = queue.ahead(slot)
        if slot == 0:
            return 0
        number = queue.words[slot * WORDS + TARGET] >> PRIORITY_BITS
        if number > OBJECT:
            prefetch_item(self._targets, number, _HEAD_BYTES)
        slot = queue.ahead(slot)
        if slot != 0:
            prefetch(cython.address(queue.words[slot * WORDS]), 8 * WORDS)
        return 0

    @cython.cfunc
    def post(
        self, time_ps: cython.longlong, item: object, number: cython.longlong, priority: cython.int
    ) -> cython.longlong:
        """Schedule an object: an `CallbackEvent` as OCCURRENCE, anything else as OBJECT."""
        handle: cython.longlong
        slot: cython.longlong
        if time_ps < self.now or time_ps > LATEST_PS or priority < 0 or priority >= PRIORITIES:
            raise self._refusal(time_ps, None, priority)
        handle = self._queue.push(time_ps, priority, number, 0, 0)
        slot = handle & (MOST_SLOTS - 1)
        while slot >= len(self._objects):
            self._objects.extend([None] * self._queue.capacity)
        self._objects[slot] = item
        return handle

    def _refusal(self, time_ps: Any, target: Target | None, priority: int) -> SimulationError:
        """Return what is wrong with a request that was found wrong."""
        path = "" if target is None else target.path
        if target is not None and target._sim_owner is not self:
            message = "it is not part of this simulation"
        elif not 0 <= priority < PRIORITIES:
            message = f"priority {priority} does not exist: expected 0 to {PRIORITIES - 1}"
        elif time_ps < self.now:
            message = f"time would run backwards: asked for {time_ps} ps, it is {self.now} ps"
        else:
            message = f"time {time_ps} ps is beyond the clock's end, {LATEST_PS} ps"
        return SimulationError(message, component=path, time_ps=self.now)
