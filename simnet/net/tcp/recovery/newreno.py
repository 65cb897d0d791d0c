"""Loss recovery without SACK as Linux 4.18 and later have it.

Source: net/ipv4/tcp_input.c (`tcp_fastretrans_alert`, `tcp_newreno_mark_lost`,
`tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_try_undo_partial`, `tcp_undo_cwnd_reduction`,
`tcp_process_loss`, `tcp_cwnd_reduction`); RFC 6582, 6937, 3522 (Eifel). Against
`CountedRecovery`, which is that of earlier kernels:

* The state machine comes first and the window follows from the state it leaves (4.6). The ACK that
  undoes a reduction, but reaches only `high_seq`, leaves Recovery on: proportional rate reduction
  then sets the window anew, to what is in flight and what that ACK has delivered.
* The window is not moderated; what is undone is the window of before (`prior_cwnd`).
* A partial ACK for an original ends Recovery, so that the next hole begins another (3.11).
* Only the first segment is lost: on enough duplicates, and on every partial ACK (4.18).
* Timestamps undo nothing once all is acknowledged that was sent before, unless a retransmission is
  known of (6.16).

Not modelled: F-RTO.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.recovery import CWR, LOSS, OPEN, RECOVERY
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.recovery.states import States
from simnet.net.tcp.send.timer import SendTimer


@cython.final
@cython.no_gc
@cython.cclass
class NewReno(States):
    """What ACKs make of one connection's state and window.

    Args:
        board: its segments.
        congestion: its window.
        timer: its timer.
    """

    newly_lost: cython.longlong = 0

    def __init__(self, board: Scoreboard, congestion: Congestion, timer: SendTimer) -> None:
        super().__init__(board, congestion, timer)

    def alert(self, duplicate: cython.bint, acked: cython.longlong) -> cython.bint:
        """`tcp_ack` after `tcp_clean_rtx_queue`, and after `see`.

        Args:
            duplicate: a duplicate ACK: no data, no window update, nothing acknowledged.
            acked: segments that it acknowledged.

        Returns:
            Whether the congestion control may raise the window.
        """
        self._ack_event()
        self.delivered = 0
        self.newly_lost = 0
        if acked > 0:
            self._eat_duplicates(acked)
        if duplicate or self.ece or self.state != OPEN:
            self._change_state(duplicate)
        self._count(self.delivered)
        if self.state in (CWR, RECOVERY):
            self._reduce(self.delivered, self.newly_lost)
            return False
        return True

    def _change_state(  # noqa: C901, PLR0911, PLR0912 - in one piece, as in the kernel
        self, duplicate: cython.bint
    ) -> cython.int:
        """`tcp_fastretrans_alert`."""
        if self.board.packets_out() == 0:
            self.board.none_held()
        if self.ece:
            self.prior_ssthresh = 0
        if self.state == OPEN:
            self.retrans_stamp = NONE
        elif self.seq.snd_una >= self.high_seq and self._leave():
            return 0
        if self.state == RECOVERY:
            if not self.advanced:
                self._count_duplicate(duplicate)
            elif self._undo_partial():
                return 0
            self._mark_lost()
            if self.state != RECOVERY:
                if not self._time_to_recover():
                    return 0
                self._forget_retransmissions()
                self._enter_recovery()
            self.retransmitting = True
            return 0
        if self.state == LOSS:
            self._process_loss(duplicate)
            if self.state != OPEN:
                return 0
        if self.advanced:
            self.board.none_held()
        self._count_duplicate(duplicate)
        self._mark_lost()
        if self._time_to_recover():
            self._forget_retransmissions()
            self._enter_recovery()
            self.retransmitting = True
            return 0
        return self._try_to_open()

    def _leave(self) -> cython.bint:
        """All that was sent when the state began is acknowledged; return whether that is all."""
        if self.state == CWR:
            if self.seq.snd_una != self.high_seq:
                self._end_reduction()
                self.state = OPEN
        elif self.state == RECOVERY:
            self.board.none_held()
            if self._undo_recovery():
                return True
            self._end_reduction()
        return False

    # -- duplicate ACKs that stand for SACK -------------------------------------------------

    def _count_duplicate(self, duplicate: cython.bint) -> cython.int:
        """`tcp_add_reno_sack`."""
        before: cython.longlong = self.board.sacked_out
        if duplicate:
            if self.board.count_duplicate():
                self.board.set_reordering(self.board.packets_out())
            if self.board.sacked_out > before:
                self.delivered += self.board.sacked_out - before
        return 0

    def _eat_duplicates(self, acked: cython.longlong) -> cython.int:
        """`tcp_remove_reno_sacks`: one of `acked` segments was the hole, the others had come."""
        board: Scoreboard = self.board
        self.delivered += acked - board.sacked_out if acked > board.sacked_out else 1
        if board.eat_duplicates(acked):
            board.set_reordering(board.packets_out() + acked)
        return 0

    # -- what is lost -----------------------------------------------------------------------

    def _time_to_recover(self) -> cython.bint:
        """`tcp_time_to_recover`."""
        return self.board.lost_out > 0 or self.board.sacked_out + 1 > self.board.reordering

    def _mark_lost(self) -> cython.int:
        """`tcp_newreno_mark_lost`."""
        board: Scoreboard = self.board
        before: cython.longlong = board.lost_out
        if board.packets_out() > 0 and (
            (self.state < RECOVERY and board.sacked_out >= board.reordering)
            or (self.state == RECOVERY and self.advanced)
        ):
            board.mark_first_lost()
            self.newly_lost += board.lost_out - before
        return 0

    # -- undo -------------------------------------------------------------------------------

    def _prevents_reopening(self) -> cython.bint:
        """`tcp_is_non_sack_preventing_reopen`: duplicates of what was sent again may still come."""
        if self.seq.snd_una != self.high_seq:
            return False
        self._forget_retransmissions()
        return True

    def _undo_recovery(self) -> cython.bint:
        """`tcp_try_undo_recovery`; return whether the state is kept until more is acknowledged."""
        if self.board.undo.marker != NONE and self._delayed():
            self._undo_window(False)
        if self._prevents_reopening():
            return True
        self.state = OPEN
        return False

    def _undo_partial(self) -> cython.bint:
        """`tcp_try_undo_partial`; return whether nothing is marked or sent again now."""
        board: Scoreboard = self.board
        advance: cython.longlong = self.seq.snd_una - self.prior_una
        if board.undo.marker == NONE or not self._delayed():
            return False
        board.update_reordering((advance + self.seq.mss - 1) // self.seq.mss)
        if board.retrans_out > 0:
            return True
        self._forget_retransmissions()
        self._undo_window(True)
        self._keep_open()
        return False

    def _process_loss(self, duplicate: cython.bint) -> cython.int:
        """`tcp_process_loss`."""
        if self.advanced:
            self.retransmits = 0
            if self.board.undo.marker != NONE and self._delayed():
                # tcp_try_undo_loss
                self._undo_window(True)
                self._prevents_reopening()
                return 0
        if self.seq.snd_una >= self.high_seq:
            self._undo_recovery()
            return 0
        if self.seq.snd_nxt > self.high_seq and duplicate:
            self._count_duplicate(duplicate)
        elif self.advanced:
            self.board.none_held()
        self.retransmitting = True
        return 0
