"""What the states of congestion control have in common in Linux 4.18 and later.

Source: net/ipv4/tcp_input.c (`tcp_enter_recovery`, `tcp_enter_cwr`, `tcp_end_cwnd_reduction`,
`tcp_try_to_open`, `tcp_packet_delayed`, `tcp_undo_cwnd_reduction`). What an ACK does with them is
`NewReno`'s without SACK and `SackRecovery`'s with it; earlier kernels have `Recovery.alert`.
"""

from __future__ import annotations

import cython

from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.ecn import Ecn
from simnet.net.tcp.recovery.recovery import Recovery
from simnet.net.tcp.recovery.scoreboard import Scoreboard

__all__ = ["States"]

_OPEN = cython.declare(cython.int, 0)
_DISORDER = cython.declare(cython.int, 1)
_CWR = cython.declare(cython.int, 2)
_RECOVERY = cython.declare(cython.int, 3)
_NONE = cython.declare(cython.longlong, -1)
_INFINITE_SSTHRESH = cython.declare(cython.longlong, 0x7FFFFFFF)


@cython.no_gc
@cython.cclass
class States:
    """The state and the window of one connection.

    Args:
        recovery: holds the state.

    Attributes:
        ecn: None if the connection has not agreed on it.
        echo: the ACK that is being handled echoes a mark.
    """

    ecn: Ecn | None
    echo: cython.bint
    recovery: Recovery
    board: Scoreboard
    congestion: Congestion

    def __init__(self, recovery: Recovery) -> None:
        self.ecn = None
        self.echo = False
        self.recovery = recovery
        self.board = recovery.board
        self.congestion = recovery.congestion

    @cython.cfunc
    @cython.exceptval(-1)
    def _any_retransmitted(self) -> cython.bint:
        """`tcp_any_retrans_done`."""
        return self.board.retrans_out > 0 or self.board.head_was_resent()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _forget_retransmissions(self) -> cython.int:
        if not self._any_retransmitted():
            self.recovery.retrans_stamp = _NONE
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _mark_undo(self) -> cython.int:
        """`tcp_init_undo`: what is sent again from here on may turn out to have been needless."""
        self.board.undo_marker = self.recovery.snd_una
        self.board.undo_retrans = self.board.retrans_out if self.board.retrans_out > 0 else _NONE
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _delayed(self) -> cython.bint:
        """`tcp_packet_delayed`: what was missing came before it was sent again (Eifel)."""
        recovery: Recovery = self.recovery
        if recovery.retrans_stamp != _NONE:
            return recovery.echo != _NONE and recovery.echo < recovery.retrans_stamp
        # without SACK the stamp is forgotten as soon as `high_seq` is reached
        return self.board.sack or recovery.snd_una < recovery.high_seq

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin_reduction(self) -> cython.int:
        """`tcp_init_cwnd_reduction`."""
        recovery: Recovery = self.recovery
        congestion: Congestion = self.congestion
        recovery.high_seq = recovery.snd_nxt
        recovery.prior_cwnd = congestion.cwnd
        recovery.prr_delivered = 0
        recovery.prr_out = 0
        congestion.cwnd_count = 0
        congestion.bytes_acked = 0
        congestion.ssthresh = congestion.reduced()
        if self.ecn is not None:
            self.ecn.reduced = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter_recovery(self) -> cython.int:
        """`tcp_enter_recovery`."""
        recovery: Recovery = self.recovery
        recovery.prior_ssthresh = 0
        self._mark_undo()
        if recovery.state not in (_CWR, _RECOVERY):
            if not self.echo:
                recovery.prior_ssthresh = recovery.current_ssthresh()
            self._begin_reduction()
        recovery.state = _RECOVERY
        recovery.entered += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter_cwr(self) -> cython.int:
        """`tcp_enter_cwr`: a mark is a loss of which nothing has to be sent again."""
        self.recovery.prior_ssthresh = 0
        if self.recovery.state < _CWR:
            self.board.undo_marker = _NONE
            self._begin_reduction()
            self.recovery.state = _CWR
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _end_reduction(self) -> cython.int:
        """`tcp_end_cwnd_reduction`, unless it was undone."""
        if self.congestion.ssthresh < _INFINITE_SSTHRESH and (
            self.recovery.state == _CWR or self.board.undo_marker != _NONE
        ):
            self.congestion.cwnd = self.congestion.ssthresh
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _try_to_open(self) -> cython.int:
        """`tcp_try_to_open`: nothing is lost."""
        self._forget_retransmissions()
        if self.echo:
            self._enter_cwr()
        if self.recovery.state != _CWR:
            self._keep_open()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _keep_open(self) -> cython.int:
        """`tcp_try_keep_open`."""
        board: Scoreboard = self.board
        state: cython.int = _OPEN
        if board.sacked_out + board.lost_out > 0 or self._any_retransmitted():
            state = _DISORDER
        if state != self.recovery.state:
            self.recovery.state = state
            self.recovery.high_seq = self.recovery.snd_nxt
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _undo_window(self, unmark: cython.bint) -> cython.int:
        """`tcp_undo_cwnd_reduction`."""
        recovery: Recovery = self.recovery
        if unmark:
            self.board.none_lost()
            self.board.hint = self.board.head
        if recovery.prior_ssthresh > 0:
            if self.congestion.cwnd < recovery.prior_cwnd:
                self.congestion.cwnd = recovery.prior_cwnd
            if self.congestion.ssthresh < recovery.prior_ssthresh:
                self.congestion.ssthresh = recovery.prior_ssthresh
                if self.ecn is not None:
                    self.ecn.reduced = False
        self.board.undo_marker = _NONE
        recovery.undone += 1
        return 0
