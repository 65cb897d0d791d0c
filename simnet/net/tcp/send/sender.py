"""TCP sender of Linux: its parts, and what acknowledgements and the timer make of them.

Sources: net/ipv4/tcp_input.c (`tcp_ack`), tcp_timer.c. Times are jiffies of the sending host,
lengths bytes; sequence numbers do not wrap.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.sentinel import NONE
from simnet.net.tcp.congestion.control import Congestion
from simnet.net.tcp.recovery.counted import CountedRecovery
from simnet.net.tcp.recovery.newreno import NewReno
from simnet.net.tcp.recovery.recovery import LOSS, OPEN, RECOVERY, Recovery
from simnet.net.tcp.recovery.sack_recovery import SackRecovery
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.recovery.states import States
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.rules.sender_version import SenderRules
from simnet.net.tcp.send.output import SendOutput
from simnet.net.tcp.send.sequence import SendSequence
from simnet.net.tcp.send.settings import SenderSettings
from simnet.net.tcp.send.small_queue import SmallQueue
from simnet.net.tcp.send.timer import RttEstimator, SendTimer
from simnet.net.tcp.send.validation import WindowValidation


@cython.final
@cython.no_gc
@cython.cclass
class TcpSender:
    """Sending half of a connection.

    Args:
        settings: what it has in common with others.
        congestion: algorithm with its initial window; None: as the settings make it.
    """

    seq: SendSequence = None  # what is written, sent and acknowledged, and the peer's window
    board: Scoreboard = None  # segments that are not acknowledged
    timer: SendTimer = None  # what its timer is set for
    newreno: NewReno = None
    congestion: Congestion = None  # the congestion window
    recovery: Recovery = None  # the state of loss recovery
    sacks: SackRecovery | None = None
    states: States | None = None
    validation: WindowValidation = None  # what of the congestion window is in use
    output: SendOutput = None  # what is sent
    counted: CountedRecovery = None
    timeouts: cython.longlong = 0  # of the retransmission timer

    def __init__(self, settings: SenderSettings, congestion: Congestion | None = None) -> None:
        if congestion is None:
            congestion = settings.congestion.make()
        rules: SenderRules = settings.rules
        tso: cython.bint = settings.tso
        divisor: cython.int = settings.tso_win_divisor
        rtt: RttEstimator = RttEstimator(
            settings.jiffy_ps, settings.rto_min_ps, settings.rto_max_ps, fine=rules.clock_us
        )
        self.seq = SendSequence(
            settings.mss,
            rules,
            timestamps=settings.timestamps,
            wmem_default=settings.wmem_default,
            wmem_max=settings.wmem_max,
            overhead_bytes=settings.overhead_bytes,
        )
        self.board = Scoreboard(rules, self.seq, sack=settings.sack, reordering=settings.reordering)
        self.congestion = congestion
        self.timer = SendTimer(
            self.board, rtt, settings.rto_init, rules.clock_us or congestion.wants_us
        )
        self.recovery = self._recovery(rules)
        self.validation = WindowValidation(self.recovery, rules, tso, divisor, settings.restarts)
        self.output = SendOutput(
            self.recovery, self.validation, rules, tso, divisor, settings.timestamps
        )
        self.output.nodelay = settings.nodelay
        self.output.nagle_limit = settings.nagle_limit
        if rules.limit_output_bytes > 0:
            self.output.small_queue = SmallQueue(rules, settings.overhead_bytes)
            self.output.small_queue.paces = settings.paces

    def _recovery(self, rules: SenderRules) -> Recovery:
        """Choose the loss recovery of the kernel's version."""
        counted: CountedRecovery
        if rules.rack and self.board.sack:
            self.sacks = SackRecovery(self.board, self.congestion, self.timer, rules.rack_margin_us)
            return self.sacks
        if rules.newreno and not self.board.sack:
            self.newreno = NewReno(self.board, self.congestion, self.timer)
            return self.newreno
        counted = CountedRecovery(rules, self.board, self.congestion, self.timer)
        self.counted = counted
        return counted

    def use_ecn(self, ecn: Ecn) -> None:
        """The connection has agreed on ECN; what is done about marks is that of 4.18 and later."""
        if isinstance(self.recovery, States):
            self.recovery.ecn = ecn
            self.states = self.recovery
            self.output.ecn = ecn

    def echoed(self, echo: cython.bint) -> cython.int:
        """The ACK that is handled next echoes a mark, or not (ECE)."""
        if self.states is not None:
            self.states.echoed(echo)
        return 0

    def open_window(self, window: cython.longlong) -> cython.int:
        """The peer's SYN offers `window` bytes."""
        return self._offered(self.seq.open_window(window))

    def measured(self, rtt_us: int) -> None:
        """The handshake has measured the round-trip time (`tcp_synack_rtt_meas`)."""
        if self.timer.rtt.fine:
            self.timer.measured(rtt_us, rtt_us)

    def check_application(self) -> cython.int:
        """`tcp_rate_check_app_limited`, as a send begins: nothing was left to be sent."""
        board: Scoreboard = self.board
        if (
            self.congestion.controls
            and self.seq.write_seq - self.seq.snd_nxt < self.seq.mss
            and self.output.small_queue.wmem_alloc == 0
            and board.in_flight() < self.congestion.cwnd
            and board.lost_out <= board.retrans_out
        ):
            self.congestion.rate.limit_by_application(board.in_flight())
        return 0

    def packets_out(self) -> cython.longlong:
        """Segments sent and not acknowledged."""
        return self.board.tail - self.board.head

    def write_space(self) -> cython.bint:
        """Whether a waiting writer is woken; the send buffer grows with the window."""
        cwnd: cython.longlong = self.congestion.cwnd
        factor: cython.longlong = self.congestion.sndbuf_factor
        if self.board.tail - self.board.head < cwnd:
            return self.seq.write_space(factor * max(cwnd, self.board.reordering + 1))
        return self.seq.write_space(0)

    # -- acknowledgement ------------------------------------------------------------------

    def update_pacing(self) -> cython.int:
        """An ACK has been handled: what bounds the queue below TCP follows the window."""
        cwnd: cython.longlong = self.congestion.cwnd
        if self.congestion.controls:
            return self.output.small_queue.set_rate(
                self.congestion.pacing_rate, self.congestion.min_tso_segments()
            )
        return self.output.small_queue.update_pacing(
            self.seq.mss,
            max(cwnd, self.board.tail - self.board.head),
            self.timer.rtt.srtt,
            cwnd < self.congestion.ssthresh // 2,
        )

    def _offered(self, resized: cython.bint) -> cython.int:
        """The peer has announced its window; the MSS may have changed with it."""
        if resized:
            self.congestion.resize(self.seq.mss)
        return 0

    def acknowledge(
        self,
        ack: cython.longlong,
        window: cython.longlong,
        now_jiffy: cython.longlong,
        blocks: list[Any] | None = None,
        echo: cython.longlong = -1,
        with_data: cython.bint = False,  # noqa: FBT002 - a cdef function has no keywords
    ) -> cython.longlong:
        """`tcp_ack`: return how many segments it acknowledged; `stage` sends what it lets go.

        Args:
            ack: of the segment.
            window: of the segment, bytes.
            now_jiffy: jiffies.
            blocks: its SACK option: (first byte, last plus one), D-SACK first.
            echo: its TSecr, the jiffy in which what it answers was sent; -1 without timestamps.
            with_data: the segment carries data, too, so it is no duplicate ACK.
        """
        prior_una: cython.longlong = self.seq.snd_una
        news: cython.bint = with_data or window > self.seq.snd_wnd
        flight: cython.longlong
        acked: cython.longlong
        tagged: cython.bint
        sacked: cython.bint = False
        if ack < prior_una or ack > self.seq.snd_nxt:
            if blocks is not None and ack < prior_una and self.board.tail > self.board.head:
                self._overtaken(blocks, ack, now_jiffy, echo)
            return 0
        self._offered(self.seq.acknowledge(ack, window))
        if self.sacks is not None:
            return self._acknowledge_with_sack(prior_una, now_jiffy, blocks, echo, news)
        if blocks is not None:
            sacked = self._tag(blocks, ack, prior_una)
        if self.board.head == self.board.tail:
            # tcp_ack_probe: if the window is still closed, the next probe waits its full time
            self.timer.stop()
            return 0
        flight = self.board.in_flight()
        tagged = self.board.tagged
        acked = self.board.clean(ack, now_jiffy)
        if tagged and self.counted is not None:
            self.counted.tags.acknowledged(acked)
        if acked > 0:
            self._timed(acked, now_jiffy, echo)
        if (
            acked > 0
            and not sacked
            and self.recovery.state == OPEN
            and self.recovery.frto == 0
            and self.states is None
        ):
            if self.congestion.abc > 0:
                self.congestion.count_bytes(ack - prior_una)
            if self.validation.limited(flight):
                self.congestion.avoid(ack, self.seq.snd_nxt, now_jiffy, acked)
            return acked
        self.recovery.see(prior_una, echo, now_jiffy)
        self._dubious(flight, acked, blocks, sacked, news)
        return acked

    def _tag(
        self, blocks: list[Any], ack: cython.longlong, prior_una: cython.longlong
    ) -> cython.bint:
        """Have the blocks of an ACK tag segments, if SACK is on."""
        if not self.board.sack:
            return False
        return self.counted.tags.tag_blocks(
            blocks,
            ack,
            prior_una,
            self.recovery.state == RECOVERY,
            self.recovery.state == LOSS,
        )

    def _overtaken(
        self,
        blocks: list[Any],
        ack: cython.longlong,
        now_jiffy: cython.longlong,
        echo: cython.longlong,
    ) -> cython.int:
        """Of an ACK that comes late, as a later one has overtaken it, the blocks count."""
        if self.sacks is None:
            self._tag(blocks, ack, self.seq.snd_una)
            return 0
        self.sacks.see(self.seq.snd_una, echo, now_jiffy)
        return self.sacks.overtaken(blocks, ack)

    def _acknowledge_with_sack(
        self,
        prior_una: cython.longlong,
        now_jiffy: cython.longlong,
        blocks: list[Any] | None,
        echo: cython.longlong,
        news: cython.bint,
    ) -> cython.longlong:
        """The rest of `tcp_ack` in 4.18 and later."""
        sacks: SackRecovery = self.sacks
        flight: cython.longlong = self.board.in_flight()
        acked: cython.longlong
        sacks.see(prior_una, echo, now_jiffy)
        if self.congestion.controls:
            self.congestion.rate.edt_us = self.output.small_queue.ahead_us(self.timer.now_us)
        acked = sacks.acknowledge(blocks, news)
        if sacks.raises and self.validation.limited(flight):
            self.congestion.avoid(
                self.seq.snd_una, self.seq.snd_nxt, now_jiffy, sacks.tags.delivered
            )
        return acked

    def _timed(
        self, acked: cython.longlong, now_jiffy: cython.longlong, echo: cython.longlong
    ) -> cython.int:
        """`tcp_ack_update_rtt` and `tcp_ack_packets_out`, for an ACK that took segments off."""
        rtt: cython.longlong = NONE
        rtt_us: cython.longlong = NONE
        if self.timer.wants_us and not self.board.retrans_acked:
            rtt_us = self.timer.now_us - self.board.acked_sent_us
        if self.timer.rtt.fine:
            # timestamps count only for what has been sent again
            if not self.board.retrans_acked:
                rtt = self.timer.now_us - self.board.sent_us_of(self.board.head - acked)
            elif echo != NONE:
                rtt = self.timer.rtt.of_echo(echo, self.timer.now_us)
        elif echo != NONE:
            rtt = max(now_jiffy - echo, 1)
        elif self.board.rtt_jiffies != NONE and not self.board.retrans_acked:
            rtt = max(self.board.rtt_jiffies, 1)
        if rtt != NONE:
            self.timer.measured(rtt, rtt)
        if self.board.head == self.board.tail:
            self.timer.stop()
        else:
            self.timer.start(now_jiffy)
        self.congestion.segments_acked(
            acked, rtt_us, now_jiffy, self.timer.now_us, self.recovery.state == OPEN
        )
        return 0

    def _dubious(
        self,
        flight: cython.longlong,
        acked: cython.longlong,
        blocks: list[Any] | None,
        sacked: cython.bint,
        news: cython.bint,
    ) -> cython.int:
        """What `tcp_ack` does with ACKs that are not just the next one, after `Recovery.see`."""
        recovery: Recovery = self.recovery
        advance: cython.longlong = self.seq.snd_una - recovery.prior_una
        duplicate: cython.bint = acked == 0 and not news and advance == 0
        may_send: cython.bint = self.output.may_send_now()
        if self.congestion.abc > 0 and recovery.state == LOSS:
            self.congestion.count_bytes(min(advance, self.seq.mss))
        elif self.congestion.abc > 0 and recovery.may_raise():
            self.congestion.count_bytes(advance)
        if self.newreno is not None:
            if self.newreno.alert(duplicate, acked) and acked > 0:
                self._grow(flight, recovery.delivered)
            return 0
        if self.counted.may_grow(
            duplicate, acked, self.counted.tags.newly_sacked if sacked else 0, blocks, may_send
        ):
            self._grow(flight, acked)
        # tcp_ack_is_dubious
        if duplicate or sacked or recovery.state != OPEN:
            self.counted.alert(duplicate, sacked, acked, may_send)
        return 0

    def _grow(self, flight: cython.longlong, acked: cython.longlong) -> cython.int:
        """The window may grow if it was in full use while `flight` segments were on their way."""
        if self.validation.limited(flight):
            self.congestion.avoid(
                self.seq.snd_una, self.seq.snd_nxt, self.recovery.now_jiffy, acked
            )
        return 0

    # -- timer ----------------------------------------------------------------------------

    def awaits_window(self, now_jiffy: cython.longlong) -> cython.bint:
        """`tcp_check_probe_timer`: data to send and none outstanding; then the timer is set."""
        if self.seq.write_seq == self.seq.snd_nxt or self.board.head != self.board.tail:
            return False
        self.timer.await_window(now_jiffy)
        return True

    def timer_due(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Jiffy for which the timer is to be set, no earlier than now; -1 if for none.

        It is in the past if copying and sending took longer than the timeout.
        """
        if self.timer.rto_jiffy == NONE and not self.awaits_window(now_jiffy):
            return NONE
        return max(self.timer.rto_jiffy, now_jiffy)

    def timer_expired(self, now_jiffy: cython.longlong) -> cython.bint:
        """`tcp_retransmit_timer`; return whether anything is to be sent.

        With nothing outstanding it is `tcp_probe_timer`.
        """
        if self.timer.pending != 0:
            if self.timer.expire() or self.sacks.reordering_timeout():
                return True
            self.timer.handled(now_jiffy)
            return False
        if self.board.head == self.board.tail:
            return self.timer.probe_window(self.seq.write_seq > self.seq.snd_nxt)
        self.timeouts += 1
        self.output.timed_out()
        self.recovery.timeout()
        self.timer.time_out(now_jiffy)
        return True


def sent_again(senders: list[Any]) -> tuple[int, int]:
    """Segments that these have sent again, and how often their timers have expired, in all."""
    retransmissions: cython.longlong = 0
    timeouts: cython.longlong = 0
    sender: TcpSender
    for sender in senders:
        retransmissions += sender.output.retransmissions
        timeouts += sender.timeouts
    return retransmissions, timeouts
