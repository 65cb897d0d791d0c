"""What the states of congestion control have in common in Linux 4.18 and later.

Source: net/ipv4/tcp_input.c (`tcp_enter_recovery`, `tcp_enter_cwr`, `tcp_end_cwnd_reduction`,
`tcp_try_to_open`, `tcp_packet_delayed`, `tcp_undo_cwnd_reduction`). What an ACK does with them is
`NewReno`'s without SACK and `SackRecovery`'s with it; earlier kernels have `CountedRecovery`.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.sentinel import NONE
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.recovery import CWR, DISORDER, OPEN, RECOVERY, Recovery
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.send.timer import SendTimer

_INFINITE_SSTHRESH: cython.longlong = 0x7FFFFFFF


@cython.no_gc
@cython.cclass
class States(Recovery):
    """The state and the window of one connection.

    Args:
        board: its segments.
        congestion: its window.
        timer: its timer.
    """

    ecn: Public[Ecn] = None  # None if the connection has not agreed on it

    def __init__(self, board: Scoreboard, congestion: Congestion, timer: SendTimer) -> None:
        super().__init__(board, congestion, timer)

    def echoed(self, echo: cython.bint) -> cython.int:
        """The ACK that is handled next echoes a mark, or not."""
        self.ece = echo and self.ecn is not None
        return 0

    def _ack_event(self) -> cython.int:
        """`tcp_in_ack_event`: an ACK has come."""
        if self.ecn is not None:
            self.congestion.ack_event(
                self.seq.snd_una, self.seq.snd_nxt, self.ecn.delivered, self.ecn.delivered_ce
            )
        return 0

    def _count(self, delivered: cython.longlong) -> cython.int:
        """`tcp_newly_delivered`: an ACK says that as many segments have come."""
        if self.ecn is not None:
            self.ecn.delivered += delivered
            if self.ece:
                self.ecn.delivered_ce += delivered
        return 0

    def _any_retransmitted(self) -> cython.bint:
        """`tcp_any_retrans_done`."""
        return self.board.retrans_out > 0 or self.board.head_was_resent()

    def _forget_retransmissions(self) -> cython.int:
        if not self._any_retransmitted():
            self.retrans_stamp = NONE
        return 0

    def _mark_undo(self) -> cython.int:
        """`tcp_init_undo`: what is sent again from here on may turn out to have been needless."""
        self.board.undo.mark(self.board.retrans_out if self.board.retrans_out > 0 else NONE)
        return 0

    def _delayed(self) -> cython.bint:
        """`tcp_packet_delayed`: what was missing came before it was sent again (Eifel)."""
        if self.retrans_stamp != NONE:
            return self.tsecr != NONE and self.tsecr < self.retrans_stamp
        # without SACK the stamp is forgotten as soon as `high_seq` is reached
        return self.board.sack or self.seq.snd_una < self.high_seq

    def _begin_reduction(self) -> cython.int:
        """`tcp_init_cwnd_reduction`."""
        self.high_seq = self.seq.snd_nxt
        self.prior_cwnd = self.congestion.cwnd
        self.prr_delivered = 0
        self.prr_out = 0
        self.congestion.restart_count()
        self.congestion.lower_threshold()
        if self.ecn is not None:
            self.ecn.reduce()
        return 0

    def _enter_recovery(self) -> cython.int:
        """`tcp_enter_recovery`."""
        self.prior_ssthresh = 0
        self._mark_undo()
        if self.state not in (CWR, RECOVERY):
            if not self.ece:
                self.prior_ssthresh = self.current_ssthresh()
            self._begin_reduction()
        if self.state != RECOVERY:
            self.congestion.recovers()
        self.state = RECOVERY
        self.entered += 1
        return 0

    def _enter_cwr(self) -> cython.int:
        """`tcp_enter_cwr`: a mark is a loss of which nothing has to be sent again."""
        self.prior_ssthresh = 0
        if self.state < CWR:
            self.board.undo.forget()
            self._begin_reduction()
            self.state = CWR
        return 0

    def _end_reduction(self) -> cython.int:
        """`tcp_end_cwnd_reduction`, unless it was undone."""
        if self.congestion.controls:
            return 0
        if self.congestion.ssthresh < _INFINITE_SSTHRESH and (
            self.state == CWR or self.board.undo.marker != NONE
        ):
            self.congestion.set_window(self.congestion.ssthresh)
        return 0

    def _reduce(self, delivered: cython.longlong, lost: cython.longlong) -> cython.int:
        """`tcp_cwnd_reduction`, if the ACK says that anything has come.

        Below the threshold one more may be sent where it made progress and shows nothing `lost`.
        """
        if delivered > 0 and self.prior_cwnd > 0:
            self.reduce_in_proportion(delivered, self.advanced and lost == 0, self.prr_out == 0)
        return 0

    def _try_to_open(self) -> cython.int:
        """`tcp_try_to_open`: nothing is lost."""
        self._forget_retransmissions()
        if self.ece:
            self._enter_cwr()
        if self.state != CWR:
            self._keep_open()
        return 0

    def _keep_open(self) -> cython.int:
        """`tcp_try_keep_open`."""
        board: Scoreboard = self.board
        state: cython.int = OPEN
        if board.sacked_out + board.lost_out > 0 or self._any_retransmitted():
            state = DISORDER
        if state != self.state:
            self.state = state
            self.high_seq = self.seq.snd_nxt
        return 0

    def _undo_window(self, unmark: cython.bint) -> cython.int:
        """`tcp_undo_cwnd_reduction`."""
        if unmark:
            self.board.none_lost()
            self.board.scan_from(self.board.head)
        if self.prior_ssthresh > 0:
            if self.congestion.controls:
                self.congestion.set_window(self.congestion.undo_cwnd())
            else:
                self.congestion.set_window(max(self.congestion.cwnd, self.prior_cwnd))
            if self.congestion.ssthresh < self.prior_ssthresh:
                self.congestion.set_threshold(self.prior_ssthresh)
                if self.ecn is not None:
                    self.ecn.restore()
        self.board.undo.forget()
        self.undone += 1
        return 0
