"""TCP sender: window, Nagle, TSO deferral, send buffer, loss recovery (Linux 2.6).

Sources: net/ipv4/tcp.c (`tcp_sendmsg`, `forced_push`), tcp_output.c (`tcp_write_xmit`,
`tcp_nagle_check` with Minshall's rule, `tcp_tso_should_defer`), tcp_input.c (`tcp_ack`,
`tcp_new_space`), tcp_timer.c of 2.6.18; RFC 6582 (NewReno) for recovery: duplicate ACKs
start it, partial ACKs retransmit. What SACK adds is in `tcp_sack`; there is no map of holes.
Times are jiffies of the sending host, lengths bytes; sequence numbers do not wrap.
"""

from __future__ import annotations

from array import array
from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.net.congestion import Congestion
from simnet.net.skb import Endpoint, Skb, SkbQueue, new_skb
from simnet.net.tcp_sack import SackScore

__all__ = ["TcpSender"]

_NONE = cython.declare(cython.longlong, -1)
_TSO_BYTES = cython.declare(cython.longlong, 65536)
_RETRIES2 = cython.declare(cython.int, 15)
_MIN_WIRE_BYTES = cython.declare(cython.int, 84)


@cython.final
@cython.cclass
class TcpSender:
    """Sending half of a connection.

    Args:
        mss: payload of a full segment.
        congestion: algorithm with its initial window.
        wmem_default, wmem_max: tcp_wmem[1] and [2].
        segment_truesize: send-buffer memory of one full segment.
        jiffy_ps: length of a jiffy.
        rto_min_ps, rto_init_ps, rto_max_ps: bounds of the retransmission timeout.
        tso: the NIC segments.
        tso_win_divisor: tcp_tso_win_divisor.
        reordering: tcp_reordering, the duplicate-ACK threshold.
    """

    snd_una: cython.longlong
    snd_nxt: cython.longlong
    write_seq: cython.longlong
    snd_wnd: cython.longlong
    max_window: cython.longlong
    sndbuf: cython.longlong
    mss: cython.longlong
    congestion: Congestion
    reordering: cython.int
    duplicate_acks: cython.int
    recovering: cython.bint
    sack: cython.bint
    score: SackScore
    nodelay: cython.bint
    tso: cython.bint
    recover_seq: cython.longlong
    wmem_max: cython.longlong
    segment_truesize: cython.longlong
    pushed_seq: cython.longlong
    small_end: cython.longlong
    jiffy_ps: cython.longlong
    rto_min: cython.longlong
    rto_max: cython.longlong
    srtt: cython.longlong
    mdev: cython.longlong
    rto: cython.longlong
    backoff: cython.int
    rto_jiffy: cython.longlong
    timed_seq: cython.longlong
    timed_jiffy: cython.longlong
    last_sent_jiffy: cython.longlong
    tso_win_divisor: cython.int
    ends: Any
    ends_mask: cython.longlong
    ends_head: cython.longlong
    ends_tail: cython.longlong
    retransmit_seq: cython.longlong
    burst_left: cython.int
    probing: cython.bint
    retransmissions: cython.longlong
    timeouts: cython.longlong
    segments: cython.longlong

    def __init__(
        self,
        *,
        mss: int,
        congestion: Congestion,
        wmem_default: int,
        wmem_max: int,
        segment_truesize: int,
        jiffy_ps: int,
        rto_min_ps: int,
        rto_init_ps: int,
        rto_max_ps: int,
        tso: bool,
        tso_win_divisor: int,
        reordering: int,
        sack: bool = False,
    ) -> None:
        self.mss = mss
        self.congestion = congestion
        self.sndbuf = wmem_default
        self.wmem_max = wmem_max
        self.segment_truesize = segment_truesize
        self.jiffy_ps = jiffy_ps
        self.rto_min = -(-rto_min_ps // jiffy_ps)
        self.rto_max = -(-rto_max_ps // jiffy_ps)
        self.rto = -(-rto_init_ps // jiffy_ps)
        self.tso = tso
        self.tso_win_divisor = tso_win_divisor
        self.reordering = reordering
        self.sack = sack
        self.score = SackScore(reordering)
        self.nodelay = False
        self.snd_una = 0
        self.snd_nxt = 0
        self.write_seq = 0
        self.snd_wnd = 0
        self.max_window = 0
        self.duplicate_acks = 0
        self.recovering = False
        self.recover_seq = 0
        self.pushed_seq = 0
        self.small_end = 0
        self.srtt = 0
        self.mdev = 0
        self.backoff = 0
        self.rto_jiffy = _NONE
        self.probing = False
        self.timed_seq = _NONE
        self.timed_jiffy = 0
        self.last_sent_jiffy = 0
        self.ends = array("q", [0]) * 256
        self.ends_mask = 255
        self.ends_head = 0
        self.ends_tail = 0
        self.retransmit_seq = _NONE
        self.burst_left = 0
        self.retransmissions = 0
        self.timeouts = 0
        self.segments = 0

    def open_window(self, window: int) -> None:
        """The peer's SYN offers `window` bytes."""
        self.snd_wnd = window
        self.max_window = window

    @cython.ccall
    @cython.exceptval(-1)
    def packets_out(self) -> cython.longlong:
        """Segments sent and not acknowledged."""
        return self.ends_tail - self.ends_head

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
            if window < self.reordering + 1:
                window = self.reordering + 1
            grown = 2 * window * self.segment_truesize
            if grown > self.wmem_max:
                grown = self.wmem_max
            if grown > self.sndbuf:
                self.sndbuf = grown
        return self.sndbuf - queued >= queued >> 1

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
    def next_segment(  # noqa: C901, PLR0912 - each test of tcp_write_xmit
        self, now_jiffy: cython.longlong
    ) -> cython.longlong:
        """Payload of the next segment that may be sent now; 0 if none may."""
        length: cython.longlong = self.write_seq - self.snd_nxt
        window: cython.longlong = self.snd_una + self.snd_wnd - self.snd_nxt
        out: cython.longlong = self.ends_tail - self.ends_head
        free: cython.longlong = self.congestion.cwnd - out
        chunk: cython.longlong
        if self.recovering:
            # duplicate ACKs tell that segments have left the network
            free += self.duplicate_acks
        if length <= 0 or free <= 0:
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
            if not self.nodelay and out > 0 and self.small_end > self.snd_una:
                return 0
        elif self.tso and self.burst_left > 0:
            self.burst_left -= 1
        elif self.tso and not self.recovering:
            # tcp_tso_should_defer, once for a frame that the NIC will cut into segments
            free *= self.mss
            if window < free:
                free = window
            if free < _TSO_BYTES and self.tso_win_divisor > 0 and out > 0:
                chunk = self.congestion.cwnd * self.mss
                if self.snd_wnd < chunk:
                    chunk = self.snd_wnd
                if free < chunk // self.tso_win_divisor:
                    return 0
            if self.write_seq - self.snd_nxt < free:
                free = self.write_seq - self.snd_nxt
            if free > _TSO_BYTES:
                free = _TSO_BYTES
            self.burst_left = free // self.mss - 1
        return length

    @cython.ccall
    @cython.exceptval(-1)
    def last_pushed(self) -> cython.bint:
        """Whether the segment just sent carries PSH."""
        return self.snd_nxt in (self.pushed_seq, self.write_seq)

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def sent(self, length: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """A segment of `length` bytes at `snd_nxt` has been given to the NIC."""
        if self.ends_tail - self.ends_head > self.ends_mask:
            self._grow_ends()
        if self.ends_tail == self.ends_head:
            # if the timer was set, then for a window probe
            self.rto_jiffy = now_jiffy + self.rto
            self.backoff = 0
            self.probing = False
        self.snd_nxt += length
        self.ends[self.ends_tail & self.ends_mask] = self.snd_nxt
        self.ends_tail += 1
        self.segments += 1
        self.last_sent_jiffy = now_jiffy
        if length < self.mss:
            self.small_end = self.snd_nxt
        if self.timed_seq == _NONE:
            self.timed_seq = self.snd_nxt
            self.timed_jiffy = now_jiffy
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def awaits_window(self, now_jiffy: cython.longlong) -> cython.bint:
        """`tcp_check_probe_timer`: data to send and none outstanding; then the timer is set."""
        interval: cython.longlong
        if self.ends_head != self.ends_tail or self.write_seq == self.snd_nxt:
            return False
        if self.rto_jiffy == _NONE:
            interval = self.rto << self.backoff
            self.rto_jiffy = now_jiffy + (interval if interval < self.rto_max else self.rto_max)
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _grow_ends(self) -> cython.int:
        size: cython.longlong = 2 * (self.ends_mask + 1)
        position: cython.longlong = self.ends_head
        larger = array("q", [0]) * size
        while position < self.ends_tail:
            larger[position & (size - 1)] = self.ends[position & self.ends_mask]
            position += 1
        self.ends = larger
        self.ends_mask = size - 1
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
        length: cython.longlong = self.retransmission()
        if length > 0:
            self._append(
                queue, remote, overhead_bytes, cpu, self.snd_una, self.snd_una + length, False
            )
            frames += 1
        while True:
            large = self.burst_left
            length = self.next_segment(now_jiffy)
            if length == 0:
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
            )
            if large == 0:
                frames += 1

    @cython.ccall
    @cython.exceptval(-1)
    def stage_probe(
        self, queue: SkbQueue, remote: Endpoint, overhead_bytes: cython.int, cpu: Cpu
    ) -> cython.bint:
        """`tcp_xmit_probe_skb` if `probing`: old data, whose answer tells the window."""
        if not self.probing:
            return False
        self.probing = False
        self._append(queue, remote, overhead_bytes, cpu, self.snd_una - 1, self.snd_una, False)
        return True

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
    ) -> cython.int:
        skb: Skb
        size: cython.longlong = overhead_bytes + end_seq - seq
        if size < _MIN_WIRE_BYTES:
            size = _MIN_WIRE_BYTES
        skb = new_skb(remote, seq, end_seq, 0, 0, size, push)
        skb.toucher = cpu
        queue.append(skb)
        return 0

    # -- acknowledgement ------------------------------------------------------------------

    @cython.ccall
    @cython.exceptval(-1)
    def acknowledge(  # noqa: C901, PLR0912 - each case of tcp_ack
        self,
        ack: cython.longlong,
        window: cython.longlong,
        now_jiffy: cython.longlong,
        held: cython.int = 0,
    ) -> cython.longlong:
        """`tcp_ack` for a pure ACK; return how many segments it acknowledged.

        `held`: segments beyond `ack` that the receiver's SACK option reports. Afterwards
        `retransmission` tells whether a segment must be sent again.
        """
        before: cython.longlong = self.ends_head
        full: cython.bint = self.ends_tail - self.ends_head >= self.congestion.cwnd
        update: cython.bint = window > self.snd_wnd
        if ack < self.snd_una:
            # overtaken by a later one
            return 0
        # tcp_may_update_window
        if ack > self.snd_una or update:
            self.snd_wnd = window
        if window > self.max_window:
            self.max_window = window
        if ack <= self.snd_una:
            if ack == self.snd_una and not update and self.snd_nxt > self.snd_una:
                self._duplicate(held)
            if self.sack and not self.recovering:
                self._undo()
            if self.ends_head == self.ends_tail:
                # tcp_ack_probe: if the window is still closed, the next probe waits its full time
                self.rto_jiffy = _NONE
            return 0
        self.snd_una = ack
        if self.snd_nxt < ack:
            self.snd_nxt = ack
        while self.ends_head < self.ends_tail and self.ends[self.ends_head & self.ends_mask] <= ack:
            self.ends_head += 1
        if self.timed_seq != _NONE and ack >= self.timed_seq:
            self._rtt_sample(now_jiffy - self.timed_jiffy)
            self.timed_seq = _NONE
        self.backoff = 0
        if self.ends_head == self.ends_tail:
            self.rto_jiffy = _NONE
        else:
            self.rto_jiffy = now_jiffy + self.rto
        if self.recovering:
            if ack >= self.recover_seq:
                self.recovering = False
                self.duplicate_acks = 0
                if not (self.sack and self._undo()):
                    self.congestion.set_cwnd(self.congestion.ssthresh)
            elif self.sack and self.score.may_undo():
                # tcp_try_undo_partial: what was missing was late, and so may be the rest
                self.score.update_reordering(
                    self.score.fackets_out(ack, self.mss) + self.ends_head - before
                )
                self.reordering = self.score.reordering
                self.duplicate_acks = held
                self.congestion.set_cwnd(self.congestion.undo_cwnd())
            else:
                # partial ACK: the next hole
                self.duplicate_acks -= self.ends_head - before - 1
                if self.duplicate_acks < 0:
                    self.duplicate_acks = 0
                if self.sack:
                    self.duplicate_acks = held
                self.retransmit_seq = ack
        else:
            self.duplicate_acks = 0
            if full:
                self.congestion.acked()
            if self.sack:
                self._undo()
        if held == 0:
            self.score.held = 0
        return self.ends_head - before

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def sack_option(
        self,
        ack: cython.longlong,
        held: cython.int,
        highest: cython.longlong,
        recent: cython.longlong,
        dsack: cython.bint,
    ) -> cython.int:
        """Take an ACK's SACK option, before `acknowledge`; see `SackScore.tag`."""
        if self.sack and ack >= self.snd_una:
            self.score.tag(self.snd_una, self.mss, ack, held, highest, recent, dsack)
            self.reordering = self.score.reordering
        return 0

    @cython.cfunc
    @cython.exceptval(-1)
    def _undo(self) -> cython.bint:
        """`tcp_try_undo_recovery` and `tcp_try_undo_dsack`; return whether it was undone."""
        if not self.score.may_undo():
            return False
        self.congestion.undo(
            self.score.prior_ssthresh, self.ends_tail - self.ends_head - self.score.held
        )
        self.score.forget()
        self.score.undone += 1
        return True

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _duplicate(self, held: cython.int) -> cython.int:
        lost: cython.bint
        if self.sack:
            # a second copy of an ACK tells nothing that is not known
            self.duplicate_acks = held
        else:
            self.duplicate_acks += 1
        if self.recovering:
            return 0
        if self.sack:
            # tcp_time_to_recover
            lost = self.score.fackets_out(self.snd_una, self.mss) > self.reordering
        else:
            lost = self.duplicate_acks >= self.reordering
        if lost:
            if self.snd_una < self.recover_seq:
                return 0
            self.score.entered(self.snd_una, self.congestion.ssthresh, self.congestion.cwnd)
            self.recovering = True
            self.recover_seq = self.snd_nxt
            self.timed_seq = _NONE
            self.congestion.loss(self.ends_tail - self.ends_head)
            self.retransmit_seq = self.snd_una
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _rtt_sample(self, rtt: cython.longlong) -> cython.int:
        """`tcp_rtt_estimator` and `tcp_set_rto`; srtt is kept times 8, mdev times 4."""
        error: cython.longlong
        spread: cython.longlong
        if rtt == 0:
            rtt = 1
        if self.srtt != 0:
            error = rtt - (self.srtt >> 3)
            self.srtt += error
            if error < 0:
                error = -error
            self.mdev += error - (self.mdev >> 2)
        else:
            self.srtt = rtt << 3
            self.mdev = rtt << 1
        spread = self.mdev
        if spread < self.rto_min:
            spread = self.rto_min
        self.rto = (self.srtt >> 3) + spread
        if self.rto > self.rto_max:
            self.rto = self.rto_max
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def retransmission(self) -> cython.longlong:
        """Length of the segment at `snd_una` that must be sent again now; 0 if none."""
        end: cython.longlong
        if self.retransmit_seq == _NONE:
            return 0
        self.retransmit_seq = _NONE
        if self.ends_head == self.ends_tail:
            return 0
        end = self.ends[self.ends_head & self.ends_mask]
        self.retransmissions += 1
        self.score.retransmitted()
        return end - self.snd_una

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
        if self.ends_head == self.ends_tail:
            self.rto_jiffy = _NONE
            self.probing = self.write_seq > self.snd_nxt
            if self.probing and self.backoff < _RETRIES2:
                self.backoff += 1
            return self.probing
        self.timeouts += 1
        self.congestion.timeout(self.ends_tail - self.ends_head)
        # everything outstanding counts as lost and is sent again from the start
        self.recovering = False
        self.recover_seq = self.snd_nxt
        self.snd_nxt = self.snd_una
        self.ends_tail = self.ends_head
        self.burst_left = 0
        self.small_end = 0
        self.duplicate_acks = 0
        self.score.reset()
        self.timed_seq = _NONE
        self.backoff += 1
        self.rto <<= 1
        if self.rto > self.rto_max:
            self.rto = self.rto_max
        self.rto_jiffy = now_jiffy + self.rto
        return True
