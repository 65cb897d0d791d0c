"""A way through the world: every frame is late, some are lost, and a bottleneck may lie on it.

It is the queueing discipline netem of Linux as a box between two hosts: copies and losses are
decided first, then `limit` frames may wait, then a frame leaves after the delay, and behind the
frame before it where a rate serialises them. A frame has the length that a queueing discipline
sees, Ethernet's header included. Its times are arithmetic. Frames keep their order as long as there
is no jitter and none is reordered: then nothing is an event.

Loss is random, each frame by itself, or in bursts by the model of Gilbert and Elliott: in its good
state a frame is lost by `good_ppb`, in its bad one by `bad_ppb`.

Jitter is uniform around the delay, as netem has it without a table; where a rate serialises, it
changes no order. A frame that is reordered leaves at once, before all that wait: by chance, but
never one of the `gap` - 1 behind the last such. A copy enters before its original, with a delay and
a loss of its own, and is not copied.

Sources: ``net/sched/sch_netem.c`` of Linux 6.6 (`netem_enqueue`, `tabledist`, `loss_event`,
`loss_gilb_ell`, `packet_time_ns`); tc-netem(8).
"""

from heapq import heappop, heappush
from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.random import RandomStream
from simnet.net.link.ethernet import UNCOUNTED_BYTES

LOST: cython.longlong = -1
"""The time at which a frame arrives that does not."""

_BILLION: cython.longlong = 10**9


