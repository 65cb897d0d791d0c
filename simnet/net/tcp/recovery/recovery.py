"""The state of a connection's congestion control, which every kind of loss recovery has.

Source: net/ipv4/tcp_input.c of Linux. What ACKs and timeouts make of it is `CountedRecovery`'s in
kernels before 4.18, then `SackRecovery`'s with SACK and `NewReno`'s without it.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.send.sequence import SendSequence
from simnet.net.tcp.send.timer import SendTimer

OPEN: cython.int = 0
DISORDER: cython.int = 1
CWR: cython.int = 2
RECOVERY: cython.int = 3
LOSS: cython.int = 4


@cython.no_gc
@cython.cclass
class Recovery:
    """State of one connection.

    Args:
        board: its segments.
        congestion: its window.
        timer: its timer.

    Attributes:
        state: `OPEN`, `DISORDER`, `CWR`, `RECOVERY` or `LOSS`.
        frto: 0, or how far the search for the cause of a timeout has come (F-RTO).
        high_seq: `snd_nxt` when the state began.
        retransmits: timeouts in a row.
        retransmitting: the scoreboard may have something to be sent again now.
        entered, undone, spurious: recoveries begun, reductions taken back, timeouts that F-RTO
            found needless.

        Of the ACK that is handled, from `see` on:

        ece: it echoes a mark.
        prior_una: `snd_una` before it.
        advanced: it has moved that.
        tsecr: its timestamp, -1 if it has none.
        delivered: segments that it says have come.
    """

    seq: SendSequence = None
    board: Scoreboard = None
    congestion: Congestion = None
    timer: SendTimer = None
    state: cython.int = 0
    frto: cython.int = 0
    ece: cython.bint = False
    retransmitting: cython.bint = False
    advanced: cython.bint = False
    retransmits: cython.int = 0
    prr_out: cython.longlong = 0
    high_seq: cython.longlong = 0
    prior_ssthresh: cython.longlong = 0
    prior_cwnd: cython.longlong = 0
    prr_delivered: cython.longlong = 0
    retrans_stamp: cython.longlong = 0
    prior_una: cython.longlong = 0
    tsecr: cython.longlong = 0
    delivered: cython.longlong = 0
    now_jiffy: cython.longlong = 0
    entered: cython.longlong = 0
    undone: cython.longlong = 0
    spurious: cython.longlong = 0

    def __init__(self, board: Scoreboard, congestion: Congestion, timer: SendTimer) -> None:
        self.board = board
        self.congestion = congestion
        self.timer = timer
        self.seq = board.seq
        self.state = OPEN
        self.retrans_stamp = NONE
        self.tsecr = NONE

    def may_raise(self) -> cython.bint:
        """`tcp_may_raise_cwnd`."""
        return self.state not in (RECOVERY, CWR)

    def current_ssthresh(self) -> cython.longlong:
        """`tcp_current_ssthresh`."""
        cwnd: cython.longlong = self.congestion.cwnd
        if self.state in (CWR, RECOVERY):
            return self.congestion.ssthresh
        cwnd = (cwnd >> 1) + (cwnd >> 2)
        return cwnd if cwnd > self.congestion.ssthresh else self.congestion.ssthresh

    def see(
        self, prior_una: cython.longlong, tsecr: cython.longlong, now_jiffy: cython.longlong
    ) -> cython.int:
        """An ACK has come, before which `snd_una` was `prior_una`."""
        self.prior_una = prior_una
        self.advanced = self.seq.snd_una > prior_una
        self.tsecr = tsecr
        self.now_jiffy = now_jiffy
        return 0

    def reduce_in_proportion(
        self, delivered: cython.longlong, more: cython.bint, least: cython.bint
    ) -> cython.int:
        """Proportional rate reduction (RFC 6937, 9937), `tcp_cwnd_reduction`.

        What may be sent follows from what arrives: in proportion as long as more is in flight than
        the threshold, else as much as has come.

        Args:
            delivered: segments that have come.
            more: and one more, below the threshold.
            least: at least one may be sent (fast retransmit).
        """
        flight: cython.longlong = self.board.in_flight()
        ssthresh: cython.longlong = self.congestion.ssthresh
        count: cython.longlong
        self.prr_delivered += delivered
        if flight > ssthresh:
            count = ssthresh * self.prr_delivered + self.prior_cwnd - 1
            count = count // self.prior_cwnd - self.prr_out
        else:
            count = max(self.prr_delivered - self.prr_out, delivered)
            if more:
                count += 1
            count = min(count, ssthresh - flight)
        if count < 1:
            count = 1 if least else 0
        self.congestion.set_window(flight + count)
        return 0

    def timeout(self) -> cython.int:
        """The retransmission timer has expired."""
        self._enter_loss(False)
        self.retransmits += 1
        return 0

    def _lower_threshold(self) -> cython.bint:
        """Once for what was sent before the timeout; return whether that is now."""
        if (
            self.state > DISORDER
            and self.seq.snd_una < self.high_seq
            and (self.state != LOSS or self.retransmits > 0)
        ):
            return False
        self.prior_ssthresh = self.current_ssthresh()
        self.prior_cwnd = self.congestion.cwnd
        self.congestion.lower_threshold()
        return True

    def _enter_loss(self, forget: cython.bint) -> cython.int:
        """`tcp_enter_loss`; `forget`: what SACK said, too."""
        board: Scoreboard = self.board
        self._lower_threshold()
        self.congestion.forget()
        self.congestion.set_window(1)
        self.congestion.restart_count()
        board.undo.mark(0)
        if board.all_lost(forget) or forget:
            board.undo.forget()
        self.state = LOSS
        self.high_seq = self.seq.snd_nxt
        self.retransmitting = True
        return 0

    # -- what is sent -------------------------------------------------------------------------

    def sent(self) -> cython.int:
        """A segment has been sent that ACKs do not just follow one another for."""
        self.prr_out += 1
        return 0

    def resending(self) -> cython.int:
        """What was to be sent again is being sent."""
        self.retransmitting = False
        return 0

    def goes_on(self) -> cython.int:
        """Not all of it could be sent now."""
        self.retransmitting = True
        return 0

    def next_retransmission(self, may_send: cython.bint) -> cython.longlong:
        """`tcp_xmit_retransmit_queue`: number of the segment to be sent again now; -1 if none.

        `may_send`: there is something new to be sent that window and Nagle let go.
        """
        if self.board.in_flight() >= self.congestion.cwnd:
            return NONE
        return self.board.next_lost()

    def resent(self, number: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_retransmit_skb`: a segment has been sent again."""
        self.board.resent(number, now_jiffy)
        if self.retrans_stamp == NONE:
            self.retrans_stamp = self.timer.now_us // 1000 if self.timer.rtt.fine else now_jiffy
        self.prr_out += 1
        return 0
