# ruff: noqa: SLF001 - C functions take no keywords, and SimPy's names are private ones
# mypy: no-strict-optional
"""The halves of SimPy's process and of what starts and interrupts one; see `events`."""

from __future__ import annotations

from typing import Any

import cython
from simpy.events import PENDING, _describe_frame
from simpy.exceptions import Interrupt

from simnet.kernel.compiled import Pointer, Public, native
from simnet.kernel.events import EnvironmentCore, EventCore
from simnet.kernel.failures import copied, stripped


@native
def send(generator: object, value: object, returned: Pointer[cython.int]) -> object:
    """Stand for PyIter_Send, which needs no StopIteration: of use to machine code only."""
    raise NotImplementedError


_PENDING = cython.declare(object, PENDING)
_URGENT: cython.int = 0
_NORMAL: cython.int = 1

# The joined classes, as `simnet.kernel.environment` declares them.
_initialize_class: Any = cython.declare(type, object)
_interruption_class: Any = cython.declare(type, object)


def declare(initialize: type, interruption: type) -> None:
    """Say which classes start and interrupt a process."""
    global _initialize_class, _interruption_class  # noqa: PLW0603 - set once, when they exist
    _initialize_class = initialize
    _interruption_class = interruption


@cython.cclass
class ProcessCore(EventCore):
    """Runs a generator that yields the events it waits for, and happens when that returns."""

    _generator: Public[Any] = None
    _target: Public[Any] = None
    _returned: cython.int = 0

    def __init__(self, env: EnvironmentCore, generator: Any) -> None:
        if not hasattr(generator, "throw"):
            message = f"{generator} is not a generator."
            raise ValueError(message)
        self.prepare(env, _PENDING, False)
        self._generator = generator
        self._target = _initialize_class(env, self)
        env._alive[self] = None

    @property
    def target(self) -> Any:
        """The event that the process waits for; None if it is dead or being interrupted."""
        return self._target

    @property
    def name(self) -> str:
        """Name of the generator function."""
        name: str = self._generator.__name__
        return name

    @property
    def is_alive(self) -> bool:
        """Whether the generator has not returned yet."""
        return self._value is _PENDING

    def interrupt(self, cause: Any = None) -> None:
        """Throw an `Interrupt` with `cause` into the process, before anything else happens."""
        _interruption_class(self, cause)

    def resume(self, event: Any) -> cython.int:
        """Run the generator with the outcome of `event` until it waits for another one."""
        self.env._active_proc = self
        while True:
            try:
                event = self.advance(event)
            except BaseException as error:  # noqa: BLE001 - whatever it is, it is the outcome
                self.end(stripped(error), False)
                event = None
                break
            if self._returned:
                self.end(event, True)
                event = None
                break
            if self.wait_for(event):
                break
        self._target = event
        self.env._active_proc = None
        return 0

    @cython.cfunc
    def advance(self, event: Any) -> Any:
        """Return what the generator yields, or returns if `_returned` is set."""
        outcome: Any
        if isinstance(event, EventCore):
            core: EventCore = event
            if core._ok:
                return self._send(core._value)
            core._defused = True
            outcome = core._value
        else:
            if event._ok:
                return self._send(event._value)
            event._defused = True
            outcome = event._value
        self._returned = False
        try:
            return self._generator.throw(copied(outcome))
        except StopIteration as stop:
            self._returned = True
            return stop.value

    @cython.cfunc
    def _send(self, value: Any) -> Any:
        if cython.compiled:
            return send(self._generator, value, cython.address(self._returned))  # type: ignore[arg-type]
        else:  # noqa: RET505 - the other engine's code, as Cython sees it
            self._returned = False
            try:
                return self._generator.send(value)
            except StopIteration as stop:
                self._returned = True
                return stop.value

    @cython.cfunc
    def wait_for(self, event: Any) -> cython.bint:
        """Join those who wait for an event; False if it has happened already."""
        if isinstance(event, EventCore):
            core: EventCore = event
            if core._processed:
                return False
            if core._waiter is None and core._callbacks is None:
                core._waiter = self
                return True
        try:
            callbacks = event.callbacks
        except AttributeError:
            where = _describe_frame(self._generator.gi_frame)
            message = f'\n{where}Invalid yield value "{event}"'
            raise RuntimeError(message) from None
        if callbacks is None:
            return False
        callbacks.append(self._resume)
        return True

    @cython.cfunc
    def end(self, value: object, ok: cython.bint) -> cython.int:
        """Let what waits for the process know that the generator has returned or raised."""
        self._value = value
        self._ok = ok
        del self.env._alive[self]
        self.env.post(self, _NORMAL, 0)
        return 0


@cython.cclass
class InitializeCore(EventCore):
    """Starts a process."""

    _process: ProcessCore = None

    def __init__(self, env: EnvironmentCore, process: ProcessCore) -> None:
        self.prepare(env, None, True)
        self._waiter = process
        env.post(self, _URGENT, 0)


@cython.cclass
class InterruptionCore(EventCore):
    """Throws an `Interrupt` into a process."""

    process: ProcessCore = None

    def __init__(self, process: ProcessCore, cause: Any) -> None:
        self.prepare(process.env, Interrupt(cause), False)
        self._defused = True
        if process._value is not _PENDING:
            message = f"{process} has terminated and cannot be interrupted."
            raise RuntimeError(message)
        if process is self.env._active_proc:
            message = "A process is not allowed to interrupt itself."
            raise RuntimeError(message)
        self.process = process
        self.env.post(self, _URGENT, 0)

    def fire(self) -> cython.int:
        """Tear the process from what it waits for, unless it has died of an earlier interrupt."""
        process: ProcessCore = self.process
        callbacks = self._callbacks
        self._processed = True
        if process._value is _PENDING:
            target = process._target
            if isinstance(target, EventCore):
                cython.cast(EventCore, target).forget(process)
            else:
                target.callbacks.remove(process._resume)
            process.resume(self)
        if callbacks is not None:
            self._callbacks = None
            self.env._call(self, callbacks)
        return 0
