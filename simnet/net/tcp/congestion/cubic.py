"""CUBIC, the default of Linux from 2.6.19 on.

Sources: net/ipv4/tcp_cubic.c of 2.6.18 (version 2.0: beta 819/1024, max_increment 16) and of 2.6.32
(2.3: beta 717/1024, HyStart), RFC 8312; C is 41/1024 of a segment; TCP-friendliness is on.
Arithmetic is the kernel's, in integers; its cube root is off by up to 0.2 %, the one here is exact.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.random import RandomStream
from simnet.net.tcp.congestion.bbr import Bbr
from simnet.net.tcp.congestion.control import Bic, Congestion
from simnet.net.tcp.congestion.dctcp import Dctcp
from simnet.net.tcp.rules.sender_version import SenderRules

_RENO: cython.int = 0
_BIC: cython.int = 1
_CUBIC: cython.int = 2
_DCTCP: cython.int = 3
_BBR: cython.int = 4
_KINDS = {"reno": _RENO, "bic": _BIC, "cubic": _CUBIC, "dctcp": _DCTCP, "bbr": _BBR}
_HZ_BITS: cython.int = 10
_SCALE: cython.longlong = 41
_HYSTART_LOW_WINDOW: cython.longlong = 16
_HYSTART_SAMPLES: cython.int = 8
_HYSTART_ACK_DELTA: cython.longlong = 2
_ACK_RATIO_LIMIT: cython.longlong = 32 << 4
# K, the time to the origin, in 1/1024 s: the cube root of 2^40 / 410 for each segment
_CUBE_FACTOR: cython.longlong = (1 << 40) // 410
# 128 s, after which any window is as large as it gets
_MOST_OFFSET: cython.longlong = 1 << 17


def cube_root(value: int) -> int:
    """Largest integer whose cube is not above `value`."""
    root = 1 << -(-value.bit_length() // 3)
    while root * root * root > value:
        root = (2 * root + value // (root * root)) // 3
    return root


@cython.final
@cython.cclass
class Cubic(Congestion):
    """CUBIC."""

    ack_ratio: cython.longlong = 0
    epoch: cython.longlong = 0
    hz: cython.longlong = 0
    delay_min: cython.longlong = 0  # shortest round trip, jiffies; with HyStart ms times 8
    now_ms: cython.longlong = 0
    hystart: cython.bint = False
    count: cython.longlong = 0
    last_cwnd: cython.longlong = 0
    last_jiffy: cython.longlong = 0
    last_max_cwnd: cython.longlong = 0
    ack_count: cython.longlong = 0
    tcp_cwnd: cython.longlong = 0
    loss_cwnd: cython.longlong = 0
    # of the cubic function, segments and 1/1024 s
    origin: cython.longlong = 0
    k: cython.longlong = 0
    beta: cython.longlong = 0
    beta_scale: cython.longlong = 0
    found: cython.int = 0  # HyStart has ended slow start, 1 for the train of ACKs, 2 for the delay
    samples: cython.int = 0
    round_start_ms: cython.longlong = 0
    last_ack_ms: cython.longlong = 0
    round_end: cython.longlong = 0
    round_rtt: cython.longlong = 0

    def start(
        self,
        initial_cwnd: cython.longlong,
        mss: cython.longlong,
        abc: cython.int,
        hz: cython.longlong,
        rules: SenderRules,
    ) -> cython.int:
        """See `Congestion`."""
        Congestion.start(self, initial_cwnd, mss, abc, hz, rules)
        self.hz = hz
        self.hystart = rules.hystart
        self.wants_us = True
        self.beta = 717 if rules.hystart else 819
        self.beta_scale = 8 * (1024 + self.beta) // 3 // (1024 - self.beta)
        if rules.bic_start:
            self.ssthresh = 100
        self.loss_cwnd = 0
        self.round_start_ms = 0
        self.last_ack_ms = 0
        self.round_end = 0
        self.round_rtt = 0
        self.samples = 0
        self.now_ms = 0
        return self.forget()

    def forget(self) -> cython.int:
        """`bictcp_reset`."""
        self.count = 0
        self.last_max_cwnd = 0
        if not self.hystart:
            self.loss_cwnd = 0
        self.last_cwnd = 0
        self.last_jiffy = 0
        self.origin = 0
        self.k = 0
        self.delay_min = 0
        self.epoch = 0
        self.ack_count = 0
        self.tcp_cwnd = 0
        self.ack_ratio = 32
        self.found = 0
        return 0

    def reduced(self) -> cython.longlong:
        """`bictcp_recalc_ssthresh`: fast convergence, beta."""
        cwnd: cython.longlong = self.cwnd
        self.epoch = 0
        if cwnd < self.last_max_cwnd:
            self.last_max_cwnd = cwnd * (1024 + self.beta) // 2048
        else:
            self.last_max_cwnd = cwnd
        self.loss_cwnd = cwnd
        cwnd = cwnd * self.beta // 1024
        return cwnd if cwnd > 2 else 2  # noqa: PLR2004 - RFC 5681

    def least(self) -> cython.longlong:
        """No lower than the threshold."""
        return self.ssthresh

    def undo_cwnd(self) -> cython.longlong:
        """`bictcp_undo_cwnd`."""
        before: cython.longlong = self.loss_cwnd if self.hystart else self.last_max_cwnd
        return self.cwnd if self.cwnd > before else before

    def segments_acked(
        self,
        count: cython.longlong,
        rtt_us: cython.longlong,
        now_jiffy: cython.longlong,
        now_us: cython.longlong,
        open_state: cython.bint,
    ) -> cython.int:
        """`bictcp_acked`: the ratio of segments to ACKs, the shortest delay, HyStart."""
        delay: cython.longlong
        if open_state:
            self.ack_ratio += count - (self.ack_ratio >> 4)
            if self.hystart and self.ack_ratio > _ACK_RATIO_LIMIT:
                self.ack_ratio = _ACK_RATIO_LIMIT
        self.now_ms = now_us // 1000
        if rtt_us < 0 or (self.epoch > 0 and now_jiffy - self.epoch < self.hz):
            return 0
        delay = (rtt_us << 3) // 1000 if self.hystart else rtt_us * self.hz // 1_000_000
        if delay == 0:
            delay = 1
        if self.delay_min == 0 or self.delay_min > delay:
            self.delay_min = delay
        if self.hystart and self.in_slow_start() and self.cwnd >= _HYSTART_LOW_WINDOW:
            self._hystart(delay)
        return 0

    def _hystart(self, delay: cython.longlong) -> cython.int:
        """`hystart_update`: a long train of ACKs, or a longer delay, ends slow start."""
        threshold: cython.longlong = self.delay_min >> 4
        if self.found != 0:
            return 0
        if self.now_ms - self.last_ack_ms <= _HYSTART_ACK_DELTA:
            self.last_ack_ms = self.now_ms
            if self.now_ms - self.round_start_ms > self.delay_min >> 4:
                self.found |= 1
        if self.samples < _HYSTART_SAMPLES:
            if self.round_rtt == 0 or self.round_rtt > delay:
                self.round_rtt = delay
            self.samples += 1
        else:
            # 4 ms to 16 ms
            if threshold < 4 << 3:
                threshold = 4 << 3
            if threshold > 16 << 3:
                threshold = 16 << 3
            if self.round_rtt > self.delay_min + threshold:
                self.found |= 2
        if self.found != 0:
            self.ssthresh = self.cwnd
        return 0

    def avoid(
        self,
        ack: cython.longlong,
        snd_nxt: cython.longlong,
        now_jiffy: cython.longlong,
        acked: cython.longlong,
    ) -> cython.int:
        """`bictcp_cong_avoid`."""
        if self.in_slow_start():
            if self.hystart and ack > self.round_end:
                self.round_start_ms = self.last_ack_ms = self.now_ms
                self.round_end = snd_nxt
                self.round_rtt = 0
                self.samples = 0
            acked = self._slow_start(acked)
            if acked == 0:
                return 0
        self._update(now_jiffy, acked)
        self._additive(self.count, acked)
        return 0

    def _update(self, now_jiffy: cython.longlong, acked: cython.longlong) -> cython.int:
        """`bictcp_update`: how many ACKs raise the window by one segment."""
        cwnd: cython.longlong = self.cwnd
        target: cython.longlong
        least: cython.longlong
        acked = acked if self.counts_segments else 1
        self.ack_count += acked
        if self.last_cwnd == cwnd and now_jiffy - self.last_jiffy <= self.hz // 32:
            return 0
        self.last_cwnd = cwnd
        self.last_jiffy = now_jiffy
        if self.epoch == 0:
            self.epoch = now_jiffy
            self.ack_count = acked
            self.tcp_cwnd = cwnd
            self.k = 0
            self.origin = cwnd
            if self.last_max_cwnd > cwnd:
                self.k = cube_root(_CUBE_FACTOR * (self.last_max_cwnd - cwnd))
                self.origin = self.last_max_cwnd
        target = self._target(now_jiffy)
        self.count = cwnd // (target - cwnd) if target > cwnd else 100 * cwnd
        if self.hystart:
            if self.last_max_cwnd == 0 and self.count > 20:  # noqa: PLR2004 - 5 % a round trip
                self.count = 20
        else:
            if self.delay_min > 0:
                # at most 16 segments in 0.1 s
                least = cwnd * self.hz * 8 // (10 * 16 * self.delay_min)
                if self.count < least:
                    self.count = least
            if self.loss_cwnd == 0:
                self.count = 50
        self._tcp_friendliness(cwnd)
        if self.counts_segments:
            # no faster than half a segment for each
            self.count = max(self.count, 2)
        else:
            self.count = max((self.count << 4) // self.ack_ratio, 1)
        return 0

    def _target(self, now_jiffy: cython.longlong) -> cython.longlong:
        """The cubic function one round trip from now."""
        time: cython.longlong = now_jiffy - self.epoch
        offset: cython.longlong
        delta: cython.longlong
        scale: cython.longlong = _SCALE * 10
        if self.hystart:
            time += (self.delay_min >> 3) * self.hz // 1000
        else:
            time += self.delay_min
            scale = (_SCALE << 3) // 10
        time = (time << _HZ_BITS) // self.hz
        offset = self.k - time if time < self.k else time - self.k
        if offset > _MOST_OFFSET:
            offset = _MOST_OFFSET
        delta = scale * offset * offset * offset >> 10 + 3 * _HZ_BITS
        return self.origin - delta if time < self.k else self.origin + delta

    def _tcp_friendliness(self, cwnd: cython.longlong) -> cython.int:
        """No slower than Reno would be."""
        step: cython.longlong = cwnd * self.beta_scale >> 3
        most: cython.longlong
        while step > 0 and self.ack_count > step:
            self.ack_count -= step
            self.tcp_cwnd += 1
        if self.tcp_cwnd > cwnd:
            most = cwnd // (self.tcp_cwnd - cwnd)
            if self.count > most:
                self.count = most
        return 0


@cython.final
@cython.cclass
class CongestionMaker:
    """Makes the algorithms of connections that are alike.

    Args:
        name: of the algorithm (``net.ipv4.tcp_congestion_control``); KeyError: there is none.
        initial_cwnd: segments.
        mss: payload of a full segment.
        abc: `tcp_abc`: 0 counts ACKs, 1 and 2 bytes.
        hz: jiffies a second.
        rules: of the kernel's version; None for 2.6.18.
        seed: of all random streams.
        path: of what the connections have in common.
    """

    kind: cython.int = 0
    initial_cwnd: cython.longlong = 0
    mss: cython.longlong = 0
    abc: cython.int = 0
    hz: cython.longlong = 0
    rules: SenderRules = None
    seed: Any = None
    path: Any = None
    made: cython.longlong = 0

    def __init__(
        self,
        name: str,
        initial_cwnd: int,
        *,
        mss: int = 1460,
        abc: int = 0,
        hz: int = 250,
        rules: SenderRules | None = None,
        seed: int = 0,
        path: str = "",
    ) -> None:
        self.kind = _KINDS[name]
        self.initial_cwnd = initial_cwnd
        self.mss = mss
        self.abc = abc
        self.hz = hz
        self.rules = rules or SenderRules()
        self.seed = seed
        self.path = path

    def make(self) -> Congestion:
        """That of one connection."""
        made: Congestion
        bbr: Bbr
        if self.kind == _CUBIC:
            made = Cubic.__new__(Cubic)
        elif self.kind == _BIC:
            made = Bic.__new__(Bic)
        elif self.kind == _DCTCP:
            made = Dctcp.__new__(Dctcp)
        elif self.kind == _BBR:
            bbr = Bbr.__new__(Bbr)
            bbr.draws = RandomStream(self.seed, f"{self.path}.bbr{self.made}")
            made = bbr
        else:
            made = Congestion.__new__(Congestion)
        self.made += 1
        made.start(self.initial_cwnd, self.mss, self.abc, self.hz, self.rules)
        return made
