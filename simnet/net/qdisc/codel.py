"""CoDel: packets that waited too long for too long are dropped, at a rate that rises slowly.

Source: RFC 8289, section 5; include/net/codel.h and codel_impl.h of Linux 4.8 to 6.12 (the inverse
of the square root by one Newton step a drop, the rate of the last cycle as a start). The kernel
counts time in units of 1024 ns; so does this.
"""

# mypy: no-strict-optional
from __future__ import annotations

import cython

from simnet.net.qdisc.qdisc import Packet, PacketList

_NS_PS: cython.longlong = 1000
_HALF: cython.longlong = 0xFFFFFF
_THREE: cython.longlong = 3 << 32
# rec_inv_sqrt has 16 bits
_ALL: cython.longlong = 0xFFFF
_SHIFT: cython.longlong = 16
_CYCLES: cython.longlong = 16


def codel_time(time_ps: cython.longlong) -> cython.longlong:
    """`codel_get_time`: a time in units of 1024 ns."""
    return time_ps // _NS_PS >> 10


@cython.final
@cython.cclass
class CodelLimits:
    """`struct codel_params` (target, interval and mtu) for all queues of a discipline.

    Args:
        target_ps: waiting that is good.
        interval_ps: for how long more than that is put up with.
        mtu: bytes that may wait whatever the time.
    """

    target: cython.longlong = 0
    interval: cython.longlong = 0
    mtu: cython.longlong = 0

    def __init__(self, target_ps: int, interval_ps: int, mtu: int) -> None:
        self.target = codel_time(target_ps)
        self.interval = codel_time(interval_ps)
        self.mtu = mtu


@cython.final
@cython.cclass
class Codel:
    """`struct codel_vars` and the queue that it manages.

    Args:
        limits: of the discipline.
        waiting: the packets, oldest first.
        dropped: gets those that it drops.

    Attributes:
        dropping: packets are dropped from time to time.
        count: drops since that began.
        drop_next: when the next is due, units of 1024 ns.
    """

    limits: CodelLimits = None
    waiting: PacketList = None
    dropped: PacketList = None
    count: cython.longlong = 0
    lastcount: cython.longlong = 0
    dropping: cython.bint = False
    rec_inv_sqrt: cython.longlong = 0
    first_above_time: cython.longlong = 0
    drop_next: cython.longlong = 0

    def __init__(self, limits: CodelLimits, waiting: PacketList, dropped: PacketList) -> None:
        self.limits = limits
        self.waiting = waiting
        self.dropped = dropped

    def penalise(self, drops: cython.longlong) -> cython.int:
        """The discipline itself has dropped packets: the signal becomes stronger."""
        self.count += drops
        return 0

    def dequeue(self, now_ps: cython.longlong, backlog: cython.longlong) -> Packet:
        """`codel_dequeue`: the next packet, after those that are dropped; None if none is left.

        `backlog`: bytes that wait in the whole discipline, this packet included.
        """
        now: cython.longlong = codel_time(now_ps)
        packet: Packet = self.waiting.pop()
        drop: cython.bint
        if packet is None:
            self.dropping = False
            return packet
        backlog -= packet.bytes
        drop = self._should_drop(packet, now, backlog)
        if not self.dropping:
            if not drop:
                return packet
            self.dropped.append(packet)
            packet = self.waiting.pop()
            self._should_drop(packet, now, backlog - (0 if packet is None else packet.bytes))
            self._start(now)
            return packet
        if not drop:
            self.dropping = False
        while self.dropping and now >= self.drop_next:
            self.count += 1
            self._newton_step()
            self.dropped.append(packet)
            packet = self.waiting.pop()
            backlog -= 0 if packet is None else packet.bytes
            if self._should_drop(packet, now, backlog):
                self.drop_next = self._control_law(self.drop_next)
            else:
                self.dropping = False
        return packet

    def _should_drop(
        self, packet: Packet, now: cython.longlong, backlog: cython.longlong
    ) -> cython.bint:
        """`codel_should_drop`: packets have waited longer than the target for an interval."""
        if (
            packet is None
            or now - codel_time(packet.enqueued_ps) < self.limits.target
            or backlog <= self.limits.mtu
        ):
            self.first_above_time = 0
            return False
        if self.first_above_time == 0:
            self.first_above_time = now + self.limits.interval
            return False
        return now > self.first_above_time

    def _start(self, now: cython.longlong) -> cython.int:
        """Enter the dropping state, at the rate of the last time if that is not long ago."""
        delta: cython.longlong = self.count - self.lastcount
        self.dropping = True
        if delta > 1 and now - self.drop_next < _CYCLES * self.limits.interval:
            self.count = delta
            self._newton_step()
        else:
            self.count = 1
            self.rec_inv_sqrt = _ALL
        self.lastcount = self.count
        self.drop_next = self._control_law(now)
        return 0

    def _newton_step(self) -> cython.int:
        """`codel_Newton_step`: 1/sqrt(count) in fixed point, with the kernel's wrap at 64 bits."""
        inverse: cython.longlong = self.rec_inv_sqrt
        value: cython.longlong = (_THREE - self.count * inverse * inverse) >> 2
        high: cython.longlong = (value >> 24 & _HALF) * inverse & _HALF
        product: cython.longlong = (high << 24) + (value & _HALF) * inverse
        self.rec_inv_sqrt = product >> 31 & _ALL
        return 0

    def _control_law(self, time: cython.longlong) -> cython.longlong:
        """`codel_control_law`: an interval by the square root of the drops later."""
        return time + (self.limits.interval * (self.rec_inv_sqrt << _SHIFT) >> 32)
