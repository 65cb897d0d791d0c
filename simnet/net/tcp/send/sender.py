"""TCP sender of Linux: send buffer, Nagle, TSO deferral, what is sent and what is sent again.

Sources: net/ipv4/tcp.c (`tcp_sendmsg`, `forced_push`), tcp_output.c (`tcp_write_xmit`,
`tcp_nagle_check` with Minshall's rule, `tcp_tso_should_defer`, `tcp_xmit_retransmit_queue`,
`tcp_send_loss_probe`), tcp_input.c (`tcp_ack`, `tcp_new_space`), tcp_timer.c. What every ACK and
segment needs is here; below it are `tcp_send_acks`, `tcp_send_window` and `tcp_send_timer`, and
what is lost and what that does to the window is in `tcp_scoreboard` and `tcp_recovery`.
Times are jiffies of the sending host, lengths bytes; sequence numbers do not wrap.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.net.link.skb import Endpoint, Skb, SkbQueue, new_skb
from simnet.net.tcp.recovery.scoreboard import Scoreboard
from simnet.net.tcp.send.acks import SendAcks

__all__ = ["TcpSender"]

_NONE = cython.declare(cython.longlong, -1)
_TSO_BYTES = cython.declare(cython.longlong, 65536)
_RETRIES2 = cython.declare(cython.int, 15)
_MIN_WIRE_BYTES = cython.declare(cython.int, 84)
_MAX_BURST = cython.declare(cython.longlong, 3)
_MS_US = cython.declare(cython.longlong, 1000)
_OPEN = cython.declare(cython.int, 0)
# what the timer is set for: the retransmission timeout or a window probe, or
_PROBE = cython.declare(cython.int, 1)
_REORDERING = cython.declare(cython.int, 2)


@cython.final
@cython.no_gc
@cython.cclass
class TcpSender(SendAcks):
    """Sending half of a connection; for its arguments and attributes see `SendState`."""

    @cython.ccall
    @cython.exceptval(-1)
    def packets_out(self) -> cython.longlong:
        """Segments sent and not acknowledged."""
        return self.board.tail - self.board.head

    # -- send buffer ----------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def wmem_queued(self) -> cython.longlong:
        """Send-buffer memory in use."""
        queued: cython.longlong = self.write_seq - self.snd_una
        return (queued + self.mss - 1) // self.mss * self.segment_truesize

    @cython.ccall
    @cython.exceptval(-1)
    def room(self) -> cython.longlong:
        """Bytes that `tcp_sendmsg` takes now before it has to wait for memory."""
        queued: cython.longlong = self.wmem_queued()
        tail: cython.longlong = (self.write_seq - self.snd_una) % self.mss
        room: cython.longlong = 0
        if self.write_seq > self.snd_nxt and tail > 0:
            room = self.mss - tail
        if queued < self.sndbuf:
            segments: cython.longlong = (
                self.sndbuf - queued + self.segment_truesize - 1
            ) // self.segment_truesize
            room += segments * self.mss
        self.no_space = room == 0
        return room

    @cython.ccall
    @cython.exceptval(-1)
    def write_space(self) -> cython.bint:
        """`sk_stream_write_space`: whether a waiting writer is woken (a third is free)."""
        queued: cython.longlong = self.wmem_queued()
        grown: cython.longlong
        window: cython.longlong = self.congestion.cwnd
        if self.packets_out() < window:
            # tcp_new_space
            if window < self.board.reordering + 1:
                window = self.board.reordering + 1
            grown = 2 * window * self.segment_truesize
            if grown > self.wmem_max:
                grown = self.wmem_max
            if grown > self.sndbuf:
                self.sndbuf = grown
        if self.sndbuf - queued < queued >> 1:
            return False
        self.no_space = False
        return True

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def write(self, count: cython.longlong, end_of_send: cython.bint) -> cython.int:
        """The application's bytes have been copied into the send queue."""
        self.write_seq += count
        if end_of_send or self.write_seq - self.pushed_seq > self.max_window >> 1:
            self.pushed_seq = self.write_seq
        return 0

    # -- transmission ---------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def next_segment(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Payload of the next segment that may be sent now for the first time; 0 if none may."""
        length: cython.longlong = self.write_seq - self.snd_nxt
        window: cython.longlong = self.snd_una + self.snd_wnd - self.snd_nxt
        free: cython.longlong = 0
        if length > 0:
            free = self.congestion.cwnd - self.board.in_flight()
        if free <= 0:
            return 0
        if length > self.mss:
            length = self.mss
        if length > window:
            if not self.probing or window <= 0:
                return 0
            # tcp_write_wakeup: as much as the window takes
            self.probing = False
            self.pushed_seq = self.snd_nxt + window
            return window
        if length < self.mss:
            if length < self.nagle_limit and self.holds_back():
                if not self.probing:
                    return 0
                self.probing = False
        elif self.tso:
            if self.burst_left > 0:
                self.burst_left -= 1
            elif self._defers(free, window, now_jiffy):
                return 0
        return length

    @cython.ccall
    @cython.exceptval(-1)
    def holds_back(self) -> cython.bint:
        """`tcp_nagle_check`: a small segment waits for more data, or for a small one's ACK."""
        if self.cork:
            return True
        return (
            not self.nodelay
            and self.board.tail > self.board.head
            and (self.small_end > self.snd_una or not self.minshall)
        )

    @cython.cfunc
    @cython.exceptval(-1)
    def _defers(
        self, free: cython.longlong, window: cython.longlong, now_jiffy: cython.longlong
    ) -> cython.bint:
        """`tcp_tso_should_defer`, once for a frame that the NIC will cut into segments."""
        chunk: cython.longlong
        segments: cython.longlong = free
        free *= self.mss
        self.deferred_limited = free <= window
        if window < free:
            free = window
        if (
            self.recovery.state == _OPEN
            and free < _TSO_BYTES
            and self.board.tail > self.board.head
            and not (self.defers_briefly and self._acks_late())
            and not (
                self.defers_two_ticks
                and self.deferred_jiffy != _NONE
                and now_jiffy - self.deferred_jiffy > 1
            )
        ):
            if self.tso_win_divisor > 0:
                chunk = self.congestion.cwnd * self.mss
                if self.snd_wnd < chunk:
                    chunk = self.snd_wnd
                if free < chunk // self.tso_win_divisor:
                    if self.deferred_jiffy == _NONE:
                        self.deferred_jiffy = now_jiffy
                    return True
            elif self.write_seq - self.snd_nxt > free and segments <= _MAX_BURST:
                return True
        self.deferred_jiffy = _NONE
        if self.write_seq - self.snd_nxt < free:
            free = self.write_seq - self.snd_nxt
        if free > _TSO_BYTES:
            free = _TSO_BYTES
        self.burst_left = free // self.mss - 1
        return False

    @cython.cfunc
    @cython.exceptval(-1)
    def _acks_late(self) -> cython.bint:
        """Nothing was sent in the last millisecond, or the next ACK is far away."""
        age_us: cython.longlong = self.now_us - self.board.sent_us_of(self.board.head)
        return self.now_us - self.last_sent_us > _MS_US or age_us < self.rtt.srtt_us >> 4

    @cython.ccall
    @cython.exceptval(-1)
    def may_send_now(self) -> cython.bint:
        """Whether Nagle and the peer's window let new data go (`tcp_may_send_now` but for cwnd)."""
        length: cython.longlong = self.write_seq - self.snd_nxt
        if length <= 0:
            return False
        if length > self.mss:
            length = self.mss
        if length > self.snd_una + self.snd_wnd - self.snd_nxt:
            return False
        return length == self.mss or length >= self.nagle_limit or not self.holds_back()

    @cython.ccall
    @cython.exceptval(-1)
    def last_pushed(self) -> cython.bint:
        """Whether the segment just sent carries PSH."""
        return self.snd_nxt in (self.pushed_seq, self.write_seq)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def sent(self, length: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """A segment of `length` bytes at `snd_nxt` has been given to the NIC."""
        board: Scoreboard = self.board
        out: cython.longlong = board.tail - board.head
        if out == 0:
            if self.restarts and now_jiffy - self.last_sent_jiffy > self.rto and self.segments > 0:
                self._restart(now_jiffy)
            # if the timer was set, then for a window probe
            self.rto_jiffy = now_jiffy + self.rto
            self.backoff = 0
            self.probing = False
        self.snd_nxt += length
        board.append(self.snd_nxt, now_jiffy, self.now_us)
        self.segments += 1
        self.last_sent_jiffy = now_jiffy
        if length < self.mss:
            self.small_end = self.snd_nxt
        if self.recovery.state != _OPEN:
            self.recovery.prr_out += 1
        # tcp_cwnd_validate
        out += 1
        if out >= self.congestion.cwnd:
            self.cwnd_used = 0
            self.cwnd_jiffy = now_jiffy
        else:
            if out > self.cwnd_used:
                self.cwnd_used = out
            if now_jiffy - self.cwnd_jiffy >= self.rto:
                self._application_limited(now_jiffy)
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def stage(
        self,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """`tcp_write_xmit`: append the segments that may go now to `queue`, for `remote`.

        `cpu` makes them (None where CPUs are not told apart); `overhead_bytes` is what a segment
        takes on the wire beyond its payload. Returns how many frames the stack handles: with TSO
        one of them is cut into several segments by the NIC.
        """
        frames: cython.longlong = 0
        large: cython.int
        length: cython.longlong
        prior_nxt: cython.longlong = self.snd_nxt
        alone: cython.bint = self.board.head == self.board.tail
        if self.recovery.retransmitting or self.force_head:
            frames = self._stage_again(queue, remote, overhead_bytes, cpu, now_jiffy)
        while True:
            large = self.burst_left
            self.deferred_limited = False
            length = self.next_segment(now_jiffy)
            if length == 0:
                if self.limited_when_sent:
                    self._note_limit(prior_nxt)
                if self.sacks is not None:
                    frames += self._sent_with_sack(
                        prior_nxt, alone, queue, remote, overhead_bytes, cpu, now_jiffy
                    )
                return frames
            self.sent(length, now_jiffy)
            self._append(
                queue,
                remote,
                overhead_bytes,
                cpu,
                self.snd_nxt - length,
                self.snd_nxt,
                self.last_pushed(),
                now_jiffy,
            )
            if large == 0:
                frames += 1

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _append(
        self,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        seq: cython.longlong,
        end_seq: cython.longlong,
        push: cython.bint,
        now_jiffy: cython.longlong,
    ) -> cython.int:
        skb: Skb
        size: cython.longlong = overhead_bytes + end_seq - seq
        if size < _MIN_WIRE_BYTES:
            size = _MIN_WIRE_BYTES
        skb = new_skb(remote, seq, end_seq, 0, 0, size, push)
        skb.toucher = cpu
        if self.rtt is not None:
            self.last_sent_us = self.now_us
            if self.timestamps:
                skb.tsval = self.now_us // 1000
        elif self.timestamps:
            skb.tsval = now_jiffy
        queue.append(skb)
        return 0

    # -- what is sent again ---------------------------------------------------------------

    @cython.cfunc
    @cython.exceptval(-1)
    def _stage_again(
        self,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """`tcp_xmit_retransmit_queue`."""
        board: Scoreboard = self.board
        frames: cython.longlong = 0
        number: cython.longlong
        start: cython.longlong
        if self.expired == _PROBE:
            return self._stage_loss_probe(queue, remote, overhead_bytes, cpu, now_jiffy)
        self.recovery.retransmitting = False
        while board.tail > board.head:
            if self.force_head:
                self.force_head = False
                number = board.head
            else:
                number = self.recovery.next_retransmission(self.may_send_now())
            if number == _NONE:
                break
            start = self._start_of(number)
            if start >= self.snd_una + self.snd_wnd and start != self.snd_una:
                # the peer has taken its window back
                break
            self._append(
                queue, remote, overhead_bytes, cpu, start, board.end_of(number), False, now_jiffy
            )
            frames += 1
            self.retransmissions += 1
            if self.rtt is not None:
                self._stamp(number)
            self.recovery.resent(number, self.snd_nxt, now_jiffy)
            if number == board.head and self.pending != _REORDERING:
                self.rto_jiffy = now_jiffy + self.rto
                self.pending = 0
        self.force_head = False
        if self.pending == _REORDERING and self.expired == _REORDERING:
            self._rearm(now_jiffy)
        self.expired = 0
        return frames

    @cython.cfunc
    @cython.exceptval(-1)
    def _start_of(self, number: cython.longlong) -> cython.longlong:
        """First byte of a segment that is to be sent again."""
        return self.snd_una if number == self.board.head else self.board.end_of(number - 1)

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _stamp(self, number: cython.longlong) -> cython.int:
        """Note in microseconds, and for timestamps, when a segment is sent again."""
        if self.sacks is not None:
            self.sacks.resent(number, self.now_us)
        elif self.recovery.retrans_stamp == _NONE:
            self.recovery.retrans_stamp = self.now_us // 1000
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _sent_with_sack(
        self,
        prior_nxt: cython.longlong,
        alone: cython.bint,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """What `tcp_write_xmit` does last; return how many frames were sent again."""
        if self.sacks.new_first and self.snd_nxt == prior_nxt:
            self.sacks.nothing_new()
            return self._stage_again(queue, remote, overhead_bytes, cpu, now_jiffy)
        if self.snd_nxt != prior_nxt:
            self._set_timer_sent(alone, now_jiffy)
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _stage_loss_probe(
        self,
        queue: SkbQueue,
        remote: Endpoint,
        overhead_bytes: cython.int,
        cpu: Cpu,
        now_jiffy: cython.longlong,
    ) -> cython.longlong:
        """`tcp_send_loss_probe`: a new segment whatever the window, or the last one again."""
        length: cython.longlong = min(self.write_seq - self.snd_nxt, self.mss)
        last: cython.longlong = self.board.tail - 1
        fresh: cython.bint = 0 < length <= self.snd_una + self.snd_wnd - self.snd_nxt
        start: cython.longlong = self.snd_nxt
        self.expired = 0
        self.force_head = False
        if self.sacks.tags.probe_end != _NONE or self.board.head == self.board.tail:
            self._rearm(now_jiffy)
            return 0
        if fresh:
            self.sent(length, now_jiffy)
        else:
            start = self._start_of(last)
            self.retransmissions += 1
            self.sacks.probed(last, now_jiffy, self.now_us)
        self.sacks.probe.begin(self.snd_nxt, not fresh)
        self._append(
            queue, remote, overhead_bytes, cpu, start, self.snd_nxt, self.last_pushed(), now_jiffy
        )
        self.pending = 0
        self._rearm(now_jiffy)
        return 1

    @cython.ccall
    @cython.exceptval(-1)
    def stage_probe(
        self, queue: SkbQueue, remote: Endpoint, overhead_bytes: cython.int, cpu: Cpu
    ) -> cython.bint:
        """`tcp_xmit_probe_skb` if `probing`: old data, whose answer tells the window."""
        if not self.probing:
            return False
        self.probing = False
        self._append(
            queue, remote, overhead_bytes, cpu, self.snd_una - 1, self.snd_una, False, _NONE
        )
        return True

    # -- acknowledgement ------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def acknowledge(  # noqa: C901 - the kernel's order
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
        board: Scoreboard = self.board
        prior_una: cython.longlong = self.snd_una
        before: cython.longlong = board.tail - board.head
        update: cython.bint = window > self.snd_wnd
        flight: cython.longlong
        acked: cython.longlong
        sacked: cython.bint = False
        if ack < prior_una or ack > self.snd_nxt:
            # overtaken by a later one
            if blocks is not None and ack < prior_una and before > 0:
                self._overtaken(blocks, ack, now_jiffy, echo)
            return 0
        # tcp_may_update_window
        if ack > prior_una or update:
            self.snd_wnd = window
            if window > self.max_window:
                self.max_window = window
                self._sync_mss()
        self.snd_una = ack
        if self.sacks is not None:
            return self._acknowledge_with_sack(
                prior_una, before, now_jiffy, blocks, echo, update or with_data
            )
        if before == 0:
            if blocks is not None:
                self._tag(blocks, ack, prior_una)
            # tcp_ack_probe: if the window is still closed, the next probe waits its full time
            self.rto_jiffy = _NONE
            return 0
        if blocks is not None:
            sacked = self._tag(blocks, ack, prior_una)
        flight = board.in_flight()
        acked = board.clean(ack, now_jiffy)
        if acked > 0:
            self._timed(acked, now_jiffy, echo)
        if (
            acked > 0
            and not sacked
            and self.recovery.state == _OPEN
            and self.recovery.frto == 0
            and not (self.newreno is not None and self.newreno.echo)
        ):
            if self.congestion.abc > 0:
                self.congestion.bytes_acked += ack - prior_una
            if self._limited(flight):
                self.congestion.avoid(ack, self.snd_nxt, now_jiffy, acked)
            return acked
        self._dubious(
            prior_una,
            flight,
            acked,
            now_jiffy,
            blocks,
            echo,
            sacked,
            update or with_data,
            self.may_send_now(),
        )
        return acked

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _timed(
        self, acked: cython.longlong, now_jiffy: cython.longlong, echo: cython.longlong
    ) -> cython.int:
        """`tcp_ack_update_rtt` and `tcp_ack_packets_out`, for an ACK that took segments off."""
        board: Scoreboard = self.board
        rtt_us: cython.longlong = _NONE
        if self.congestion.wants_us and not board.retrans_acked:
            rtt_us = self.now_us - board.acked_sent_us
        if self.rtt is not None:
            self._sample_us(acked, echo)
        elif echo != _NONE:
            self._rtt_sample(now_jiffy - echo)
        elif board.rtt_jiffies != _NONE and not board.retrans_acked:
            self._rtt_sample(board.rtt_jiffies)
        if board.head == board.tail:
            self.rto_jiffy = _NONE
        else:
            self.rto_jiffy = now_jiffy + self.rto
        self.congestion.segments_acked(
            acked, rtt_us, now_jiffy, self.now_us, self.recovery.state == _OPEN
        )
        return 0

    # -- timer ----------------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def awaits_window(self, now_jiffy: cython.longlong) -> cython.bint:
        """`tcp_check_probe_timer`: data to send and none outstanding; then the timer is set."""
        interval: cython.longlong
        if self.write_seq == self.snd_nxt or self.board.head != self.board.tail:
            return False
        if self.rto_jiffy == _NONE:
            interval = self.rto << self.backoff
            self.rto_jiffy = now_jiffy + (interval if interval < self.rto_max else self.rto_max)
        return True

    @cython.ccall
    @cython.exceptval(-1)
    def timer_due(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Jiffy for which the timer is to be set, no earlier than now; -1 if for none.

        It is in the past if copying and sending took longer than the timeout.
        """
        if self.rto_jiffy == _NONE and not self.awaits_window(now_jiffy):
            return _NONE
        return self.rto_jiffy if self.rto_jiffy >= now_jiffy else now_jiffy

    @cython.ccall
    @cython.exceptval(-1)
    def overdue(self, now_jiffy: cython.longlong) -> cython.bint:
        """Whether the timer, if it runs now, has expired: ACKs put it off without moving it."""
        return self.rto_jiffy != _NONE and self.rto_jiffy < now_jiffy

    @cython.ccall
    @cython.exceptval(-1)
    def timer_expired(self, now_jiffy: cython.longlong) -> cython.bint:
        """`tcp_retransmit_timer`; return whether anything is to be sent.

        With nothing outstanding it is `tcp_probe_timer`: `probing` asks for a window probe.
        """
        if self.pending != 0:
            return self._early_timer(now_jiffy)
        if self.board.head == self.board.tail:
            self.rto_jiffy = _NONE
            self.probing = self.write_seq > self.snd_nxt
            if self.probing and self.backoff < _RETRIES2:
                self.backoff += 1
            return self.probing
        self.timeouts += 1
        self.burst_left = 0
        if self.sacks is not None:
            self._tell_recovery()
            self.sacks.timeout(self.now_us)
        else:
            self.recovery.timeout(self.snd_una, self.snd_nxt)
        self.force_head = True
        self.backoff += 1
        self.rto <<= 1
        if self.rto > self.rto_max:
            self.rto = self.rto_max
        self.rto_jiffy = now_jiffy + self.rto
        return True
