"""Components that do nothing but set timers."""

import cython

from simnet.kernel.component import Component
from simnet.kernel.priority import NIC
from simnet.kernel.simulator import Simulator


@cython.final
@cython.cclass
class Ticker(Component):
    """Has an event each period."""

    period_ps: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, period_ps: int) -> None:
        super().__init__(sim, path)
        self.period_ps = period_ps

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        self.sim.after(self.period_ps, self, kind, arg, NIC)


@cython.final
@cython.cclass
class Holder(Component):
    """Replaces every event that happens by one at a random time: the hold model of a queue."""

    state: cython.ulonglong = 0

    def __init__(self, sim: Simulator, path: str, seed: int) -> None:
        super().__init__(sim, path)
        self.state = seed

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        self.state = (self.state * 1103515245 + 12345) & 0x7FFFFFFF
        self.sim.after(self.state, self, kind, arg, NIC)


@cython.final
@cython.cclass
class Restarter(Component):
    """Restarts a long timer at every event, as a NIC does at every frame."""

    timer: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path)
        self.timer = 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:  # noqa: ARG002
        self.sim.cancel(self.timer)
        self.timer = self.sim.after(20_000_000, self, 1, arg, NIC)
        self.sim.after(1_000_000, self, 0, arg, NIC)
