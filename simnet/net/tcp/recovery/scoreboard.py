"""The retransmission queue with its scoreboard: what is on its way, held, lost, or sent again.

Source: net/ipv4/tcp_input.c of Linux (`tcp_clean_rtx_queue`, `tcp_mark_skb_lost`,
`tcp_update_reordering`, `tcp_enter_loss`) and tcp_output.c (`tcp_xmit_retransmit_queue`); RFC 2018,
2883, 6675. Each segment has three tags, as in the kernel:

| tags | in flight | |
| --- | --- | --- |
| none | 1 | on its way |
| S | 0 | the receiver holds it |
| L | 0 | lost |
| R | 2 | sent twice |
| L, R | 1 | lost, and sent again |
| S, R | 1 | held, and sent again |

Tags change here alone, and with them how many segments have each; `CountedTags` and `SackTags`,
which read ACKs, and `Rack`, which reads the clock, say what is to be tagged. Sequence numbers do
not wrap, times are jiffies. As long as no segment is tagged, a segment costs what a ring buffer
costs.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Pointer
from simnet.kernel.sentinel import NONE
from simnet.net.tcp.recovery.segment import (
    END,
    EVER,
    LOST,
    MARK,
    RETRANS,
    SACKED,
    SENT,
    SENT_US,
    TAG,
    WORDS,
    free_segments,
    new_segments,
)
from simnet.net.tcp.recovery.undo import Undo
from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.sequence import SendSequence


@cython.final
@cython.no_gc
@cython.cclass
class Scoreboard:
    """Segments between `snd_una` and `snd_nxt`.

    Args:
        rules: of the kernel's version.
        seq: what is written, sent and acknowledged.
        sack: the connection uses SACK.
        reordering: `tcp_reordering`, segments.
    """

    seq: SendSequence = None
    # numbers of the first segment, and of the one after the last
    head: cython.longlong = 0
    tail: cython.longlong = 0
    mask: cython.longlong = 0
    # segments with each tag; without SACK, `sacked_out` counts duplicate ACKs
    sacked_out: cython.longlong = 0
    lost_out: cython.longlong = 0
    retrans_out: cython.longlong = 0
    rtt_jiffies: cython.longlong = 0  # of what `clean` took out, -1 if it is not known
    acked_sent_us: cython.longlong = 0  # when the last that `clean` took out was sent first
    tagged: cython.bint = False
    retrans_acked: cython.bint = False  # `clean` took out what had been sent more than once
    ring: Pointer[cython.longlong] = None
    # place of the first that `clean` took out without a tag; if all had one, how many it took
    acked_hole: cython.longlong = 0
    reordering: cython.longlong = 0  # how far segments may be out of order before that means loss
    least_reordering: cython.longlong = 0
    max_reordering: cython.longlong = 0
    sack: cython.bint = False
    undo: Undo = None  # what the last reduction of the window may be undone by
    hint: cython.longlong = 0

    def __init__(
        self,
        rules: SenderRules,
        seq: SendSequence,
        *,
        sack: cython.bint,
        reordering: cython.longlong,
    ) -> None:
        self.seq = seq
        # grown as needed: a machine may have ten thousand connections that send little
        self.mask = 3
        self.ring = new_segments(4)
        self.reordering = reordering
        self.least_reordering = reordering
        self.max_reordering = rules.max_reordering
        self.sack = sack
        self.undo = Undo(seq)
        self.rtt_jiffies = NONE

    def __dealloc__(self) -> None:
        free_segments(self.ring)

    def packets_out(self) -> cython.longlong:
        """Segments sent and not acknowledged."""
        return self.tail - self.head

    def in_flight(self) -> cython.longlong:
        """`tcp_packets_in_flight`: what is thought to be on its way."""
        return self.tail - self.head - self.sacked_out - self.lost_out + self.retrans_out

    def end_of(self, number: cython.longlong) -> cython.longlong:
        """Last byte plus one of a segment."""
        end: cython.longlong = self.ring[WORDS * (number & self.mask) + END]
        return end

    def sent_us_of(self, number: cython.longlong) -> cython.longlong:
        """When a segment was sent, microseconds; still known right after it was taken out."""
        sent_us: cython.longlong = self.ring[WORDS * (number & self.mask) + SENT_US]
        return sent_us

    def append(
        self, end_seq: cython.longlong, now_jiffy: cython.longlong, now_us: cython.longlong
    ) -> cython.int:
        """A segment has been sent for the first time."""
        at: cython.longlong
        if self.tail - self.head >= self.mask:
            self._grow()
        at = self.tail & self.mask
        self.ring[WORDS * at + END] = end_seq
        self.ring[WORDS * at + TAG] = 0
        self.ring[WORDS * at + SENT] = now_jiffy
        self.ring[WORDS * at + SENT_US] = now_us
        self.tail += 1
        return 0

    def _grow(self) -> cython.int:
        size: cython.longlong = 2 * (self.mask + 1)
        number: cython.longlong
        word: cython.int
        grown = new_segments(size)
        number = self.head - 1 if self.head > 0 else 0
        while number < self.tail:
            for word in range(WORDS):
                grown[WORDS * (number & (size - 1)) + word] = self.ring[
                    WORDS * (number & self.mask) + word
                ]
            number += 1
        free_segments(self.ring)
        self.ring = grown
        self.mask = size - 1
        return 0

    # -- acknowledgement --------------------------------------------------------------------

    def clean(self, ack: cython.longlong, now_jiffy: cython.longlong) -> cython.longlong:
        """`tcp_clean_rtx_queue`: take out what `ack` covers; return how many segments."""
        first: cython.longlong = self.head
        if self.tagged:
            return self._clean_tagged(ack, now_jiffy)
        while self.head < self.tail and self.ring[WORDS * (self.head & self.mask) + END] <= ack:
            self.head += 1
        self.retrans_acked = False
        self.rtt_jiffies = NONE
        if self.head > first:
            self.rtt_jiffies = now_jiffy - self.ring[WORDS * (first & self.mask) + SENT]
            self.acked_sent_us = self.ring[WORDS * ((self.head - 1) & self.mask) + SENT_US]
        return self.head - first

    def _clean_tagged(self, ack: cython.longlong, now_jiffy: cython.longlong) -> cython.longlong:
        """Do as `clean`, where segments may be tagged."""
        first: cython.longlong = self.head
        sent: cython.longlong
        tags: cython.longlong
        acked: cython.longlong
        self.retrans_acked = False
        self.rtt_jiffies = NONE
        self.acked_hole = self.tail - self.head
        while self.head < self.tail and self.end_of(self.head) <= ack:
            sent = self.ring[WORDS * (self.head & self.mask) + SENT]
            tags = self.take_first()
            if tags & (RETRANS | EVER):
                self.retrans_acked = True
                self.rtt_jiffies = NONE
            else:
                if self.rtt_jiffies == NONE:
                    self.rtt_jiffies = now_jiffy - sent
                if not tags & SACKED:
                    self.acked_hole = min(self.acked_hole, self.head - 1 - first)
        acked = self.head - first
        if acked > 0:
            self.acked_sent_us = self.ring[WORDS * ((self.head - 1) & self.mask) + SENT_US]
            self.hint = self.head
        if self.head == self.tail:
            self.tagged = False
        return acked

    def update_reordering(self, metric: cython.longlong) -> cython.int:
        """Tolerate more from now on."""
        if metric > self.reordering:
            self.set_reordering(metric)
        return 0

    def set_reordering(self, metric: cython.longlong) -> cython.int:
        """Tolerate so much from now on, be it more or less."""
        self.reordering = metric if metric < self.max_reordering else self.max_reordering
        return 0

    @cython.cfunc
    def find(self, seq: cython.longlong) -> cython.longlong:
        """Number of the first segment that ends after `seq`."""
        low: cython.longlong = self.head
        high: cython.longlong = self.tail
        middle: cython.longlong
        while low < high:
            middle = (low + high) // 2
            if self.ring[WORDS * (middle & self.mask) + END] <= seq:
                low = middle + 1
            else:
                high = middle
        return low

    # -- tags -------------------------------------------------------------------------------

    def begin_tags(self) -> cython.int:
        """From here on segments may have tags, which acknowledgements have to look at."""
        self.tagged = True
        return 0

    @cython.cfunc
    def end_tags(self) -> cython.int:
        """No segment has a tag."""
        self.tagged = False
        return 0

    def tags_of(self, number: cython.longlong) -> cython.longlong:
        """Tags of a segment."""
        tags: cython.longlong = self.ring[WORDS * (number & self.mask) + TAG]
        return tags

    def mark_lost(self, number: cython.longlong) -> cython.int:
        """A segment without that tag is lost."""
        self.tagged = True
        self.ring[WORDS * (number & self.mask) + TAG] |= LOST
        self.lost_out += 1
        self.hint = min(self.hint, number)
        return 0

    def mark_first_lost(self) -> cython.int:
        """The first segment is lost, unless the receiver holds it."""
        self.tagged = True
        if not self.tags_of(self.head) & (LOST | SACKED):
            self.mark_lost(self.head)
        return 0

    def lose(self, number: cython.longlong) -> cython.bint:
        """`tcp_mark_skb_lost`: a segment is lost, or its retransmission; return if that is news."""
        tags: cython.longlong = self.tags_of(number)
        if tags & SACKED:
            return False
        self.hint = min(self.hint, number)
        if not tags & LOST:
            self.mark_lost(number)
            return True
        return self.retransmission_gone(number)

    def retransmission_gone(self, number: cython.longlong) -> cython.bint:
        """A segment's retransmission, if there was one, is no longer on its way."""
        at: cython.longlong = WORDS * (number & self.mask) + TAG
        if not self.ring[at] & RETRANS:
            return False
        self.ring[at] &= ~RETRANS
        self.retrans_out -= 1
        return True

    def mark_retransmitted(self, number: cython.longlong) -> cython.int:
        """A segment has been sent again, and is on its way."""
        self.tagged = True
        self.ring[WORDS * (number & self.mask) + TAG] |= RETRANS | EVER
        self.retrans_out += 1
        return 0

    def mark_sacked(self, number: cython.longlong) -> cython.int:
        """`tcp_sacktag_one`: the receiver holds a segment, so neither it nor its copy is lost."""
        at: cython.longlong = WORDS * (number & self.mask) + TAG
        if self.ring[at] & LOST:
            self.retransmission_gone(number)
            self.ring[at] &= ~LOST
            self.lost_out -= 1
        self.ring[at] |= SACKED
        self.sacked_out += 1
        return 0

    def take_first(self) -> cython.longlong:
        """The first segment is acknowledged; return the tags that it had."""
        at: cython.longlong = WORDS * (self.head & self.mask) + TAG
        tags: cython.longlong = self.ring[at]
        if tags & SACKED:
            self.sacked_out -= 1
        if tags & LOST:
            self.lost_out -= 1
        if tags & RETRANS:
            self.retrans_out -= 1
        self.ring[at] = 0
        self.head += 1
        return tags

    # -- timeout ----------------------------------------------------------------------------

    def all_lost(self, forget: cython.bint) -> cython.bint:
        """`tcp_enter_loss`: nothing is on its way; return whether any had been sent again.

        `forget`: what the receiver was thought to hold is lost, too.
        """
        number: cython.longlong = self.head
        at: cython.longlong
        ever: cython.bint = False
        self.tagged = self.tail > self.head
        self.sacked_out = 0
        self.lost_out = 0
        self.retrans_out = 0
        while number < self.tail:
            at = number & self.mask
            number += 1
            if self.ring[WORDS * at + TAG] & (RETRANS | EVER):
                ever = True
            if self.ring[WORDS * at + TAG] & SACKED and not forget:
                self.ring[WORDS * at + TAG] = SACKED | (self.ring[WORDS * at + TAG] & EVER)
                self.sacked_out += 1
            else:
                self.ring[WORDS * at + TAG] = LOST | (self.ring[WORDS * at + TAG] & EVER)
                self.lost_out += 1
        self.reordering = min(self.reordering, self.least_reordering)
        self.hint = self.head
        return ever

    def forget_held(self) -> cython.int:
        """The receiver is thought to hold nothing."""
        number: cython.longlong = self.head
        while number < self.tail:
            self.ring[WORDS * (number & self.mask) + TAG] &= ~SACKED
            number += 1
        self.sacked_out = 0
        return 0

    def probe_resent(self, number: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """A segment has been sent again as a loss probe, which is not counted as in flight."""
        at: cython.longlong = number & self.mask
        self.tagged = True
        self.ring[WORDS * at + TAG] |= EVER
        self.ring[WORDS * at + SENT] = now_jiffy
        return 0

    def none_lost(self) -> cython.int:
        """`tcp_try_undo_loss`: all were late."""
        number: cython.longlong = self.head
        while number < self.tail:
            self.ring[WORDS * (number & self.mask) + TAG] &= ~LOST
            number += 1
        self.lost_out = 0
        return 0

    def head_is_held(self) -> cython.bint:
        """The receiver gave up what it held (reneging)."""
        return (
            self.head < self.tail
            and (self.ring[WORDS * (self.head & self.mask) + TAG] & SACKED) != 0
        )

    def head_was_resent(self) -> cython.bint:
        """Whether the first segment has been sent more than once."""
        return (
            self.tagged
            and self.head < self.tail
            and (self.ring[WORDS * (self.head & self.mask) + TAG] & (EVER | RETRANS)) != 0
        )

    # -- retransmission ---------------------------------------------------------------------

    def next_lost(self) -> cython.longlong:
        """Number of the next segment that is lost and not yet sent again; -1 if none."""
        number: cython.longlong = self.hint if self.hint > self.head else self.head
        if self.lost_out == 0:
            return NONE
        while number < self.tail:
            if self.ring[WORDS * (number & self.mask) + TAG] & LOST and not self.ring[
                WORDS * (number & self.mask) + TAG
            ] & (SACKED | RETRANS):
                self.hint = number
                return number
            number += 1
        self.hint = self.tail
        return NONE

    def resent(self, number: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_retransmit_skb`: a segment has been sent again."""
        at: cython.longlong = WORDS * (number & self.mask)
        self.mark_retransmitted(number)
        self.undo.resent()
        self.ring[at + SENT] = now_jiffy
        self.ring[at + MARK] = self.seq.snd_nxt
        return 0

    def scan_from(self, number: cython.longlong) -> cython.int:
        """The search for what is to be sent again goes on there."""
        self.hint = number
        return 0

    # -- duplicate ACKs that stand for SACK --------------------------------------------------

    def count_duplicate(self) -> cython.bint:
        """`tcp_add_reno_sack`; return whether there were more than segments can have come."""
        self.sacked_out += 1
        return self._limit_duplicates()

    def eat_duplicates(self, acked: cython.longlong) -> cython.bint:
        """`tcp_remove_reno_sacks`: one of `acked` segments was the hole, the others had come.

        Return whether there were more duplicates than segments can have come.
        """
        if acked > 0:
            self.sacked_out = self.sacked_out - (acked - 1) if self.sacked_out >= acked else 0
        return self._limit_duplicates()

    def _limit_duplicates(self) -> cython.bint:
        """`tcp_limit_reno_sacked`."""
        out: cython.longlong = self.tail - self.head
        holes: cython.longlong = self.lost_out if self.lost_out > 1 else 1
        if holes > out:
            holes = out
        if self.sacked_out + holes <= out:
            return False
        self.sacked_out = out - holes
        return True

    def none_held(self) -> cython.int:
        """`tcp_reset_reno_sack`: the receiver holds nothing beyond `snd_una`."""
        self.sacked_out = 0
        return 0
