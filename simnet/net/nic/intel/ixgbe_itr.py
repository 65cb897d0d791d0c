"""The throttle of an ixgbe vector that adapts to the traffic.

Source: drivers/net/ethernet/intel/ixgbe of Linux (ixgbe_main.c `ixgbe_update_itr`, `ixgbe_set_itr`,
`ixgbe_write_eitr`; ixgbe_lib.c `ixgbe_alloc_q_vector`; ixgbe.h). The throttle is kept in quarters
of a microsecond; the register drops what is less than 2 us. Where a poll ends each direction says
what its packets since the last look ask for.

Since 4.15 the smaller of both counts. Few packets mean latency, up to 48 that the vector waits a
little too short, from 96 on that it waits twice too long, and from 256 on a value that follows from
the mean size of a frame and the link's speed. A direction that was last looked at before the jiffy
before asks for 10 us. The highest bit of a value says that latency counts. Until 5.4 values of more
than 255 us lose their upper bits: of sizes around 1975 bytes the throttle is 0, and on links of
2.5 Gbit/s and slower it is much shorter than meant.

Up to 4.14 bytes in a microsecond say whether a direction has lowest or low latency or is bulk, and
the more patient one gives 10, 50 or 84 us, towards which the throttle goes by a tenth of the rate.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import cython

from simnet.host.release import release
from simnet.kernel.compiled import Public

# ixgbe.h; IXGBE_100K_ITR, IXGBE_20K_ITR and IXGBE_12K_ITR in quarters of a us
_MIN_INC: cython.longlong = 2
_MIN_USECS: cython.longlong = 10
_MAX_USECS: cython.longlong = 126
_LATENCY: cython.longlong = 0x80
_BYTE: cython.longlong = 0xFF
_REGISTER: cython.longlong = 0xFF8
_QUARTER_PS: cython.longlong = 250_000
_LOWEST_ITR: cython.longlong = 40
_LOW_ITR: cython.longlong = 200
_BULK_ITR: cython.longlong = 336
# limits of ixgbe_update_itr, in packets and bytes
_FEW: cython.longlong = 4
_FEW_BYTES: cython.longlong = 9000
_SLIGHTLY_LOW: cython.longlong = 48
_RIGHT: cython.longlong = 96
_OVERRUN: cython.longlong = 256
# mean sizes of a frame between which the throttle is a straight line
_SMALLEST: cython.longlong = 60
_SMALL: cython.longlong = 316
_MEDIUM: cython.longlong = 1084
_LARGE: cython.longlong = 1968
_LARGE_UNCAPPED: cython.longlong = 1981
_PLATEAU: cython.longlong = 32256
_SLOW_PLATEAU: cython.longlong = 8064
# of the same up to 4.14: bytes in a us
_LOWEST: cython.longlong = 0
_LOW: cython.longlong = 1
_BULK: cython.longlong = 2
_LITTLE: cython.longlong = 10
_MUCH: cython.longlong = 20

_BY_PACKETS: Final = (4, 15)
_CAPPED: Final = (5, 4)
_SLOW_MBPS = (10, 1000, 2500)


@dataclass(frozen=True)
class ItrRules:
    """What a kernel's driver does."""

    classes: bool = False  # three classes of traffic; else packets between two looks count
    capped: bool = True  # no value is longer than it can hold


def itr_rules(version: str) -> ItrRules:
    """Return the rules of a version of Linux."""
    known = release(version)
    return ItrRules(classes=known < _BY_PACKETS, capped=known >= _CAPPED)


@cython.final
@cython.cclass
class RingContainer:
    """One direction (`struct ixgbe_ring_container`).

    Attributes:
        packets, size: that polls have taken since the last look, and their bytes.
        itr: what it asks for in us, with the bit for latency; up to 4.14 its class.
    """

    packets: cython.longlong = 0
    size: cython.longlong = 0
    itr: Public[cython.longlong] = 0
    next_update: cython.longlong = 0

    def __init__(self) -> None:
        self.next_update = -1

    def took(self, packets: cython.longlong, size: cython.longlong) -> cython.int:
        """A poll has taken packets with so many bytes."""
        self.packets += packets
        self.size += size
        return 0


