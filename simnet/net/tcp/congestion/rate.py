"""How fast a connection delivers: a sample for each ACK.

Source: net/ipv4/tcp_rate.c of Linux 5.1 to 6.12 (`tcp_rate_skb_sent`, `tcp_rate_skb_delivered`,
`tcp_rate_gen`, `tcp_rate_check_app_limited`). A segment remembers what had been delivered when it
was sent last; its acknowledgement says what has been since, and how long that took, by the longer
of sending and being acknowledged. Times are microseconds.
"""

from __future__ import annotations

from array import array

import cython

from simnet.kernel.compiled import Array, Public
from simnet.kernel.sentinel import NONE

# of what a segment remembers
_WORDS: cython.int = 4
_FIRST_TX: cython.int = 0
_DELIVERED_AT: cython.int = 1
_DELIVERED: cython.int = 2
_LIMITED: cython.int = 3


@cython.final
@cython.cclass
class RateSample:
    """Of one connection: what its segments remember, and what the last ACK says.

    Attributes:
        total_delivered, total_lost: segments, so far (`delivered`, `lost`).
        delivered_us: when the last were delivered.
        app_limited: up to where deliveries are held back by the application; 0: by nothing.

        Of the last ACK (`struct rate_sample`):

        delivered, interval_us: segments that were delivered in a time; -1: it says nothing.
        prior_delivered: those before.
        acked_sacked, losses: segments that it acknowledged, and that are lost by it.
        prior_in_flight: segments in flight before it.
        in_flight, state: segments in flight, and the state, after it.
        rtt_us: its round trip; -1: not measured.
        limited: the sample is held back by the application.
        delayed: the ACK may have been delayed.
        now_us, now_jiffy: the time.
        edt_us: how much later the next segment may leave (`tcp_wstamp_ns`).
    """

    total_delivered: cython.longlong = 0
    total_lost: cython.longlong = 0
    delivered_us: cython.longlong = 0
    app_limited: cython.longlong = 0
    delivered: cython.longlong = 0
    interval_us: cython.longlong = 0
    prior_delivered: cython.longlong = 0
    acked_sacked: cython.longlong = 0
    losses: Public[cython.longlong] = 0
    prior_in_flight: cython.longlong = 0
    in_flight: Public[cython.longlong] = 0
    state: Public[cython.int] = 0
    rtt_us: Public[cython.longlong] = 0
    limited: Public[cython.bint] = False
    delayed: Public[cython.bint] = False
    now_us: cython.longlong = 0
    now_jiffy: Public[cython.longlong] = 0
    edt_us: Public[cython.longlong] = 0
    first_tx_us: cython.longlong = 0
    prior_us: cython.longlong = 0
    memory: Array[cython.longlong] = None
    mask: cython.longlong = 0

    def __init__(self) -> None:
        self.memory = array("q", [0]) * (_WORDS * 4)
        self.mask = 3
        self.rtt_us = NONE
        self.begin(0, 0)

    # -- what is sent -----------------------------------------------------------------------

    def sent(
        self,
        number: cython.longlong,
        head: cython.longlong,
        alone: cython.bint,
        now_us: cython.longlong,
    ) -> cython.int:
        """`tcp_rate_skb_sent`: a segment leaves, for the first time or again.

        Args:
            number: of the segment.
            head: of the first one that is not acknowledged.
            alone: nothing was on its way.
            now_us: when it leaves.
        """
        at: cython.longlong
        if number - head >= self.mask:
            self._grow(number, head)
        if alone:
            self.first_tx_us = self.delivered_us = now_us
        at = _WORDS * (number & self.mask)
        self.memory[at + _FIRST_TX] = self.first_tx_us
        self.memory[at + _DELIVERED_AT] = self.delivered_us
        self.memory[at + _DELIVERED] = self.total_delivered
        self.memory[at + _LIMITED] = 1 if self.app_limited > 0 else 0
        return 0

    def _grow(self, number: cython.longlong, head: cython.longlong) -> cython.int:
        size: cython.longlong = 2 * (self.mask + 1)
        word: cython.longlong
        grown: Array[cython.longlong]
        while number - head >= size - 1:
            size *= 2
        grown = array("q", [0]) * (_WORDS * size)
        while head < number:
            for word in range(_WORDS):
                grown[_WORDS * (head & (size - 1)) + word] = self.memory[
                    _WORDS * (head & self.mask) + word
                ]
            head += 1
        self.memory = grown
        self.mask = size - 1
        return 0

    def limit_by_application(self, in_flight: cython.longlong) -> cython.int:
        """What is delivered until all in flight now has come is held back by the application."""
        self.app_limited = max(self.total_delivered + in_flight, 1)
        return 0

    # -- an ACK -----------------------------------------------------------------------------

    def begin(self, now_us: cython.longlong, prior_in_flight: cython.longlong) -> cython.int:
        """An ACK has come, before which so many segments were in flight."""
        self.now_us = now_us
        self.prior_in_flight = prior_in_flight
        self.prior_delivered = 0
        self.prior_us = 0
        self.interval_us = 0
        self.limited = False
        self.rtt_us = NONE
        self.delayed = False
        return 0

    def came(self, number: cython.longlong, sent_us: cython.longlong) -> cython.int:
        """`tcp_rate_skb_delivered`: a segment that was sent last then has come."""
        at: cython.longlong = _WORDS * (number & self.mask)
        if self.memory[at + _DELIVERED_AT] == 0:
            return 0
        if self.prior_delivered == 0 or self.memory[at + _DELIVERED] > self.prior_delivered:
            self.prior_delivered = self.memory[at + _DELIVERED]
            self.prior_us = self.memory[at + _DELIVERED_AT]
            self.limited = self.memory[at + _LIMITED] != 0
            self.first_tx_us = sent_us
            self.interval_us = sent_us - self.memory[at + _FIRST_TX]
        self.memory[at + _DELIVERED_AT] = 0
        return 0

    def end(
        self,
        delivered: cython.longlong,
        lost: cython.longlong,
        total_lost: cython.longlong,
        least_rtt_us: cython.longlong,
        reneged: cython.bint,
    ) -> cython.int:
        """`tcp_rate_gen`: the ACK has delivered segments, and says that others are lost.

        Args:
            delivered: so many.
            lost: so many.
            total_lost: so many so far, those of timeouts included.
            least_rtt_us: the shortest round trip.
            reneged: the receiver gave up what it held.
        """
        self.total_delivered += delivered
        self.total_lost = total_lost
        if 0 < self.app_limited < self.total_delivered:
            self.app_limited = 0
        if delivered > 0:
            self.delivered_us = self.now_us
        self.acked_sacked = delivered
        self.losses = lost
        if self.prior_us == 0 or reneged:
            self.delivered = self.interval_us = NONE
            return 0
        self.delivered = self.total_delivered - self.prior_delivered
        self.interval_us = max(self.interval_us, self.now_us - self.prior_us)
        if self.interval_us < least_rtt_us:
            # that cannot be: of something that was sent again needlessly
            self.interval_us = NONE
        return 0
