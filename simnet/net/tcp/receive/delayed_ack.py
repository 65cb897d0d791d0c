"""Which acknowledgements go out at once, which later, and which window they offer.

Source: `icsk_ack` (include/net/inet_connection_sock.h) of Linux and what changes it:
net/ipv4/tcp_input.c (`tcp_event_data_recv`, `tcp_measure_rcv_mss`, `tcp_enter_quickack_mode`,
`__tcp_ack_snd_check`), tcp_output.c (`tcp_select_window`, `tcp_send_delayed_ack`), tcp_timer.c
(`tcp_delack_timer`) and tcp.c (`tcp_cleanup_rbuf`), by version (`ReceiverRules`). Times are
jiffies, as in the kernel.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.sentinel import NONE
from simnet.net.tcp.receive.compression import AckCompression
from simnet.net.tcp.receive.queue import ReceiveQueue, ReceiveSequence
from simnet.net.tcp.receive.reassembly import Reassembly
from simnet.net.tcp.receive.timing import AckTiming
from simnet.net.tcp.receive.window import ReceiveWindow
from simnet.net.tcp.rules.receiver_version import ReceiverRules

# TCP_MIN_MSS
_MIN_MSS: cython.longlong = 88
# what the window field of a header holds
_LARGEST_FIELD: cython.longlong = 65535


@cython.final
@cython.no_gc
@cython.cclass
class DelayedAck:
    """`icsk_ack` of one connection.

    Args:
        rules: of the kernel's version.
        timing: how long ACKs may wait.
        seq, window, compression: of the connection.
        max_quickacks: TCP_MAX_QUICKACKS.
        min_rcvmss: TCP_MIN_RCVMSS.
        option_bytes: TCP options of a data segment.
        quickack: `ip route ... quickack 1`.

    Attributes:
        scheduled, pushed, pushed_twice, ack_now, no_memory: `pending`.
        timeout_jiffy: when the timer must run, -1 if it need not.
        blocked: the timer found the socket owned, and the next chance sends the ACK.
        rcv_mss: the sender's segment size, as measured.
        delayed_acks: ACKs that the timer has sent (`LINUX_MIB_DELAYEDACKS`).
        quick_acks: ACKs that were sent in quick ACK mode.
    """

    scheduled: cython.bint = False
    bare: cython.bint = False
    pushed: cython.bint = False
    pushed_twice: cython.bint = False
    blocked: Public[cython.bint] = False
    ack_now: cython.bint = False
    no_memory: cython.bint = False
    pingpong: cython.bint = False
    quick: cython.int = 0
    answers: cython.int = 0
    ato: cython.longlong = 0
    timeout_jiffy: Public[cython.longlong] = 0
    rcv_mss: cython.longlong = 0
    lrcvtime: cython.longlong = 0
    last_small: cython.longlong = 0
    unacknowledged: cython.int = 0
    segments_per_ack: cython.int = 0
    quickack: cython.bint = False
    seq: ReceiveSequence = None
    window: ReceiveWindow = None
    held: Reassembly = None
    queue: ReceiveQueue = None
    compression: AckCompression = None
    ato_min: cython.longlong = 0
    rto_jiffies: cython.longlong = 0
    delack_min: cython.longlong = 0
    delack_max: cython.longlong = 0
    delack_limit: cython.longlong = 0
    srtt_jiffies: cython.longlong = 0
    scan_jiffies: cython.longlong = 0
    advmss: cython.longlong = 0
    min_rcvmss: cython.longlong = 0
    option_bytes: cython.longlong = 0
    max_quickacks: cython.int = 0
    pingpong_threshold: cython.int = 0
    rule_rounds_current: cython.bint = False
    rule_counts_scheduled: cython.bint = False
    rule_pushed_full: cython.bint = False
    rule_pushed_twice: cython.bint = False
    rule_mss_clamped: cython.bint = False
    rule_blocks_timer: cython.bint = False
    defers_timer: cython.bint = False
    timer_jiffies: cython.int = 0
    delayed_acks: cython.int = 0
    quick_acks: cython.int = 0

    def __init__(
        self,
        rules: ReceiverRules,
        timing: AckTiming,
        seq: ReceiveSequence,
        window: ReceiveWindow,
        compression: AckCompression,
        max_quickacks: cython.int,
        min_rcvmss: cython.longlong,
        option_bytes: cython.longlong,
        quickack: cython.bint,
    ) -> None:
        self.seq = seq
        self.window = window
        self.held = window.held
        self.queue = window.queue
        self.compression = compression
        (
            self.ato_min,
            self.delack_max,
            self.rto_jiffies,
            self.delack_min,
            self.delack_limit,
            self.srtt_jiffies,
        ) = timing.in_jiffies
        self.max_quickacks = max_quickacks
        self.min_rcvmss = min_rcvmss
        self.option_bytes = option_bytes
        self.quickack = quickack
        self.advmss = window.advmss
        self.rcv_mss = max(min(window.advmss, seq.rcv_wnd // 2, min_rcvmss), _MIN_MSS)
        self.bare = True
        self.timeout_jiffy = NONE
        self.rule_rounds_current = rules.rounds_current
        self.rule_counts_scheduled = rules.counts_scheduled
        self.rule_pushed_full = rules.pushed_full
        self.rule_pushed_twice = rules.pushed_twice
        self.rule_mss_clamped = rules.mss_clamped
        self.rule_blocks_timer = rules.blocks_timer
        self.defers_timer = rules.defers_timer
        self.timer_jiffies = 1 if rules.timer_rounds_up else 0
        self.pingpong_threshold = rules.pingpong_threshold
        self.segments_per_ack = rules.segments_per_ack
        self.scan_jiffies = rules.scan_jiffies

    # -- what has come ----------------------------------------------------------------------

    @cython.cfunc
    def schedule_ack(self) -> cython.int:
        """`inet_csk_schedule_ack`: a segment with data is to be acknowledged."""
        self.scheduled = True
        self.bare = False
        return 0

    @cython.cfunc
    def answer(self) -> cython.int:
        """`tcp_send_dupack`: an ACK is sent, but not for data, so `bare` stays as it is."""
        self.scheduled = True
        return 0

    @cython.cfunc
    def send_now(self) -> cython.int:
        """ICSK_ACK_NOW."""
        self.ack_now = True
        return 0

    @cython.cfunc
    def memory_ran_out(self, closes: cython.bint) -> cython.int:
        """ICSK_ACK_NOMEM: an ACK goes out at once; with `closes` it closes the window."""
        self.ack_now = True
        self.schedule_ack()
        self.no_memory = closes
        return 0

    @cython.cfunc
    def event_data(
        self, length: cython.longlong, push: cython.bint, now_jiffy: cython.longlong
    ) -> cython.int:
        """`tcp_event_data_recv`: data have come in order."""
        since: cython.longlong = now_jiffy - self.lrcvtime
        self.unacknowledged += 1
        self.scheduled = True
        self.bare = False
        self.measure_mss(length, push)
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
        return 0

    @cython.cfunc
    def measure_mss(self, length: cython.longlong, push: cython.bint) -> cython.int:
        """`tcp_measure_rcv_mss`."""
        last: cython.longlong = self.last_small
        if length > self.advmss and self.window.sizes.buffer_bytes > 0:
            # merged by the driver: the size of its parts counts
            length = self.advmss
        self.last_small = 0
        if length >= self.rcv_mss:
            if length > self.rcv_mss:
                self.window.measured(length, self.seq.rcv_wnd)
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

    # -- quick and interactive --------------------------------------------------------------

    def _add_quickacks(self, most: cython.int) -> cython.int:
        """`tcp_incr_quickack`."""
        quick: cython.longlong = self.seq.rcv_wnd // (2 * self.rcv_mss)
        if quick == 0:
            quick = 2
        if quick > most:
            quick = most
        if quick > self.quick:
            self.quick = quick
        return 0

    @cython.cfunc
    def enter_quickack(self, most: cython.int) -> cython.int:
        """`tcp_enter_quickack_mode`."""
        self._add_quickacks(most)
        self.leave_pingpong()
        self.ato = self.ato_min
        return 0

    @cython.cfunc
    def window_grown(self) -> cython.int:
        """`tcp_grow_window`: the sender is told soon."""
        self.quick |= 1
        return 0

    @cython.cfunc
    def stop_quickacks(self) -> cython.int:
        """`tcp_clamp_window`: memory is short."""
        self.quick = 0
        return 0

    @cython.cfunc
    def leave_pingpong(self) -> cython.int:
        """`inet_csk_exit_pingpong_mode`."""
        self.pingpong = False
        self.answers = 0
        return 0

    def _enter_pingpong(self) -> None:
        """`inet_csk_enter_pingpong_mode`."""
        self.pingpong = True
        self.answers = self.pingpong_threshold

    def set_quickack(self, value: int) -> bool:
        """TCP_QUICKACK (`__tcp_sock_set_quickack`); return whether an ACK goes out now."""
        if value == 0:
            self._enter_pingpong()
            return False
        self.leave_pingpong()
        if not self.scheduled:
            return False
        self.pushed = True
        due = bool(self.due_after_copy(1))
        if not value & 1:
            self._enter_pingpong()
        return due

    def data_sent(self, now_jiffy: cython.longlong) -> cython.int:
        """Data goes out (`tcp_event_data_sent`): an answer within `ato` makes it interactive."""
        if now_jiffy - self.lrcvtime < self.ato:
            if self.answers < self.pingpong_threshold:
                self.answers += 1
            self.pingpong = self.answers >= self.pingpong_threshold
        return 0

    # -- now or later -----------------------------------------------------------------------

    def select_window(self) -> cython.longlong:
        """`__tcp_select_window`: the window that an ACK sent now would offer, in bytes."""
        window: cython.longlong = self.window.offer(self.seq.rcv_wnd, self.rcv_mss)
        if self.window.scarce:
            self.quick = 0
        return window

    @cython.cfunc
    def due(self) -> cython.bint:
        """`__tcp_ack_snd_check`: whether an ACK goes out now."""
        if self.segments_per_ack > 0:
            return (
                self.unacknowledged >= self.segments_per_ack or self.ack_now or self.held.count > 0
            )
        if (
            (
                self.seq.rcv_nxt - self.seq.rcv_wup > self.rcv_mss
                and self.select_window() >= self.seq.rcv_wnd
            )
            or self.quickack
            or (self.quick > 0 and not self.pingpong)
            or self.ack_now
        ):
            return True
        return self.held.count > 0 and not self.compression.holds(self.seq.rcv_nxt)

    def holds(self, seq: cython.longlong, end_seq: cython.longlong) -> cython.bint:
        """Whether the segment, taken next and by the reader, leaves the ACK to the next."""
        if self.segments_per_ack > 0:
            return (
                seq == self.seq.rcv_nxt
                and self.unacknowledged + 1 < self.segments_per_ack
                and self.held.count == 0
            )
        return (
            seq == self.seq.rcv_nxt
            and end_seq - self.seq.rcv_wup <= self.rcv_mss
            and (self.quick == 0 or self.pingpong)
            and not self.quickack
            and self.held.count == 0
        )

    def due_after_copy(self, copied: cython.longlong) -> cython.bint:
        """`tcp_cleanup_rbuf` after the reader took `copied` bytes: whether an ACK goes out."""
        now: cython.longlong
        window: cython.longlong
        if (
            self.scheduled
            and self.segments_per_ack == 0
            and (
                self.blocked
                or self.seq.rcv_nxt - self.seq.rcv_wup > self.rcv_mss
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
            now = self.seq.room()
            if 2 * now <= self.window.window_clamp:
                window = self.select_window()
                return window > 0 and window >= 2 * now
        return False

    @cython.cfunc
    def sent(self) -> cython.longlong:
        """`tcp_select_window`, `tcp_event_ack_sent`: an ACK goes out; return what it offers."""
        current: cython.longlong
        window: cython.longlong = 0
        if not self.no_memory:
            current = self.seq.room()
            window = self.select_window()
            if window < current:
                window = current
                if self.rule_rounds_current:
                    window = (current + (1 << self.window.wscale) - 1) >> self.window.wscale
                    window <<= self.window.wscale
        self.seq.offered(window)
        if self.quick > 0 and not (self.bare and self.rule_counts_scheduled):
            if not self.pingpong:
                self.quick_acks += 1
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
        if self.compression.compressed > 0:
            self.compression.sent()
        self.timeout_jiffy = NONE
        return min(window, _LARGEST_FIELD << self.window.wscale)

    # -- timer ------------------------------------------------------------------------------

    def schedule_timer(self, now_jiffy: cython.longlong) -> cython.longlong:
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
                limit = max(self.srtt_jiffies, self.delack_min)
            if ato > limit:
                ato = limit
        if ato > self.delack_limit:
            ato = self.delack_limit
        timeout = now_jiffy + ato
        if self.timeout_jiffy != NONE:
            if self.blocked or self.timeout_jiffy <= now_jiffy + (ato >> 2):
                return 0
            if timeout > self.timeout_jiffy:
                timeout = self.timeout_jiffy
        self.timeout_jiffy = timeout
        return timeout

    def expired(self) -> cython.bint:
        """`tcp_delack_timer`, socket not owned by the user; return whether to send the ACK."""
        if self.compression.compressed > 0:
            return True
        self.timeout_jiffy = NONE
        if not self.scheduled:
            return False
        self.delayed_acks += 1
        if not self.pingpong:
            self.ato <<= 1
            if self.ato > self.rto_jiffies:
                self.ato = self.rto_jiffies
        else:
            self.leave_pingpong()
            self.ato = self.ato_min
        return True

    def found_owned(self) -> cython.int:
        """The timer cannot send while the user owns the socket."""
        if self.rule_blocks_timer:
            self.blocked = True
        return 0
