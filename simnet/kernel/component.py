"""Component: a part of the simulated machine that receives events."""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.simulator import Simulator
from simnet.kernel.target import Target


@cython.cclass
class Component(Target):
    """A part of the model with a dotted path, unique in its simulation.

    Subclasses override `on_event(kind, arg)`, which the simulator calls at the times asked for
    with `sim.at` or `sim.after`. A subclass may be plain Python, in the compiled build too.
    """

    sim: Simulator = None

    def __init__(self, sim: Any, path: str) -> None:
        """Register under `path` with a `Simulator`, or with that of an `Environment`.

        A path that is in use raises `SimulationError`.
        """
        self.sim = sim if isinstance(sim, Simulator) else sim.sim
        self.sim.register(self, path)

    def counters(self) -> dict[str, int]:
        """Return the component's counters by name."""
        return {}

    def waiting_for(self) -> str | None:
        """Say what the component waits for, for the report of a deadlock; None if nothing."""
        return None

    def __repr__(self) -> str:
        """Show class and path."""
        return f"<{type(self).__name__} {self.path}>"
