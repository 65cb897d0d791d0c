"""CoDel: packets that waited too long for too long are dropped, at a rate that rises slowly.

With `ecn` a packet that may be marked is marked instead, and with `ce_threshold` each that waited
longer than that is.

Source: RFC 8289, section 5; include/net/codel.h and codel_impl.h of Linux 4.8 to 6.12 (the inverse
of the square root by one Newton step a drop, the rate of the last cycle as a start). The kernel
counts time in units of 1024 ns; so does this.
"""

# mypy: no-strict-optional

import cython

from simnet.kernel.sentinel import NEVER
from simnet.net.qdisc.qdisc import Packet, PacketList, Qdisc

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
        ecn: packets are marked rather than dropped, where they may be.
        ce_threshold_ps: waiting beyond which all are marked that may be; None: none are by that.
    """

    target: cython.longlong = 0
    interval: cython.longlong = 0
    mtu: cython.longlong = 0
    ecn: cython.bint = False
    ce_threshold: cython.longlong = 0

    def __init__(
        self,
        target_ps: int,
        interval_ps: int,
        mtu: int,
        *,
        ecn: bool = False,
        ce_threshold_ps: int | None = None,
    ) -> None:
        self.target = codel_time(target_ps)
        self.interval = codel_time(interval_ps)
        self.mtu = mtu
        self.ecn = ecn
        self.ce_threshold = NEVER if ce_threshold_ps is None else codel_time(ce_threshold_ps)


@cython.final
@cython.cclass
class Codel:
    """`struct codel_vars` and the queue that it manages."""

    limits: CodelLimits = None  # of the discipline
    waiting: PacketList = None  # the packets, oldest first
    dropped: PacketList = None  # gets those that it drops
    count: cython.longlong = 0  # drops since `dropping` began
    lastcount: cython.longlong = 0
    dropping: cython.bint = False  # packets are dropped from time to time
    rec_inv_sqrt: cython.longlong = 0
    first_above_time: cython.longlong = 0
    drop_next: cython.longlong = 0  # when the next is due, units of 1024 ns
    marked: cython.longlong = 0  # packets marked (`ecn_mark` and `ce_mark`)

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
        packet: Packet = self._chosen(now, backlog)
        if (
            packet is not None
            and now - codel_time(packet.enqueued_ps) > self.limits.ce_threshold
            and packet.set_ce()
        ):
            self.marked += 1
        return packet

    def _chosen(self, now: cython.longlong, backlog: cython.longlong) -> Packet:
        """The next packet that is not dropped, which may have been marked in place of that."""
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
            if self._marks(packet):
                self._start(now)
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
            if self._marks(packet):
                self.drop_next = self._control_law(self.drop_next)
                return packet
            self.dropped.append(packet)
            packet = self.waiting.pop()
            backlog -= 0 if packet is None else packet.bytes
            if self._should_drop(packet, now, backlog):
                self.drop_next = self._control_law(self.drop_next)
            else:
                self.dropping = False
        return packet

    def _marks(self, packet: Packet) -> cython.bint:
        """A packet is marked, so that it need not be dropped."""
        if not self.limits.ecn or not packet.set_ce():
            return False
        self.marked += 1
        return True

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


@cython.final
@cython.cclass
class CodelQueue(Qdisc):
    """One queue that CoDel manages (`net/sched/sch_codel.c`).

    Args:
        limits: of CoDel.
        limit: packets that may wait.
    """

    codel: Codel = None
    limit: cython.longlong = 0
    drop_overlimit: cython.longlong = 0  # packets that exceeded it

    def __init__(self, limits: CodelLimits, limit: int) -> None:
        super().__init__()
        self.codel = Codel(limits, PacketList(), self.dropped)
        self.limit = limit

    def enqueue(self, packet: Packet, now: cython.longlong) -> cython.int:
        """Take a packet if there is room."""
        if self.codel.waiting.count >= self.limit:
            self.drop_overlimit += packet.segments
            return self.dropped.append(packet)
        packet.enqueued_ps = now
        self.segments += packet.segments
        return self.codel.waiting.append(packet)

    def dequeue(self, now: cython.longlong) -> Packet:
        """What CoDel lets go."""
        packet: Packet = self.codel.dequeue(now, self.codel.waiting.bytes)
        self.segments = self.codel.waiting.segments
        return packet

    def marks(self) -> cython.longlong:
        """Packets that were marked."""
        return self.codel.marked

    def over_limit(self) -> cython.longlong:
        """Packets for which there was no room."""
        return self.drop_overlimit
