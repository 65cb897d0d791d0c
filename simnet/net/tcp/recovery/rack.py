"""RACK: a segment is lost if one sent later has come, and time enough has passed (RFC 8985).

Source: net/ipv4/tcp_recovery.c of Linux 6.x (`tcp_rack_advance`, `tcp_rack_detect_loss`,
`tcp_rack_reo_wnd`, `tcp_rack_update_reo_wnd`). How much
later a segment may come is the *reordering window*: nothing while duplicates enough say that
it is lost and no reordering has been seen, else a quarter of the shortest round trip, and as many
more of them as D-SACKs have shown to be needed. Times are microseconds.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.recovery.recovery import RECOVERY
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.recovery.segment import (
    END,
    LOST,
    NEXT,
    PREVIOUS,
    RETRANS,
    SENT_US,
    WORDS,
)
from simnet.net.tcp.send.timer import RttEstimator

# in place of a neighbour: the segment is not in the list
_OUT: cython.longlong = -2
_MOST_STEPS: cython.int = 255
_RECOVERY_THRESH: cython.int = 16


@cython.final
@cython.no_gc
@cython.cclass
class Rack:
    """What one connection knows."""

    board: Scoreboard = None  # its segments
    rtt: RttEstimator = None  # its round-trip times
    rtt_us: cython.longlong = 0  # round trip of the segment that came last
    # when the one that was sent last of those that have come was sent, and its last byte plus
    # one
    sent_us: cython.longlong = 0
    end_seq: cython.longlong = 0
    advanced: cython.bint = False  # another one has come since losses were looked for
    steps: cython.int = 0  # quarters of the shortest round trip in the reordering window
    persist: cython.int = 0  # recoveries for which `steps` stays
    reordering_seen: cython.longlong = 0  # how often segments have been found out of order
    # a needless retransmission has been reported since `steps` grew
    dsack_seen: cython.bint = False
    adjusted_us: cython.longlong = 0
    latest_us: cython.longlong = 0
    # segments taken for lost, retransmissions that were lost, too, included
    lost: cython.longlong = 0
    listed: cython.bint = False
    linked: cython.longlong = 0
    oldest: cython.longlong = 0
    newest: cython.longlong = 0
    resent_below: cython.longlong = 0  # no segment from this number on has been sent more than once

    def __init__(self, board: Scoreboard, rtt: RttEstimator) -> None:
        self.board = board
        self.rtt = rtt
        self.steps = 1
        self.latest_us = NONE
        self.oldest = NONE
        self.newest = NONE

    # -- segments by the time when they were sent last ----------------------------------------

    def link(self) -> cython.int:
        """Put what has been sent for the first time since then at the end of the list.

        As long as nothing is tagged there is no list: the order is that of the numbers.
        """
        board: Scoreboard = self.board
        # what is acknowledged is to be taken out of it
        board.begin_tags()
        if not self.listed:
            self.listed = True
            self.linked = board.head
            self.oldest = self.newest = NONE
        if self.linked < board.head:
            self.linked = board.head
        while self.linked < board.tail:
            self._append(self.linked)
            self.linked += 1
        return 0

    def _append(self, number: cython.longlong) -> cython.int:
        """Put a segment at the end of those in the order of sending."""
        board: Scoreboard = self.board
        at: cython.longlong = WORDS * (number & board.mask)
        board.ring[at + NEXT] = NONE
        board.ring[at + PREVIOUS] = self.newest
        if self.newest == NONE:
            self.oldest = number
        else:
            board.ring[WORDS * (self.newest & board.mask) + NEXT] = number
        self.newest = number
        return 0

    def unlink(self, number: cython.longlong) -> cython.int:
        """Take a segment out, if it is in the list."""
        board: Scoreboard = self.board
        at: cython.longlong = WORDS * (number & board.mask)
        after: cython.longlong
        before: cython.longlong
        if not self.listed or number >= self.linked:
            return 0
        after = board.ring[at + NEXT]
        before = board.ring[at + PREVIOUS]
        if after == _OUT:
            return 0
        if before == NONE:
            self.oldest = after
        else:
            board.ring[WORDS * (before & board.mask) + NEXT] = after
        if after == NONE:
            self.newest = before
        else:
            board.ring[WORDS * (after & board.mask) + PREVIOUS] = before
        board.ring[at + NEXT] = _OUT
        return 0

    def resent(self, number: cython.longlong, now_us: cython.longlong) -> cython.int:
        """A segment has been sent again, now."""
        self.link()
        self.unlink(number)
        self._append(number)
        self.board.ring[WORDS * (number & self.board.mask) + SENT_US] = now_us
        if number >= self.resent_below:
            self.resent_below = number + 1
        return 0

    def forget(self) -> cython.int:
        """Nothing is tagged any more."""
        self.listed = False
        return 0

    # -- what an ACK says ------------------------------------------------------------------

    def begin(self) -> cython.int:
        """An ACK is to be handled: nothing has come with it yet."""
        self.latest_us = NONE
        return 0

    def came(self, sent_us: cython.longlong) -> cython.int:
        """It is for a segment that was sent at `sent_us`."""
        self.latest_us = max(self.latest_us, sent_us)
        return 0

    def came_twice(self) -> cython.int:
        """It reports a needless retransmission (D-SACK)."""
        if self.reordering_seen > 0:
            self.dsack_seen = True
        return 0

    def came_late(self) -> cython.int:
        """It shows that segments were out of order."""
        self.reordering_seen += 1
        return 0

    @cython.cfunc
    def take_advance(self) -> cython.bint:
        """Whether another segment has come since losses were looked for, as they now are."""
        advanced: cython.bint = self.advanced
        self.advanced = False
        return advanced

    def look(self) -> cython.int:
        """A reduction was undone: losses are to be looked for again."""
        self.advanced = True
        return 0

    # -- what has come ------------------------------------------------------------------------

    def delivered(
        self,
        sent_us: cython.longlong,
        end_seq: cython.longlong,
        resent: cython.bint,
        now_us: cython.longlong,
    ) -> cython.int:
        """`tcp_rack_advance`: a segment that was sent at `sent_us` has come.

        If it was `resent` that may have been an earlier copy: then the round trip is too short.
        """
        rtt_us: cython.longlong = now_us - sent_us
        if resent and (self.rtt.least_us == NONE or rtt_us < self.rtt.least_us):
            return 0
        self.advanced = True
        self.rtt_us = rtt_us
        if sent_us > self.sent_us or (sent_us == self.sent_us and end_seq > self.end_seq):
            self.sent_us = sent_us
            self.end_seq = end_seq
        return 0

    def adjust(self, now_us: cython.longlong) -> cython.int:
        """`tcp_rack_update_reo_wnd`: D-SACKs widen the window, at most once a round trip.

        `latest_us` is when the latest of what this ACK has delivered was sent, -1 for nothing.
        """
        if self.latest_us == NONE:
            return 0
        if self.latest_us < self.adjusted_us:
            self.dsack_seen = False
        if self.dsack_seen:
            self.steps = min(self.steps + 1, _MOST_STEPS)
            self.dsack_seen = False
            self.adjusted_us = now_us
            self.persist = _RECOVERY_THRESH
        elif self.persist == 0:
            self.steps = 1
        return 0

    def recovered(self, by_dsack: cython.bint) -> cython.int:
        """A recovery is over: undone as D-SACKs said that it was needless, or not undone."""
        if by_dsack:
            self.persist = min(self.persist + 1, _RECOVERY_THRESH)
        elif self.persist > 0:
            self.persist -= 1
        return 0

    # -- loss ---------------------------------------------------------------------------------

    def window_us(self, state: cython.int) -> cython.longlong:
        """`tcp_rack_reo_wnd`, the reordering window in a state of `Recovery`."""
        most: cython.longlong = self.rtt.srtt >> 3
        if self.reordering_seen == 0 and (
            state >= RECOVERY or self.board.sacked_out >= self.board.reordering
        ):
            return 0
        if self.rtt.least_us == NONE:
            return most
        return min((self.rtt.least_us >> 2) * self.steps, most)

    def left_us(
        self, number: cython.longlong, window_us: cython.longlong, now_us: cython.longlong
    ) -> cython.longlong:
        """`tcp_rack_skb_timeout`: time left to a segment that has not come; 0 or less: lost."""
        return self.rtt_us + window_us - (now_us - self.board.sent_us_of(number))

    def detect(self, state: cython.int, now_us: cython.longlong) -> cython.longlong:
        """`tcp_rack_detect_loss`: find what is lost; return after how long to look again, or 0."""
        board: Scoreboard = self.board
        window_us: cython.longlong = self.window_us(state)
        timeout_us: cython.longlong = 0
        left_us: cython.longlong
        sent_us: cython.longlong
        at: cython.longlong
        number: cython.longlong
        after: cython.longlong
        self.link()
        number = self.oldest
        while number != NONE:
            at = WORDS * (number & board.mask)
            after = board.ring[at + NEXT]
            if board.tags_of(number) & (LOST | RETRANS) != LOST:
                sent_us = board.ring[at + SENT_US]
                if sent_us > self.sent_us or (
                    sent_us == self.sent_us and board.ring[at + END] >= self.end_seq
                ):
                    break
                left_us = self.left_us(number, window_us, now_us)
                if left_us <= 0:
                    self.lose(number)
                    self.unlink(number)
                else:
                    timeout_us = max(timeout_us, left_us)
            number = after
        return timeout_us

    def lose(self, number: cython.longlong) -> cython.int:
        """A segment is lost, or its retransmission is."""
        if self.board.lose(number):
            self.lost += 1
        return 0
