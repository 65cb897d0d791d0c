"""TCP receiver of Linux: what becomes of a segment that has come.

Source: net/ipv4/tcp_input.c (`tcp_data_queue`, `tcp_data_queue_ofo`, `tcp_queue_rcv`,
`tcp_event_data_recv`) and tcp.c (`tcp_recvmsg`) of Linux, by version (`ReceiverRules`; what stands
without a condition is the same in all). Times are jiffies, as in the
kernel; lengths are bytes; sequence numbers do not wrap.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.sentinel import NONE
from simnet.net.link.skb import Skb
from simnet.net.tcp.receive.compression import AckCompression
from simnet.net.tcp.receive.delayed_ack import DelayedAck
from simnet.net.tcp.receive.memory import ReceiveMemory
from simnet.net.tcp.receive.queue import ReceiveQueue, ReceiveSequence, SkbSizes
from simnet.net.tcp.receive.reassembly import Reassembly
from simnet.net.tcp.receive.settings import ReceiverSettings
from simnet.net.tcp.receive.window import ReceiveWindow
from simnet.net.tcp.rules.ecn import Ecn
from simnet.net.tcp.rules.receiver_version import ReceiverRules

_PAGE_MASK: cython.longlong = 4095
_SYN_WINDOW: cython.longlong = 65535


@cython.final
@cython.no_gc
@cython.cclass
class TcpReceiver:
    """Receiving half of a connection.

    Args:
        settings: what it has in common with others.

    Attributes:
        seq, window, delack, compression, memory, held: its parts.
        now_us: when the segment or event that is being handled came; `rules.clock_us` needs it.
        ecn: marks on segments, None if the connection has not agreed on them.
    """

    seq: ReceiveSequence = None
    delack: DelayedAck = None
    compression: AckCompression = None
    window: ReceiveWindow = None
    held: Reassembly = None
    queue: ReceiveQueue = None
    sizes: SkbSizes = None
    memory: ReceiveMemory = None
    ecn: Public[Ecn | None] = None
    segments: cython.longlong = 0
    predicts: cython.bint = False
    sack: cython.bint = False
    most_blocks: cython.int = 0
    measures_rtt: cython.bint = False
    now_us: Public[cython.longlong] = 0
    duplicates: cython.longlong = 0
    out_of_order_segments: cython.longlong = 0
    rule_measures_reordered: cython.bint = False
    rule_quick_on_reorder: cython.bint = False
    rule_filled_at_once: cython.bint = False
    rule_grows_reordered: cython.bint = False
    rule_clock_us: cython.bint = False
    rule_strict_window: cython.bint = False
    rule_coalesces: cython.bint = False
    first_segment: cython.int = 0
    coalesces_backlog: cython.bint = False

    def __init__(self, settings: ReceiverSettings) -> None:
        rules: ReceiverRules = settings.rules
        self.sizes = settings.sizes
        self.window = ReceiveWindow(
            rules,
            settings.sizes,
            advmss=settings.advmss,
            rmem_default=settings.rmem_default,
            rmem_max=settings.rmem_max,
            moderate=settings.moderate_rcvbuf,
            locked=settings.rcvbuf_locked,
            scaling=settings.window_scaling,
        )
        self.seq = ReceiveSequence(rules, self.window.first)
        self.memory = ReceiveMemory(rules, self.window, self.seq)
        self.compression = AckCompression(rules, settings.sack, settings.srtt_us)
        self.delack = DelayedAck(
            rules,
            settings.timing,
            self.seq,
            self.window,
            self.compression,
            settings.max_quickacks,
            settings.min_rcvmss,
            settings.option_bytes,
            settings.quickack,
        )
        self.held = self.window.held
        self.queue = self.window.queue
        self.measures_rtt = rules.clock_us or not settings.timestamps
        if not self.measures_rtt:
            # a round trip in a LAN is the least that jiffies can measure
            self.window.rtt = 8
        self.sack = settings.sack
        self.most_blocks = (36 - settings.option_bytes) // 8
        self.predicts = True
        self.rule_measures_reordered = rules.measures_reordered
        self.rule_quick_on_reorder = rules.quick_on_reorder
        self.rule_filled_at_once = rules.filled_at_once
        self.rule_grows_reordered = rules.grows_reordered and settings.sack
        self.rule_clock_us = rules.clock_us
        self.rule_strict_window = rules.strict_window
        self.rule_coalesces = rules.coalesces
        self.first_segment = rules.first_segment
        self.coalesces_backlog = rules.coalesces_backlog

    def start(self, seq: int, now_us: int = 0) -> None:
        """The connection has been established; the first byte will be `seq`."""
        self.seq.start(seq)
        self.now_us = now_us
        self.window.rcvq_seq = seq
        self.window.started(now_us)

    # -- what others look at ----------------------------------------------------------------

    @property
    def syn_window(self) -> int:
        """What the SYN offers, bytes: its window field is not scaled."""
        return self.offered_by_syn()

    @cython.cfunc
    def offered_by_syn(self) -> cython.longlong:
        """The same as `syn_window`."""
        return min(self.seq.rcv_wnd, _SYN_WINDOW)

    @property
    def out_of_order(self) -> list[tuple[int, int]]:
        """Segments ahead of a hole: (first byte, last plus one)."""
        return [(segment[0], segment[1]) for segment in self.held.segments]

    def readable(self) -> cython.longlong:
        """Bytes in the receive queue."""
        return self.seq.rcv_nxt - self.seq.copied_seq

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
        now, `delack.schedule_timer` says when; unless `compression.started`, then a timer has to
        send it after `compression.delay_ps`.
        """
        limit: cython.longlong = self.seq.limit()
        self.segments += 1
        self.compression.started = False
        if (seq != self.seq.rcv_nxt or end_seq > limit) and not self.seq.acceptable(seq, end_seq):
            return self._unacceptable(seq, end_seq)
        if self.held.duplicate is not None:
            self.held.duplicate = None
        if seq != self.seq.rcv_nxt:
            if end_seq <= self.seq.rcv_nxt:
                self.duplicates += 1
                self.held.repeated(seq, end_seq)
                return self._out_of_window()
            if seq >= limit:
                return self._out_of_window()
            if self.rule_quick_on_reorder:
                self.delack.enter_quickack(self.delack.max_quickacks)
            if seq > self.seq.rcv_nxt:
                return self._reordered(seq, end_seq, push)
            self.held.repeated(seq, self.seq.rcv_nxt)
            self.duplicates += 1
            direct = False
        if limit == self.seq.rcv_nxt:
            return self._out_of_window()
        if not direct and not self._accepted(seq, end_seq):
            return self._refused()
        self._queue(seq, end_seq, direct)
        self._event_data(end_seq - seq, push, now_jiffy)
        if self.held.count > 0 or not self.predicts:
            self._slow_path()
        return self.delack.due()

    def _queue(
        self, seq: cython.longlong, end_seq: cython.longlong, direct: cython.bint
    ) -> cython.int:
        """`tcp_queue_rcv`."""
        length: cython.longlong = end_seq - self.seq.rcv_nxt
        self.seq.received(end_seq, direct)
        if direct:
            return 0
        if not self.rule_coalesces:
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
            and seq == self.seq.rcv_nxt
            and self.sizes.truesize(end_seq - seq) <= -memory & _PAGE_MASK
        ):
            return True
        if self.first_segment == 1 and self.readable() == 0:
            return True
        if self._memory_left(seq):
            return True
        if self.first_segment == 0 or self.readable() > 0:
            return False
        self.delack.memory_ran_out(self.rule_strict_window)
        return True

    def _memory_left(self, seq: cython.longlong) -> cython.bint:
        """`tcp_try_rmem_schedule`; ACKs wait for the reader once memory has run out."""
        if self.window.allocated() <= self.window.rcvbuf:
            return True
        self.delack.stop_quickacks()
        return self.memory.schedule(seq)

    def _refused(self) -> cython.bint:
        """A segment that is in order, but for which there is no memory."""
        self.predicts = False
        if self.rule_filled_at_once:
            self.delack.memory_ran_out(self.rule_strict_window)
            return True
        return self.delack.scheduled and self.delack.due()

    def _unacceptable(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.bint:
        """`tcp_send_dupack`: outside the window, which `tcp_sequence` finds before all else."""
        if seq < self.seq.rcv_nxt:
            self.duplicates += 1
            self.delack.enter_quickack(self.delack.max_quickacks)
            self.held.repeated(seq, min(end_seq, self.seq.rcv_nxt))
        self.delack.answer()
        return True

    def _out_of_window(self) -> cython.bint:
        """A segment outside the window is answered at once."""
        self.delack.enter_quickack(self.delack.max_quickacks)
        self.delack.schedule_ack()
        return self.delack.segments_per_ack > 0 or self.delack.due()

    def _reordered(
        self, seq: cython.longlong, end_seq: cython.longlong, push: cython.bint
    ) -> cython.bint:
        """`tcp_data_queue_ofo`: the segment is ahead of a hole."""
        length: cython.longlong = end_seq - seq
        self.out_of_order_segments += 1
        if self.ecn is not None:
            self._check_marks()
        if not self._memory_left(seq):
            return self.delack.scheduled and self.delack.due()
        if self.rule_measures_reordered:
            self.delack.measure_mss(length, push)
        self.delack.schedule_ack()
        self.predicts = False
        if self.held.insert(seq, end_seq, self.compression.compressed):
            # the ACKs that were held back go out before this segment counts, and cover it
            return True
        if self.held.duplicate is not None:
            self.duplicates += 1
        if (
            self.rule_grows_reordered
            and self.held.kept
            and self.window.grow(length, self.delack.rcv_mss, self.held.added)
        ):
            self.delack.window_grown()
        if self.window.right_sizing == 2:  # noqa: PLR2004 - RIGHT_SIZING_RATIO
            self.window.follow(self.window.rcvq_space, self.seq.rcv_nxt)
        return self.delack.due()

    def _slow_path(self) -> cython.int:
        """What came may have filled a hole: take what is in order now (`tcp_fast_path_check`)."""
        if self.held.count > 0:
            self.seq.received(self.held.release(self.seq.rcv_nxt, self.queue), False)
            if self.held.count == 0:
                if self.rule_filled_at_once:
                    self.delack.send_now()
                else:
                    self.delack.leave_pingpong()
        if self.held.count == 0 and self.seq.rcv_wnd > 0:
            self.predicts = self.window.allocated() < self.window.rcvbuf
        return 0

    def _event_data(
        self, length: cython.longlong, push: cython.bint, now_jiffy: cython.longlong
    ) -> cython.int:
        """`tcp_event_data_recv`."""
        self.delack.event_data(length, push, now_jiffy)
        if self.measures_rtt:
            self.window.measure_rtt(
                self.seq.rcv_nxt,
                self.seq.rcv_wnd,
                self.now_us if self.rule_clock_us else now_jiffy,
            )
        if self.ecn is not None:
            self._check_marks()
        # tcp_grow_window is called for such segments
        if length >= 128 and self.window.grow(length, self.delack.rcv_mss):  # noqa: PLR2004
            self.delack.window_grown()
        return 0

    def _check_marks(self) -> cython.int:
        """`tcp_ecn_check_ce`: the sender's window may be so small that an ACK must not wait."""
        if self.ecn.each and self.ecn.follows(self.seq.rcv_nxt, self.delack.timeout_jiffy != NONE):
            self.delack.send_now()
        if self.ecn.checked():
            # two since 4.18
            self.delack.enter_quickack(
                self.delack.max_quickacks if self.rule_quick_on_reorder else 2
            )
        return 0

    def marked(self, bits: cython.int, with_data: cython.bint) -> cython.int:
        """ECN's bits of the segment that is handled next, if the connection has agreed on it."""
        if self.ecn.arrives(bits) and with_data and not self.rule_quick_on_reorder:
            self.delack.send_now()
        return 0

    # -- acknowledgements -------------------------------------------------------------------

    def ack_sent(self) -> cython.longlong:
        """Account for an ACK that goes out now; return the window it offers, in bytes."""
        window: cython.longlong = self.delack.sent()
        if window == 0:
            self.predicts = False
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

    # -- reader's side ----------------------------------------------------------------------

    def copied(self, count: cython.longlong, now_jiffy: cython.longlong) -> cython.int:
        """The reader has taken `count` bytes from the receive queue."""
        part: cython.longlong = self.queue.take(count)
        self.seq.copied(part)
        # called for each segment, but only the first time in a round trip does anything
        self.space_adjust(now_jiffy)
        self.queue.release()
        if count > part:
            self.seq.copied(count - part)
            self.queue.consume(count - part)
        return 0

    def space_adjust(self, now_jiffy: cython.longlong) -> cython.int:
        """`tcp_rcv_space_adjust`: dynamic right-sizing, once per round-trip time."""
        return self.window.adjust(
            self.seq.copied_seq,
            self.seq.rcv_nxt,
            self.now_us if self.rule_clock_us else now_jiffy,
        )
