"""A kernel timer that is looked at when it runs instead of being moved: `mod_timer` made cheap.

A retransmission or delayed-ACK timer is put off by nearly every segment. So the event stays where
it is as long as it comes no later than needed; whoever is called looks up whether anything is due,
and sets the timer again if not. Times are jiffies: a timer for jiffy n runs when jiffy n is over
(kernel/timer.c: `expires` has passed).
"""

from __future__ import annotations

import cython

from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator

__all__ = ["JiffyTimer"]

_PRIORITY_TIMER = cython.declare(cython.int, 2)


@cython.final
@cython.cclass
class JiffyTimer:
    """Calls `target.on_event(kind, 0)`; it must call `ran` then.

    Args:
        sim: the simulation.
        target: whose timer it is.
        kind: of the event.
        jiffy_ps: length of a jiffy.
    """

    sim: Simulator
    target: Component
    kind: cython.int
    jiffy_ps: cython.longlong
    event: cython.longlong
    at: cython.longlong

    def __init__(self, sim: Simulator, target: Component, kind: int, jiffy_ps: int) -> None:
        self.sim = sim
        self.target = target
        self.kind = kind
        self.jiffy_ps = jiffy_ps
        self.event = 0
        self.at = 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def set(self, jiffy: cython.longlong) -> cython.int:
        """Have it run when `jiffy` is over, or before."""
        if self.event != 0:
            if self.at <= jiffy:
                return 0
            self.sim.cancel(self.event)
        self.at = jiffy
        self.event = self.sim.at(
            (jiffy + 1) * self.jiffy_ps, self.target, self.kind, 0, _PRIORITY_TIMER
        )
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def ran(self) -> cython.int:
        """It has run and is not set."""
        self.event = 0
        return 0
