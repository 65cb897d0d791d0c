"""What an ACK with SACK says of the segments in flight, and which are lost, before Linux 4.18.

Source: net/ipv4/tcp_input.c (`tcp_sacktag_write_queue`, `tcp_mark_lost_retrans`,
`tcp_mark_head_lost`, `tcp_update_scoreboard`) and tcp_output.c (`tcp_xmit_retransmit_queue`); RFC
2018, 2883, 6675. Segments are counted: how many the receiver holds, and up to which (FACK). Later
kernels have `SackTags`, and `Rack`.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.recovery.segment import (
    EVER,
    LOST,
    MARK,
    RETRANS,
    SACKED,
    SENT,
    TAGS,
    WORDS,
)
from simnet.net.tcp.recovery.undo import Undo
from simnet.net.tcp.rules.sender_version import SenderRules

# replaced as a whole, and so the same for all
_NONE_SEEN = cython.declare(list[Any], [])


@cython.final
@cython.no_gc
@cython.cclass
class CountedTags:
    """Tags of one connection's segments.

    Args:
        rules: of the kernel's version.
        board: the segments.
    """

    board: Scoreboard = None
    undo: Undo = None
    # from the first segment up to the highest that the receiver holds
    fackets_out: cython.longlong = 0
    fack: cython.bint = False  # whether FACK is in use
    newly_sacked: cython.longlong = 0  # segments that the last `tag_blocks` found held
    lost_head: cython.longlong = 0
    lost_hint: cython.longlong = 0
    lost_count: cython.longlong = 0
    seen: list[Any] = None
    counts_sacked: cython.bint = False
    ack_shows_reordering: cython.bint = False
    dsack_goes_for_all: cython.bint = False

    def __init__(self, rules: SenderRules, board: Scoreboard) -> None:
        self.board = board
        self.undo = board.undo
        self.fack = board.sack and rules.fack
        self.counts_sacked = rules.counts_sacked
        self.ack_shows_reordering = rules.ack_shows_reordering
        self.dsack_goes_for_all = rules.dsack_goes_for_all
        self.seen = _NONE_SEEN

    def update_reordering(self, metric: cython.longlong) -> cython.int:
        """Tolerate more from now on; FACK, which takes any gap for a loss, ends."""
        if metric > self.board.reordering:
            self.board.set_reordering(metric)
            self.fack = False
        return 0

    # -- acknowledgement --------------------------------------------------------------------

    def acknowledged(self, acked: cython.longlong) -> cython.int:
        """`tcp_clean_rtx_queue`: the board has taken out `acked` segments, some with tags."""
        prior_fackets: cython.longlong = self.fackets_out
        self.fackets_out = max(self.fackets_out - acked, 0)
        if self.board.sack and self.ack_shows_reordering and self.board.acked_hole < prior_fackets:
            # a hole that was not retransmitted has been filled
            self.update_reordering(self.fackets_out - self.board.acked_hole)
        return 0

    def none_held(self) -> cython.int:
        """The receiver holds nothing beyond a hole."""
        self.fackets_out = 0
        return 0

    def restart(self, forget: cython.bint) -> cython.int:
        """All is taken for lost but what is held; `forget`: that, too."""
        number: cython.longlong = self.board.tail
        while number > self.board.head and not self.board.tags_of(number - 1) & SACKED:
            number -= 1
        self.fackets_out = number - self.board.head
        self.lost_head = NONE
        if forget:
            self.seen = _NONE_SEEN
        return 0

    # -- blocks -----------------------------------------------------------------------------

    def tag_blocks(
        self,
        blocks: list[Any],
        ack: cython.longlong,
        prior_una: cython.longlong,
        recovery: cython.bint,
        loss: cython.bint,
    ) -> cython.bint:
        """`tcp_sacktag_write_queue`, before `Scoreboard.clean`.

        Args:
            blocks: (first byte, last plus one), the newest first, D-SACK before it.
            ack: acknowledgement number of the same segment.
            prior_una: `snd_una` before it.
            recovery: that is the state.
            loss: that is the state.

        Returns:
            Whether anything is held, or lost, that was not so before.
        """
        board: Scoreboard = self.board
        start: cython.longlong
        end: cython.longlong
        reord: cython.longlong = board.tail - board.head
        fackets: cython.longlong
        upto: cython.longlong = 0
        duplicate: cython.bint
        known: cython.longlong
        fresh: cython.bint
        before: cython.longlong = board.sacked_out
        board.begin_tags()
        if board.sacked_out == 0:
            self.fackets_out = 0
        fackets = self.fackets_out
        start, end = blocks[0]
        duplicate = start < ack or (
            len(blocks) > 1 and blocks[1][0] <= start and end <= blocks[1][1]
        )
        if duplicate and NONE < self.undo.marker < end <= prior_una:
            self.undo.came_twice()
        if not self.ack_shows_reordering and ack > prior_una:
            reord = self._acked_in_holes(ack, reord, duplicate, blocks[0])
        for block in blocks:
            start, end = block
            upto = max(upto, end)
            known = start
            if not duplicate:
                # what an earlier ACK has reported already is tagged
                for seen in self.seen:
                    if seen[0] == start and seen[1] <= end:
                        known = seen[1]
            reord = self._tag_block(start, end, known, ack, fackets, reord, duplicate)
            duplicate = duplicate and self.dsack_goes_for_all
        self.seen = blocks
        self.newly_sacked = board.sacked_out - before
        fresh = self.newly_sacked > 0
        if recovery and board.retrans_out > 0 and self._lost_retransmissions(upto):
            fresh = True
        if reord < self.fackets_out and (
            not loss or (self.ack_shows_reordering and self.undo.marker != NONE)
        ):
            self.update_reordering(self.fackets_out + 1 - reord)
        return fresh

    def _acked_in_holes(
        self,
        ack: cython.longlong,
        reord: cython.longlong,
        duplicate: cython.bint,
        first: Any,
    ) -> cython.longlong:
        """Segments that `ack` covers, and that had been in a hole, show reordering."""
        board: Scoreboard = self.board
        number: cython.longlong = board.head
        tags: cython.longlong
        count: cython.longlong
        while number < board.tail and board.end_of(number) <= ack:
            tags = board.tags_of(number)
            number += 1
            count = number - board.head
            if tags & (RETRANS | EVER):
                if (
                    duplicate
                    and tags & SACKED
                    and first[0] < board.end_of(number - 1) <= first[1]
                    and count < reord
                ):
                    reord = count
            elif count < self.fackets_out and not tags & SACKED and count < reord:
                reord = count
        return reord

    def _tag_block(
        self,
        start: cython.longlong,
        end: cython.longlong,
        known: cython.longlong,
        ack: cython.longlong,
        fackets: cython.longlong,
        reord: cython.longlong,
        duplicate: cython.bint,
    ) -> cython.longlong:
        """Tag the segments of one block."""
        board: Scoreboard = self.board
        number: cython.longlong = board.find(known)
        last: cython.longlong
        tags: cython.longlong
        count: cython.longlong
        if known == start and number > board.head and board.end_of(number - 1) < start:
            # begins inside of a segment, which is then not held as a whole
            number += 1
        while number < board.tail:
            last = board.end_of(number)
            if last > end:
                break
            number += 1
            count = number - board.head
            tags = board.tags_of(number - 1)
            if duplicate and tags & (RETRANS | EVER) and NONE < self.undo.marker < last:
                self.undo.came_twice()
            if last <= ack:
                continue
            if tags & SACKED:
                if duplicate and tags & (RETRANS | EVER) and count < reord:
                    reord = count
            else:
                if not tags & (RETRANS | EVER) and count < fackets and count < reord:
                    # came late into a hole
                    reord = count
                board.mark_sacked(number - 1)
                self.fackets_out = max(self.fackets_out, count)
            if duplicate:
                board.retransmission_gone(number - 1)
        return reord

    def _lost_retransmissions(self, upto: cython.longlong) -> cython.bint:
        """What was sent after a retransmission has come, and the retransmission has not."""
        board: Scoreboard = self.board
        number: cython.longlong = board.head
        mark: cython.longlong
        left: cython.longlong = board.retrans_out
        found: cython.bint = False
        if self.counts_sacked and not self.fack:
            return False
        while number < board.tail and left > 0:
            if board.tags_of(number) & RETRANS:
                left -= 1
                mark = board.ring[WORDS * (number & board.mask) + MARK]
                if upto > mark and (self.fack or upto >= mark + board.reordering * board.seq.mss):
                    board.retransmission_gone(number)
                    board.scan_from(board.head)
                    if not board.tags_of(number) & (LOST | SACKED):
                        board.mark_lost(number)
                        found = True
            number += 1
        return found

    # -- loss -------------------------------------------------------------------------------

    def mark_head_lost(self, packets: cython.longlong, high_seq: cython.longlong) -> cython.int:
        """`tcp_mark_head_lost`: the first `packets` segments are lost, unless they are held.

        With `counts_sacked` and without FACK: those that `packets` held ones have overtaken.
        """
        board: Scoreboard = self.board
        number: cython.longlong = self.lost_hint
        count: cython.longlong = self.lost_count
        mask: cython.longlong = TAGS
        by_sacked: cython.bint = self.counts_sacked and board.sack and not self.fack
        if self.counts_sacked:
            # retransmissions that are still on their way are lost in that rule, too
            mask = LOST | SACKED
        if self.lost_head != board.head or by_sacked:
            number = board.head
            count = 0
        board.begin_tags()
        while number < board.tail and board.end_of(number) <= high_seq:
            if not by_sacked or board.tags_of(number) & SACKED:
                if count + 1 > packets:
                    break
                count += 1
            if not board.tags_of(number) & mask:
                board.mark_lost(number)
            number += 1
        self.lost_head = board.head
        self.lost_hint = number
        self.lost_count = count
        return 0

    def time_to_recover(self, overdue: cython.bint, sends: cython.bint) -> cython.bint:
        """`tcp_time_to_recover`.

        Args:
            overdue: the first segment is older than the timeout, where that counts.
            sends: something new can be sent.
        """
        board: Scoreboard = self.board
        out: cython.longlong = board.packets_out()
        distance: cython.longlong = board.sacked_out + 1
        if board.lost_out > 0:
            return True
        if self.fack or (board.sack and not self.counts_sacked):
            distance = self.fackets_out
        if distance > board.reordering or overdue:
            return True
        return (
            out <= board.reordering
            and board.sacked_out >= max(out // 2, board.least_reordering)
            and not sends
        )

    def update_scoreboard(self, fast: cython.bint, high_seq: cython.longlong) -> cython.int:
        """`tcp_update_scoreboard`; `fast`: Recovery has just begun."""
        board: Scoreboard = self.board
        packets: cython.longlong = 1
        if board.sack and self.counts_sacked and not self.fack:
            packets = board.sacked_out - board.reordering
            if packets < 0:
                return board.mark_first_lost() if fast else 0
        elif self.fack:
            packets = max(self.fackets_out - board.reordering, 1)
        return self.mark_head_lost(packets, high_seq)

    def head_age(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Jiffies since the first segment was sent last."""
        sent: cython.longlong = self.board.ring[WORDS * (self.board.head & self.board.mask) + SENT]
        return now_jiffy - sent

    def mark_timed_out(self, now_jiffy: cython.longlong, rto: cython.longlong) -> cython.int:
        """Segments from the first on that are older than the timeout are lost."""
        board: Scoreboard = self.board
        number: cython.longlong = board.head
        while (
            number < board.tail
            and now_jiffy - board.ring[WORDS * (number & board.mask) + SENT] > rto
        ):
            if not board.tags_of(number) & TAGS:
                board.mark_lost(number)
            number += 1
        return 0

    def next_hole(self) -> cython.longlong:
        """Number of the first untagged segment below the highest that is held; -1 if none."""
        board: Scoreboard = self.board
        number: cython.longlong = board.head
        while number < board.tail and number - board.head < self.fackets_out:
            if not board.tags_of(number) & TAGS:
                return number
            number += 1
        return NONE
