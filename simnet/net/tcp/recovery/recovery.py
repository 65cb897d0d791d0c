"""The congestion state machine of Linux: what ACKs and timeouts make of the window.

Source: net/ipv4/tcp_input.c (`tcp_fastretrans_alert`, `tcp_time_to_recover`,
`tcp_update_scoreboard`, `tcp_try_undo_recovery` and its kin, `tcp_cwnd_down`, `tcp_enter_loss`,
`tcp_enter_frto`, `tcp_process_frto`); RFC 5681, 6582, 6675, 4138, 3522 (Eifel), 6937 (PRR). What
differs between versions is in `SenderRules`. Nothing of this runs as long as ACKs are in order.
"""

from __future__ import annotations

import cython

from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.rules.sender_version import SenderRules

__all__ = ["CWR", "DISORDER", "LOSS", "OPEN", "RECOVERY", "Recovery"]

OPEN, DISORDER, CWR, RECOVERY, LOSS = range(5)
_OPEN = cython.declare(cython.int, 0)
_DISORDER = cython.declare(cython.int, 1)
_CWR = cython.declare(cython.int, 2)
_RECOVERY = cython.declare(cython.int, 3)
_LOSS = cython.declare(cython.int, 4)

_NONE = cython.declare(cython.longlong, -1)
_MAX_BURST = cython.declare(cython.longlong, 3)
_RATE_HALVING = cython.declare(cython.int, 0)
_PRR_CONSERVATIVE = cython.declare(cython.int, 2)


