"""What an ACK with SACK says of the segments in flight, in Linux 4.18 and later.

Source: net/ipv4/tcp_input.c of Linux 6.x (`tcp_sacktag_write_queue`, `tcp_sacktag_one`,
`tcp_check_dsack`, `tcp_clean_rtx_queue`, `tcp_check_sack_reordering`); RFC 2018, 2883, 8985.
Against `CountedTags`, that of earlier kernels: degrees of reordering are counted in
bytes, without FACK, and `Rack` gets the time at which each segment that has come was sent.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.sentinel import NEVER, NONE
from simnet.net.tcp.congestion.rate import RateSample
from simnet.net.tcp.recovery.rack import Rack
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.recovery.segment import END, EVER, RETRANS, SACKED, SENT_US, WORDS

# replaced as a whole, and so the same for all
_NONE_SEEN = cython.declare(list[Any], [])


@cython.final
@cython.no_gc
@cython.cclass
class SackTags:
    """Tags of one connection's segments.

    Args:
        board: the segments.
        rack: what is known of their times.

    Attributes:
        highest: last byte plus one of the highest segment that the receiver holds.
        probe_end: `snd_nxt` when a loss probe was sent, -1 without one; who sends it sets it.
        resent: how often a segment has been sent again.

        Of the ACK that is being processed, from `begin` on:

        sacked: the receiver holds more than before.
        dsack: it reports what came twice.
        dsack_probe: that is the loss probe.
        originals: segments up to `high_seq` have come that had not been sent again.
        retransmitted: it acknowledges some that had been.
        delivered: segments that have come.
        first_us, last_us: when the first and the last one that it acknowledges was sent; -1: none
            or that is not known.
        sack_first_us, sack_last_us: the same of those that SACK reports.
        renege: the first segment that is left had been held.
    """

    board: Scoreboard = None
    rack: Rack = None
    highest: cython.longlong = 0
    probe_end: cython.longlong = 0
    resent: Public[cython.longlong] = 0
    seen: list[Any] = None
    dsacks: cython.longlong = 0
    sacked: cython.bint = False
    dsack: cython.bint = False
    dsack_probe: cython.bint = False
    originals: cython.bint = False
    retransmitted: cython.bint = False
    rate: Public[RateSample] = None
    delivered: Public[cython.longlong] = 0
    first_us: Public[cython.longlong] = 0
    last_us: Public[cython.longlong] = 0
    sack_first_us: cython.longlong = 0
    sack_last_us: cython.longlong = 0
    renege: cython.bint = False
    now_us: cython.longlong = 0
    una: cython.longlong = 0
    high_seq: cython.longlong = 0
    reord: cython.longlong = 0
    inside_from: cython.longlong = 0
    inside_to: cython.longlong = 0

    def __init__(self, board: Scoreboard, rack: Rack) -> None:
        self.board = board
        self.rack = rack
        self.probe_end = NONE
        self.seen = _NONE_SEEN
        self.inside_from, self.inside_to = NEVER, NONE
        self.begin(0, 0, 0)

    def begin(
        self, una: cython.longlong, high_seq: cython.longlong, now_us: cython.longlong
    ) -> cython.int:
        """An ACK has come that moves `snd_una` to `una`."""
        self.una = una
        self.high_seq = high_seq
        self.now_us = now_us
        self.sacked = self.dsack = self.dsack_probe = False
        self.originals = self.retransmitted = self.renege = False
        self.delivered = 0
        self.first_us = self.last_us = self.sack_first_us = self.sack_last_us = NONE
        self.rack.begin()
        return 0

    def highest_held(self) -> cython.longlong:
        """`tcp_highest_sack_seq`."""
        return self.una if self.board.sacked_out == 0 else self.highest

    def probe(self, end: cython.longlong) -> cython.int:
        """A loss probe up to `end` is under way; -1: none is."""
        self.probe_end = end
        return 0

    def resends(self, number: cython.longlong, now_us: cython.longlong) -> cython.int:
        """A segment is sent again, now."""
        self.resent += 1
        if self.rate is not None:
            self.rate.sent(number, self.board.head, False, now_us)
        return self.rack.resent(number, now_us)

    # -- blocks -------------------------------------------------------------------------------

    def tag(
        self,
        blocks: list[Any],
        ack: cython.longlong,
        prior_una: cython.longlong,
        snd_nxt: cython.longlong,
        lossy: cython.bint,
    ) -> cython.int:
        """`tcp_sacktag_write_queue`, after `begin` and before `clean`.

        Args:
            blocks: (first byte, last plus one), the newest first, D-SACK before it.
            ack: acknowledgement number of the same segment.
            prior_una: `snd_una` before it.
            snd_nxt: of the sender.
            lossy: the state is Loss, and there is nothing to undo.
        """
        board: Scoreboard = self.board
        start: cython.longlong
        end: cython.longlong
        known_from: cython.longlong
        known_to: cython.longlong
        again: cython.bint
        wanted: list[Any] = self._valid(
            blocks, prior_una, snd_nxt, self._duplicate(blocks, ack, prior_una)
        )
        # the segment that the walk has reached
        at: cython.longlong = board.tail
        place: cython.Py_ssize_t = 0
        cached: cython.Py_ssize_t = 0
        self.reord = snd_nxt
        if board.sacked_out == 0:
            self.seen = _NONE_SEEN
            self.highest = self.una
        if board.tail == board.head:
            return 0
        self.rack.link()
        while place < len(wanted):
            start, end, again = wanted[place]
            self.inside_from, self.inside_to = NEVER, NONE
            if place + 1 < len(wanted) and wanted[place + 1][2]:
                self.inside_from, self.inside_to, _ = wanted[place + 1]
            while cached < len(self.seen) and start >= self.seen[cached][1]:
                cached += 1
            if cached < len(self.seen) and not again and end > self.seen[cached][0]:
                # what the last ACK has reported is tagged
                known_from, known_to, _ = self.seen[cached]
                if start < known_from:
                    at = self._walk(self._skip(at, start), start, known_from, again)
                if end <= known_to:
                    place += 1
                    continue
                if self.inside_from < known_to:
                    at = self._skip(at, self.inside_from)
                    at = self._walk(at, self.inside_from, self.inside_to, True)
                at = self._skip(at, known_to)
                cached += 1
                continue
            if start >= self.highest_held():
                at = board.tail
            at = self._walk(self._skip(at, start), start, end, again)
            place += 1
        self.seen = wanted
        if not lossy:
            self._reordered(self.reord)
        return 0

    def _skip(self, at: cython.longlong, seq: cython.longlong) -> cython.longlong:
        """`tcp_sacktag_skip`: on to the segment with byte `seq`; the tail if there is none.

        A walk does not go back, unless it has reached the tail.
        """
        board: Scoreboard = self.board
        if at < board.tail and self._start(at) > seq:
            return at
        return board.find(seq) if seq >= self._start(board.head) else board.tail

    def _walk(
        self, at: cython.longlong, start: cython.longlong, end: cython.longlong, again: cython.bint
    ) -> cython.longlong:
        """`tcp_sacktag_walk`: tag what is wholly within; return the first segment behind.

        Args:
            at: the segment to begin with.
            start: first byte of the block.
            end: its last byte plus one.
            again: it is the D-SACK.
        """
        board: Scoreboard = self.board
        first: cython.longlong = self._start(at)
        last: cython.longlong
        while at < board.tail and first < end:
            last = board.ring[WORDS * (at & board.mask) + END]
            if self.inside_from <= first and last <= self.inside_to:
                self._tag_one(at, True)
            elif start <= first and last <= end:
                self._tag_one(at, again)
            first = last
            at += 1
        return at

    @cython.cfunc
    def _valid(
        self,
        blocks: list[Any],
        prior_una: cython.longlong,
        snd_nxt: cython.longlong,
        duplicate: cython.bint,
    ) -> list[Any]:
        """`tcp_is_sackblock_valid`: blocks in order, with whether each one is the D-SACK."""
        board: Scoreboard = self.board
        start: cython.longlong
        end: cython.longlong
        found: list[Any] = []
        for block in blocks:
            start, end = block
            if (
                start < end <= snd_nxt
                and end > prior_una
                and (start > self.una or (duplicate and NONE < board.undo.marker < end <= self.una))
            ):
                found.append((start, end, duplicate))
            duplicate = False
        found.sort(key=_first)
        return found

    def _start(self, number: cython.longlong) -> cython.longlong:
        """Where a segment begins."""
        if number <= 0:
            return 0
        start: cython.longlong = self.board.ring[WORDS * ((number - 1) & self.board.mask) + END]
        return start

    def _duplicate(
        self, blocks: list[Any], ack: cython.longlong, prior_una: cython.longlong
    ) -> cython.bint:
        """`tcp_check_dsack`: whether the first block reports what came twice."""
        board: Scoreboard = self.board
        start: cython.longlong
        end: cython.longlong
        count: cython.longlong = 1
        start, end = blocks[0]
        if start >= ack and not (len(blocks) > 1 and blocks[1][0] <= start and end <= blocks[1][1]):
            return False
        if end <= start:
            return False
        if end - start > board.seq.mss:
            count = (end - start + board.seq.mss - 1) // board.seq.mss
        elif self.probe_end != NONE and self.probe_end == end:
            self.dsack_probe = True
        self.dsacks += count
        if self.dsacks > self.resent:
            # the network, or the receiver, makes copies
            return False
        if not self.dsack_probe:
            self.rack.came_twice()
        self.dsack = True
        self.delivered += count
        if (
            board.undo.marker != NONE
            and board.undo.retrans > 0
            and board.undo.marker < end <= prior_una
        ):
            board.undo.found_needless(count)
        return True

    def _tag_one(self, number: cython.longlong, duplicate: cython.bint) -> cython.int:
        """`tcp_sacktag_one`."""
        board: Scoreboard = self.board
        tags: cython.longlong = board.tags_of(number)
        end: cython.longlong = board.end_of(number)
        sent_us: cython.longlong = board.sent_us_of(number)
        start: cython.longlong = self._start(number)
        if duplicate and tags & (RETRANS | EVER):
            if board.undo.marker != NONE and board.undo.retrans > 0 and end > board.undo.marker:
                board.undo.found_needless(1)
            if tags & SACKED and start < self.reord:
                self.reord = start
        if end <= self.una:
            return 0
        if not tags & SACKED:
            self._came(sent_us, end, tags)
            if not tags & (RETRANS | EVER):
                if start < self.highest_held() and start < self.reord:
                    # came late into a hole
                    self.reord = start
                if end <= self.high_seq:
                    self.originals = True
                if self.sack_first_us == NONE:
                    self.sack_first_us = sent_us
                self.sack_last_us = sent_us
            board.mark_sacked(number)
            self.sacked = True
            self.delivered += 1
            self._out(number, sent_us)
            if end > self.highest:
                self.highest = end
        if duplicate:
            board.retransmission_gone(number)
        return 0

    def _out(self, number: cython.longlong, sent_us: cython.longlong) -> cython.int:
        """A segment that was sent last then is not on its way any more: it has come."""
        if self.rate is not None:
            self.rate.came(number, sent_us)
        return self.rack.unlink(number)

    def _came(
        self, sent_us: cython.longlong, end: cython.longlong, tags: cython.longlong
    ) -> cython.int:
        """Note that a segment was delivered."""
        self.rack.came(sent_us)
        return self.rack.delivered(sent_us, end, (tags & (RETRANS | EVER)) != 0, self.now_us)

    def _reordered(self, low: cython.longlong) -> cython.int:
        """`tcp_check_sack_reordering`: what begins at `low` came behind later ones."""
        board: Scoreboard = self.board
        metric: cython.longlong = self.highest_held() - low
        if metric <= 0:
            return 0
        if metric > board.reordering * board.seq.mss:
            board.set_reordering((metric + board.seq.mss - 1) // board.seq.mss)
        self.rack.came_late()
        return 0

    def delayed(self, prior_una: cython.longlong) -> cython.int:
        """A partial ACK was for what had been taken for lost: it came late."""
        return self._reordered(prior_una)

    # -- acknowledgement ----------------------------------------------------------------------

    def in_order(self, acked: cython.longlong) -> cython.int:
        """`Scoreboard.clean` has taken out `acked` segments of which none had a tag."""
        board: Scoreboard = self.board
        number: cython.longlong = board.head - acked
        while self.rate is not None and number < board.head:
            self.rate.came(number, board.sent_us_of(number))
            number += 1
        if acked > 0:
            self.delivered += acked
            self.first_us = board.ring[WORDS * ((board.head - acked) & board.mask) + SENT_US]
            self.last_us = board.acked_sent_us
            self.originals = self._start(board.head - acked + 1) <= self.high_seq
            self._came(self.last_us, self._start(board.head), 0)
        return 0

    def clean(self, prior_highest: cython.longlong, echo_ms: cython.longlong) -> cython.longlong:
        """`tcp_clean_rtx_queue`: take out what is acknowledged; return how many segments.

        Args:
            prior_highest: `highest_held` before the ACK.
            echo_ms: its TSecr, -1 if it has none.
        """
        board: Scoreboard = self.board
        before: cython.longlong = board.head
        tags: cython.longlong
        end: cython.longlong
        sent_us: cython.longlong
        reord: cython.longlong = NEVER
        while board.head < board.tail:
            end = board.end_of(board.head)
            if end > self.una:
                break
            sent_us = board.sent_us_of(board.head)
            self._out(board.head, sent_us)
            tags = board.take_first()
            if tags & (RETRANS | EVER):
                self.retransmitted = True
            elif not tags & SACKED:
                if self.first_us == NONE:
                    self.first_us = sent_us
                    reord = self._start(board.head - 1)
                self.last_us = sent_us
                if end <= self.high_seq:
                    self.originals = True
            if not tags & SACKED:
                self.delivered += 1
                self.rack.came(sent_us)
                if not tags & (RETRANS | EVER) or not NONE < echo_ms < sent_us // 1000:
                    self._came(sent_us, end, tags)
        if self.retransmitted:
            self.first_us = self.last_us = NONE
        self.renege = board.head_is_held()
        if board.hint < board.head:
            board.scan_from(board.head)
        if board.head > before and reord < prior_highest:
            # a hole that was not sent again has been filled
            self._reordered(reord)
        self._forget_tags()
        return board.head - before

    def _forget_tags(self) -> cython.int:
        """Without any tag left, segments are cheap again."""
        board: Scoreboard = self.board
        if board.head == board.tail or (
            board.sacked_out == board.lost_out == board.retrans_out == 0
            and board.head >= self.rack.resent_below
        ):
            board.end_tags()
            self.rack.forget()
        return 0


def _first(block: Any) -> int:
    """Where a block begins."""
    start: int = block[0]
    return start
