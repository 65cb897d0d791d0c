"""What the simulator hands an event to: a component's `on_event`, or an occurrence.

These are the halves of `Component` and of SimPy's events that the simulator itself needs.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.kernel.release import release


@cython.cclass
class Target:
    """Receiver of events, known to one simulator by its path and by a number of its own."""

    path: str = None
    _sim_number: cython.longlong = 0
    _sim_owner: Any = None

    @cython.ccall
    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """Handle an event that was scheduled with `kind` and `arg`; subclasses override this."""
        message = f"{type(self).__name__} does not handle events (kind {kind}, argument {arg})"
        raise SimulationError(message, component=self.path)

    def disconnect(self) -> cython.int:
        """The simulation is over: let go of all others, and of what only this component owns."""
        return release(self)

    @cython.cfunc
    def expect(self, kind: cython.int) -> cython.int:
        """An event of this kind is next: ask for the cache lines that it will need."""
        return 0


@cython.cclass
class CallbackEvent:
    """An event object with code of its own, scheduled once at a time."""

    @cython.cfunc
    def fire(self) -> cython.int:
        """Run what follows from the event."""
        raise NotImplementedError
