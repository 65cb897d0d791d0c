"""The throttle of an i40e vector that adapts to the traffic.

Source: drivers/net/ethernet/intel/i40e/i40e_txrx.c of Linux 4.16 to 6.6 (`i40e_update_itr`,
`i40e_itr_divisor`, `i40e_update_enable_itr`), i40e_txrx.h. What a vector's polls have taken since
its throttles were looked at last decides: few packets mean latency, some of them that it waits a
little too short, many that it waits too long, and more than 256 a value that follows from the mean
size of a frame and the link's speed. Throttles are in microseconds; the highest bit says that
latency counts. One of both registers is written at a time, and the three interrupts that follow
say nothing.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public

_MIN_INC: cython.longlong = 2
_MIN_USECS: cython.longlong = 2
_MAX_USECS: cython.longlong = 0x7E
_LATENCY: cython.longlong = 0x8000
_MASK: cython.longlong = 0x1FFE
_COUNTDOWN_START: cython.int = 3
# limits of i40e_update_itr, in packets and bytes
_FEW: cython.longlong = 4
_FEW_BYTES: cython.longlong = 9000
_BULK: cython.longlong = 32
_SLIGHTLY_LOW: cython.longlong = 56
_RIGHT: cython.longlong = 112
_OVERRUN: cython.longlong = 256
# mean sizes of a frame between which the throttle is a straight line
_SMALLEST: cython.longlong = 60
_SMALL: cython.longlong = 380
_MEDIUM: cython.longlong = 1084
_LARGE: cython.longlong = 1980


@cython.final
@cython.cclass
class RingContainer:
    """One direction (`struct i40e_ring_container`).

    Args:
        setting: the throttle at first, in us.
        dynamic: it adapts.
    """

    dynamic: cython.bint = False
    target_itr: Public[cython.longlong] = 0  # what it should be, with the bit for latency
    current_itr: cython.longlong = 0  # what the register has
    next_update: cython.longlong = 0
    # that polls have taken since the last look, and their bytes
    packets: cython.longlong = 0
    size: cython.longlong = 0

    def __init__(self, setting: int, *, dynamic: bool) -> None:
        self.dynamic = dynamic
        self.target_itr = setting & _MASK
        self.current_itr = self.target_itr
        self.next_update = 1


@cython.final
@cython.cclass
class DynamicItr:
    """Both directions of a vector.

    Args:
        rx, tx: received and sent frames.
        link_mbps: speed of the link.
    """

    # of received and of sent frames
    rx: RingContainer = None
    tx: RingContainer = None
    divisor: cython.longlong = 0
    countdown: Public[cython.int] = 0  # interrupts until what they bring counts again

    def __init__(self, rx: RingContainer, tx: RingContainer, link_mbps: int) -> None:
        self.rx = rx
        self.tx = tx
        self.divisor = _MIN_INC * _speed_factor(link_mbps)
        self.countdown = _COUNTDOWN_START

    def took(
        self, rc: RingContainer, packets: cython.longlong, size: cython.longlong
    ) -> cython.int:
        """A poll has taken packets with so many bytes."""
        rc.packets += packets
        rc.size += size
        return 0

    def update(self, jiffies: cython.longlong) -> RingContainer:
        """`i40e_update_enable_itr`; return the direction whose register is written, or None."""
        rx: RingContainer = self.rx
        tx: RingContainer = self.tx
        written: RingContainer = None
        self._judge(tx, jiffies, False)
        self._judge(rx, jiffies, True)
        if rx.target_itr < rx.current_itr:
            written = rx
        elif (
            tx.target_itr < tx.current_itr
            or rx.target_itr - rx.current_itr < tx.target_itr - tx.current_itr
        ):
            written = tx
        elif rx.current_itr != rx.target_itr:
            written = rx
        if written is not None:
            written.current_itr = written.target_itr
            self.countdown = _COUNTDOWN_START
        elif self.countdown > 0:
            self.countdown -= 1
        return written

    def _judge(
        self, rc: RingContainer, jiffies: cython.longlong, receives: cython.bint
    ) -> cython.int:
        """`i40e_update_itr`."""
        if not rc.dynamic:
            return 0
        if jiffies > rc.next_update:
            rc.target_itr = (_MIN_USECS if receives else _MAX_USECS) | _LATENCY
        elif self.countdown == 0:
            rc.target_itr = self._target(rc, receives)
        rc.next_update = jiffies + 1
        rc.packets = 0
        rc.size = 0
        return 0

    def _target(self, rc: RingContainer, receives: cython.bint) -> cython.longlong:
        """The throttle that the packets of an interval ask for."""
        packets: cython.longlong = rc.packets
        itr: cython.longlong
        if receives:
            if 0 < packets < _FEW and rc.size < _FEW_BYTES and self.tx.target_itr & _LATENCY:
                return self._by_size(rc, _LATENCY)
        elif packets < _FEW:
            if rc.target_itr == _MAX_USECS and self.rx.target_itr & _MASK == _MAX_USECS:
                return _MAX_USECS | _LATENCY
        elif packets > _BULK:
            rc.target_itr &= ~_LATENCY
        if packets < _SLIGHTLY_LOW:
            return _capped(rc.target_itr + _MIN_INC)
        if packets > _OVERRUN:
            return self._by_size(rc, 0)
        itr = min(self.tx.current_itr, self.rx.current_itr) & _MASK
        if packets <= _RIGHT:
            return itr
        return max(itr // 2 & _MASK, _MIN_USECS)

    def _by_size(self, rc: RingContainer, latency: cython.longlong) -> cython.longlong:
        """170 us times (size + 24) / (size + 640), in straight pieces, by the link's speed."""
        size: cython.longlong = rc.size // rc.packets
        if size <= _SMALLEST:
            size = 4096
        elif size <= _SMALL:
            size = size * 40 + 1696
        elif size <= _MEDIUM:
            size = size * 15 + 11452
        elif size <= _LARGE:
            size = size * 5 + 22420
        else:
            size = 32256
        if latency:
            size //= 2
        return _capped(latency + (size + self.divisor - 1) // self.divisor * _MIN_INC)


def _capped(itr: cython.longlong) -> cython.longlong:
    if itr & _MASK > _MAX_USECS:
        return (itr & _LATENCY) + _MAX_USECS
    return itr


def _speed_factor(link_mbps: int) -> int:
    """`i40e_itr_divisor`, in units of `I40E_ITR_ADAPTIVE_MIN_INC`."""
    known = {40_000: 1024, 25_000: 512, 20_000: 512, 1_000: 32, 100: 32}
    return known.get(link_mbps, 256)
