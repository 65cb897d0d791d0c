"""Loss recovery with SACK as Linux 4.18 and later have it: RACK, tail loss probes, F-RTO.

Source: net/ipv4/tcp_input.c of Linux 6.x (`tcp_ack`, `tcp_fastretrans_alert`, `tcp_process_loss`,
`tcp_enter_loss`, `tcp_try_undo_partial` and its kin); RFC 8985, 5682, 6937, 3522. Against
`CountedRecovery`, which is that of earlier kernels:

* Time decides what is lost (`Rack`), not a count.
* The state machine comes first and the window follows from the state it leaves.
* The window is not moderated; what is undone is the window of before (`prior_cwnd`).
* A timeout takes only what is older than a round trip for lost, and looks for its cause while it
  recovers: what arrives though it was never sent again shows that nothing was missing (RFC 5682).
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.congestion.rate import RateSample
from simnet.net.tcp.recovery.rack import Rack
from simnet.net.tcp.recovery.recovery import CWR, DISORDER, LOSS, OPEN, RECOVERY, Recovery
from simnet.net.tcp.recovery.sacktag import SackTags
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.recovery.states import States
from simnet.net.tcp.recovery.tlp import LossProbe
from simnet.net.tcp.send.timer import RttEstimator, SendTimer

_RENEGE_MIN_US: cython.longlong = 10_000


@cython.final
@cython.no_gc
@cython.cclass
class SackRecovery(States):
    """What ACKs and timers make of one connection's state and window.

    Args:
        board: its segments.
        congestion: its window.
        timer: its timer, whose timeout is the first one.
        margin_us: what is added to the times of its timers; 0: two jiffies.

    Attributes:
        tags, rack, probe: its parts.

        After `acknowledge`:

        raises: the congestion control may raise the window.
        new_first: new segments are to be sent, and only if none can be what is lost.
    """

    rtt: RttEstimator = None
    rack: Rack = None
    tags: SackTags = None
    probe: LossProbe = None
    raises: cython.bint = False
    new_first: cython.bint = False
    rearms: cython.bint = False
    lost_retransmission: cython.bint = False
    look_again: cython.longlong = 0
    renege: cython.longlong = 0

    def __init__(
        self, board: Scoreboard, congestion: Congestion, timer: SendTimer, margin_us: int = 0
    ) -> None:
        super().__init__(board, congestion, timer)
        self.rtt = timer.rtt
        self.rack = Rack(board, timer.rtt)
        self.tags = SackTags(board, self.rack)
        self.tags.rate = congestion.rate
        self.probe = LossProbe(self.tags, timer.rtt, timer.rto, margin_us or 2 * timer.rtt.jiffy)
        self._begin()

    def _begin(self) -> cython.int:
        """Forget what the last ACK said."""
        self.tags.begin(self.seq.snd_una, self.high_seq, self.timer.now_us)
        # the timer is to be set anew, or jiffies after which the reordering timer looks for losses,
        # or after which all that was held is taken for lost
        self.rearms = False
        self.look_again = 0
        self.renege = 0
        self.raises = False
        self.new_first = False
        self.lost_retransmission = False
        return 0

    # -- an ACK -------------------------------------------------------------------------------

    def acknowledge(self, blocks: list[Any] | None, news: cython.bint) -> cython.longlong:
        """`tcp_ack` after `see`: return how many segments it acknowledged.

        Args:
            blocks: its SACK option.
            news: it carries data, or another window.
        """
        board: Scoreboard = self.board
        tags: SackTags = self.tags
        lost: cython.longlong = self.rack.lost
        before: cython.longlong = board.packets_out()
        highest: cython.longlong = self.prior_una if board.sacked_out == 0 else tags.highest
        duplicate: cython.bint
        acked: cython.longlong
        self._begin()
        self._ack_event()
        if self.congestion.controls:
            self.congestion.rate.begin(self.timer.now_us, board.in_flight())
        if self.advanced:
            self.retransmits = 0
        if blocks is not None:
            self._tag(blocks, self.seq.snd_una)
        if before == 0:
            return self._idle(news)
        if board.tagged:
            acked = tags.clean(highest, self.tsecr)
        else:
            acked = board.clean(self.seq.snd_una, self.now_jiffy)
            tags.in_order(acked)
        self._measure(acked)
        self.rack.adjust(self.timer.now_us)
        duplicate = acked == 0 and not news
        if tags.probe_end != NONE:
            self._probed(duplicate)
        if duplicate or tags.sacked or tags.dsack or self.ece or self.state != OPEN:
            self._alert(duplicate and not self.advanced and not tags.dsack)
        if self.congestion.controls:
            self._control(before == 1 and acked == 1, self.rack.lost - lost)
        elif self.state in (CWR, RECOVERY):
            self._reduce(tags.delivered, self.rack.lost - lost)
        else:
            self.raises = acked > 0 or (tags.sacked and board.reordering > board.least_reordering)
        self._count(tags.delivered)
        self._set_timer()
        return acked

    def _control(self, delayed: cython.bint, lost: cython.longlong) -> cython.int:
        """`tcp_cong_control` of an algorithm that has it.

        Args:
            delayed: the ACK may have been delayed: one segment was on its way.
            lost: segments that are lost by it.
        """
        rate: RateSample = self.congestion.rate
        rate.end(self.tags.delivered, lost, self.rack.lost, self.rtt.least_us, self.tags.renege)
        rate.delayed = delayed
        rate.state = self.state
        rate.in_flight = self.board.in_flight()
        rate.now_jiffy = self.now_jiffy
        return self.congestion.control(self.rtt.srtt)

    def _tag(self, blocks: list[Any], ack: cython.longlong) -> cython.int:
        """Have the blocks of an ACK tag segments (`tcp_sacktag_write_queue`)."""
        lossy: cython.bint = self.state == LOSS and self.board.undo.marker == NONE
        return self.tags.tag(blocks, ack, self.prior_una, self.seq.snd_nxt, lossy)

    def _idle(self, news: cython.bint) -> cython.longlong:
        """Nothing was outstanding; a D-SACK may still say that a reduction was needless."""
        if self.tags.dsack:
            self._alert(False)
        if self.tags.probe_end != NONE:
            self._probed(not news)
        self.timer.stop()
        return 0

    def overtaken(self, blocks: list[Any], ack: cython.longlong) -> cython.int:
        """An ACK that a later one has overtaken: its blocks count, its number does not."""
        self._begin()
        self._tag(blocks, ack)
        if self.congestion.controls:
            self.congestion.rate.total_delivered += self.tags.delivered
        self._alert(False)
        return self._set_timer()

    def _measure(self, acked: cython.longlong) -> cython.int:
        """`tcp_ack_update_rtt`, and whether the retransmission timer is to be set anew."""
        tags: SackTags = self.tags
        board: Scoreboard = self.board
        now_us: cython.longlong = self.timer.now_us
        rtt_us: cython.longlong = NONE
        latest_us: cython.longlong = NONE
        sack_us: cython.longlong = NONE
        if tags.first_us != NONE:
            rtt_us = now_us - tags.first_us
            latest_us = now_us - tags.last_us
        if tags.sack_first_us != NONE:
            sack_us = now_us - tags.sack_first_us
            latest_us = now_us - tags.sack_last_us
        if rtt_us < 0:
            rtt_us = sack_us
        if rtt_us < 0 and self.tsecr != NONE and acked > 0:
            rtt_us = latest_us = self.rtt.of_echo(self.tsecr, now_us)
        if rtt_us >= 0:
            self.timer.measured(rtt_us, latest_us)
        if self.congestion.controls:
            self.congestion.rate.rtt_us = latest_us
        self.rearms = acked > 0 or (
            sack_us >= 0
            and board.head < board.tail
            and sack_us > now_us - board.sent_us_of(board.head)
        )
        if acked > 0:
            self.congestion.segments_acked(
                acked, latest_us, self.now_jiffy, now_us, self.state == OPEN
            )
        return 0

    def _probed(self, duplicate: cython.bint) -> cython.int:
        """A loss that a probe has repaired is a loss: the window shrinks, at once."""
        if self.probe.repaired_loss(self.seq.snd_una, self.advanced, duplicate):
            self._begin_reduction()
            self.state = CWR
            self._end_reduction()
            self._keep_open()
        return 0

    def _alert(  # noqa: C901, PLR0911, PLR0912 - in one piece, as in the kernel
        self, duplicate: cython.bint
    ) -> cython.int:
        """`tcp_fastretrans_alert`."""
        board: Scoreboard = self.board
        if board.packets_out() == 0:
            board.none_held()
        if self.ece:
            self.prior_ssthresh = 0
        if self.tags.renege and self.advanced:
            # tcp_check_sack_reneging: the next ACK may show that it was not
            self.renege = self.rtt.jiffies(max(self.rtt.srtt >> 4, _RENEGE_MIN_US))
            self.rearms = False
            return 0
        if self.state == OPEN:
            self.retrans_stamp = NONE
        elif self.seq.snd_una >= self.high_seq:
            if self.state == CWR:
                if self.seq.snd_una != self.high_seq:
                    self._end_reduction()
                    self.state = OPEN
            elif self.state == RECOVERY:
                self._undo_recovery()
                self._end_reduction()
        if self.state == RECOVERY:
            if self.advanced and self._undo_partial():
                return 0
            if self._undo_dsack():
                self._keep_open()
            self._identify()
            if self.state != RECOVERY:
                if board.lost_out == 0:
                    return 0
                self._enter_recovery()
            self.retransmitting = True
            return 0
        if self.state == LOSS:
            self._process_loss(duplicate)
            self._identify()
            if self.state != OPEN and not self.lost_retransmission:
                return 0
        if self.state <= DISORDER:
            self._undo_dsack()
        self._identify()
        if board.lost_out > 0:
            self._enter_recovery()
            self.retransmitting = True
            return 0
        return self._try_to_open()

    def _identify(self) -> cython.int:
        """`tcp_identify_packet_loss`."""
        board: Scoreboard = self.board
        resent: cython.longlong = board.retrans_out
        left_us: cython.longlong
        if board.head == board.tail or not self.rack.take_advance():
            return 0
        left_us = self.rack.detect(self.state, self.timer.now_us)
        if left_us > 0:
            self.look_again = self.rtt.jiffies(left_us + self.probe.margin_us)
            self.rearms = False
        if board.retrans_out < resent:
            self.lost_retransmission = True
        return 0

    def _begin_reduction(self) -> cython.int:
        """`tcp_init_cwnd_reduction`: a loss that a probe has repaired is no reason for another."""
        self.probe.end()
        return States._begin_reduction(self)  # noqa: SLF001 - the base class's

    # -- undo ---------------------------------------------------------------------------------

    def _may_undo(self) -> cython.bint:
        """`tcp_may_undo`."""
        return self.board.undo.marker != NONE and (self.board.undo.retrans == 0 or self._delayed())

    def _undo(self, unmark: cython.bint) -> cython.int:
        self._undo_window(unmark)
        self.rack.look()
        return 0

    def _undo_recovery(self) -> cython.int:
        """`tcp_try_undo_recovery`."""
        if self._may_undo():
            self._undo(False)
        else:
            self.rack.recovered(False)
        self.state = OPEN
        return 0

    def _undo_dsack(self) -> cython.bint:
        """`tcp_try_undo_dsack`."""
        if self.board.undo.marker == NONE or self.board.undo.retrans != 0:
            return False
        self.rack.recovered(True)
        self._undo(False)
        return True

    def _undo_partial(self) -> cython.bint:
        """`tcp_try_undo_partial`; return whether nothing is marked or sent again now."""
        if self.board.undo.marker == NONE or not self._delayed():
            return False
        self.tags.delayed(self.prior_una)
        if self.board.retrans_out > 0:
            return True
        self._forget_retransmissions()
        self._undo(True)
        self._keep_open()
        return False

    def _undo_loss(self, spurious: cython.bint) -> cython.bint:
        """`tcp_try_undo_loss`."""
        if not spurious and not self._may_undo():
            return False
        self._undo(True)
        if spurious:
            self.spurious += 1
        self.retransmits = 0
        self.state = OPEN
        return True

    def _process_loss(self, duplicate: cython.bint) -> cython.int:
        """`tcp_process_loss`, F-RTO included."""
        recovered: cython.bint = self.seq.snd_una >= self.high_seq
        if self.advanced and self._undo_loss(False):
            return 0
        if self.frto > 0:
            # something came that was never sent again
            if self.tags.originals and self._undo_loss(True):
                return 0
            if self.seq.snd_nxt > self.high_seq:
                if self.tags.sacked or duplicate:
                    self.frto = 0
            elif self.advanced and not recovered:
                self.high_seq = self.seq.snd_nxt
                if self.seq.write_seq > self.seq.snd_nxt and self.seq.window_left() > 0:
                    self.new_first = True
                    return 0
                self.frto = 0
        if recovered:
            self._undo_recovery()
            return 0
        self.retransmitting = True
        return 0

    # -- timers -------------------------------------------------------------------------------

    def timeout(self) -> cython.int:
        """`tcp_enter_loss`."""
        board: Scoreboard = self.board
        again: cython.bint = self.state < RECOVERY or self.retransmits > 0
        self.probe.end()
        self._all_late()
        if self._lower_threshold():
            self.congestion.forget()
            self._mark_undo()
        self.congestion.set_window(board.in_flight() + 1)
        self.congestion.restart_count()
        if (
            self.state <= DISORDER
            and board.sacked_out >= board.least_reordering
            and board.reordering > board.least_reordering
        ):
            board.set_reordering(board.least_reordering)
        self.state = LOSS
        self.high_seq = self.seq.snd_nxt
        if self.ecn is not None:
            self.ecn.reduce()
        self.retransmits += 1
        self.frto = 1 if again else 0
        return self.congestion.enters_loss()

    def _all_late(self) -> cython.int:
        """`tcp_timeout_mark_lost`: the first segment, and what is older than a round trip."""
        board: Scoreboard = self.board
        number: cython.longlong = board.head
        reneged: cython.bint = board.head_is_held()
        if reneged:
            board.forget_held()
        self.rack.link()
        while number < board.tail:
            if (
                reneged
                or number == board.head
                or self.rack.left_us(number, 0, self.timer.now_us) <= 0
            ):
                self.rack.lose(number)
            number += 1
        board.scan_from(board.head)
        return 0

    def reordering_timeout(self) -> cython.bint:
        """`tcp_rack_reo_timeout`: nothing more can be late; return whether something is lost."""
        flight: cython.longlong = self.board.in_flight()
        lost: cython.longlong = self.rack.lost
        self.rack.detect(self.state, self.timer.now_us)
        if flight == self.board.in_flight():
            return False
        if self.state != RECOVERY:
            self._enter_recovery()
            self._reduce(1, self.rack.lost - lost)
        self.retransmitting = True
        return True

    def _set_timer(self) -> cython.int:
        """`tcp_set_xmit_timer`, after an ACK."""
        timer: SendTimer = self.timer
        if self.look_again > 0:
            timer.look_again(self.now_jiffy, self.look_again)
        elif self.renege > 0:
            timer.set_for(self.now_jiffy, self.renege)
        elif self.rearms and not self._schedule_probe(self.now_jiffy, timer.rto * self.rtt.jiffy):
            timer.rearm(self.now_jiffy)
        return 0

    def _schedule_probe(
        self, now_jiffy: cython.longlong, rto_left_us: cython.longlong
    ) -> cython.bint:
        """`tcp_schedule_loss_probe`; return whether the timer is set for one."""
        jiffies: cython.longlong = self.probe.timeout_jiffies(
            self.state, self.board.packets_out(), rto_left_us
        )
        if jiffies == NONE:
            return False
        self.timer.probe_after(now_jiffy, jiffies)
        return True

    # -- what is sent -------------------------------------------------------------------------

    def sent_new(self, alone: cython.bint, now_jiffy: cython.longlong) -> cython.int:
        """New segments have been sent; `alone`: nothing had been on its way."""
        self.timer.sent(alone, now_jiffy)
        self._schedule_probe(now_jiffy, self.timer.left_us())
        return 0

    def resent(self, number: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_retransmit_skb`."""
        self.board.undo.count_resent()
        self.tags.resends(number, self.timer.now_us)
        return Recovery.resent(self, number, now_jiffy)

    def probed(self, fresh: cython.bint, now_jiffy: cython.longlong) -> cython.int:
        """A loss probe has been sent: a `fresh` segment, or the last one again.

        That alone is no retransmission.
        """
        if not fresh:
            self.board.probe_resent(self.board.tail - 1, now_jiffy)
            self.tags.resends(self.board.tail - 1, self.timer.now_us)
        self.probe.begin(self.seq.snd_nxt, not fresh)
        return self.timer.probed(now_jiffy)

    def nothing_new(self) -> cython.int:
        """`new_first`, but no new segment could be sent: go on as after any timeout."""
        self.new_first = False
        self.frto = 0
        self.retransmitting = True
        return 0