@cython.final
@cython.no_gc
@cython.cclass
class Recovery:
    """State of one connection.

    Args:
        rules: of the kernel's version.
        board: its segments.
        congestion: its window.

    Attributes:
        state: `OPEN`, `DISORDER`, `CWR`, `RECOVERY` or `LOSS`.
        high_seq: `snd_nxt` when the state began.
        retransmits: timeouts in a row.
        retransmitting: the scoreboard may have something to be sent again now.
        frto: 0, or how far the search for a spurious timeout has come.
        entered, undone, spurious: recoveries begun, reductions taken back, timeouts that F-RTO
            found needless.
    """

    board: Scoreboard
    congestion: Congestion
    state: cython.int
    high_seq: cython.longlong
    prior_ssthresh: cython.longlong
    retrans_stamp: cython.longlong
    retransmits: cython.int
    retransmitting: cython.bint
    frto: cython.int
    frto_high: cython.longlong
    prior_cwnd: cython.longlong
    prr_delivered: cython.longlong
    prr_out: cython.longlong
    head_timeout: cython.bint
    head_timeout_fack: cython.bint
    counts_sacked: cython.bint
    forward_retransmit: cython.bint
    reduction: cython.int
    moderates_open: cython.bint
    uses_frto: cython.bint
    entered: cython.longlong
    undone: cython.longlong
    spurious: cython.longlong
    # of the ACK that is being processed
    now: cython.longlong
    rto: cython.longlong
    snd_una: cython.longlong
    snd_nxt: cython.longlong
    delivered: cython.longlong
    advanced: cython.bint
    echo: cython.longlong

    def __init__(self, rules: SenderRules, board: Scoreboard, congestion: Congestion) -> None:
        self.board = board
        self.congestion = congestion
        self.state = _OPEN
        self.high_seq = 0
        self.prior_ssthresh = 0
        self.retrans_stamp = _NONE
        self.retransmits = 0
        self.retransmitting = False
        self.frto = 0
        self.frto_high = 0
        self.prior_cwnd = 0
        self.prr_delivered = 0
        self.prr_out = 0
        self.head_timeout = rules.head_timeout
        self.head_timeout_fack = rules.head_timeout_fack
        self.counts_sacked = rules.counts_sacked
        self.forward_retransmit = rules.forward_retransmit
        self.reduction = rules.reduction
        self.moderates_open = rules.moderates_open
        self.uses_frto = rules.frto
        self.entered = 0
        self.undone = 0
        self.spurious = 0
        self.now = 0
        self.rto = 0
        self.snd_una = 0
        self.snd_nxt = 0
        self.delivered = 0
        self.advanced = False
        self.echo = _NONE

    @cython.ccall
    @cython.exceptval(-1)
    def may_raise(self) -> cython.bint:
        """`tcp_may_raise_cwnd`."""
        return self.state not in (_RECOVERY, _CWR)

    @cython.ccall
    @cython.exceptval(-1)
    def current_ssthresh(self) -> cython.longlong:
        """`tcp_current_ssthresh`."""
        cwnd: cython.longlong = self.congestion.cwnd
        if self.state in (_CWR, _RECOVERY):
            return self.congestion.ssthresh
        cwnd = (cwnd >> 1) + (cwnd >> 2)
        return cwnd if cwnd > self.congestion.ssthresh else self.congestion.ssthresh

    # -- an ACK -----------------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def alert(  # noqa: C901, PLR0912 - the state machine in one piece, as in the kernel
        self,
        duplicate: cython.bint,
        data_lost: cython.bint,
        data_sacked: cython.bint,
        acked: cython.longlong,
        may_send: cython.bint,
    ) -> cython.int:
        """`tcp_fastretrans_alert`, after `see`.

        Args:
            duplicate: a duplicate ACK: no data, no window update, nothing acknowledged.
            data_lost: SACK reports segments beyond `high_seq`.
            data_sacked: SACK reports more than before.
            acked: segments that it acknowledged.
            may_send: there is something new to be sent that window and Nagle let go.
        """
        board: Scoreboard = self.board
        lost: cython.bint = duplicate
        fast: cython.bint = False
        if board.packets_out() == 0:
            board.sacked_out = 0
        if board.sacked_out == 0:
            board.fackets_out = 0
        if board.sacked_out > 0 and board.sack and board.head_is_held():
            self._renege()
            return 0
        if (
            data_lost
            and (board.fack or not self.counts_sacked)
            and self.snd_una < self.high_seq
            and self.state != _OPEN
            and board.fackets_out > board.reordering
        ):
            board.mark_head_lost(board.fackets_out - board.reordering, self.high_seq)
        if self.counts_sacked and data_sacked and board.fackets_out > board.reordering:
            lost = True
        if self.state == _OPEN:
            self.retrans_stamp = _NONE
        elif self.snd_una >= self.high_seq and self._leave():
            return 0
        if self.state == _RECOVERY:
            if not self.advanced:
                if not board.sack and duplicate:
                    board.duplicate_ack()
            else:
                if not board.sack:
                    board.eat_duplicates(acked)
                lost = self._undo_partial(acked)
        elif self.state == _LOSS:
            if acked > 0:
                self.retransmits = 0
            if not board.sack and self.advanced:
                board.sacked_out = 0
            if not self._undo_loss():
                self._moderate()
                self.retransmitting = True
                return 0
            if self.state != _OPEN:
                return 0
        if self.state != _RECOVERY:
            if not board.sack:
                if self.advanced:
                    board.sacked_out = 0
                if duplicate:
                    board.duplicate_ack()
            if self.state == _DISORDER or (self.counts_sacked and self.state == _OPEN):
                self._undo_dsack()
            if not self._time_to_recover(may_send):
                self._try_to_open()
                return 0
            self._enter_recovery()
            fast = True
        if lost or self._head_timed_out():
            self._update_scoreboard(fast)
        self._reduce(fast, duplicate)
        self.retransmitting = True
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def see(
        self,
        now: cython.longlong,
        rto: cython.longlong,
        prior_una: cython.longlong,
        snd_una: cython.longlong,
        snd_nxt: cython.longlong,
        delivered: cython.longlong,
        echo: cython.longlong,
    ) -> cython.int:
        """What the ACK that is being processed has changed.

        `delivered`: segments acknowledged or held more than before; `echo`: its TSecr, -1 if none.
        """
        self.now = now
        self.rto = rto
        self.snd_una = snd_una
        self.snd_nxt = snd_nxt
        self.advanced = snd_una > prior_una
        self.delivered = delivered
        self.echo = echo
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _leave(self) -> cython.bint:
        """All that was sent when the state began is acknowledged; return whether that is all."""
        board: Scoreboard = self.board
        if self.state == _LOSS:
            self.retransmits = 0
            if self._undo_recovery():
                return True
        elif self.state == _DISORDER:
            self._undo_dsack()
            if board.undo_marker == _NONE or not board.sack or self.snd_una != self.high_seq:
                board.undo_marker = _NONE
                self.state = _OPEN
        elif self.state == _CWR:
            if self.snd_una != self.high_seq:
                self._complete()
                self.state = _OPEN
        elif self.state == _RECOVERY:
            if not board.sack:
                board.sacked_out = 0
            if self._undo_recovery():
                return True
            if self.reduction == _RATE_HALVING or board.undo_marker != _NONE:
                self._complete()
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _complete(self) -> cython.int:
        """`tcp_complete_cwr`."""
        if (
            self.reduction != _RATE_HALVING and self.state != _CWR
        ) or self.congestion.cwnd > self.congestion.ssthresh:
            self.congestion.cwnd = self.congestion.ssthresh
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _head_timed_out(self) -> cython.bint:
        if not self.head_timeout or self.board.packets_out() == 0:
            return False
        if self.head_timeout_fack and not self.board.fack:
            return False
        return self.board.head_age(self.now) > self.rto

    @cython.cfunc
    @cython.exceptval(-1)
    def _time_to_recover(self, may_send: cython.bint) -> cython.bint:
        """`tcp_time_to_recover`."""
        board: Scoreboard = self.board
        out: cython.longlong = board.packets_out()
        distance: cython.longlong
        if self.frto > 0:
            return False
        if board.lost_out > 0:
            return True
        if board.fack or (board.sack and not self.counts_sacked):
            distance = board.fackets_out
        else:
            distance = board.sacked_out + 1
        if distance > board.reordering or self._head_timed_out():
            return True
        return (
            out <= board.reordering
            and board.sacked_out >= max(out // 2, board.least_reordering)
            and not (may_send and board.in_flight() < self.congestion.cwnd)
        )

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter_recovery(self) -> cython.int:
        board: Scoreboard = self.board
        self.high_seq = self.snd_nxt
        self.prior_ssthresh = 0
        board.undo_marker = self.snd_una
        board.undo_retrans = board.retrans_out
        if self.state < _CWR:
            self.prior_ssthresh = self.current_ssthresh()
            self.congestion.ssthresh = self.congestion.reduced()
        self.congestion.bytes_acked = 0
        self.congestion.cwnd_count = 0
        self.prior_cwnd = self.congestion.cwnd
        self.prr_delivered = 0
        self.prr_out = 0
        self.state = _RECOVERY
        self.entered += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _update_scoreboard(self, fast: cython.bint) -> cython.int:
        """`tcp_update_scoreboard`."""
        board: Scoreboard = self.board
        packets: cython.longlong = 1
        if board.sack and self.counts_sacked and not board.fack:
            packets = board.sacked_out - board.reordering
            if packets >= 0:
                board.mark_head_lost(packets, self.high_seq)
            elif fast:
                board.mark_first_lost()
        else:
            if board.fack and board.fackets_out - board.reordering > 1:
                packets = board.fackets_out - board.reordering
            board.mark_head_lost(packets, self.high_seq)
        if board.sack and self._head_timed_out():
            board.mark_timed_out(self.now, self.rto)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _moderate(self) -> cython.int:
        """`tcp_moderate_cwnd`."""
        limit: cython.longlong = self.board.in_flight() + _MAX_BURST
        if self.congestion.cwnd > limit:
            self.congestion.cwnd = limit
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _reduce(self, fast: cython.bint, duplicate: cython.bint) -> cython.int:
        """`tcp_cwnd_down`, or proportional rate reduction."""
        flight: cython.longlong = self.board.in_flight()
        congestion: Congestion = self.congestion
        if self.reduction != _RATE_HALVING and self.state == _RECOVERY:
            self._proportional(flight, fast)
            return 0
        if self.counts_sacked and not (
            self.advanced or self.delivered > 0 or (duplicate and not self.board.sack)
        ):
            return 0
        congestion.cwnd_count += 1
        if congestion.cwnd_count > 1:
            congestion.cwnd_count = 0
            if congestion.cwnd > congestion.least():
                congestion.cwnd -= 1
        if congestion.cwnd > flight + 1:
            congestion.cwnd = flight + 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _proportional(self, flight: cython.longlong, fast: cython.bint) -> cython.int:
        """`tcp_update_cwnd_in_recovery`, RFC 6937."""
        ssthresh: cython.longlong = self.congestion.ssthresh
        count: cython.longlong
        delivered: cython.longlong = self.delivered
        if delivered <= 0 and not fast and self.reduction == _PRR_CONSERVATIVE:
            return 0
        self.prr_delivered += delivered
        if flight > ssthresh:
            count = ssthresh * self.prr_delivered + self.prior_cwnd - 1
            count = count // self.prior_cwnd - self.prr_out
        else:
            count = self.prr_delivered - self.prr_out
            if count < delivered:
                count = delivered
            if self.reduction != _PRR_CONSERVATIVE or self.advanced:
                count += 1
            if count > ssthresh - flight:
                count = ssthresh - flight
        if count < 1 and (fast or (self.reduction == _PRR_CONSERVATIVE and self.prr_out == 0)):
            count = 1
        if count < 0:
            count = 0
        self.congestion.cwnd = flight + count
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _try_to_open(self) -> cython.int:
        """`tcp_try_to_open`."""
        board: Scoreboard = self.board
        state: cython.int = _OPEN
        if board.retrans_out == 0 and self.frto == 0:
            self.retrans_stamp = _NONE
        if self.state == _CWR:
            self._reduce(False, True)
            return 0
        if board.sacked_out + board.lost_out + board.retrans_out > 0 or (
            board.undo_marker != _NONE and not self.counts_sacked
        ):
            state = _DISORDER
        if state != self.state:
            self.state = state
            self.high_seq = self.snd_nxt
        if self.moderates_open or self.state != _OPEN:
            self._moderate()
        return 0

    # -- undo -------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1)
    def _may_undo(self) -> cython.bint:
        """`tcp_may_undo`: nothing that was sent again had been missing (D-SACK, or Eifel)."""
        if self.board.undo_marker == _NONE:
            return False
        return (
            self.board.undo_retrans <= 0
            or self.retrans_stamp == _NONE
            or (self.echo != _NONE and self.echo < self.retrans_stamp)
        )

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _undo_window(self, threshold: cython.bint) -> cython.int:
        """`tcp_undo_cwr`."""
        congestion: Congestion = self.congestion
        if self.prior_ssthresh > 0:
            congestion.cwnd = congestion.undo_cwnd()
            if threshold and self.prior_ssthresh > congestion.ssthresh:
                congestion.ssthresh = self.prior_ssthresh
        elif congestion.cwnd < congestion.ssthresh:
            congestion.cwnd = congestion.ssthresh
        self._moderate()
        self.board.hint = self.board.head
        self.undone += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _undo_recovery(self) -> cython.bint:
        """`tcp_try_undo_recovery`; return whether the state is kept until more is acknowledged."""
        if self._may_undo():
            self._undo_window(True)
            self.board.undo_marker = _NONE
        if self.snd_una == self.high_seq and not self.board.sack:
            # RFC 2582: duplicates may still come
            self._moderate()
            return True
        self.state = _OPEN
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _undo_dsack(self) -> cython.int:
        """`tcp_try_undo_dsack`."""
        if self.board.undo_marker != _NONE and self.board.undo_retrans <= 0:
            self._undo_window(True)
            self.board.undo_marker = _NONE
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _undo_partial(self, acked: cython.longlong) -> cython.bint:
        """`tcp_try_undo_partial`; return whether the next hole is taken for lost."""
        board: Scoreboard = self.board
        distance: cython.longlong = board.fackets_out if board.sack else board.sacked_out + 1
        if not self._may_undo():
            return not board.sack or distance > board.reordering
        if board.retrans_out == 0:
            self.retrans_stamp = _NONE
        board.update_reordering(distance + acked)
        self._undo_window(False)
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _undo_loss(self) -> cython.bint:
        """`tcp_try_undo_loss`."""
        if not self._may_undo():
            return False
        self.board.none_lost()
        self._undo_window(True)
        self.retransmits = 0
        self.board.undo_marker = _NONE
        if self.board.sack:
            self.state = _OPEN
        return True

    # -- timeout ----------------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def timeout(self, snd_una: cython.longlong, snd_nxt: cython.longlong) -> cython.int:
        """The retransmission timer: search for its cause, or take all for lost."""
        self.snd_una = snd_una
        self.snd_nxt = snd_nxt
        if self.uses_frto and self.board.sack:
            self._enter_frto()
        else:
            self._enter_loss(False)
        self.retransmits += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _lower_threshold(self) -> cython.int:
        if (
            self.state <= _DISORDER
            or self.snd_una == self.high_seq
            or (self.state == _LOSS and self.retransmits == 0)
        ):
            self.prior_ssthresh = self.current_ssthresh()
            self.prior_cwnd = self.congestion.cwnd
            self.congestion.ssthresh = self.congestion.reduced()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter_loss(self, forget: cython.bint) -> cython.int:
        """`tcp_enter_loss`; `forget`: what SACK said, too."""
        board: Scoreboard = self.board
        self._lower_threshold()
        self.congestion.cwnd = 1
        self.congestion.cwnd_count = 0
        self.congestion.bytes_acked = 0
        self.congestion.forget()
        board.undo_marker = self.snd_una
        board.undo_retrans = 0
        if board.all_lost(forget) or forget:
            board.undo_marker = _NONE
        self.state = _LOSS
        self.high_seq = self.snd_nxt
        self.frto = 0
        self.retransmitting = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _renege(self) -> cython.int:
        """`tcp_check_sack_reneging`: the receiver has dropped what it held."""
        self._enter_loss(True)
        self.retransmits += 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter_frto(self) -> cython.int:
        """`tcp_enter_frto`: only the first segment is sent again, and two new ones if it helps."""
        board: Scoreboard = self.board
        limit: cython.longlong
        earlier: cython.bint = self.frto > 0 or self.state in (_RECOVERY, _LOSS)
        if self.frto == 0 or self.retransmits == 0:
            self._lower_threshold()
        board.undo_marker = self.snd_una
        board.undo_retrans = 0
        if board.head_was_resent():
            board.undo_marker = _NONE
        board.head_lost_again()
        limit = board.in_flight() + 1
        if self.congestion.cwnd > limit:
            self.congestion.cwnd = limit
        self.frto_high = self.snd_nxt
        if earlier and self.high_seq > self.snd_una:
            self.frto_high = self.high_seq
        self.state = _DISORDER
        self.high_seq = self.snd_nxt
        self.frto = 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _frto_loss(self, allowed: cython.longlong) -> cython.int:
        """`tcp_enter_frto_loss`: something was lost; go on as after any timeout."""
        board: Scoreboard = self.board
        keep_first: cython.bint = self.frto == 1 and not self.advanced
        marker: cython.longlong = board.undo_marker
        resent: cython.bint = board.all_lost(False)
        if keep_first:
            board.head_resent()
        board.undo_marker = _NONE if resent and not keep_first else marker
        self.congestion.cwnd = board.in_flight() + allowed
        self.congestion.cwnd_count = 0
        self.congestion.bytes_acked = 0
        self.congestion.forget()
        self.frto = 0
        self.state = _LOSS
        self.high_seq = self.snd_nxt
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def process_frto(
        self,
        acked: cython.longlong,
        sacked: cython.longlong,
        beyond: cython.bint,
        retrans_acked: cython.bint,
        duplicate: cython.bint,
        may_send: cython.bint,
    ) -> cython.bint:
        """`tcp_process_frto` with SACK, after `see`; return whether the window is settled.

        `beyond`: what was sent after the timeout is among what SACK reports now.
        """
        board: Scoreboard = self.board
        flight: cython.longlong
        if acked > 0:
            self.retransmits = 0
        if self.frto > 1 and retrans_acked:
            board.undo_marker = _NONE
        if self.snd_una >= self.frto_high:
            self._frto_loss(2 if self.frto == 1 else 3)
            return True
        flight = board.in_flight()
        if self.frto == 1 and acked == 0:
            if flight == 0:
                self._frto_loss(2)
            elif self.congestion.cwnd > flight:
                self.congestion.cwnd = flight
            return True
        if self.frto > 1 and (beyond or acked + sacked == 0):
            if duplicate or beyond:
                self._frto_loss(3)
            return True
        if self.frto == 1:
            self.congestion.cwnd = flight + 2
            self.frto = 2
            if not may_send:
                self._frto_loss(2)
            return True
        self._enter_cwr()
        self.frto = 0
        board.undo_marker = _NONE
        self.spurious += 1
        return False

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _enter_cwr(self) -> cython.int:
        """`tcp_enter_cwr` without a lower threshold."""
        limit: cython.longlong = self.board.in_flight() + 1
        if self.state < _CWR:
            self.board.undo_marker = _NONE
            if self.congestion.cwnd > limit:
                self.congestion.cwnd = limit
            self.congestion.cwnd_count = 0
            self.high_seq = self.snd_nxt
            self.state = _CWR
        return 0

    # -- what is sent -----------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def next_retransmission(self, may_send: cython.bint) -> cython.longlong:
        """`tcp_xmit_retransmit_queue`: number of the segment to be sent again now; -1 if none."""
        board: Scoreboard = self.board
        number: cython.longlong
        if board.in_flight() >= self.congestion.cwnd:
            return _NONE
        number = board.next_lost()
        if number != _NONE:
            return number
        if self.state != _RECOVERY or not board.sack or not self.forward_retransmit or may_send:
            return _NONE
        return board.next_hole()

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def resent(
        self, number: cython.longlong, snd_nxt: cython.longlong, now: cython.longlong
    ) -> cython.int:
        """A segment has been sent again."""
        self.board.resent(number, snd_nxt, now)
        if self.retrans_stamp == _NONE:
            self.retrans_stamp = now
        self.prr_out += 1
        return 0
