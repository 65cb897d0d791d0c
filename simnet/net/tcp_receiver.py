"""TCP receiver: delayed ACK, quickack, window and buffer of Linux 2.6.16.

Source: net/ipv4/tcp_input.c (`tcp_event_data_recv`, `tcp_measure_rcv_mss`,
`__tcp_ack_snd_check`, `tcp_rcv_space_adjust`, `tcp_grow_window`), tcp_output.c
(`__tcp_select_window`, `tcp_send_delayed_ack`), tcp_timer.c (`tcp_delack_timer`) and tcp.c
(`cleanup_rbuf`) of 2.6.18. Times are jiffies, as in the kernel; lengths are bytes; sequence
numbers do not wrap.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.net.skb import Skb

__all__ = ["TcpReceiver", "win_from_space"]

_NONE = cython.declare(cython.longlong, -1)


def win_from_space(space: int) -> int:
    """`tcp_win_from_space` with tcp_adv_win_scale 2."""
    return space - (space >> 2)


@cython.final
@cython.cclass
class TcpReceiver:
    """Receiving half of a connection.

    Args:
        advmss: payload of a full segment, timestamps taken off.
        rmem_default, rmem_max: tcp_rmem[1] and [2].
        jiffy_ps: length of a jiffy.
        ato_min_ps: TCP_ATO_MIN / TCP_DELACK_MIN.
        delack_max_ps: TCP_DELACK_MAX.
        rto_ps: retransmission timeout that bounds `ato`.
        max_quickacks: TCP_MAX_QUICKACKS.
        min_rcvmss: TCP_MIN_RCVMSS.
        truesize_overhead: bytes that a full frame's buffer and `sk_buff` take beyond its payload.
        moderate_rcvbuf: tcp_moderate_rcvbuf.
        window_scaling: tcp_window_scaling.
    """

    rcv_nxt: cython.longlong
    rcv_wup: cython.longlong
    copied_seq: cython.longlong
    rcv_wnd: cython.longlong
    rcv_ssthresh: cython.longlong
    window_clamp: cython.longlong
    rcvbuf: cython.longlong
    rmem_alloc: cython.longlong
    rcv_mss: cython.longlong
    rcv_wscale: cython.int
    quick: cython.int
    pingpong: cython.bint
    scheduled: cython.bint
    pushed: cython.bint
    blocked: cython.bint
    ato: cython.longlong
    timeout_jiffy: cython.longlong
    lrcvtime: cython.longlong
    started: cython.bint
    advmss: cython.longlong
    rmem_max: cython.longlong
    jiffy_ps: cython.longlong
    ato_min: cython.longlong
    delack_max: cython.longlong
    rto_jiffies: cython.longlong
    max_quickacks: cython.int
    min_rcvmss: cython.longlong
    last_small: cython.longlong
    moderate_rcvbuf: cython.bint
    rtt: cython.longlong
    rcvq_seq: cython.longlong
    rcvq_time: cython.longlong
    rcvq_space: cython.longlong
    truesize_overhead: cython.longlong
    out_of_order: list[Any]
    recent_seq: cython.longlong
    dsack: cython.bint
    repeated: tuple[int, int]
    segments: cython.longlong
    duplicates: cython.longlong
    out_of_order_segments: cython.longlong

    def __init__(
        self,
        *,
        advmss: int,
        rmem_default: int,
        rmem_max: int,
        jiffy_ps: int,
        ato_min_ps: int,
        delack_max_ps: int,
        rto_ps: int,
        max_quickacks: int,
        min_rcvmss: int,
        truesize_overhead: int,
        moderate_rcvbuf: bool,
        window_scaling: bool,
    ) -> None:
        self.advmss = advmss
        self.rmem_max = rmem_max
        self.jiffy_ps = jiffy_ps
        self.ato_min = -(-ato_min_ps // jiffy_ps)
        self.delack_max = -(-delack_max_ps // jiffy_ps)
        self.rto_jiffies = -(-rto_ps // jiffy_ps)
        self.max_quickacks = max_quickacks
        self.min_rcvmss = min_rcvmss
        self.truesize_overhead = truesize_overhead
        self.moderate_rcvbuf = moderate_rcvbuf
        self.rcv_nxt = 0
        self.rcv_wup = 0
        self.copied_seq = 0
        self.rcvbuf = rmem_default
        self.rmem_alloc = 0
        self.rcv_mss = min(advmss, min_rcvmss)
        self.window_clamp = win_from_space(rmem_default)
        self.rcv_wscale = 0
        if window_scaling:
            space = rmem_max
            while space > 65535 and self.rcv_wscale < 14:  # noqa: PLR2004 - RFC 1323's limits
                space >>= 1
                self.rcv_wscale += 1
        # RFC 3390 style limit of the first offer: tcp_select_initial_window
        segments = 4 if advmss <= 1460 else 3 if advmss <= 3 * 1460 else 2  # noqa: PLR2004
        self.rcv_wnd = min(self.window_clamp, segments * advmss)
        self.rcv_ssthresh = self.rcv_wnd
        self.quick = 0
        self.pingpong = False
        self.scheduled = False
        self.pushed = False
        self.blocked = False
        self.ato = 0
        self.timeout_jiffy = _NONE
        self.lrcvtime = 0
        self.started = False
        self.last_small = 0
        self.rtt = 8
        self.rcvq_seq = 0
        self.rcvq_time = _NONE
        self.rcvq_space = 0
        self.out_of_order = []
        self.recent_seq = 0
        self.dsack = False
        self.repeated = (0, 0)
        self.segments = 0
        self.duplicates = 0
        self.out_of_order_segments = 0

    @cython.ccall
    @cython.exceptval(-1)
    def truesize(self, length: cython.longlong) -> cython.longlong:
        """Memory that a segment of `length` bytes, or several merged ones, is charged for."""
        parts: cython.longlong = (length + self.advmss - 1) // self.advmss
        return parts * (self.advmss + self.truesize_overhead)

    @cython.cfunc
    @cython.exceptval(-1)
    def _space(self) -> cython.longlong:
        space: cython.longlong = self.rcvbuf - self.rmem_alloc
        if space <= 0:
            return 0
        return space - (space >> 2)

    @cython.ccall
    @cython.exceptval(-1)
    def select_window(self) -> cython.longlong:
        """`__tcp_select_window`: the window that an ACK sent now would offer, in bytes."""
        mss: cython.longlong = self.rcv_mss
        free: cython.longlong = self._space()
        full: cython.longlong = self.rcvbuf - (self.rcvbuf >> 2)
        window: cython.longlong
        if self.window_clamp < full:
            full = self.window_clamp
        if mss > full:
            mss = full
        if free < full >> 1:
            self.quick = 0
            if free < mss:
                return 0
        if free > self.rcv_ssthresh:
            free = self.rcv_ssthresh
        if self.rcv_wscale > 0:
            window = (free >> self.rcv_wscale) << self.rcv_wscale
            if window != free:
                window += 1 << self.rcv_wscale
            return window
        window = self.rcv_wnd
        if window <= free - mss or window > free:
            window = free // mss * mss
        return window

    @cython.ccall
    @cython.exceptval(-1)
    def segment(
        self,
        seq: cython.longlong,
        end_seq: cython.longlong,
        push: cython.bint,
        direct: cython.bint,
        now_jiffy: cython.longlong,
    ) -> cython.bint:
        """Take a data segment; return whether an ACK must be sent now.

        `direct`: the payload goes straight to the reader's buffer (it has room for it).
        """
        length: cython.longlong
        self.segments += 1
        if end_seq <= self.rcv_nxt:
            # old data: tcp_data_queue enters quickack and acknowledges at once
            self.duplicates += 1
            self.dsack = True
            self.repeated = (seq, end_seq)
            self._add_quickacks()
            self.scheduled = True
            return True
        if seq > self.rcv_nxt:
            self.out_of_order_segments += 1
            self._insert(seq, end_seq)
            self._event_data(end_seq - seq, push, now_jiffy)
            return True
        length = end_seq - self.rcv_nxt
        self.rcv_nxt = end_seq
        if direct:
            self.copied_seq = end_seq
        else:
            self.rmem_alloc += self.truesize(length)
        self._event_data(length, push, now_jiffy)
        if len(self.out_of_order) > 0:
            self._merge()
            return True
        # __tcp_ack_snd_check
        if self.rcv_nxt - self.rcv_wup > self.rcv_mss and self.select_window() >= self.rcv_wnd:
            return True
        return self.quick > 0 and not self.pingpong

    @cython.ccall
    @cython.exceptval(-1)
    def holds_ack(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.bint:
        """Whether the segment, taken next and by the reader, leaves the ACK to the next."""
        return (
            seq == self.rcv_nxt
            and end_seq - self.rcv_wup <= self.rcv_mss
            and (self.quick == 0 or self.pingpong)
            and len(self.out_of_order) == 0
        )

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _insert(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.int:
        """Keep a segment that is ahead of `rcv_nxt` (what is there already is dropped)."""
        for first, last in self.out_of_order:
            if first <= seq and end_seq <= last:
                self.duplicates += 1
                self.dsack = True
                self.repeated = (seq, end_seq)
                return 0
        self.recent_seq = seq
        self.out_of_order.append((seq, end_seq))
        self.out_of_order.sort()
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _merge(self) -> cython.int:
        """Take from the out-of-order queue what has become in order."""
        while len(self.out_of_order) > 0:
            first, last = self.out_of_order[0]
            if first > self.rcv_nxt:
                return 0
            del self.out_of_order[0]
            if last > self.rcv_nxt:
                self.rmem_alloc += self.truesize(last - self.rcv_nxt)
                self.rcv_nxt = last
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _event_data(
        self, length: cython.longlong, push: cython.bint, now_jiffy: cython.longlong
    ) -> cython.int:
        """`tcp_event_data_recv`."""
        since: cython.longlong = now_jiffy - self.lrcvtime
        self.scheduled = True
        self._measure_mss(length, push)
        if not self.started:
            self.started = True
            self._add_quickacks()
            self.ato = self.ato_min
        elif since <= self.ato_min >> 1:
            self.ato = (self.ato >> 1) + (self.ato_min >> 1)
        elif since < self.ato:
            self.ato = (self.ato >> 1) + since
            if self.ato > self.rto_jiffies:
                self.ato = self.rto_jiffies
        elif since > self.rto_jiffies:
            self._add_quickacks()
        self.lrcvtime = now_jiffy
        if length >= 128:  # noqa: PLR2004 - tcp_grow_window is called for such segments
            self._grow_window(length)
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _measure_mss(self, length: cython.longlong, push: cython.bint) -> cython.int:
        if length > self.advmss:
            # merged by the driver: the size of its parts counts
            length = self.advmss
        if length >= self.rcv_mss:
            self.rcv_mss = length
            return 0
        if length >= self.min_rcvmss or not push:
            # the same smaller length twice in a row is the sender's new segment size
            if length == self.last_small:
                self.rcv_mss = length
                return 0
            self.last_small = length
        self.pushed = True
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _grow_window(self, length: cython.longlong) -> cython.int:
        increment: cython.longlong = 0
        size: cython.longlong
        window: cython.longlong
        if self.rcv_ssthresh >= self.window_clamp or self.rcv_ssthresh >= self._space():
            return 0
        size = self.truesize(length)
        size = size - (size >> 2)
        if size <= length:
            increment = 2 * self.advmss
        else:
            size >>= 1
            window = (self.rcvbuf - (self.rcvbuf >> 2)) >> 1
            while self.rcv_ssthresh <= window:
                if size <= length:
                    increment = 2 * self.rcv_mss
                    break
                size >>= 1
                window >>= 1
        if increment > 0:
            self.rcv_ssthresh += increment
            if self.rcv_ssthresh > self.window_clamp:
                self.rcv_ssthresh = self.window_clamp
            self.quick |= 1
        return 0

    @cython.cfunc
    @cython.exceptval(-1, check=False)
    def _add_quickacks(self) -> cython.int:
        quick: cython.longlong = self.rcv_wnd // (2 * self.rcv_mss)
        if quick == 0:
            quick = 2
        if quick > self.max_quickacks:
            quick = self.max_quickacks
        if quick > self.quick:
            self.quick = quick
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def ack_sent(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Account for an ACK that goes out now; return the window it offers, in bytes."""
        current: cython.longlong = self.rcv_wup + self.rcv_wnd - self.rcv_nxt
        window: cython.longlong = self.select_window()
        limit: cython.longlong = 65535 << self.rcv_wscale
        if current < 0:
            current = 0
        if window < current:
            window = current
        self.rcv_wnd = window
        self.rcv_wup = self.rcv_nxt
        if window > limit:
            window = limit
        if self.quick > 0:
            self.quick -= 1
            if self.quick == 0:
                self.ato = self.ato_min
        self.scheduled = False
        self.pushed = False
        self.blocked = False
        self.dsack = False
        self.timeout_jiffy = _NONE
        return window

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def fill_sack(self, skb: Skb, dsack: cython.bint) -> cython.int:
        """Give an ACK its SACK option; `dsack` is as it was before `ack_sent`."""
        held: cython.int = len(self.out_of_order)
        blocks: list[Any]
        first: cython.longlong
        last: cython.longlong
        start: cython.longlong
        end: cython.longlong
        if held > 0:
            blocks = []
            start, end = self.out_of_order[0]
            for first, last in self.out_of_order:
                if first > end:
                    blocks.append((start, end))
                    start, end = first, last
                elif last > end:
                    end = last
            blocks.append((start, end))
            blocks.sort(key=self._not_recent)
            skb.sack = ([self.repeated] if dsack else []) + blocks
            skb.sack = skb.sack[:3]
        elif dsack:
            skb.sack = [self.repeated]
        return 0

    def _not_recent(self, block: tuple[int, int]) -> tuple[bool, int]:
        """Sorting key: the block of the segment that came last is the first."""
        return (not block[0] <= self.recent_seq < block[1], -block[1])

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def data_sent(self, now_jiffy: cython.longlong) -> cython.int:
        """Data goes out (`tcp_event_data_sent`): an answer within `ato` makes it interactive."""
        if now_jiffy - self.lrcvtime < self.ato:
            self.pingpong = True
        return 0

    @cython.ccall
    @cython.exceptval(-1)
    def schedule_delack(self, now_jiffy: cython.longlong) -> cython.longlong:
        """`tcp_send_delayed_ack`: jiffy at which the timer must run; 0 if the ACK goes now."""
        ato: cython.longlong = self.ato
        limit: cython.longlong
        timeout: cython.longlong
        if ato > self.ato_min:
            limit = self.delack_max if self.pingpong or self.pushed else 5 * self.delack_max // 2
            if ato > limit:
                ato = limit
        timeout = now_jiffy + ato
        if self.timeout_jiffy != _NONE:
            if self.blocked or self.timeout_jiffy <= now_jiffy + (ato >> 2):
                return 0
            if timeout > self.timeout_jiffy:
                timeout = self.timeout_jiffy
        self.timeout_jiffy = timeout
        return timeout

    @cython.ccall
    @cython.exceptval(-1)
    def delack_expired(self, now_jiffy: cython.longlong) -> cython.bint:
        """`tcp_delack_timer`, socket not owned by the user; return whether to send the ACK."""
        self.timeout_jiffy = _NONE
        if not self.scheduled:
            return False
        if not self.pingpong:
            self.ato <<= 1
            if self.ato > self.rto_jiffies:
                self.ato = self.rto_jiffies
        else:
            self.pingpong = False
            self.ato = self.ato_min
        return True

    @cython.ccall
    @cython.exceptval(-1)
    def ack_due_after_copy(self, copied: cython.longlong) -> cython.bint:
        """`cleanup_rbuf` after the reader took `copied` bytes: whether an ACK goes out."""
        now: cython.longlong
        window: cython.longlong
        if self.scheduled and (
            self.blocked
            or self.rcv_nxt - self.rcv_wup > self.rcv_mss
            or (copied > 0 and self.pushed and not self.pingpong and self.rmem_alloc == 0)
        ):
            return True
        if copied > 0:
            now = self.rcv_wup + self.rcv_wnd - self.rcv_nxt
            if now < 0:
                now = 0
            if 2 * now <= self.window_clamp:
                window = self.select_window()
                return window > 0 and window >= 2 * now
        return False

    @cython.ccall
    @cython.exceptval(-1)
    def readable(self) -> cython.longlong:
        """Bytes in the receive queue."""
        return self.rcv_nxt - self.copied_seq

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def copied(self, count: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """The reader has taken `count` bytes from the receive queue."""
        self.copied_seq += count
        if self.copied_seq == self.rcv_nxt:
            self.rmem_alloc = 0
        else:
            self.rmem_alloc -= count * self.rmem_alloc // (count + self.rcv_nxt - self.copied_seq)
        self.space_adjust(now_jiffy)
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def space_adjust(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_rcv_space_adjust`: dynamic right-sizing, once per round-trip time."""
        space: cython.longlong
        clamp: cython.longlong
        memory: cython.longlong
        if self.rcvq_time != _NONE:
            if now_jiffy - self.rcvq_time < self.rtt >> 3:
                return 0
            space = 2 * (self.copied_seq - self.rcvq_seq)
            if space > self.rcvq_space:
                self.rcvq_space = space
                if self.moderate_rcvbuf:
                    clamp = space
                    space //= self.advmss
                    if space == 0:
                        space = 1
                    memory = self.advmss + self.truesize_overhead
                    while memory - (memory >> 2) < self.advmss:
                        memory += 128
                    space *= memory
                    if space > self.rmem_max:
                        space = self.rmem_max
                    if space > self.rcvbuf:
                        self.rcvbuf = space
                        self.window_clamp = clamp
        self.rcvq_seq = self.copied_seq
        self.rcvq_time = now_jiffy
        return 0
