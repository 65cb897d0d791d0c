"""A completion queue of a NIC: when it writes an event, which interrupts.

The device writes an entry (CQE) for each frame received or sent. An armed queue writes one event
(EQE), and is not armed any more; the driver arms it again, naming the last entry that it has seen.
The event waits for `frames` entries, or for a timer. In EQE mode the timer runs from the last
event: the first entry after a pause interrupts at once. In CQE mode each entry starts the timer
anew. Of other chips the first entry starts it that comes while the queue is armed, or arming it
does, if entries are there.

Source: `cq_period`, `cq_max_count` and `cq_period_mode` of struct mlx5_ifc_cqc_bits
(include/linux/mlx5/mlx5_ifc.h of Linux 6.12: MLX5_CQ_PERIOD_MODE_START_FROM_EQE, _CQE). That
entries which the driver has not seen when it arms count like any others is assumed.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.sentinel import NEVER


@cython.final
@cython.cclass
class CompletionQueue:
    """One queue."""

    armed: cython.bint = False  # the next event is still to come
    period_ps: cython.longlong = 0  # of the timer; 0 for none, an event at once
    frames: cython.longlong = 0  # entries that end it; 1 << 62: no number
    from_cqe: cython.bint = False  # CQE mode
    from_first: Public[cython.bint] = False  # the first entry starts the timer
    count: cython.longlong = 0  # entries that the driver has not seen, while armed
    deadline_ps: cython.longlong = 0  # when the event is due; 1 << 62 if nothing is there
    last_ps: cython.longlong = 0
    event_ps: cython.longlong = 0
    notified: cython.bint = False  # an event has been written that no handler has taken yet
    events: cython.longlong = 0  # taken by handlers (`event_ctr`)

    def __init__(self) -> None:
        self.armed = True
        self.frames = NEVER
        self.deadline_ps = NEVER
        self.event_ps = -NEVER

    def moderate(
        self, period_ps: cython.longlong, frames: cython.longlong, from_cqe: cython.bint
    ) -> cython.int:
        """Program timer and number of frames; holds from the next entry on."""
        self.period_ps = period_ps
        self.frames = frames if frames > 0 else NEVER
        self.from_cqe = from_cqe
        return 0

    def completed(self, at: cython.longlong) -> cython.int:
        """The device writes an entry, the last until now."""
        self.last_ps = at
        if self.armed:
            self.count += 1
            self.deadline_ps = self.due_ps(self.count, at, self.deadline_ps)
        return 0

    def due_ps(
        self, count: cython.longlong, at: cython.longlong, deadline: cython.longlong
    ) -> cython.longlong:
        """When an event is due after the entry `count`, written at `at`; before it `deadline`."""
        if count >= self.frames:
            return min(at, deadline)
        if self.from_cqe:
            return at + self.period_ps
        if self.from_first:
            return at + self.period_ps if count == 1 else deadline
        return max(at, self.event_ps + self.period_ps) if count == 1 else deadline

    def fire(self, now: cython.longlong) -> cython.bint:
        """Write an event if it is due by `now`; whether it was."""
        if not self.armed or self.deadline_ps > now:
            return False
        self.close(now)
        return True

    def close(self, now: cython.longlong) -> cython.int:
        """An event is written: its own, or that of a queue with the same vector."""
        self.armed = False
        self.notified = True
        self.event_ps = now
        self.count = 0
        self.deadline_ps = NEVER
        return 0

    def take(self) -> cython.int:
        """A handler takes the event, if there is one."""
        if self.notified:
            self.notified = False
            self.events += 1
        return 0

    def arm(self, now: cython.longlong, unseen: cython.longlong) -> cython.int:
        """Arm it; so many entries are there that the driver has not seen."""
        self.armed = True
        self.count = unseen
        if unseen == 0:
            self.deadline_ps = NEVER
        elif unseen >= self.frames:
            self.deadline_ps = now
        elif self.from_first:
            self.deadline_ps = now + self.period_ps
        else:
            self.deadline_ps = self.period_ps + (self.last_ps if self.from_cqe else self.event_ps)
            self.deadline_ps = max(self.deadline_ps, now)
        return 0
