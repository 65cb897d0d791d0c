"""The retransmission queue with its scoreboard: what is on its way, held, lost, or sent again.

Source: net/ipv4/tcp_input.c of Linux (`tcp_sacktag_write_queue`, `tcp_mark_head_lost`,
`tcp_clean_rtx_queue`, `tcp_update_reordering`, `tcp_enter_loss`) and tcp_output.c
(`tcp_xmit_retransmit_queue`); RFC 2018, 2883, 6675. Each segment has three tags, as in the kernel:

| tags | in flight | |
| --- | --- | --- |
| none | 1 | on its way |
| S | 0 | the receiver holds it |
| L | 0 | lost |
| R | 2 | sent twice |
| L, R | 1 | lost, and sent again |
| S, R | 1 | held, and sent again |

Sequence numbers do not wrap, times are jiffies. As long as no segment is tagged, a segment costs
what a ring buffer costs.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.sequence import SendSequence

if not cython.compiled:
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
        TAGS,
        WORDS,
    )

__all__ = ["Scoreboard"]

_NONE = cython.declare(cython.longlong, -1)


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

    Attributes:
        head, tail: numbers of the first segment, and of the one after the last.
        sacked_out, lost_out, retrans_out: segments with each tag; without SACK, `sacked_out`
            counts duplicate ACKs.
        fackets_out: from the first segment up to the highest that the receiver holds.
        reordering: how far segments may be out of order before that means loss.
        fack: whether FACK is in use.
        undo_marker: `snd_una` when the window was reduced, -1 if there is nothing to undo.
        undo_retrans: retransmissions since then that are not known to be needless.
        rtt_jiffies: of what `clean` has taken out, -1 if it is not known.
        acked_sent_us: when the last of it had been sent first.
        retrans_acked: `clean` took out what had been sent more than once.
        newly_sacked: segments that the last `tag_blocks` found held.
    """

    def __init__(
        self, rules: SenderRules, seq: SendSequence, *, sack: bool, reordering: int
    ) -> None:
        self.seq = seq
        self.head = 0
        self.tail = 0
        # grown as needed: a machine may have ten thousand connections that send little
        self.mask = 3
        self.ring = array("q", [0]) * (WORDS * 4)
        self.tagged = False
        self.sacked_out = 0
        self.lost_out = 0
        self.retrans_out = 0
        self.fackets_out = 0
        self.reordering = reordering
        self.least_reordering = reordering
        self.max_reordering = rules.max_reordering
        self.sack = sack
        self.fack = sack and rules.fack
        self.counts_sacked = rules.counts_sacked
        self.ack_shows_reordering = rules.ack_shows_reordering
        self.dsack_goes_for_all = rules.dsack_goes_for_all
        self.undo_marker = _NONE
        self.undo_retrans = 0
        self.hint = 0
        self.lost_hint = 0
        self.lost_count = 0
        self.seen: list[Any] = []
        self.rtt_jiffies = _NONE
        self.retrans_acked = False
        self.acked_sent_us = 0
        self.newly_sacked = 0

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
        grown = array("q", [0]) * (WORDS * size)
        number = self.head - 1 if self.head > 0 else 0
        while number < self.tail:
            for word in range(WORDS):
                grown[WORDS * (number & (size - 1)) + word] = self.ring[
                    WORDS * (number & self.mask) + word
                ]
            number += 1
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
        self.rtt_jiffies = _NONE
        if self.head > first:
            self.rtt_jiffies = now_jiffy - self.ring[WORDS * (first & self.mask) + SENT]
            self.acked_sent_us = self.ring[WORDS * ((self.head - 1) & self.mask) + SENT_US]
        return self.head - first

    def _clean_tagged(self, ack: cython.longlong, now_jiffy: cython.longlong) -> cython.longlong:
        first: cython.longlong = self.head
        at: cython.longlong
        tags: cython.longlong
        reord: cython.longlong = self.tail - self.head
        prior_fackets: cython.longlong = self.fackets_out
        acked: cython.longlong
        self.retrans_acked = False
        self.rtt_jiffies = _NONE
        while self.head < self.tail:
            at = self.head & self.mask
            if self.ring[WORDS * at + END] > ack:
                break
            tags = self.ring[WORDS * at + TAG]
            if tags & (RETRANS | EVER):
                self.retrans_acked = True
                self.rtt_jiffies = _NONE
                if tags & RETRANS:
                    self.retrans_out -= 1
            else:
                if self.rtt_jiffies == _NONE:
                    self.rtt_jiffies = now_jiffy - self.ring[WORDS * at + SENT]
                if not tags & SACKED and self.head - first < reord:
                    reord = self.head - first
            if tags & SACKED:
                self.sacked_out -= 1
            if tags & LOST:
                self.lost_out -= 1
            self.ring[WORDS * at + TAG] = 0
            self.head += 1
        acked = self.head - first
        self.fackets_out = self.fackets_out - acked if self.fackets_out > acked else 0
        if self.sack and self.ack_shows_reordering and reord < prior_fackets:
            # a hole that was not retransmitted has been filled
            self.update_reordering(self.fackets_out - reord)
        if acked > 0:
            self.acked_sent_us = self.ring[WORDS * ((self.head - 1) & self.mask) + SENT_US]
            self.hint = self.lost_hint = self.head
            self.lost_count = 0
        if self.head == self.tail:
            self.tagged = False
            self.seen = []
        return acked

    def update_reordering(self, metric: cython.longlong) -> cython.int:
        """Tolerate more from now on; FACK, which takes any gap for a loss, ends."""
        if metric > self.reordering:
            if metric > self.max_reordering:
                metric = self.max_reordering
            self.reordering = metric
            self.fack = False
        return 0

    def set_reordering(self, metric: cython.longlong) -> cython.int:
        """Tolerate so much from now on, be it more or less."""
        self.reordering = metric if metric < self.max_reordering else self.max_reordering
        return 0

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

    def tag_blocks(  # noqa: C901 - each rule of the kernel's function
        self,
        blocks: list[Any],
        ack: cython.longlong,
        prior_una: cython.longlong,
        recovery: cython.bint,
        loss: cython.bint,
    ) -> cython.bint:
        """`tcp_sacktag_write_queue`, before `clean`.

        Args:
            blocks: (first byte, last plus one), the newest first, D-SACK before it.
            ack: acknowledgement number of the same segment.
            prior_una: `snd_una` before it.
            recovery: that is the state.
            loss: that is the state.

        Returns:
            Whether anything is held, or lost, that was not so before.
        """
        start: cython.longlong
        end: cython.longlong
        reord: cython.longlong = self.tail - self.head
        fackets: cython.longlong
        upto: cython.longlong = 0
        duplicate: cython.bint = False
        known: cython.longlong
        fresh: cython.bint = False
        before: cython.longlong = self.sacked_out
        self.tagged = True
        if self.sacked_out == 0:
            self.fackets_out = 0
        fackets = self.fackets_out
        start, end = blocks[0]
        if start < ack:
            duplicate = True
        elif len(blocks) > 1:
            duplicate = blocks[1][0] <= start and end <= blocks[1][1]
        if duplicate and self.undo_marker != _NONE and end <= prior_una and end > self.undo_marker:
            self.undo_retrans -= 1
        if not self.ack_shows_reordering and ack > prior_una:
            reord = self._acked_in_holes(ack, fackets, reord, duplicate, blocks[0])
        for block in blocks:
            start, end = block
            if end > upto:
                upto = end
            known = start
            if not duplicate:
                # what an earlier ACK has reported already is tagged
                for seen in self.seen:
                    if seen[0] == start and seen[1] <= end:
                        known = seen[1]
            reord = self._tag_block(start, end, known, ack, fackets, reord, duplicate)
            duplicate = duplicate and self.dsack_goes_for_all
        self.seen = blocks
        self.newly_sacked = self.sacked_out - before
        fresh = self.newly_sacked > 0
        if recovery and self.retrans_out > 0 and self._lost_retransmissions(upto):
            fresh = True
        if reord < self.fackets_out and (
            not loss or (self.ack_shows_reordering and self.undo_marker != _NONE)
        ):
            self.update_reordering(self.fackets_out + 1 - reord)
        return fresh

    def _acked_in_holes(
        self,
        ack: cython.longlong,
        fackets: cython.longlong,
        reord: cython.longlong,
        duplicate: cython.bint,
        first: Any,
    ) -> cython.longlong:
        """Segments that `ack` covers, and that had been in a hole, show reordering."""
        number: cython.longlong = self.head
        tags: cython.longlong
        count: cython.longlong
        while number < self.tail and self.ring[WORDS * (number & self.mask) + END] <= ack:
            tags = self.ring[WORDS * (number & self.mask) + TAG]
            number += 1
            count = number - self.head
            if tags & (RETRANS | EVER):
                if (
                    duplicate
                    and tags & SACKED
                    and first[0] < self.ring[WORDS * ((number - 1) & self.mask) + END] <= first[1]
                    and count < reord
                ):
                    reord = count
            elif count < fackets and not tags & SACKED and count < reord:
                reord = count
        return reord

    def _tag_block(  # noqa: C901, PLR0912 - the same
        self,
        start: cython.longlong,
        end: cython.longlong,
        known: cython.longlong,
        ack: cython.longlong,
        fackets: cython.longlong,
        reord: cython.longlong,
        duplicate: cython.bint,
    ) -> cython.longlong:
        number: cython.longlong = self.find(known)
        at: cython.longlong
        tags: cython.longlong
        count: cython.longlong
        if (
            known == start
            and number > self.head
            and self.ring[WORDS * ((number - 1) & self.mask) + END] < start
        ):
            # begins inside of a segment, which is then not held as a whole
            number += 1
        while number < self.tail:
            at = number & self.mask
            if self.ring[WORDS * at + END] > end:
                break
            number += 1
            count = number - self.head
            tags = self.ring[WORDS * at + TAG]
            if (
                duplicate
                and tags & (RETRANS | EVER)
                and self.undo_marker != _NONE
                and self.ring[WORDS * at + END] > self.undo_marker
            ):
                self.undo_retrans -= 1
            if self.ring[WORDS * at + END] <= ack:
                continue
            if tags & SACKED:
                if duplicate and tags & (RETRANS | EVER) and count < reord:
                    reord = count
            else:
                if not tags & (RETRANS | EVER) and count < fackets and count < reord:
                    # came late into a hole
                    reord = count
                if tags & LOST:
                    self.lost_out -= 1
                    tags &= ~LOST
                    if tags & RETRANS:
                        self.retrans_out -= 1
                        tags &= ~RETRANS
                tags |= SACKED
                self.sacked_out += 1
                if count > self.fackets_out:
                    self.fackets_out = count
            if duplicate and tags & RETRANS:
                tags &= ~RETRANS
                self.retrans_out -= 1
            self.ring[WORDS * at + TAG] = tags
        return reord

    def _lost_retransmissions(self, upto: cython.longlong) -> cython.bint:
        """What was sent after a retransmission has come, and the retransmission has not."""
        number: cython.longlong = self.head
        at: cython.longlong
        left: cython.longlong = self.retrans_out
        found: cython.bint = False
        if self.counts_sacked and not self.fack:
            return False
        while number < self.tail and left > 0:
            at = number & self.mask
            number += 1
            if not self.ring[WORDS * at + TAG] & RETRANS:
                continue
            left -= 1
            if upto > self.ring[WORDS * at + MARK] and (
                self.fack or upto >= self.ring[WORDS * at + MARK] + self.reordering * self.seq.mss
            ):
                self.ring[WORDS * at + TAG] &= ~RETRANS
                self.retrans_out -= 1
                self.hint = self.head
                if not self.ring[WORDS * at + TAG] & (LOST | SACKED):
                    self.ring[WORDS * at + TAG] |= LOST
                    self.lost_out += 1
                    found = True
        return found

    # -- loss -------------------------------------------------------------------------------

    def mark_head_lost(self, packets: cython.longlong, high_seq: cython.longlong) -> cython.int:
        """`tcp_mark_head_lost`: the first `packets` segments are lost, unless they are held.

        With `counts_sacked` and without FACK: those that `packets` held ones have overtaken.
        """
        number: cython.longlong = self.lost_hint
        count: cython.longlong = self.lost_count
        at: cython.longlong
        mask: cython.longlong = TAGS
        by_sacked: cython.bint = self.counts_sacked and self.sack and not self.fack
        if self.counts_sacked:
            # retransmissions that are still on their way are lost in that rule, too
            mask = LOST | SACKED
        if number < self.head or by_sacked:
            number = self.head
            count = 0
        self.tagged = True
        while number < self.tail:
            at = number & self.mask
            if self.ring[WORDS * at + END] > high_seq:
                break
            if not by_sacked or self.ring[WORDS * at + TAG] & SACKED:
                if count + 1 > packets:
                    break
                count += 1
            self._mark(number, mask)
            number += 1
        self.lost_hint = number
        self.lost_count = count
        return 0

    def mark_first_lost(self) -> cython.int:
        """The first segment is lost, unless the receiver holds it."""
        self.tagged = True
        self._mark(self.head, LOST | SACKED)
        return 0

    def head_lost_again(self) -> cython.int:
        """The first segment's retransmission, if there was one, is no longer on its way."""
        if self.ring[WORDS * (self.head & self.mask) + TAG] & RETRANS:
            self.ring[WORDS * (self.head & self.mask) + TAG] &= ~RETRANS
            self.retrans_out -= 1
        return 0

    def head_resent(self) -> cython.int:
        """The first segment has been sent again, and is on its way."""
        self.ring[WORDS * (self.head & self.mask) + TAG] |= RETRANS | EVER
        self.retrans_out += 1
        return 0

    def _mark(self, number: cython.longlong, mask: cython.longlong) -> cython.int:
        at: cython.longlong = number & self.mask
        if not self.ring[WORDS * at + TAG] & mask:
            self.ring[WORDS * at + TAG] |= LOST
            self.lost_out += 1
            if number < self.hint:
                self.hint = number
        return 0

    def head_age(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Jiffies since the first segment was sent last."""
        sent: cython.longlong = self.ring[WORDS * (self.head & self.mask) + SENT]
        return now_jiffy - sent

    def mark_timed_out(self, now_jiffy: cython.longlong, rto: cython.longlong) -> cython.int:
        """Segments from the first on that are older than the timeout are lost."""
        number: cython.longlong = self.head
        while (
            number < self.tail and now_jiffy - self.ring[WORDS * (number & self.mask) + SENT] > rto
        ):
            self._mark(number, TAGS)
            number += 1
        return 0

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
        self.fackets_out = 0
        while number < self.tail:
            at = number & self.mask
            number += 1
            if self.ring[WORDS * at + TAG] & (RETRANS | EVER):
                ever = True
            if self.ring[WORDS * at + TAG] & SACKED and not forget:
                self.ring[WORDS * at + TAG] = SACKED | (self.ring[WORDS * at + TAG] & EVER)
                self.sacked_out += 1
                self.fackets_out = number - self.head
            else:
                self.ring[WORDS * at + TAG] = LOST | (self.ring[WORDS * at + TAG] & EVER)
                self.lost_out += 1
        self.reordering = min(self.reordering, self.least_reordering)
        self.hint = self.lost_hint = self.head
        self.lost_count = 0
        if forget:
            self.seen = []
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
            return _NONE
        while number < self.tail:
            if self.ring[WORDS * (number & self.mask) + TAG] & LOST and not self.ring[
                WORDS * (number & self.mask) + TAG
            ] & (SACKED | RETRANS):
                self.hint = number
                return number
            number += 1
        self.hint = self.tail
        return _NONE

    def next_hole(self) -> cython.longlong:
        """Number of the first untagged segment below the highest that is held; -1 if none."""
        number: cython.longlong = self.head
        while number < self.tail and number - self.head < self.fackets_out:
            if not self.ring[WORDS * (number & self.mask) + TAG] & TAGS:
                return number
            number += 1
        return _NONE

    def resent(self, number: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_retransmit_skb`: a segment has been sent again."""
        at: cython.longlong = number & self.mask
        self.tagged = True
        self.ring[WORDS * at + TAG] |= RETRANS | EVER
        self.retrans_out += 1
        self.undo_retrans += 1
        self.ring[WORDS * at + SENT] = now_jiffy
        self.ring[WORDS * at + MARK] = self.seq.snd_nxt
        return 0

    # -- duplicate ACKs that stand for SACK --------------------------------------------------

    def duplicate_ack(self) -> cython.int:
        """`tcp_add_reno_sack`."""
        self.tagged = True
        self.sacked_out += 1
        if self.limit_duplicates():
            self.update_reordering(self.tail - self.head)
        return 0

    def eat_duplicates(self, acked: cython.longlong) -> cython.int:
        """`tcp_remove_reno_sacks`: one of `acked` segments was the hole, the others had come."""
        if acked > 0:
            self.sacked_out = self.sacked_out - (acked - 1) if self.sacked_out >= acked else 0
        if self.limit_duplicates():
            self.update_reordering(self.tail - self.head + acked)
        return 0

    def limit_duplicates(self) -> cython.bint:
        """`tcp_limit_reno_sacked`: whether there were more duplicates than segments can come."""
        out: cython.longlong = self.tail - self.head
        holes: cython.longlong = self.lost_out if self.lost_out > 1 else 1
        if holes > out:
            holes = out
        if self.sacked_out + holes <= out:
            return False
        self.sacked_out = out - holes
        return True

    # -- what a reduction may be undone by, and where the search for losses goes on ------------

    def mark_undo(self, retrans: cython.longlong) -> cython.int:
        """`tcp_init_undo`: `retrans` segments sent again may turn out to have been needless."""
        self.undo_marker = self.seq.snd_una
        self.undo_retrans = retrans
        return 0

    def forget_undo(self) -> cython.int:
        """There is nothing to undo."""
        self.undo_marker = _NONE
        return 0

    def count_resent(self) -> cython.int:
        """A segment is sent again: from here on, they count."""
        if self.undo_retrans < 0:
            self.undo_retrans = 0
        return 0

    def found_needless(self, count: cython.longlong) -> cython.int:
        """As many segments were sent again needlessly."""
        self.undo_retrans = max(0, self.undo_retrans - count)
        return 0

    def none_held(self) -> cython.int:
        """`tcp_reset_reno_sack`: the receiver holds nothing beyond `snd_una`."""
        self.sacked_out = 0
        return 0

    def scan_from(self, number: cython.longlong) -> cython.int:
        """The search for what is to be sent again goes on there."""
        self.hint = number
        return 0
