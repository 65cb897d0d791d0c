"""RED: packets are dropped or marked by chance, the more the longer the queue is in the mean.

Source: net/sched/sch_red.c (`red_enqueue`, `red_dequeue`) and include/net/red.h (`red_calc_qavg`,
`red_action`, `red_mark_probability`) of Linux 6.6; tc/tc_red.c of iproute2 (`tc_red_eval_ewma`,
`tc_red_eval_idle_damping`), which computes an idle queue's damping in ticks of 64 ns where the
kernel counts microseconds. Floyd and Jacobson, "Random Early Detection Gateways for Congestion
Avoidance", 1993. The mean is a fixed-point number with `wlog` binary places.
"""

# mypy: no-strict-optional

import math
from array import array

import cython

from simnet.kernel.compiled import Array
from simnet.kernel.random import RandomStream
from simnet.kernel.sentinel import NONE
from simnet.net.qdisc.qdisc import Packet, PacketList, Qdisc

_US: cython.longlong = 10**6
_RANDOM: cython.longlong = 1 << 32
_STAB: cython.longlong = 255
_MOST_SHIFT = 31
_CELLS = 512
_TICKS_PER_S = 1e6 * 1000 / 64
# what becomes of a packet
_PASSES: cython.int = 0
_BY_CHANCE: cython.int = 1
_BY_FORCE: cython.int = 2


def eval_ewma(qmin: int, burst: int, avpkt: int) -> int:
    """`tc_red_eval_ewma`: binary digits of the weight of a packet; ValueError if there is none."""
    room = burst + 1 - qmin / avpkt
    for wlog in range(1, 32):
        weight = 2.0**-wlog
        if 1 <= room <= (1 - (1 - weight) ** burst) / weight:
            return wlog
    message = f"no weight lets bursts of {burst} packets pass: expected more, or a lesser min"
    raise ValueError(message)


def eval_idle_damping(wlog: int, avpkt: int, rate_bps: int) -> tuple[int, tuple[int, ...]]:
    """`tc_red_eval_idle_damping`: what the mean is shifted by, in cells of idle time.

    Returns:
        Binary digits of a cell, and for each of 256 the shift.
    """
    decay = -math.log(1 - 2.0**-wlog) / (8 * avpkt / rate_bps * _TICKS_PER_S)
    cell_log = 0
    while _MOST_SHIFT / decay / (1 << cell_log) >= _CELLS:
        cell_log += 1
    shifts = [min(int((cell << cell_log) * decay), _MOST_SHIFT) for cell in range(255)]
    return cell_log, (*shifts, _MOST_SHIFT)


@cython.final
@cython.cclass
class Red(Qdisc):
    """The discipline.

    Args:
        stream: random numbers.
        limit: bytes that may wait.
        qmin, qmax: bytes in the mean from which on packets are dropped by chance, and all are.
        probability_ppb: of 10**9 packets, dropped just below `qmax`.
        wlog: see `eval_ewma`.
        cell_log, shifts: see `eval_idle_damping`.
        ecn: packets are marked rather than dropped, where they may be.
    """

    stream: RandomStream = None
    waiting: PacketList = None
    limit: cython.longlong = 0
    qth_min: cython.longlong = 0
    qth_max: cython.longlong = 0
    max_p_delta: cython.longlong = 0
    wlog: cython.int = 0
    cell_log: cython.int = 0
    shifts: Array[cython.longlong] = None
    ecn: cython.bint = False
    qavg: cython.longlong = 0  # bytes that wait in the mean, with `wlog` binary places
    qcount: cython.longlong = 0
    q_random: cython.longlong = 0
    idle_ps: cython.longlong = 0
    # packets, by the kernel's names
    prob_drop: cython.longlong = 0
    prob_mark: cython.longlong = 0
    forced_drop: cython.longlong = 0
    forced_mark: cython.longlong = 0
    pdrop: cython.longlong = 0

    def __init__(
        self,
        stream: RandomStream,
        *,
        limit: int,
        qmin: int,
        qmax: int,
        probability_ppb: int,
        wlog: int,
        cell_log: int,
        shifts: tuple[int, ...],
        ecn: bool,
    ) -> None:
        super().__init__()
        self.stream = stream
        self.waiting = PacketList()
        self.limit = limit
        self.qth_min = qmin << wlog
        self.qth_max = qmax << wlog
        self.max_p_delta = max(probability_ppb * 2**32 // 10**9 // max(qmax - qmin, 1), 1)
        self.wlog = wlog
        self.cell_log = cell_log
        self.shifts = array("q", shifts)
        self.ecn = ecn
        self.qcount = -1
        self.idle_ps = NONE

    def enqueue(self, packet: Packet, now: cython.longlong) -> cython.int:
        """`red_enqueue`."""
        verdict: cython.int
        self._average(now)
        verdict = self._action()
        if verdict != _PASSES:
            if self.ecn and packet.set_ce():
                if verdict == _BY_CHANCE:
                    self.prob_mark += 1
                else:
                    self.forced_mark += 1
            else:
                if verdict == _BY_CHANCE:
                    self.prob_drop += 1
                else:
                    self.forced_drop += 1
                return self.dropped.append(packet)
        if self.waiting.bytes + packet.bytes > self.limit:
            self.pdrop += 1
            return self.dropped.append(packet)
        self.segments += packet.segments
        return self.waiting.append(packet)

    def dequeue(self, now: cython.longlong) -> Packet:
        """`red_dequeue`."""
        packet: Packet = self.waiting.pop()
        if packet is not None:
            self.segments -= packet.segments
        elif self.idle_ps == NONE:
            self.idle_ps = now
        return packet

    def marks(self) -> cython.longlong:
        """Packets that were marked."""
        return self.prob_mark + self.forced_mark

    def over_limit(self) -> cython.longlong:
        """Packets for which there was no room."""
        return self.pdrop

    def _average(self, now: cython.longlong) -> cython.int:
        """`red_calc_qavg`."""
        idle_us: cython.longlong
        shift: cython.longlong
        if self.idle_ps == NONE:
            self.qavg += self.waiting.bytes - (self.qavg >> self.wlog)
            return 0
        idle_us = min((now - self.idle_ps) // _US, _STAB << self.cell_log)
        self.idle_ps = NONE
        shift = self.shifts[idle_us >> self.cell_log & _STAB]
        if shift > 0:
            self.qavg >>= shift
        else:
            # (1 - W)^m is about 1 - m W
            idle_us = self.qavg * idle_us >> self.cell_log
            self.qavg = self.qavg - idle_us if idle_us < self.qavg >> 1 else self.qavg >> 1
        return 0

    def _action(self) -> cython.int:
        """`red_action`."""
        if self.qavg < self.qth_min:
            self.qcount = -1
            return _PASSES
        if self.qavg >= self.qth_max:
            self.qcount = -1
            return _BY_FORCE
        self.qcount += 1
        if self.qcount == 0:
            self.q_random = self.stream.below(_RANDOM) // self.max_p_delta
        elif (self.qavg - self.qth_min >> self.wlog) * self.qcount >= self.q_random:
            self.qcount = 0
            self.q_random = self.stream.below(_RANDOM) // self.max_p_delta
            return _BY_CHANCE
        return _PASSES
