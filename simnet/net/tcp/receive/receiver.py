"""TCP receiver of Linux: which segments are acknowledged when, and with which window.

Source: net/ipv4/tcp_input.c (`tcp_data_queue`, `tcp_event_data_recv`, `tcp_measure_rcv_mss`,
`__tcp_ack_snd_check`), tcp_output.c (`tcp_select_window`, `tcp_send_delayed_ack`), tcp_timer.c
(`tcp_delack_timer`) and tcp.c (`tcp_cleanup_rbuf`) of Linux, by version (`ReceiverRules`; what
stands without a condition is the same in all). Times are jiffies, as in the kernel; lengths are
bytes; sequence numbers do not wrap.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import cython

from simnet.net.link.skb import Skb
from simnet.net.tcp.ecn import Ecn
from simnet.net.tcp.receive.prune import collapsed, collapsed_ranges, pruned
from simnet.net.tcp.receive.queue import SkbSizes
from simnet.net.tcp.receive.window import ReceiveWindow
from simnet.net.tcp.rules.receiver_version import ReceiverRules, receiver_rules

__all__ = ["TcpReceiver", "win_from_space"]

_NONE = cython.declare(cython.longlong, -1)
_PAGE_MASK = cython.declare(cython.longlong, 4095)
# TCP_MIN_MSS
_MIN_MSS = cython.declare(cython.longlong, 88)
_SYN_WINDOW = 65535
_FAST_RETRANSMIT = cython.declare(cython.int, 3)
_NEVER = cython.declare(cython.longlong, 1 << 40)
# tcp_collapse, SKB_MAX_ORDER: what a page holds besides headers and skb_shared_info, and `truesize`
_PACKED_BYTES = cython.declare(cython.longlong, 3712)
_PACKED_MEMORY = cython.declare(cython.longlong, 4096)


@cache
def _sizes(buffer_bytes: int, part_bytes: int) -> SkbSizes:
    """Sizes are values: one object serves all connections."""
    return SkbSizes(buffer_bytes, part_bytes=part_bytes)


def win_from_space(space: int) -> int:
    """`tcp_win_from_space` with tcp_adv_win_scale 2."""
    return space - (space >> 2)


@cython.final
@cython.no_gc
@cython.cclass
class TcpReceiver:
    """Receiving half of a connection.

    Args:
        advmss: payload of a full segment, timestamps taken off.
        rmem_default, rmem_max: tcp_rmem[1] and [2].
        jiffy_ps: length of a jiffy.
        ato_min_ps: TCP_ATO_MIN.
        delack_min_ps: TCP_DELACK_MIN; None: as TCP_ATO_MIN.
        delack_max_ps: TCP_DELACK_MAX.
        rto_ps: retransmission timeout that bounds `ato`.
        max_quickacks: TCP_MAX_QUICKACKS.
        min_rcvmss: TCP_MIN_RCVMSS.
        truesize_overhead: bytes that a full frame's buffer and `sk_buff` take beyond its payload.
        moderate_rcvbuf: tcp_moderate_rcvbuf.
        window_scaling: tcp_window_scaling.
        rules: of the kernel's version.
        sizes: what a segment is charged with, in place of `truesize_overhead`.
        option_bytes: TCP options of a data segment.
        timestamps: data carry timestamps, from which the round-trip time is measured.
        sack: the connection uses SACK.
        rcvbuf_locked: SO_RCVBUF has been set (to `rmem_default`).
        quickack: `ip route ... quickack 1`.
        delack_limit_ps: TCP_DELACK_MAX_US, or `ip route ... rto_min` less a jiffy; None: none.
        srtt_ps: the smoothed round-trip time that bounds a delayed ACK; None: not known.

    Attributes:
        now_us: when the segment or event that is being handled came; `rules.clock_us` needs it.
        ecn: marks on segments, None if the connection has not agreed on them.
    """

    # rules

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
        rules: ReceiverRules | None = None,
        sizes: SkbSizes | None = None,
        option_bytes: int = 12,
        timestamps: bool = True,
        sack: bool = True,
        rcvbuf_locked: bool = False,
        quickack: bool = False,
        delack_limit_ps: int | None = None,
        srtt_ps: int | None = None,
        delack_min_ps: int | None = None,
    ) -> None:
        rules = rules or receiver_rules("2.6.18")
        self.sizes = sizes or _sizes(advmss + truesize_overhead, advmss)
        self.window = ReceiveWindow(
            rules,
            self.sizes,
            advmss=advmss,
            rmem_default=rmem_default,
            rmem_max=rmem_max,
            moderate=moderate_rcvbuf,
            locked=rcvbuf_locked,
            scaling=window_scaling,
        )
        self.measures_rtt = rules.clock_us or not timestamps
        if not self.measures_rtt:
            # a round trip in a LAN is the least that jiffies can measure
            self.window.rtt = 8
        self.held = self.window.held
        self.queue = self.window.queue
        self.advmss = advmss
        self.jiffy_ps = jiffy_ps
        self.ato_min = -(-ato_min_ps // jiffy_ps)
        least_ps = ato_min_ps if delack_min_ps is None else delack_min_ps
        self.delack_min = -(-least_ps // jiffy_ps)
        self.delack_max = -(-delack_max_ps // jiffy_ps)
        self.rto_jiffies = -(-rto_ps // jiffy_ps)
        self.delack_limit = _NEVER if delack_limit_ps is None else -(-delack_limit_ps // jiffy_ps)
        self.srtt_jiffies = _NEVER if srtt_ps is None else -(-srtt_ps // jiffy_ps)
        self.srtt_us = 0 if srtt_ps is None else max(8 * srtt_ps // 1_000_000, 1)
        self.max_quickacks = max_quickacks
        self.min_rcvmss = min_rcvmss
        self.option_bytes = option_bytes
        self.quickack = quickack
        self.sack = sack
        self.most_blocks = (36 - option_bytes) // 8
        self.rcv_wscale = self.window.wscale
        self.rcv_wnd = self.window.first
        self.rcv_mss = max(min(advmss, self.rcv_wnd // 2, min_rcvmss), _MIN_MSS)
        self.rcv_nxt = 0
        self.rcv_wup = 0
        self.copied_seq = 0
        self.quick = 0
        self.pingpong = False
        self.answers = 0
        self.scheduled = False
        self.bare = True
        self.pushed = False
        self.pushed_twice = False
        self.blocked = False
        self.ack_now = False
        self.ecn: Ecn | None = None
        self.no_memory = False
        self.predicts = True
        self.compressed = 0
        self.compress_started = False
        self.duplicate_acks = 0
        self.compressed_at = _NONE
        self.now_us = 0
        self.ato = 0
        self.timeout_jiffy = _NONE
        self.lrcvtime = 0
        self.last_small = 0
        self.segments = 0
        self.duplicates = 0
        self.out_of_order_segments = 0
        self._take_rules(rules)

    def _take_rules(self, rules: ReceiverRules) -> None:
        self.rule_pushed_twice = rules.pushed_twice
        self.rule_pushed_full = rules.pushed_full
        self.rule_mss_clamped = rules.mss_clamped
        self.rule_measures_reordered = rules.measures_reordered
        self.rule_quick_on_reorder = rules.quick_on_reorder
        self.rule_compresses = rules.compresses and self.sack
        self.rule_filled_at_once = rules.filled_at_once
        self.rule_counts_scheduled = rules.counts_scheduled
        self.rule_rounds_current = rules.rounds_current
        self.rule_grows_reordered = rules.grows_reordered and self.sack
        self.rule_clock_us = rules.clock_us
        self.rule_strict_window = rules.strict_window
        self.rule_coalesces = rules.coalesces
        self.rule_blocks_timer = rules.blocks_timer
        self.rule_collapses = rules.collapses
        self.rule_keeps_lower = rules.keeps_lower
        self.prune_batches = rules.prune_batches
        self.first_segment = rules.first_segment
        self.wasted_memory = self.sizes.truesize(self.advmss)
        self.collapsed = 0
        self.defers_timer = rules.defers_timer
        self.timer_jiffies = 1 if rules.timer_rounds_up else 0
        self.pingpong_threshold = rules.pingpong_threshold
        self.compress_max_ps = rules.compress_max_ps
        self.compress_slack_ps = rules.compress_slack_ps
        self.compress_most = rules.compress_most
        self.segments_per_ack = rules.segments_per_ack
        self.scan_jiffies = rules.scan_jiffies
        self.unacknowledged = 0

    def start(self, seq: int, now_us: int = 0) -> None:
        """The connection has been established; the first byte will be `seq`."""
        self.rcv_nxt = self.rcv_wup = self.copied_seq = seq
        self.now_us = now_us
        self.window.rcvq_seq = seq
        self.window.started(now_us)

    # -- what others look at ----------------------------------------------------------------

    @property
    def syn_window(self) -> int:
        """What the SYN offers, bytes: its window field is not scaled."""
        return min(self.rcv_wnd, _SYN_WINDOW)

    @property
    def rcvbuf(self) -> int:
        """`sk_rcvbuf`, bytes."""
        return self.window.rcvbuf

    @property
    def rmem_alloc(self) -> int:
        """`sk_rmem_alloc`, bytes."""
        return self.window.allocated()

    @property
    def window_clamp(self) -> int:
        """Bytes."""
        return self.window.window_clamp

    @property
    def rcv_ssthresh(self) -> int:
        """Bytes."""
        return self.window.rcv_ssthresh

    @property
    def out_of_order(self) -> list[tuple[int, int]]:
        """Segments ahead of a hole: (first byte, last plus one)."""
        return [(segment[0], segment[1]) for segment in self.held.segments]

    @property
    def dsack(self) -> bool:
        """Whether the next ACK reports a duplicate."""
        return self.held.duplicate is not None

    def truesize(self, length: cython.longlong) -> cython.longlong:
        """Memory that a segment of `length` bytes is charged for."""
        return self.sizes.truesize(length)

    def readable(self) -> cython.longlong:
        """Bytes in the receive queue."""
        return self.rcv_nxt - self.copied_seq

    def _room(self) -> cython.longlong:
        """`tcp_receive_window`: what is left of the window that was offered."""
        room: cython.longlong = self.rcv_wup + self.rcv_wnd - self.rcv_nxt
        return room if room > 0 else 0

    def select_window(self) -> cython.longlong:
        """`__tcp_select_window`: the window that an ACK sent now would offer, in bytes."""
        window: cython.longlong = self.window.offer(self.rcv_wnd, self.rcv_mss)
        if self.window.scarce:
            self.quick = 0
        return window

    def acceptable(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.bint:
        """`tcp_sequence`: whether anything of a segment counts, its ACK included."""
        limit: cython.longlong = self.rcv_wup + self.rcv_wnd
        if limit < self.rcv_nxt:
            limit = self.rcv_nxt
        if seq > limit or end_seq < self.rcv_wup:
            return False
        return end_seq <= limit or not self.rule_strict_window or self.rcv_nxt == self.copied_seq

    # -- segments ---------------------------------------------------------------------------

    def segment(  # noqa: PLR0911 - each case of tcp_data_queue
        self,
        seq: cython.longlong,
        end_seq: cython.longlong,
        push: cython.bint,
        direct: cython.bint,
        now_jiffy: cython.longlong,
    ) -> cython.bint:
        """Take a data segment; return whether an ACK must be sent now.

        `direct`: the payload goes straight to the reader's buffer (it has room for it). If not
        now, `schedule_delack` says when; unless `compress_started`, then a timer has to send it
        after `compress_delay_ps`.
        """
        room: cython.longlong = self.rcv_wup + self.rcv_wnd - self.rcv_nxt
        self.segments += 1
        self.compress_started = False
        if room < 0:
            room = 0
        if not self.acceptable(seq, end_seq):
            return self._unacceptable(seq, end_seq)
        if self.held.duplicate is not None:
            self.held.duplicate = None
        if seq != self.rcv_nxt:
            if end_seq <= self.rcv_nxt:
                self.duplicates += 1
                self.held.repeated(seq, end_seq)
                return self._out_of_window()
            if seq >= self.rcv_nxt + room:
                return self._out_of_window()
            if self.rule_quick_on_reorder:
                self._enter_quickack(self.max_quickacks)
            if seq > self.rcv_nxt:
                return self._reordered(seq, end_seq, push)
            self.held.repeated(seq, self.rcv_nxt)
            self.duplicates += 1
            direct = False
        if room == 0:
            return self._out_of_window()
        if not direct and not self._accepted(seq, end_seq):
            return self._refused()
        self._queue(seq, end_seq, direct)
        self._event_data(end_seq - seq, push, now_jiffy)
        if self.held.count > 0 or not self.predicts:
            self._slow_path()
        return self._ack_due()

    def _queue(
        self, seq: cython.longlong, end_seq: cython.longlong, direct: cython.bint
    ) -> cython.int:
        """`tcp_queue_rcv`."""
        length: cython.longlong = end_seq - self.rcv_nxt
        self.rcv_nxt = end_seq
        if direct:
            self.copied_seq = end_seq
        elif not self.rule_coalesces:
            self.queue.append(length, self.sizes.truesize(length), 0)
        elif length != end_seq - seq or not self.queue.coalesce(length):
            self.queue.append(
                length, self.sizes.truesize(end_seq - seq), self.sizes.tailroom(end_seq - seq)
            )
        return 0

    def _accepted(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.bint:
        """Whether there is memory for a segment that is in order, or it must be found.

        On the fast path the socket's buffer does not count, but what is left of the last page.
        """
        memory: cython.longlong = self.queue.memory + self.held.memory
        if memory <= self.window.rcvbuf:
            return True
        if (
            self.predicts
            and seq == self.rcv_nxt
            and self.sizes.truesize(end_seq - seq) <= -memory & _PAGE_MASK
        ):
            return True
        if self.first_segment == 1 and self.rcv_nxt == self.copied_seq:
            return True
        if self._memory_left(seq):
            return True
        if self.first_segment == 0 or self.rcv_nxt > self.copied_seq:
            return False
        self._no_memory()
        return True

    def _memory_left(self, seq: cython.longlong) -> cython.bint:
        """`tcp_try_rmem_schedule`; ACKs wait for the reader once memory has run out."""
        if self.queue.memory + self.held.memory <= self.window.rcvbuf:
            return True
        self.quick = 0
        if self.window.full_buffer():
            return True
        if self.rule_collapses:
            if self.window.from_space(self.wasted_memory) > self.advmss:
                self.collapsed += self.queue.collapse(_PACKED_BYTES, _PACKED_MEMORY)
        else:
            self._collapse()
        if self.held.count > 0 and self.window.allocated() > self.window.rcvbuf:
            self._prune(seq)
        return self.window.allocated() <= self.window.rcvbuf

    def _collapse(self) -> None:
        """`tcp_collapse_ofo_queue` and `tcp_collapse`."""
        held = collapsed_ranges(self.held.segments, self.window)
        self.held.replace(held, forget=False)
        segments = self.queue.segments(self.copied_seq)
        packed = collapsed(segments, self.copied_seq, self.window)
        if packed is not segments:
            kept = sum(segment in segments for segment in packed)
            self.collapsed += self.rcv_nxt - max(packed[kept][0], self.copied_seq)
            self.queue.replace(packed, self.copied_seq)

    def _prune(self, seq: int) -> None:
        """`tcp_prune_ofo_queue`."""
        if self.prune_batches == 0:
            self.held.purge()
            return
        batch = self.window.rcvbuf >> 3 if self.prune_batches > 1 else 0
        spare = self.window.rcvbuf - self.queue.memory
        left = pruned(self.held.segments, seq if self.rule_keeps_lower else -1, spare, batch)
        if len(left) < self.held.count:
            self.held.replace(left, forget=True)

    def _no_memory(self) -> cython.int:
        """ICSK_ACK_NOMEM: an ACK goes out at once, and closes the window."""
        self.ack_now = True
        self.scheduled = True
        self.bare = False
        self.no_memory = self.rule_strict_window
        return 0

    def _refused(self) -> cython.bint:
        """A segment that is in order, but for which there is no memory."""
        self.predicts = False
        if self.rule_filled_at_once:
            self._no_memory()
            return True
        return self.scheduled and self._ack_due()

    def _unacceptable(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.bint:
        """`tcp_send_dupack`: outside the window, which `tcp_sequence` finds before all else."""
        if seq < self.rcv_nxt:
            self.duplicates += 1
            self._enter_quickack(self.max_quickacks)
            self.held.repeated(seq, end_seq if end_seq < self.rcv_nxt else self.rcv_nxt)
        # `bare` stays as it is: this ACK is sent, but not for data
        self.scheduled = True
        return True

    def _out_of_window(self) -> cython.bint:
        self._enter_quickack(self.max_quickacks)
        self.scheduled = True
        self.bare = False
        return self.segments_per_ack > 0 or self._ack_due()

    def _reordered(
        self, seq: cython.longlong, end_seq: cython.longlong, push: cython.bint
    ) -> cython.bint:
        """`tcp_data_queue_ofo`: the segment is ahead of a hole."""
        length: cython.longlong = end_seq - seq
        self.out_of_order_segments += 1
        if self.ecn is not None:
            self._check_marks()
        if not self._memory_left(seq):
            return self.scheduled and self._ack_due()
        if self.rule_measures_reordered:
            self._measure_mss(length, push)
        self.scheduled = True
        self.bare = False
        self.predicts = False
        if self.held.insert(seq, end_seq, self.compressed):
            # the ACKs that were held back go out before this segment counts, and cover it
            return True
        if self.held.duplicate is not None:
            self.duplicates += 1
        if (
            self.rule_grows_reordered
            and self.held.kept
            and self.window.grow(length, self.rcv_mss, self.held.added)
        ):
            self.quick |= 1
        if self.window.right_sizing == 2:  # noqa: PLR2004 - RIGHT_SIZING_RATIO
            self.window.follow(self.window.rcvq_space, self.rcv_nxt)
        return self._ack_due()

    def _slow_path(self) -> cython.int:
        """What came may have filled a hole: take what is in order now (`tcp_fast_path_check`)."""
        if self.held.count > 0:
            self.rcv_nxt = self.held.release(self.rcv_nxt, self.queue)
            if self.held.count == 0:
                if self.rule_filled_at_once:
                    self.ack_now = True
                else:
                    self._leave_pingpong()
        if self.held.count == 0 and self.rcv_wnd > 0:
            self.predicts = self.window.allocated() < self.window.rcvbuf
        return 0

    def _ack_due(self) -> cython.bint:
        """`__tcp_ack_snd_check`."""
        if self.segments_per_ack > 0:
            return (
                self.unacknowledged >= self.segments_per_ack or self.ack_now or self.held.count > 0
            )
        if (
            (self.rcv_nxt - self.rcv_wup > self.rcv_mss and self.select_window() >= self.rcv_wnd)
            or self.quickack
            or (self.quick > 0 and not self.pingpong)
            or self.ack_now
        ):
            return True
        if self.held.count == 0:
            return False
        if not self.rule_compresses or self.compressed >= self.compress_most:
            return True
        if self.compressed_at != self.rcv_nxt:
            self.compressed_at = self.rcv_nxt
            self.duplicate_acks = 0
        if self.duplicate_acks < _FAST_RETRANSMIT:
            self.duplicate_acks += 1
            return True
        self.compressed += 1
        self.compress_started = True
        return False

    def compress_delay_ps(self) -> cython.longlong:
        """How long ACKs for segments ahead of a hole are held back: 5 % of the round trip."""
        rtt: cython.longlong = self.window.rtt
        delay: cython.longlong
        if 0 < self.srtt_us < rtt:
            rtt = self.srtt_us
        # rtt is in eighths of a microsecond
        delay = rtt * 1_000_000 // 8 // 20
        if delay > self.compress_max_ps:
            delay = self.compress_max_ps
        return delay + self.compress_slack_ps

    def holds_ack(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.bint:
        """Whether the segment, taken next and by the reader, leaves the ACK to the next."""
        if self.segments_per_ack > 0:
            return (
                seq == self.rcv_nxt
                and self.unacknowledged + 1 < self.segments_per_ack
                and self.held.count == 0
            )
        return (
            seq == self.rcv_nxt
            and end_seq - self.rcv_wup <= self.rcv_mss
            and (self.quick == 0 or self.pingpong)
            and not self.quickack
            and self.held.count == 0
        )

    def _event_data(
        self, length: cython.longlong, push: cython.bint, now_jiffy: cython.longlong
    ) -> cython.int:
        """`tcp_event_data_recv`."""
        since: cython.longlong = now_jiffy - self.lrcvtime
        self.unacknowledged += 1
        self.scheduled = True
        self.bare = False
        self._measure_mss(length, push)
        if self.measures_rtt:
            self.window.measure_rtt(
                self.rcv_nxt, self.rcv_wnd, self.now_us if self.rule_clock_us else now_jiffy
            )
        if self.ato == 0:
            self._add_quickacks(self.max_quickacks)
            self.ato = self.ato_min
        elif since <= self.ato_min >> 1:
            self.ato = (self.ato >> 1) + (self.ato_min >> 1)
        elif since < self.ato:
            self.ato = (self.ato >> 1) + since
            if self.ato > self.rto_jiffies:
                self.ato = self.rto_jiffies
        elif since > self.rto_jiffies:
            self._add_quickacks(self.max_quickacks)
        self.lrcvtime = now_jiffy
        if self.ecn is not None:
            self._check_marks()
        # tcp_grow_window is called for such segments
        if length >= 128 and self.window.grow(length, self.rcv_mss):  # noqa: PLR2004
            self.quick |= 1
        return 0

    def _measure_mss(self, length: cython.longlong, push: cython.bint) -> cython.int:
        last: cython.longlong = self.last_small
        if length > self.advmss and self.sizes.buffer_bytes > 0:
            # merged by the driver: the size of its parts counts
            length = self.advmss
        self.last_small = 0
        if length >= self.rcv_mss:
            if length > self.rcv_mss:
                self.window.measured(length, self.rcv_wnd)
            self.rcv_mss = length
            if self.rule_mss_clamped and length > self.advmss:
                self.rcv_mss = self.advmss
            if push and self.rule_pushed_full:
                self.pushed = True
            return 0
        if length + self.option_bytes >= self.min_rcvmss or (
            not push and length + self.option_bytes >= _MIN_MSS
        ):
            # the same smaller length twice in a row is the sender's new segment size
            self.last_small = length
            if length == last:
                self.rcv_mss = length
                return 0
        if self.pushed and self.rule_pushed_twice:
            self.pushed_twice = True
        self.pushed = True
        return 0

    def _add_quickacks(self, most: cython.int) -> cython.int:
        """`tcp_incr_quickack`."""
        quick: cython.longlong = self.rcv_wnd // (2 * self.rcv_mss)
        if quick == 0:
            quick = 2
        if quick > most:
            quick = most
        if quick > self.quick:
            self.quick = quick
        return 0

    def _check_marks(self) -> cython.int:
        """`tcp_ecn_check_ce`: the sender's window may be so small that an ACK must not wait."""
        if self.ecn.checked():
            # two since 4.18
            self._enter_quickack(self.max_quickacks if self.rule_quick_on_reorder else 2)
        return 0

    def marked(self, bits: cython.int, with_data: cython.bint) -> cython.int:
        """ECN's bits of the segment that is handled next, if the connection has agreed on it."""
        if self.ecn.arrives(bits) and with_data and not self.rule_quick_on_reorder:
            self.ack_now = True
        return 0

    def _enter_quickack(self, most: cython.int) -> cython.int:
        """`tcp_enter_quickack_mode`."""
        self._add_quickacks(most)
        self._leave_pingpong()
        self.ato = self.ato_min
        return 0

    def _leave_pingpong(self) -> cython.int:
        self.pingpong = False
        self.answers = 0
        return 0

    def set_quickack(self, value: int) -> bool:
        """TCP_QUICKACK (`__tcp_sock_set_quickack`); return whether an ACK goes out now."""
        if value == 0:
            self.pingpong = True
            self.answers = self.pingpong_threshold
            return False
        self._leave_pingpong()
        if not self.scheduled:
            return False
        self.pushed = True
        due = bool(self.ack_due_after_copy(1))
        if not value & 1:
            self.pingpong = True
            self.answers = self.pingpong_threshold
        return due

    # -- acknowledgements -------------------------------------------------------------------

    def ack_sent(self, now_jiffy: cython.longlong) -> cython.longlong:
        """Account for an ACK that goes out now; return the window it offers, in bytes."""
        current: cython.longlong
        window: cython.longlong
        limit: cython.longlong = 65535 << self.rcv_wscale
        if self.no_memory:
            window = 0
        else:
            current = self._room()
            window = self.select_window()
            if window < current:
                window = current
                if self.rule_rounds_current:
                    window = (current + (1 << self.rcv_wscale) - 1) >> self.rcv_wscale
                    window <<= self.rcv_wscale
        self.rcv_wnd = window
        self.rcv_wup = self.rcv_nxt
        if window == 0:
            self.predicts = False
        if window > limit:
            window = limit
        if self.quick > 0 and not (self.bare and self.rule_counts_scheduled):
            self.quick -= 1
            if self.quick == 0:
                self.ato = self.ato_min
        self.scheduled = False
        self.unacknowledged = 0
        self.bare = True
        self.pushed = False
        self.pushed_twice = False
        self.blocked = False
        self.ack_now = False
        self.no_memory = False
        self.compressed = 0
        self.timeout_jiffy = _NONE
        return window

    def fill_sack(self, skb: Skb, dsack: cython.bint) -> cython.int:
        """Give an ACK its SACK option; `dsack` is as it was before `ack_sent`."""
        blocks: list[Any]
        if self.sack and (dsack or self.held.count > 0):
            blocks = self.held.option(self.most_blocks)
            # blocks beyond the fourth are forgotten, so there may be none of what is kept
            if len(blocks) > 0:
                skb.sack = blocks
        return 0

    def sack_blocks(self) -> list[Any]:
        """Blocks of the SACK option of an ACK that goes out now; a duplicate is reported once."""
        if not self.sack:
            return []
        return self.held.option(self.most_blocks)

    def data_sent(self, now_jiffy: cython.longlong) -> cython.int:
        """Data goes out (`tcp_event_data_sent`): an answer within `ato` makes it interactive."""
        if now_jiffy - self.lrcvtime < self.ato:
            if self.answers < self.pingpong_threshold:
                self.answers += 1
            self.pingpong = self.answers >= self.pingpong_threshold
        return 0

    def schedule_delack(self, now_jiffy: cython.longlong) -> cython.longlong:
        """`tcp_send_delayed_ack`: jiffy at which the timer must run; 0 if the ACK goes now."""
        ato: cython.longlong = self.ato
        limit: cython.longlong
        timeout: cython.longlong
        if self.scan_jiffies > 0:
            # a timer for a jiffy runs when that is over: as the next scan begins
            self.timeout_jiffy = (now_jiffy // self.scan_jiffies + 1) * self.scan_jiffies - 1
            return self.timeout_jiffy
        if ato > self.delack_min:
            limit = self.delack_max if self.pingpong or self.pushed else 5 * self.delack_max // 2
            if self.srtt_jiffies < limit:
                limit = (
                    self.srtt_jiffies if self.srtt_jiffies > self.delack_min else self.delack_min
                )
            if ato > limit:
                ato = limit
        if ato > self.delack_limit:
            ato = self.delack_limit
        timeout = now_jiffy + ato
        if self.timeout_jiffy != _NONE:
            if self.blocked or self.timeout_jiffy <= now_jiffy + (ato >> 2):
                return 0
            if timeout > self.timeout_jiffy:
                timeout = self.timeout_jiffy
        self.timeout_jiffy = timeout
        return timeout

    def delack_expired(self, now_jiffy: cython.longlong) -> cython.bint:
        """`tcp_delack_timer`, socket not owned by the user; return whether to send the ACK."""
        if self.compressed > 0:
            return True
        self.timeout_jiffy = _NONE
        if not self.scheduled:
            return False
        if not self.pingpong:
            self.ato <<= 1
            if self.ato > self.rto_jiffies:
                self.ato = self.rto_jiffies
        else:
            self._leave_pingpong()
            self.ato = self.ato_min
        return True

    def timer_found_owned(self) -> cython.int:
        """The delayed-ACK timer cannot send while the user owns the socket."""
        if self.rule_blocks_timer:
            self.blocked = True
        return 0

    # -- reader's side ----------------------------------------------------------------------

    def ack_due_after_copy(self, copied: cython.longlong) -> cython.bint:
        """`tcp_cleanup_rbuf` after the reader took `copied` bytes: whether an ACK goes out."""
        now: cython.longlong
        window: cython.longlong
        if (
            self.scheduled
            and self.segments_per_ack == 0
            and (
                self.blocked
                or self.rcv_nxt - self.rcv_wup > self.rcv_mss
                or (
                    copied > 0
                    and (self.pushed_twice or (self.pushed and not self.pingpong))
                    and self.queue.memory == 0
                    and self.held.memory == 0
                )
            )
        ):
            return True
        if copied > 0:
            now = self._room()
            if 2 * now <= self.window.window_clamp:
                window = self.select_window()
                return window > 0 and window >= 2 * now
        return False

    def copied(self, count: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """The reader has taken `count` bytes from the receive queue."""
        part: cython.longlong = self.queue.take(count)
        self.copied_seq += part
        # called for each segment, but only the first time in a round trip does anything
        self.space_adjust(now_jiffy)
        self.queue.release()
        if count > part:
            self.copied_seq += count - part
            self.queue.consume(count - part)
        return 0

    def space_adjust(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_rcv_space_adjust`: dynamic right-sizing, once per round-trip time."""
        return self.window.adjust(
            self.copied_seq, self.rcv_nxt, self.now_us if self.rule_clock_us else now_jiffy
        )