@cython.final
@cython.cclass
class IxgbeItr:
    """The throttle of one vector.

    Args:
        usecs: what `ethtool -C` has set: 1 for one that adapts, else us.
        link_mbps: speed of the link.
        rules: of the kernel.
    """

    # received and sent frames
    rx: RingContainer = None
    tx: RingContainer = None
    adapts: cython.bint = False
    classes: cython.bint = False
    capped: cython.bint = False
    slow: cython.bint = False
    itr: Public[cython.longlong] = 0  # `q_vector->itr`, in quarters of a us

    def __init__(self, usecs: int, link_mbps: int, rules: ItrRules) -> None:
        self.rx = RingContainer()
        self.tx = RingContainer()
        self.adapts = usecs == 1
        self.classes = rules.classes
        self.capped = rules.capped
        self.slow = link_mbps in _SLOW_MBPS
        self.itr = _LOW_ITR if self.adapts else 4 * usecs
        if not rules.classes:
            self.rx.itr = self.tx.itr = _MAX_USECS | _LATENCY

    def interval_ps(self) -> cython.longlong:
        """What the register has: the least time between two interrupts."""
        return (self.itr & _REGISTER) * _QUARTER_PS

    def update(self, jiffies: cython.longlong) -> cython.int:
        """`ixgbe_set_itr`: a poll is over."""
        itr: cython.longlong
        if not self.adapts:
            return 0
        if self.classes:
            itr = self._by_class()
            if itr != self.itr:
                self.itr = 10 * itr * self.itr // (9 * itr + self.itr)
            return 0
        self._judge(self.tx, jiffies)
        self._judge(self.rx, jiffies)
        self.itr = (min(self.rx.itr, self.tx.itr) & ~_LATENCY) << 2
        return 0

    # -- since 4.15 ---------------------------------------------------------------------------

    def _judge(self, rc: RingContainer, jiffies: cython.longlong) -> cython.int:
        """`ixgbe_update_itr`."""
        if jiffies > rc.next_update:
            rc.itr = _MIN_USECS | _LATENCY
        else:
            rc.itr = self._target(rc) & _BYTE
        rc.next_update = jiffies + 1
        rc.packets = 0
        rc.size = 0
        return 0

    def _target(self, rc: RingContainer) -> cython.longlong:
        """What the packets since the last look ask for."""
        packets: cython.longlong = rc.packets
        longer: cython.longlong = min((self.itr >> 2) + _MIN_INC, _MAX_USECS)
        if packets == 0:
            return longer + (rc.itr & _LATENCY)
        if packets < _FEW and rc.size < _FEW_BYTES:
            return _LATENCY + self._by_size(rc.size // packets, True)
        if packets < _SLIGHTLY_LOW:
            return longer
        if packets < _RIGHT:
            return self.itr >> 2
        if packets < _OVERRUN:
            return max(self.itr >> 3, _MIN_USECS)
        return self._by_size(rc.size // packets, False)

    def _by_size(self, size: cython.longlong, latency: cython.bint) -> cython.longlong:
        """170 us times (size + 24) / (size + 640), in straight pieces, by the link's speed."""
        divisor: cython.longlong = 64 if self.slow else 256
        if size <= _SMALLEST:
            size = 5120
        elif size <= _SMALL:
            size = size * 40 + 2720
        elif size <= _MEDIUM:
            size = size * 15 + 11452
        elif size < (_LARGE if self.capped else _LARGE_UNCAPPED):
            size = size * 5 + 22420
        else:
            size = _PLATEAU
        if latency:
            size //= 2
        if self.slow and self.capped:
            size = min(size, _SLOW_PLATEAU)
        divisor *= _MIN_INC
        return (size + divisor - 1) // divisor * _MIN_INC

    # -- up to 4.14 ---------------------------------------------------------------------------

    def _by_class(self) -> cython.longlong:
        """The throttle of the more patient class."""
        patience: cython.longlong
        self._class_of(self.tx)
        self._class_of(self.rx)
        patience = max(self.rx.itr, self.tx.itr)
        if patience == _LOWEST:
            return _LOWEST_ITR
        return _LOW_ITR if patience == _LOW else _BULK_ITR

    def _class_of(self, rc: RingContainer) -> cython.int:
        """`ixgbe_update_itr` of those versions."""
        passed_us: cython.longlong = self.itr >> 2
        each: cython.longlong
        if rc.packets == 0 or passed_us == 0:
            return 0
        each = rc.size // passed_us
        if rc.itr == _LOWEST:
            if each > _LITTLE:
                rc.itr = _LOW
        elif rc.itr == _LOW:
            if each > _MUCH:
                rc.itr = _BULK
            elif each <= _LITTLE:
                rc.itr = _LOWEST
        elif each <= _MUCH:
            rc.itr = _LOW
        rc.packets = 0
        rc.size = 0
        return 0