@cython.final
@cython.cclass
class Netem:
    """One direction of a way.

    Args:
        name: of the way, for people.
        stream: random numbers; None if nothing is lost at random.
        delay_ps: what each frame takes.
        rate_bps: of the bottleneck; 0 for none.
        limit: frames that may wait or be under way; 0 for any number.
        loss_ppb: frames of 10**9 that are lost, each by itself.
        begin_ppb: of a burst, at each frame in the good state; 0 for no bursts.
        end_ppb: of a burst, at each frame in the bad state.
        bad_ppb: frames of 10**9 that are lost in the bad state.
        good_ppb: in the good one.
        jitter_ps: what a frame may be earlier or later than that.
        reorder_ppb: frames of 10**9 that leave at once, of those that may.
        gap: of so many frames the last one may; 0 for none.
        duplicate_ppb: frames of 10**9 that are copied.

    Attributes:
        sent, lost, dropped: frames that came, that were lost by chance, and that exceeded `limit`.
        reordered, duplicated: that left at once, and copies that were made.
        copy_ps: when a copy of the frame that was taken last leaves, or `LOST`.
        orders: frames keep their order.
        rate_bps, bytes: of the bottleneck, and of the frames that it took.
    """

    name: Public[Any] = None
    stream: RandomStream = None
    waiting: Any = None
    delay_ps: cython.longlong = 0
    rate_bps: cython.longlong = 0
    byte_ps: cython.longlong = 0
    limit: cython.longlong = 0
    loss_ppb: cython.longlong = 0
    begin_ppb: cython.longlong = 0
    end_ppb: cython.longlong = 0
    bad_ppb: cython.longlong = 0
    good_ppb: cython.longlong = 0
    jitter_ps: cython.longlong = 0
    reorder_ppb: cython.longlong = 0
    gap: cython.longlong = 0
    counter: cython.longlong = 0
    duplicate_ppb: cython.longlong = 0
    copy_ps: cython.longlong = 0
    orders: Public[cython.bint] = False
    bad: cython.bint = False
    last_ps: cython.longlong = 0
    sent: cython.longlong = 0
    lost: cython.longlong = 0
    dropped: cython.longlong = 0
    reordered: cython.longlong = 0
    duplicated: cython.longlong = 0
    bytes: cython.longlong = 0

    def __init__(
        self,
        name: str,
        stream: RandomStream | None,
        *,
        delay_ps: int = 0,
        rate_bps: int = 0,
        limit: int = 0,
        loss_ppb: int = 0,
        begin_ppb: int = 0,
        end_ppb: int = 0,
        bad_ppb: int = 0,
        good_ppb: int = 0,
        jitter_ps: int = 0,
        reorder_ppb: int = 0,
        gap: int = 0,
        duplicate_ppb: int = 0,
    ) -> None:
        self.name = name
        self.stream = stream
        self.waiting = []
        self.delay_ps = delay_ps
        self.rate_bps = rate_bps
        self.byte_ps = 8 * 10**12 // rate_bps if rate_bps > 0 else 0
        self.limit = limit
        self.loss_ppb = loss_ppb
        self.begin_ppb = begin_ppb
        self.end_ppb = end_ppb
        self.bad_ppb = bad_ppb
        self.good_ppb = good_ppb
        self.jitter_ps = jitter_ps
        self.reorder_ppb = reorder_ppb
        self.gap = gap
        self.duplicate_ppb = duplicate_ppb
        self.copy_ps = LOST
        self.orders = gap == 0 and (jitter_ps == 0 or rate_bps > 0)

    def leaves_ps(self, now_ps: cython.longlong, wire_bytes: cython.longlong) -> cython.longlong:
        """Take a frame at a time; return when it leaves, or `LOST`; `copy_ps` says when its copy.

        Times may not go back.
        """
        length: cython.longlong = wire_bytes - UNCOUNTED_BYTES
        copies: cython.bint
        gone: cython.bint
        self.sent += 1
        self.copy_ps = LOST
        copies = self._happens(self.duplicate_ppb)
        gone = self._is_lost()
        if not self._admits(now_ps, gone and not copies):
            return LOST
        if copies and not gone:
            self.duplicated += 1
            if self._admits(now_ps, self._is_lost()):
                self.copy_ps = self._queued_ps(now_ps, length)
        return self._queued_ps(now_ps, length)

    def _admits(self, now_ps: cython.longlong, gone: cython.bint) -> cython.bint:
        """Whether a frame that is `gone` by chance, or is not, gets into the queue; count it."""
        if gone:
            self.lost += 1
            return False
        if self.limit > 0 and self._is_full(now_ps):
            self.dropped += 1
            return False
        return True

    def _queued_ps(self, now_ps: cython.longlong, length: cython.longlong) -> cython.longlong:
        """`tfifo_enqueue`, or the head of the queue; return when the frame leaves."""
        leaves: cython.longlong
        if self.gap > 0 and self.counter >= self.gap - 1 and self._happens(self.reorder_ppb):
            self.counter = 0
            self.reordered += 1
            return now_ps
        self.bytes += length
        self.counter += 1
        leaves = now_ps + self.delay_ps
        if self.jitter_ps > 0:
            # `tabledist` without a table
            leaves += self.stream.below(2 * self.jitter_ps) - self.jitter_ps
            if leaves < now_ps:
                leaves = now_ps
        if self.byte_ps > 0:
            # behind the frame before it: what that still takes is not waited for twice
            if leaves < self.last_ps:
                leaves = self.last_ps
            leaves += length * self.byte_ps
            self.last_ps = leaves
        if self.limit > 0:
            heappush(self.waiting, leaves)
        return leaves

    def carried_bytes(self, now_ps: cython.longlong) -> cython.longlong:
        """What the bottleneck has served by a time, of frames that come at a steady rate.

        A frame may be taken before it comes: then nothing of it is served yet.
        """
        left_ps: cython.longlong = self.last_ps - self.delay_ps - now_ps
        left_bytes: cython.longlong = left_ps // self.byte_ps if left_ps > 0 else 0
        return self.bytes - left_bytes if left_bytes < self.bytes else 0

    def _is_lost(self) -> cython.bint:
        """Draw whether a frame is lost; the state changes first, as in `loss_gilb_ell`."""
        was_bad: cython.bint = self.bad
        if self.loss_ppb > 0 and self._happens(self.loss_ppb):
            return True
        if self.begin_ppb == 0:
            return False
        self.bad = not self._happens(self.end_ppb) if was_bad else self._happens(self.begin_ppb)
        return self._happens(self.bad_ppb if was_bad else self.good_ppb)

    def _happens(self, ppb: cython.longlong) -> cython.bint:
        if ppb <= 0:
            return False
        return ppb >= _BILLION or self.stream.below(_BILLION) < ppb

    def _is_full(self, now_ps: cython.longlong) -> cython.bint:
        while self.waiting and self.waiting[0] <= now_ps:
            heappop(self.waiting)
        return len(self.waiting) >= self.limit
