"""Loss recovery of Linux before 4.18: what is lost is counted in segments and duplicate ACKs.

Source: net/ipv4/tcp_input.c (`tcp_fastretrans_alert`, `tcp_try_undo_recovery` and its kin,
`tcp_cwnd_down`, `tcp_enter_loss`, `tcp_enter_frto`); RFC 5681, 6582, 6675, 4138, 3522 (Eifel), 6937
(PRR). What differs between versions is in `SenderRules`. Nothing of this runs as long as ACKs are
in order.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.counted_tags import CountedTags
from simnet.net.tcp.recovery.frto import ANSWERED, NEEDLESS, WAITS, Frto
from simnet.net.tcp.recovery.recovery import CWR, DISORDER, LOSS, OPEN, RECOVERY, Recovery
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.timer import SendTimer

_MAX_BURST: cython.longlong = 3
_RATE_HALVING: cython.int = 0
_PRR_CONSERVATIVE: cython.int = 2


@cython.final
@cython.no_gc
@cython.cclass
class CountedRecovery(Recovery):
    """What ACKs and timeouts make of one connection's state and window.

    Args:
        rules: of the kernel's version.
        board: its segments.
        congestion: its window.
        timer: its timer.
    """

    tags: CountedTags = None  # what SACK says of its segments
    search: Frto = None  # for the cause of a timeout (F-RTO)
    data_lost: cython.bint = False
    head_timeout: cython.bint = False
    head_timeout_fack: cython.bint = False
    counts_sacked: cython.bint = False
    forward_retransmit: cython.bint = False
    moderates_open: cython.bint = False
    uses_frto: cython.bint = False
    reduction: cython.int = 0

    def __init__(
        self,
        rules: SenderRules,
        board: Scoreboard,
        congestion: Congestion,
        timer: SendTimer,
    ) -> None:
        super().__init__(board, congestion, timer)
        self.tags = CountedTags(rules, board)
        self.search = Frto(board, congestion)
        self.head_timeout = rules.head_timeout
        self.head_timeout_fack = rules.head_timeout_fack
        self.counts_sacked = rules.counts_sacked
        self.forward_retransmit = rules.forward_retransmit
        self.reduction = rules.reduction
        self.moderates_open = rules.moderates_open
        self.uses_frto = rules.frto

    # -- an ACK -----------------------------------------------------------------------------

    def may_grow(
        self,
        duplicate: cython.bint,
        acked: cython.longlong,
        newly: cython.longlong,
        blocks: list[Any] | None,
        may_send: cython.bint,
    ) -> cython.bint:
        """Whether the congestion control may raise the window, which F-RTO may have settled.

        Args:
            duplicate: a duplicate ACK: no data, no window update, nothing acknowledged.
            acked: segments that it acknowledged.
            newly: segments that SACK reports for the first time.
            blocks: its SACK option.
            may_send: there is something new to be sent that window and Nagle let go.
        """
        beyond: cython.bint = False
        self.delivered = 1 if duplicate and not self.board.sack else acked + newly
        self.data_lost = False
        if blocks is not None:
            for block in blocks:
                if block[1] > self.high_seq:
                    self.data_lost = True
                if block[1] > self.search.high:
                    beyond = newly > 0
        if self.frto > 0 and self._process_frto(acked, newly, beyond, duplicate, may_send):
            return False
        return acked > 0 and self.may_raise()

    def alert(  # noqa: C901, PLR0912 - the state machine in one piece, as in the kernel
        self,
        duplicate: cython.bint,
        data_sacked: cython.bint,
        acked: cython.longlong,
        may_send: cython.bint,
    ) -> cython.int:
        """`tcp_fastretrans_alert`, after `may_grow`.

        Args:
            duplicate: a duplicate ACK: no data, no window update, nothing acknowledged.
            data_sacked: SACK reports more than before.
            acked: segments that it acknowledged.
            may_send: there is something new to be sent that window and Nagle let go.
        """
        board: Scoreboard = self.board
        lost: cython.bint = duplicate
        fast: cython.bint = False
        if board.packets_out() == 0:
            board.none_held()
        if board.sacked_out == 0:
            self.tags.none_held()
        if board.sacked_out > 0 and board.sack and board.head_is_held():
            self._renege()
            return 0
        if (
            self.data_lost
            and (self.tags.fack or not self.counts_sacked)
            and self.seq.snd_una < self.high_seq
            and self.state != OPEN
            and self.tags.fackets_out > board.reordering
        ):
            self.tags.mark_head_lost(self.tags.fackets_out - board.reordering, self.high_seq)
        if self.counts_sacked and data_sacked and self.tags.fackets_out > board.reordering:
            lost = True
        if self.state == OPEN:
            self.retrans_stamp = NONE
        elif self.seq.snd_una >= self.high_seq and self._leave():
            return 0
        if self.state == RECOVERY:
            if not self.advanced:
                self._count_duplicate(duplicate)
            else:
                if not board.sack and board.eat_duplicates(acked):
                    board.update_reordering(board.packets_out() + acked)
                lost = self._undo_partial(acked)
        elif self.state == LOSS:
            if acked > 0:
                self.retransmits = 0
            if not board.sack and self.advanced:
                board.none_held()
            if not self._undo_loss():
                self._moderate()
                self.retransmitting = True
                return 0
            if self.state != OPEN:
                return 0
        if self.state != RECOVERY:
            if not board.sack and self.advanced:
                board.none_held()
            self._count_duplicate(duplicate)
            if self.state == DISORDER or (self.counts_sacked and self.state == OPEN):
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

    def _count_duplicate(self, duplicate: cython.bint) -> cython.int:
        """`tcp_add_reno_sack`."""
        if duplicate and not self.board.sack:
            self.board.begin_tags()
            if self.board.count_duplicate():
                self.board.update_reordering(self.board.packets_out())
        return 0

    def _leave(self) -> cython.bint:
        """All that was sent when the state began is acknowledged; return whether that is all."""
        board: Scoreboard = self.board
        if self.state == LOSS:
            self.retransmits = 0
            if self._undo_recovery():
                return True
        elif self.state == DISORDER:
            self._undo_dsack()
            if board.undo.marker == NONE or not board.sack or self.seq.snd_una != self.high_seq:
                board.undo.forget()
                self.state = OPEN
        elif self.state == CWR:
            if self.seq.snd_una != self.high_seq:
                self._complete()
                self.state = OPEN
        elif self.state == RECOVERY:
            if not board.sack:
                board.none_held()
            if self._undo_recovery():
                return True
            if self.reduction == _RATE_HALVING or board.undo.marker != NONE:
                self._complete()
        return False

    def _complete(self) -> cython.int:
        """`tcp_complete_cwr`."""
        if (
            self.reduction != _RATE_HALVING and self.state != CWR
        ) or self.congestion.cwnd > self.congestion.ssthresh:
            self.congestion.set_window(self.congestion.ssthresh)
        return 0

    def _head_timed_out(self) -> cython.bint:
        """`tcp_head_timedout`."""
        if not self.head_timeout or self.board.packets_out() == 0:
            return False
        if self.head_timeout_fack and not self.tags.fack:
            return False
        return self.tags.head_age(self.now_jiffy) > self.timer.rto

    def _time_to_recover(self, may_send: cython.bint) -> cython.bint:
        """`tcp_time_to_recover`."""
        return self.frto == 0 and self.tags.time_to_recover(
            self._head_timed_out(), may_send and self.board.in_flight() < self.congestion.cwnd
        )

    def _enter_recovery(self) -> cython.int:
        board: Scoreboard = self.board
        self.high_seq = self.seq.snd_nxt
        self.prior_ssthresh = 0
        board.undo.mark(board.retrans_out)
        if self.state < CWR:
            self.prior_ssthresh = self.current_ssthresh()
            self.congestion.lower_threshold()
        self.congestion.restart_count()
        self.prior_cwnd = self.congestion.cwnd
        self.prr_delivered = 0
        self.prr_out = 0
        self.state = RECOVERY
        self.entered += 1
        return 0

    def _update_scoreboard(self, fast: cython.bint) -> cython.int:
        self.tags.update_scoreboard(fast, self.high_seq)
        if self.board.sack and self._head_timed_out():
            self.tags.mark_timed_out(self.now_jiffy, self.timer.rto)
        return 0

    def _moderate(self) -> cython.int:
        """`tcp_moderate_cwnd`."""
        return self.congestion.limit_window(self.board.in_flight() + _MAX_BURST)

    def _reduce(self, fast: cython.bint, duplicate: cython.bint) -> cython.int:
        """`tcp_cwnd_down`, or proportional rate reduction."""
        conservative: cython.bint = self.reduction == _PRR_CONSERVATIVE
        if self.reduction != _RATE_HALVING and self.state == RECOVERY:
            if self.delivered > 0 or fast or not conservative:
                self.reduce_in_proportion(
                    self.delivered,
                    self.advanced or not conservative,
                    fast or (conservative and self.prr_out == 0),
                )
            return 0
        if self.counts_sacked and not (
            self.advanced or self.delivered > 0 or (duplicate and not self.board.sack)
        ):
            return 0
        return self.congestion.step_down(self.board.in_flight())

    def _try_to_open(self) -> cython.int:
        """`tcp_try_to_open`."""
        board: Scoreboard = self.board
        state: cython.int = OPEN
        if board.retrans_out == 0 and self.frto == 0:
            self.retrans_stamp = NONE
        if self.state == CWR:
            self._reduce(False, True)
            return 0
        if board.sacked_out + board.lost_out + board.retrans_out > 0 or (
            board.undo.marker != NONE and not self.counts_sacked
        ):
            state = DISORDER
        if state != self.state:
            self.state = state
            self.high_seq = self.seq.snd_nxt
        if self.moderates_open or self.state != OPEN:
            self._moderate()
        return 0

    # -- undo -------------------------------------------------------------------------------

    def _may_undo(self) -> cython.bint:
        """`tcp_may_undo`: nothing that was sent again had been missing (D-SACK, or Eifel)."""
        if self.board.undo.marker == NONE:
            return False
        return (
            self.board.undo.retrans <= 0
            or self.retrans_stamp == NONE
            or (self.tsecr != NONE and self.tsecr < self.retrans_stamp)
        )

    def _undo_window(self, threshold: cython.bint) -> cython.int:
        """`tcp_undo_cwr`."""
        congestion: Congestion = self.congestion
        if self.prior_ssthresh > 0:
            congestion.set_window(congestion.undo_cwnd())
            if threshold and self.prior_ssthresh > congestion.ssthresh:
                congestion.set_threshold(self.prior_ssthresh)
        elif congestion.cwnd < congestion.ssthresh:
            congestion.set_window(congestion.ssthresh)
        self._moderate()
        self.board.scan_from(self.board.head)
        self.undone += 1
        return 0

    def _undo_recovery(self) -> cython.bint:
        """`tcp_try_undo_recovery`; return whether the state is kept until more is acknowledged."""
        if self._may_undo():
            self._undo_window(True)
            self.board.undo.forget()
        if self.seq.snd_una == self.high_seq and not self.board.sack:
            # RFC 2582: duplicates may still come
            self._moderate()
            return True
        self.state = OPEN
        return False

    def _undo_dsack(self) -> cython.int:
        """`tcp_try_undo_dsack`."""
        if self.board.undo.marker != NONE and self.board.undo.retrans <= 0:
            self._undo_window(True)
            self.board.undo.forget()
        return 0

    def _undo_partial(self, acked: cython.longlong) -> cython.bint:
        """`tcp_try_undo_partial`; return whether the next hole is taken for lost."""
        board: Scoreboard = self.board
        distance: cython.longlong = self.tags.fackets_out if board.sack else board.sacked_out + 1
        if not self._may_undo():
            return not board.sack or distance > board.reordering
        if board.retrans_out == 0:
            self.retrans_stamp = NONE
        self.tags.update_reordering(distance + acked)
        self._undo_window(False)
        return False

    def _undo_loss(self) -> cython.bint:
        """`tcp_try_undo_loss`."""
        if not self._may_undo():
            return False
        self.board.none_lost()
        self._undo_window(True)
        self.retransmits = 0
        self.board.undo.forget()
        if self.board.sack:
            self.state = OPEN
        return True

    # -- timeout ----------------------------------------------------------------------------

    def timeout(self) -> cython.int:
        """The retransmission timer: search for its cause, or take all for lost."""
        if self.uses_frto and self.board.sack:
            self._enter_frto()
            self.retransmits += 1
            return 0
        return Recovery.timeout(self)

    @cython.cfunc
    def _enter_loss(self, forget: cython.bint) -> cython.int:
        self.frto = 0
        Recovery._enter_loss(self, forget)  # noqa: SLF001 - the base class's
        return self.tags.restart(forget)

    def _renege(self) -> cython.int:
        """`tcp_check_sack_reneging`: the receiver has dropped what it held."""
        self._enter_loss(True)
        self.retransmits += 1
        return 0

    def _enter_frto(self) -> cython.int:
        """`tcp_enter_frto`: only the first segment is sent again, and two new ones if it helps."""
        board: Scoreboard = self.board
        earlier: cython.bint = self.frto > 0 or self.state in (RECOVERY, LOSS)
        if self.frto == 0 or self.retransmits == 0:
            self._lower_threshold()
        board.undo.mark(0)
        if board.head_was_resent():
            board.undo.forget()
        board.retransmission_gone(board.head)
        self.congestion.limit_window(board.in_flight() + 1)
        beyond: cython.bint = earlier and self.high_seq > self.seq.snd_una
        self.search.begin(self.high_seq if beyond else self.seq.snd_nxt)
        self.state = DISORDER
        self.high_seq = self.seq.snd_nxt
        self.frto = 1
        return 0

    def _frto_loss(self, allowed: cython.longlong) -> cython.int:
        """`tcp_enter_frto_loss`: something was lost; go on as after any timeout."""
        board: Scoreboard = self.board
        keep_first: cython.bint = self.frto == 1 and not self.advanced
        resent: cython.bint = board.all_lost(False)
        self.tags.restart(False)
        if keep_first:
            board.mark_retransmitted(board.head)
        if resent and not keep_first:
            board.undo.forget()
        self.congestion.set_window(board.in_flight() + allowed)
        self.congestion.restart_count()
        self.congestion.forget()
        self.frto = 0
        self.state = LOSS
        self.high_seq = self.seq.snd_nxt
        return 0

    def _process_frto(
        self,
        acked: cython.longlong,
        newly: cython.longlong,
        beyond: cython.bint,
        duplicate: cython.bint,
        may_send: cython.bint,
    ) -> cython.bint:
        """`tcp_process_frto` with SACK; return whether the window is settled.

        `beyond`: what was sent after the timeout is among what SACK reports now.
        """
        verdict: cython.int
        if acked > 0:
            self.retransmits = 0
        if self.frto > 1 and acked > 0 and self.board.retrans_acked:
            self.board.undo.forget()
        verdict = self.search.judge(self.frto, acked, newly, beyond, duplicate, may_send)
        if verdict == NEEDLESS:
            self._enter_cwr()
            self.frto = 0
            self.board.undo.forget()
            self.spurious += 1
            return False
        if verdict == ANSWERED:
            self.frto = 2
        elif verdict != WAITS:
            self._frto_loss(verdict)
        return True

    def _enter_cwr(self) -> cython.int:
        """`tcp_enter_cwr` without a lower threshold."""
        if self.state < CWR:
            self.board.undo.forget()
            self.congestion.limit_window(self.board.in_flight() + 1)
            self.congestion.restart_count()
            self.high_seq = self.seq.snd_nxt
            self.state = CWR
        return 0

    # -- what is sent -----------------------------------------------------------------------

    def next_retransmission(self, may_send: cython.bint) -> cython.longlong:
        """What is lost; in Recovery without anything new to send holes, too."""
        number: cython.longlong = Recovery.next_retransmission(self, may_send)
        if (
            number != NONE
            or self.state != RECOVERY
            or not self.board.sack
            or not self.forward_retransmit
            or may_send
            or self.board.in_flight() >= self.congestion.cwnd
        ):
            return number
        return self.tags.next_hole()
