"""Loss recovery with SACK as Linux 4.18 and later have it: RACK, tail loss probes, F-RTO.

Source: net/ipv4/tcp_input.c of Linux 6.x (`tcp_ack`, `tcp_fastretrans_alert`, `tcp_process_loss`,
`tcp_enter_loss`, `tcp_try_undo_partial` and its kin); RFC 8985, 5682, 6937, 3522. Against
`Recovery.alert`, which is that of earlier kernels:

* What is lost is told by time (`Rack`), not counted.
* The state machine comes first and the window follows from the state it leaves.
* The window is not moderated; what is undone is the window of before (`prior_cwnd`).
* A timeout takes only what is older than a round trip for lost, and looks for its cause while it
  recovers: what arrives though it was never sent again shows that nothing was missing (RFC 5682).
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.net.tcp.recovery.prr import reduce_window
from simnet.net.tcp.recovery.rack import Rack
from simnet.net.tcp.recovery.recovery import Recovery
from simnet.net.tcp.recovery.sacktag import SackTags
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.recovery.states import States
from simnet.net.tcp.recovery.tlp import LossProbe
from simnet.net.tcp.send.rtt import RttEstimator

__all__ = ["SackRecovery"]

_OPEN = cython.declare(cython.int, 0)
_DISORDER = cython.declare(cython.int, 1)
_CWR = cython.declare(cython.int, 2)
_RECOVERY = cython.declare(cython.int, 3)
_LOSS = cython.declare(cython.int, 4)
_NONE = cython.declare(cython.longlong, -1)
_RENEGE_MIN_US = cython.declare(cython.longlong, 10_000)


@cython.final
@cython.no_gc
@cython.cclass
class SackRecovery(States):
    """What ACKs and timers make of one connection's state and window.

    Args:
        recovery: holds the state.
        rtt: the round-trip times.
        init_jiffies: timeout as long as no round trip is known.
        margin_us: what is added to the times of its timers; 0: two jiffies.

    Attributes:
        tags, rack, probe: its parts.
        frto: a timeout's cause is looked for.

        After `acknowledge`:

        rto: new retransmission timeout, jiffies; -1: the same.
        rearms: the timer is to be set anew.
        look_again: jiffies after which the reordering timer looks for losses; 0: it is not set.
        renege: jiffies after which all that was held is taken for lost; 0: not.
        raises: the congestion control may raise the window.
        new_first: new segments are to be sent, and only if none can be what is lost.
    """

    rtt: RttEstimator
    rack: Rack
    tags: SackTags
    probe: LossProbe
    frto: cython.bint
    rto: cython.longlong
    rearms: cython.bint
    look_again: cython.longlong
    renege: cython.longlong
    raises: cython.bint
    new_first: cython.bint
    lost_retransmission: cython.bint
    may_send: cython.bint

    def __init__(
        self, recovery: Recovery, rtt: RttEstimator, init_jiffies: int, margin_us: int = 0
    ) -> None:
        super().__init__(recovery)
        self.rtt = rtt
        self.rack = Rack(recovery.board, rtt)
        self.tags = SackTags(recovery.board, self.rack)
        self.probe = LossProbe(self.tags, rtt, init_jiffies, margin_us or 2 * rtt.jiffy_us)
        self.frto = False
        self.may_send = False
        self._begin()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin(self) -> cython.int:
        self.rto = _NONE
        self.rearms = False
        self.look_again = 0
        self.renege = 0
        self.raises = False
        self.new_first = False
        self.lost_retransmission = False
        return 0

    # -- an ACK -------------------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def acknowledge(
        self,
        prior_una: cython.longlong,
        blocks: list[Any] | None,
        echo_ms: cython.longlong,
        news: cython.bint,
        may_send: cython.bint,
        now_jiffy: cython.longlong,
        now_us: cython.longlong,
    ) -> cython.longlong:
        """`tcp_ack`: return how many segments it acknowledged.

        Args:
            prior_una: `snd_una` before it; `recovery` has been told the one now, and `snd_nxt`.
            blocks: its SACK option.
            echo_ms: its TSecr, -1 without one.
            news: it carries data, or another window.
            may_send: there are new data that the peer's window takes.
            now_jiffy: the time in jiffies.
            now_us: the same in microseconds.
        """
        recovery: Recovery = self.recovery
        board: Scoreboard = self.board
        tags: SackTags = self.tags
        lost: cython.longlong = self.rack.lost
        before: cython.longlong = board.packets_out()
        highest: cython.longlong = prior_una if board.sacked_out == 0 else tags.highest
        duplicate: cython.bint
        acked: cython.longlong
        self._begin()
        self.may_send = may_send
        recovery.advanced = recovery.snd_una > prior_una
        recovery.echo = echo_ms
        if recovery.advanced:
            recovery.retransmits = 0
        tags.begin(recovery.snd_una, recovery.high_seq, now_us)
        if blocks is not None:
            self._tag(blocks, recovery.snd_una, prior_una)
        if before == 0:
            return self._idle(prior_una, now_us, news)
        if board.tagged:
            acked = tags.clean(highest, echo_ms)
        else:
            acked = board.clean(recovery.snd_una, now_jiffy)
            tags.in_order(acked)
        self._measure(acked, now_jiffy)
        self.rack.adjust(now_us)
        duplicate = acked == 0 and not news
        if tags.probe_end != _NONE:
            self._probed(duplicate)
        if duplicate or tags.sacked or tags.dsack or self.echo or recovery.state != _OPEN:
            self._alert(prior_una, duplicate and not recovery.advanced and not tags.dsack, now_us)
        if recovery.state in (_CWR, _RECOVERY):
            reduce_window(recovery, tags.delivered, self.rack.lost - lost, recovery.advanced)
        else:
            self.raises = acked > 0 or (tags.sacked and board.reordering > board.least_reordering)
        return acked

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _tag(
        self, blocks: list[Any], ack: cython.longlong, prior_una: cython.longlong
    ) -> cython.int:
        lossy: cython.bint = self.recovery.state == _LOSS and self.board.undo_marker == _NONE
        return self.tags.tag(blocks, ack, prior_una, self.recovery.snd_nxt, lossy)

    @cython.cfunc
    @cython.exceptval(-1)
    def _idle(
        self, prior_una: cython.longlong, now_us: cython.longlong, news: cython.bint
    ) -> cython.longlong:
        """Nothing was outstanding; a D-SACK may still say that a reduction was needless."""
        if self.tags.dsack:
            self._alert(prior_una, False, now_us)
        if self.tags.probe_end != _NONE:
            self._probed(not news)
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def overtaken(
        self,
        blocks: list[Any],
        ack: cython.longlong,
        echo_ms: cython.longlong,
        now_us: cython.longlong,
    ) -> cython.int:
        """An ACK that a later one has overtaken: its blocks count, its number does not."""
        recovery: Recovery = self.recovery
        self._begin()
        recovery.advanced = False
        recovery.echo = echo_ms
        self.tags.begin(recovery.snd_una, recovery.high_seq, now_us)
        self._tag(blocks, ack, recovery.snd_una)
        self._alert(recovery.snd_una, False, now_us)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _measure(self, acked: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_ack_update_rtt`, and whether the retransmission timer is to be set anew."""
        tags: SackTags = self.tags
        board: Scoreboard = self.board
        now_us: cython.longlong = tags.now_us
        rtt_us: cython.longlong = _NONE
        latest_us: cython.longlong = _NONE
        sack_us: cython.longlong = _NONE
        if tags.first_us != _NONE:
            rtt_us = now_us - tags.first_us
            latest_us = now_us - tags.last_us
        if tags.sack_first_us != _NONE:
            sack_us = now_us - tags.sack_first_us
            latest_us = now_us - tags.sack_last_us
        if rtt_us < 0:
            rtt_us = sack_us
        if rtt_us < 0 and self.recovery.echo != _NONE and acked > 0:
            rtt_us = latest_us = self.rtt.of_echo(self.recovery.echo, now_us)
        if rtt_us >= 0:
            self.rtt.bound(latest_us, now_us)
            self.rto = self.rtt.sample(rtt_us, self.recovery.snd_una, self.recovery.snd_nxt)
        self.rearms = acked > 0 or (
            sack_us >= 0
            and board.head < board.tail
            and sack_us > now_us - board.sent_us_of(board.head)
        )
        if acked > 0:
            self.congestion.segments_acked(
                acked, latest_us, now_jiffy, now_us, self.recovery.state == _OPEN
            )
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _probed(self, duplicate: cython.bint) -> cython.int:
        """A loss that a probe has repaired is a loss: the window shrinks, at once."""
        recovery: Recovery = self.recovery
        if self.probe.repaired_loss(recovery.snd_una, recovery.advanced, duplicate):
            self._begin_reduction()
            recovery.state = _CWR
            self._end_reduction()
            self._keep_open()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _alert(  # noqa: C901, PLR0911, PLR0912 - in one piece, as in the kernel
        self, prior_una: cython.longlong, duplicate: cython.bint, now_us: cython.longlong
    ) -> cython.int:
        """`tcp_fastretrans_alert`."""
        recovery: Recovery = self.recovery
        board: Scoreboard = self.board
        if board.packets_out() == 0:
            board.sacked_out = 0
        if self.echo:
            recovery.prior_ssthresh = 0
        if self.tags.renege and recovery.advanced:
            # tcp_check_sack_reneging: the next ACK may show that it was not
            self.renege = self.rtt.jiffies(max(self.rtt.srtt_us >> 4, _RENEGE_MIN_US))
            self.rearms = False
            return 0
        if recovery.state == _OPEN:
            recovery.retrans_stamp = _NONE
        elif recovery.snd_una >= recovery.high_seq:
            if recovery.state == _CWR:
                if recovery.snd_una != recovery.high_seq:
                    self._end_reduction()
                    recovery.state = _OPEN
            elif recovery.state == _RECOVERY:
                self._undo_recovery()
                self._end_reduction()
        if recovery.state == _RECOVERY:
            if recovery.advanced and self._undo_partial(prior_una):
                return 0
            if self._undo_dsack():
                self._keep_open()
            self._identify(now_us)
            if recovery.state != _RECOVERY:
                if board.lost_out == 0:
                    return 0
                self._enter_recovery()
            recovery.retransmitting = True
            return 0
        if recovery.state == _LOSS:
            self._process_loss(duplicate)
            self._identify(now_us)
            if recovery.state != _OPEN and not self.lost_retransmission:
                return 0
        if recovery.state <= _DISORDER:
            self._undo_dsack()
        self._identify(now_us)
        if board.lost_out > 0:
            self._enter_recovery()
            recovery.retransmitting = True
            return 0
        return self._try_to_open()

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _identify(self, now_us: cython.longlong) -> cython.int:
        """`tcp_identify_packet_loss`."""
        board: Scoreboard = self.board
        resent: cython.longlong = board.retrans_out
        left_us: cython.longlong
        if board.head == board.tail or not self.rack.advanced:
            return 0
        self.rack.advanced = False
        left_us = self.rack.detect(self.recovery.state, now_us)
        if left_us > 0:
            self.look_again = self.rtt.jiffies(left_us + self.probe.margin_us)
            self.rearms = False
        if board.retrans_out < resent:
            self.lost_retransmission = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _begin_reduction(self) -> cython.int:
        """`tcp_init_cwnd_reduction`: a loss that a probe has repaired is no reason for another."""
        self.probe.end()
        return States._begin_reduction(self)  # noqa: SLF001 - the base class's

    # -- undo ---------------------------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1)
    def _may_undo(self) -> cython.bint:
        """`tcp_may_undo`."""
        return self.board.undo_marker != _NONE and (self.board.undo_retrans == 0 or self._delayed())

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _undo(self, unmark: cython.bint) -> cython.int:
        self._undo_window(unmark)
        self.rack.advanced = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _undo_recovery(self) -> cython.int:
        """`tcp_try_undo_recovery`."""
        if self._may_undo():
            self._undo(False)
        else:
            self.rack.recovered(False)
        self.recovery.state = _OPEN
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _undo_dsack(self) -> cython.bint:
        """`tcp_try_undo_dsack`."""
        if self.board.undo_marker == _NONE or self.board.undo_retrans != 0:
            return False
        self.rack.recovered(True)
        self._undo(False)
        return True

    @cython.cfunc
    @cython.exceptval(-1)
    def _undo_partial(self, prior_una: cython.longlong) -> cython.bint:
        """`tcp_try_undo_partial`; return whether nothing is marked or sent again now."""
        if self.board.undo_marker == _NONE or not self._delayed():
            return False
        self.tags.delayed(prior_una)
        if self.board.retrans_out > 0:
            return True
        self._forget_retransmissions()
        self._undo(True)
        self._keep_open()
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _undo_loss(self, spurious: cython.bint) -> cython.bint:
        """`tcp_try_undo_loss`."""
        if not spurious and not self._may_undo():
            return False
        self._undo(True)
        if spurious:
            self.recovery.spurious += 1
        self.recovery.retransmits = 0
        self.recovery.state = _OPEN
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _process_loss(self, duplicate: cython.bint) -> cython.int:
        """`tcp_process_loss`, F-RTO included."""
        recovery: Recovery = self.recovery
        recovered: cython.bint = recovery.snd_una >= recovery.high_seq
        if recovery.advanced and self._undo_loss(False):
            return 0
        if self.frto:
            # something came that was never sent again
            if self.tags.originals and self._undo_loss(True):
                return 0
            if recovery.snd_nxt > recovery.high_seq:
                if self.tags.sacked or duplicate:
                    self.frto = False
            elif recovery.advanced and not recovered:
                recovery.high_seq = recovery.snd_nxt
                if self.may_send:
                    self.new_first = True
                    return 0
                self.frto = False
        if recovered:
            self._undo_recovery()
            return 0
        recovery.retransmitting = True
        return 0

    # -- timers -------------------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def timeout(self, now_us: cython.longlong) -> cython.int:
        """`tcp_enter_loss`; `recovery` has been told `snd_una` and `snd_nxt`."""
        recovery: Recovery = self.recovery
        board: Scoreboard = self.board
        again: cython.bint = recovery.state < _RECOVERY or recovery.retransmits > 0
        self.probe.end()
        self._all_late(now_us)
        if (
            recovery.state <= _DISORDER
            or recovery.high_seq <= recovery.snd_una
            or (recovery.state == _LOSS and recovery.retransmits == 0)
        ):
            recovery.prior_ssthresh = recovery.current_ssthresh()
            recovery.prior_cwnd = self.congestion.cwnd
            self.congestion.ssthresh = self.congestion.reduced()
            self.congestion.forget()
            self._mark_undo()
        self.congestion.cwnd = board.in_flight() + 1
        self.congestion.cwnd_count = 0
        if (
            recovery.state <= _DISORDER
            and board.sacked_out >= board.least_reordering
            and board.reordering > board.least_reordering
        ):
            board.set_reordering(board.least_reordering)
        recovery.state = _LOSS
        recovery.high_seq = recovery.snd_nxt
        if self.ecn is not None:
            self.ecn.reduced = True
        recovery.retransmits += 1
        self.frto = again
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _all_late(self, now_us: cython.longlong) -> cython.int:
        """`tcp_timeout_mark_lost`: the first segment, and what is older than a round trip."""
        board: Scoreboard = self.board
        number: cython.longlong = board.head
        reneged: cython.bint = board.head_is_held()
        if reneged:
            board.forget_held()
        self.rack.link()
        while number < board.tail:
            if reneged or number == board.head or self.rack.left_us(number, 0, now_us) <= 0:
                self.rack.lose(number)
            number += 1
        board.hint = board.head
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def reordering_timeout(self, now_us: cython.longlong) -> cython.bint:
        """`tcp_rack_reo_timeout`: nothing more can be late; return whether something is lost."""
        recovery: Recovery = self.recovery
        flight: cython.longlong = self.board.in_flight()
        lost: cython.longlong = self.rack.lost
        self.rack.detect(recovery.state, now_us)
        if flight == self.board.in_flight():
            return False
        if recovery.state != _RECOVERY:
            self._enter_recovery()
            reduce_window(recovery, 1, self.rack.lost - lost, False)
        recovery.retransmitting = True
        return True

    # -- what is sent -------------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def resent(self, number: cython.longlong, now_us: cython.longlong) -> cython.int:
        """`tcp_retransmit_skb`: called before the scoreboard is told that it is sent again."""
        if self.recovery.retrans_stamp == _NONE:
            self.recovery.retrans_stamp = now_us // 1000
        if self.board.undo_retrans < 0:
            self.board.undo_retrans = 0
        self.tags.resent += 1
        return self.rack.resent(number, now_us)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def probed(
        self, number: cython.longlong, now_jiffy: cython.longlong, now_us: cython.longlong
    ) -> cython.int:
        """The last segment has been sent again as a probe: that alone is no retransmission."""
        self.board.probe_resent(number, now_jiffy)
        self.tags.resent += 1
        return self.rack.resent(number, now_us)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def nothing_new(self) -> cython.int:
        """`new_first`, but no new segment could be sent: go on as after any timeout."""
        self.new_first = False
        self.frto = False
        self.recovery.retransmitting = True
        return 0
