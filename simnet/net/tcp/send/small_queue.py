"""What a connection has queued below TCP, and how much of it there may be.

Source: net/ipv4/tcp_output.c (`tcp_small_queue_check`, `tcp_tso_autosize`, `tcp_wfree`), tcp.c
(`tcp_should_autocork`, from 3.14) and tcp_input.c (`tcp_update_pacing_rate`) of Linux 5.4 to 6.18.
Without the queueing discipline fq no segment waits for its time: the pacing rate only says how long
a large segment is, and how much may be queued. With it the rate also says when each may leave. BBR
sets the rate itself; without fq TCP then lets segments wait by a timer of the connection
(`tcp_pacing_check`, `tcp_pace_kick`).
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.net.tcp.rules.sender_version import SenderRules

_GSO_BYTES: cython.longlong = 65536
_SECOND_PS: cython.longlong = 10**12
_US_PS: cython.longlong = 10**6
_UNPACED: cython.longlong = 10
# sk_pacing_shift: a part of a second, about a millisecond
_PACING_SHIFT: cython.longlong = 10
# bytes by eighths of microseconds, percent: `USEC_PER_SEC / 100 << 3`
_PER_SECOND: cython.longlong = 80_000
_UNMEASURED: cython.longlong = 1 << 40
# shifted by so many bits or more, nothing is left of 64 KiB
_SHIFTED_OUT: cython.longlong = 17


@cython.final
@cython.no_gc
@cython.cclass
class SmallQueue:
    """The queue of one connection in its device, by the rules of a kernel's version.

    Args:
        rules: of the kernel's version.
        overhead_bytes: memory of a segment beyond its payload.
    """

    overhead_bytes: cython.longlong = 0
    limit_output_bytes: cython.longlong = 0
    tso_rtt_log: cython.longlong = 0
    min_tso_segs: cython.longlong = 0
    autocorking: cython.bint = False
    pacing_ss_ratio: cython.longlong = 0
    pacing_ca_ratio: cython.longlong = 0
    single_passes: cython.longlong = 0
    # memory of what the device's ring holds (`sk_wmem_alloc`)
    wmem_alloc: Public[cython.longlong] = 0
    staged: Public[cython.longlong] = 0  # of what is about to be given to it
    # what is freed next lets the connection send again (TSQ_THROTTLED)
    throttled: Public[cython.bint] = False
    pushing: Public[cython.bint] = False  # a process ends a send (`tcp_push`)
    pacing: cython.longlong = 0  # bytes of about a millisecond at the pacing rate
    rate: cython.longlong = 0
    paces: Public[cython.bint] = False  # segments wait for their time in fq (SK_PACING_FQ)
    timed: Public[cython.bint] = False  # TCP lets them wait itself, by a timer (SK_PACING_NEEDED)
    kick_ps: Public[cython.longlong] = 0  # when that is to run; 0: not at all
    # when the large segment under way should leave (`tcp_wstamp_ns`)
    depart_ps: cython.longlong = 0
    wstamp_ps: cython.longlong = 0
    credit_ps: cython.longlong = 0
    large_bytes: cython.longlong = 0
    # how often a large segment has waited to become full (TCPAutoCorking)
    corked: cython.longlong = 0

    def __init__(self, rules: SenderRules, overhead_bytes: int) -> None:
        self.overhead_bytes = overhead_bytes
        self.limit_output_bytes = rules.limit_output_bytes
        self.tso_rtt_log = rules.tso_rtt_log
        self.min_tso_segs = rules.min_tso_segs
        self.autocorking = rules.autocorking
        self.pacing_ss_ratio = rules.pacing_ss_ratio
        self.pacing_ca_ratio = rules.pacing_ca_ratio
        self.single_passes = rules.single_passes
        self.pacing = _UNMEASURED

    def truesize(self, length: cython.longlong, mss: cython.longlong) -> cython.longlong:
        """Memory of a large segment with `length` bytes of payload."""
        return length + (length + mss - 1) // mss * self.overhead_bytes

    def update_pacing(
        self,
        mss: cython.longlong,
        segments: cython.longlong,
        srtt: cython.longlong,
        starting: cython.bint,
    ) -> cython.int:
        """`tcp_update_pacing_rate`, after each ACK.

        Args:
            mss: payload of a segment.
            segments: of the congestion window, or in flight if those are more.
            srtt: smoothed round trip in eighths of a microsecond; 0 if it was not measured.
            starting: the window is less than half of the slow-start threshold.
        """
        ratio: cython.longlong = self.pacing_ss_ratio if starting else self.pacing_ca_ratio
        rate: cython.longlong = mss * _PER_SECOND * ratio * segments
        if srtt > 0:
            rate //= srtt
        self.rate = rate
        self.pacing = rate >> _PACING_SHIFT
        return 0

    def set_rate(self, rate: cython.longlong, min_tso_segs: cython.longlong) -> cython.int:
        """An algorithm has set the pacing rate, bytes a second."""
        self.rate = rate
        self.pacing = rate >> _PACING_SHIFT
        self.min_tso_segs = min_tso_segs
        return 0

    def ahead_us(self, now_us: cython.longlong) -> cython.longlong:
        """How much later than now the next segment may leave; 0: it may."""
        ahead: cython.longlong = (self.wstamp_ps + _US_PS - 1) // _US_PS - now_us
        return ahead if ahead > 0 else 0

    def waits(self, now_us: cython.longlong) -> cython.bint:
        """`tcp_pacing_check`: the next segment waits for the timer, which is set."""
        ahead: cython.longlong
        if not self.timed:
            return False
        ahead = self.ahead_us(now_us)
        if ahead == 0:
            return False
        self.kick_ps = (now_us + ahead) * _US_PS
        return True

    def departs(
        self,
        length: cython.longlong,
        now_ps: cython.longlong,
        begins: cython.bint,
        segments: cython.longlong,
    ) -> cython.longlong:
        """`tcp_update_skb_after_send`: when a segment should leave; the next large one, later.

        The first ten segments are not paced. Of what the connection was late, up to half of a
        large segment's time is made up for.

        Args:
            length: of the segment.
            now_ps: the time.
            begins: it is the first of a large one, which leaves as a whole.
            segments: sent so far.
        """
        length_ps: cython.longlong
        if begins:
            self.depart_ps = max(self.wstamp_ps, now_ps)
            self.credit_ps = self.depart_ps - self.wstamp_ps
            self.large_bytes = 0
        self.large_bytes += length
        self.wstamp_ps = self.depart_ps
        if segments >= _UNPACED and self.rate > 0:
            length_ps = self.large_bytes * _SECOND_PS // self.rate
            self.wstamp_ps += length_ps - min(length_ps // 2, self.credit_ps)
        return self.depart_ps

    def goal_bytes(self, mss: cython.longlong, least_rtt_us: cython.longlong) -> cython.longlong:
        """`tcp_tso_autosize`: the longest large segment.

        From 5.18 (`tcp_tso_rtt_log`) near hosts get full ones whatever the rate.
        """
        most: cython.longlong = self.pacing
        shift: cython.longlong
        if self.tso_rtt_log > 0 and least_rtt_us >= 0:
            shift = least_rtt_us >> self.tso_rtt_log
            if shift < _SHIFTED_OUT:
                most += _GSO_BYTES >> shift
        return max(min(most, _GSO_BYTES), self.min_tso_segs * mss)

    def throttles(self, truesize: cython.longlong, outstanding: cython.longlong) -> cython.bint:
        """`tcp_small_queue_check`: a segment of that memory waits until something is freed.

        `outstanding`: large segments, at least, that are not acknowledged. With none, and from 6.7
        with one, nothing waits: what was sent is not freed soon.
        """
        limit: cython.longlong = max(2 * truesize, self.pacing)
        if not (self.paces or self.timed):
            limit = min(limit, self.limit_output_bytes)
        if self.wmem_alloc + self.staged <= limit or outstanding <= self.single_passes:
            return False
        self.throttled = True
        return True

    def corks(self, truesize: cython.longlong) -> cython.bint:
        """`tcp_should_autocork`: what is not full waits while the device holds more than that.

        To be asked only if something sent is not acknowledged.
        """
        if not (self.autocorking and self.pushing) or self.wmem_alloc + self.staged <= truesize:
            return False
        self.corked += 1
        self.throttled = True
        return True
