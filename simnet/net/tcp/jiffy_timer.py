"""A kernel timer that is looked at when it runs instead of being moved: `mod_timer` made cheap.

A retransmission or delayed-ACK timer is put off by nearly every segment. So the event stays where
it is as long as it comes no later than needed; the component that is called checks whether
anything is due, and sets the timer again if not. Times are jiffies: a timer for jiffy n runs when
jiffy n is over (kernel/timer.c: `expires` has passed).
"""

from __future__ import annotations

import cython

from simnet.kernel.component import Component
from simnet.kernel.priority import CPU


def keep_timer(
    target: Component,
    kind: cython.int,
    event: cython.longlong,
    at: cython.longlong,
    jiffy: cython.longlong,
    jiffy_ps: cython.longlong,
) -> cython.longlong:
    """Return the event of a timer that is to run when `jiffy` is over, or before.

    That is `event`, which stands (0: none does) for jiffy `at`, if it comes no later.
    """
    if event != 0:
        if at <= jiffy:
            return event
        target.sim.cancel(event)
    return target.sim.at((jiffy + 1) * jiffy_ps, target, kind, 0, CPU)


@cython.final
@cython.cclass
class JiffyTimer:
    """Calls `target.on_event(kind, 0)`; it must call `ran` then.

    Args:
        target: whose timer it is.
        kind: of the event.
        jiffy_ps: length of a jiffy.
    """

    event: cython.longlong = 0
    at: cython.longlong = 0
    target: Component = None
    kind: cython.int = 0
    jiffy_ps: cython.longlong = 0

    def __init__(self, target: Component, kind: int, jiffy_ps: int) -> None:
        self.target = target
        self.kind = kind
        self.jiffy_ps = jiffy_ps

    def set(self, jiffy: cython.longlong) -> cython.int:
        """Have it run when `jiffy` is over, or before."""
        event: cython.longlong = keep_timer(
            self.target, self.kind, self.event, self.at, jiffy, self.jiffy_ps
        )
        if event != self.event:
            self.event = event
            self.at = jiffy
        return 0

    def runs_before(self, time_ps: cython.longlong) -> cython.bint:
        """Whether it is set and runs before `time_ps`."""
        return self.event != 0 and (self.at + 1) * self.jiffy_ps < time_ps

    def ran(self) -> cython.int:
        """It has run and is not set."""
        self.event = 0
        return 0
