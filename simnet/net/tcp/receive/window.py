"""Receive buffer and offered window of a connection, and how both grow.

Source: net/ipv4/tcp_input.c (`tcp_grow_window`, `tcp_init_buffer_space`, `tcp_clamp_window`,
`tcp_rcv_space_adjust`, `tcp_rcv_rtt_measure`), tcp_output.c (`tcp_select_initial_window`,
`__tcp_select_window`) and include/net/tcp.h (`tcp_win_from_space`) of Linux, by version
(`ReceiverRules`). Lengths are bytes; times are in the kernel's clock: jiffies, later microseconds.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.sentinel import NONE
from simnet.net.tcp.receive.queue import ReceiveQueue, SkbSizes
from simnet.net.tcp.receive.reassembly import Reassembly
from simnet.net.tcp.rules.receiver_version import ReceiverRules

_CUSHION: cython.int = 1
_RATIO: cython.int = 2
_FULL_SEGMENT: cython.int = 1460
_LARGEST_UNSCALED: cython.int = 65535
_LARGEST_SCALE: cython.int = 14
# half of SOCK_MIN_RCVBUF
_SMALLEST_WINDOW: cython.int = 1152
_TCP_INIT_CWND: cython.int = 10


@cython.final
@cython.no_gc
@cython.cclass
class ReceiveWindow:
    """What a connection may offer.

    Args:
        rules: of the kernel's version.
        sizes: what a segment is charged with.
        advmss: payload of a full segment, timestamps taken off.
        rmem_default, rmem_max: tcp_rmem[1] and [2].
        moderate: tcp_moderate_rcvbuf, and no SO_RCVBUF.
        locked: SO_RCVBUF has been set.
        scaling: the connection scales windows.
    """

    queue: ReceiveQueue = None
    held: Reassembly = None
    sizes: SkbSizes = None
    rcvbuf: cython.longlong = 0  # `sk_rcvbuf`
    rcv_ssthresh: cython.longlong = 0
    window_clamp: cython.longlong = 0
    ratio: cython.longlong = 0
    wscale: cython.int = 0
    scarce: cython.bint = False  # the last offer found less than half of the buffer free
    adv_win_scale: cython.int = 0
    zero_window_early: cython.bint = False
    opens_small: cython.bint = False
    advmss: cython.longlong = 0
    rmem_max: cython.longlong = 0
    moderate: cython.bint = False
    locked: cython.bint = False
    first: cython.longlong = 0  # the first window offered, bytes
    grows_twice_length: cython.bint = False
    right_sizing: cython.int = 0
    rtt: Public[cython.longlong] = 0
    rtt_seq: cython.longlong = 0
    rtt_time: cython.longlong = 0
    rcvq_seq: cython.longlong = 0
    rcvq_time: cython.longlong = 0
    rcvq_space: cython.longlong = 0

    def __init__(
        self,
        rules: ReceiverRules,
        sizes: SkbSizes,
        *,
        advmss: cython.longlong,
        rmem_default: cython.longlong,
        rmem_max: cython.longlong,
        moderate: cython.bint,
        locked: cython.bint,
        scaling: cython.bint,
    ) -> None:
        space: cython.longlong
        self.sizes = sizes
        self.queue = ReceiveQueue()
        self.held = Reassembly(sizes, coalesces=rules.coalesces)
        self.advmss = advmss
        self.rcvbuf = rmem_default
        self.rmem_max = rmem_max
        self.moderate = moderate and not locked
        self.locked = locked
        self.ratio = rules.initial_ratio
        self.adv_win_scale = rules.adv_win_scale
        self.zero_window_early = rules.zero_window_early
        self.opens_small = rules.opens_small
        self.grows_twice_length = rules.grows_twice_length
        self.right_sizing = rules.right_sizing
        if scaling:
            space = self.full()
            if not (locked and rules.locked_limits_scale):
                space = max(space, rmem_max)
            while space > _LARGEST_UNSCALED and self.wscale < _LARGEST_SCALE:
                space >>= 1
                self.wscale += 1
        if rules.whole_buffer:
            self.first = self.window_clamp = self.rcv_ssthresh = self.full()
        else:
            self._first_offer(rules.first_window_segments)
        self.rtt_time = NONE
        self.rcvq_time = NONE
        self.rcvq_space = self.first
        if self.right_sizing != 0:
            self.rcvq_space = min(self.rcv_ssthresh, self.first, _TCP_INIT_CWND * advmss)

    def _first_offer(self, segments: cython.longlong) -> cython.int:
        """`tcp_select_initial_window` and `tcp_init_buffer_space`."""
        mss: cython.longlong = self.advmss
        space: cython.longlong = self.full()
        needed: cython.longlong
        whole: cython.longlong
        if space > mss:
            space = space // mss * mss
        if segments == 0:
            self.first = space
        else:
            if mss > 3 * _FULL_SEGMENT and segments == 4:  # noqa: PLR2004 - RFC 2414's steps
                segments = 2
            elif mss > _FULL_SEGMENT:
                segments = max(_FULL_SEGMENT * segments // mss, 2) if segments > 4 else 3  # noqa: PLR2004
            self.first = min(space, segments * mss)
            needed = segments * self._segment_memory()
            if self.rcvbuf < needed and not self.locked:
                self.rcvbuf = min(needed, self.rmem_max)
        whole = self.full()
        self.window_clamp = whole
        if whole > 2 * mss:
            # tcp_app_win: room for one segment is kept back
            self.window_clamp = max(2 * mss, whole - mss)
        self.rcv_ssthresh = min(self.first, self.window_clamp)
        return 0

    def _segment_memory(self) -> cython.longlong:
        """Buffer of a full segment whose share for the window is not less than its payload."""
        memory: cython.longlong = self.sizes.truesize(self.advmss)
        while self.from_space(memory) < self.advmss:
            memory += 128
        return memory

    def from_space(self, space: cython.longlong) -> cython.longlong:
        """`tcp_win_from_space`: what is offered of so much buffer."""
        if self.adv_win_scale == 0:
            return space * self.ratio >> 8
        return space - (space >> self.adv_win_scale)

    def full(self) -> cython.longlong:
        """`tcp_full_space`."""
        return self.from_space(self.rcvbuf)

    def allocated(self) -> cython.longlong:
        """`sk_rmem_alloc`: memory of all segments that are kept."""
        return self.queue.memory + self.held.memory

    def space(self, uncharged: cython.longlong = 0) -> cython.longlong:
        """`tcp_space`, with so much of the memory not counted; 0 for none or less."""
        space: cython.longlong = self.rcvbuf - self.queue.memory - self.held.memory + uncharged
        if space <= 0:
            return 0
        return self.from_space(space)

    def offer(self, current: cython.longlong, rcv_mss: cython.longlong) -> cython.longlong:
        """`__tcp_select_window`; `current` is `rcv_wnd`."""
        free: cython.longlong = self.rcvbuf - self.queue.memory - self.held.memory
        allowed: cython.longlong = self.rcvbuf
        whole: cython.longlong
        mask: cython.longlong = (1 << self.wscale) - 1
        if self.adv_win_scale > 0:
            free -= free >> self.adv_win_scale
            allowed -= allowed >> self.adv_win_scale
        else:
            free = free * self.ratio >> 8
            allowed = allowed * self.ratio >> 8
        whole = min(allowed, self.window_clamp)
        rcv_mss = min(rcv_mss, whole)
        self.scarce = free < whole >> 1
        if self.scarce:
            if self.zero_window_early:
                free &= ~mask
                if free < allowed >> 4:
                    return 0
            if free < rcv_mss:
                return 0
        free = min(free, self.rcv_ssthresh)
        if self.wscale > 0:
            return (free + mask) & ~mask
        if current <= free - rcv_mss or current > free:
            return free // rcv_mss * rcv_mss if rcv_mss > 0 else 0
        if self.opens_small and rcv_mss == whole and free > current + (whole >> 1):
            return free
        return current

    def lock(self, rcvbuf: int) -> None:
        """SO_RCVBUF of a connection that stands: its buffer stays so, its scale as it was."""
        self.rcvbuf = rcvbuf
        self.locked = True
        self.moderate = False

    # -- growth -----------------------------------------------------------------------------

    def grow(
        self, length: cython.longlong, rcv_mss: cython.longlong, uncharged: cython.longlong = 0
    ) -> cython.bint:
        """`tcp_grow_window`: a segment has come; return whether more will be offered.

        `uncharged` is memory of it that counts only afterwards.
        """
        room: cython.longlong = self.window_clamp - self.rcv_ssthresh
        size: cython.longlong
        increment: cython.longlong = 0
        limit: cython.longlong
        if room <= 0:
            return False
        limit = self.space(uncharged) - self.rcv_ssthresh
        if limit <= 0:
            return False
        if self.adv_win_scale == 0:
            room = min(room, limit)
        size = self.from_space(self.sizes.truesize(length))
        if size <= length:
            increment = 2 * self.advmss
        else:
            size >>= 1
            limit = self.from_space(self.rmem_max) >> 1
            while self.rcv_ssthresh <= limit:
                if size <= length:
                    increment = 2 * rcv_mss
                    break
                size >>= 1
                limit >>= 1
        if increment == 0:
            return False
        if self.grows_twice_length:
            increment = max(increment, 2 * length)
        self.rcv_ssthresh += min(increment, room)
        return True

    def measured(self, length: cython.longlong, current: cython.longlong) -> cython.int:
        """A longer segment than before shows which share of a buffer payload takes.

        `current` is `rcv_wnd`.
        """
        ratio: cython.longlong
        if self.adv_win_scale != 0:
            return 0
        ratio = max((length << 8) // self.sizes.truesize(length), 1)
        if ratio == self.ratio:
            return 0
        self.ratio = ratio
        self.limit(max(self.full(), _SMALLEST_WINDOW), current)
        self.rcvq_space = min(self.rcvq_space, self.window_clamp)
        return 0

    def limit(self, clamp: cython.longlong, current: cython.longlong) -> cython.int:
        """`tcp_set_window_clamp`; `current` is `rcv_wnd`."""
        if clamp < self.window_clamp:
            self.rcv_ssthresh = min(self.rcv_ssthresh, clamp)
        elif clamp > self.window_clamp:
            self.rcv_ssthresh = max(self.rcv_ssthresh, min(current, clamp))
        self.window_clamp = clamp
        return 0

    def full_buffer(self) -> cython.bint:
        """`tcp_clamp_window`: no memory is left; return whether the buffer could be widened."""
        memory: cython.longlong = self.allocated()
        if self.rcvbuf < self.rmem_max and not self.locked:
            self.rcvbuf = min(memory, self.rmem_max)
        if memory > self.rcvbuf:
            self.rcv_ssthresh = min(self.window_clamp, 2 * self.advmss)
        return memory <= self.rcvbuf

    # -- right-sizing -----------------------------------------------------------------------

    def measure_rtt(
        self, rcv_nxt: cython.longlong, rcv_wnd: cython.longlong, now: cython.longlong
    ) -> cython.int:
        """`tcp_rcv_rtt_measure`: a window of data takes a round trip or more."""
        sample: cython.longlong
        if self.rtt_time != NONE:
            if rcv_nxt < self.rtt_seq:
                return 0
            sample = max(now - self.rtt_time, 1)
            if self.rtt == 0 or sample << 3 < self.rtt:
                self.rtt = sample << 3
        self.rtt_seq = rcv_nxt + rcv_wnd
        self.rtt_time = now
        return 0

    def adjust(
        self, copied_seq: cython.longlong, rcv_nxt: cython.longlong, now: cython.longlong
    ) -> cython.int:
        """`tcp_rcv_space_adjust`: dynamic right-sizing, once per round-trip time."""
        copied: cython.longlong
        if self.rcvq_time != NONE:
            if now - self.rcvq_time < self.rtt >> 3 or self.rtt == 0:
                return 0
            copied = copied_seq - self.rcvq_seq
            if self.right_sizing == _RATIO:
                copied -= rcv_nxt - copied_seq
                if copied > self.rcvq_space:
                    self.follow(copied, rcv_nxt)
            elif self.right_sizing == _CUSHION:
                if copied > self.rcvq_space:
                    self._follow_cushioned(copied)
            elif 2 * copied > self.rcvq_space:
                self._follow_segments(2 * copied)
        self.rcvq_seq = copied_seq
        self.rcvq_time = now
        return 0

    def started(self, now: cython.longlong) -> cython.int:
        """The connection has been established (2.6 begins at the first read)."""
        if self.right_sizing != 0:
            self.rcvq_time = now
        return 0

    def _follow_segments(self, space: cython.longlong) -> cython.int:
        """The buffer follows what is read, in segments and the memory that each takes."""
        clamp: cython.longlong = space
        self.rcvq_space = space
        if not self.moderate:
            return 0
        space = max(space // self.advmss, 1)
        space = min(space * self._segment_memory(), self.rmem_max)
        if space > self.rcvbuf:
            self.rcvbuf = space
            self.window_clamp = clamp
        return 0

    def _follow_cushioned(self, copied: cython.longlong) -> cython.int:
        """The buffer follows what is read, with room for a growing window."""
        window: cython.longlong
        space: cython.longlong
        if self.moderate:
            window = 2 * copied + 16 * self.advmss
            if copied >= self.rcvq_space + (self.rcvq_space >> 1):
                window <<= 1
            elif copied >= self.rcvq_space + (self.rcvq_space >> 2):
                window += window >> 1
            space = min(window // self.advmss * self._segment_memory(), self.rmem_max)
            if space > self.rcvbuf:
                self.rcvbuf = space
                self.window_clamp = window
        self.rcvq_space = copied
        return 0

    def follow(self, copied: cython.longlong, rcv_nxt: cython.longlong) -> cython.int:
        """`tcp_rcvbuf_grow`."""
        before: cython.longlong = self.rcvq_space
        window: cython.longlong = 2 * copied
        space: cython.longlong
        ahead: cython.longlong
        self.rcvq_space = copied
        if not self.moderate:
            return 0
        window += 2 * (window * (copied - before) // before)
        if self.held.count > 0:
            ahead = self.held.segments[self.held.count - 1][1]
            window += ahead - rcv_nxt
        space = min((window << 8) // self.ratio, self.rmem_max)
        if space > self.rcvbuf:
            self.rcvbuf = space
            self.window_clamp = self.full()
        return 0
