"""The throttle of an igb vector: set, or adapted to the traffic.

Source: drivers/net/ethernet/intel/igb/igb_main.c (`igb_update_ring_itr`, `igb_update_itr`,
`igb_set_itr`, `igb_ring_irq_enable`, `igb_write_itr`) and igb_ethtool.c (`igb_set_coalesce`) of
Linux 4.19; igc/igc_main.c (`igc_update_ring_itr` and so on) has the same. `rx-usecs` is a least
time between interrupts in us, or 1 or 3 for a throttle that adapts where a poll ends, by what polls
have taken since the throttle was looked at last. With one vector for the whole device rates are
chosen as e1000e chooses them: received frames and sent ones apart are bulk, low or lowest latency,
and the more patient class gives 4000, 20000 or 70000 interrupts a second. With several the larger
mean size of a frame on the wire is the throttle, in units of half a byte for a quarter of a us, of
frames of middling size a third. 3 never goes below 49 us. On links slower or faster than 1 Gbit/s
the throttle of igb is 245 us, on those of 100 Mbit/s and slower that of igc.

A new throttle is written when the next interrupt is handled. The register counts in us, and 0 is
written as 1.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public

# igb.h, in quarters of a us
_START: cython.longlong = 648
_BULK_ITR: cython.longlong = 980
_LOW_ITR: cython.longlong = 196
_LOWEST_ITR: cython.longlong = 56
_MODES: cython.longlong = 3
_CONSERVATIVE: cython.longlong = 3
_REGISTER: cython.longlong = 0x7FFC
_QUARTER_PS: cython.longlong = 250_000
_GIGABIT_MBPS: cython.longlong = 1000

_LOWEST: cython.int = 0
_LOW: cython.int = 1
_BULK: cython.int = 2
# the limits of igb_update_itr
_OFFLOADED: cython.longlong = 8000
_FEW: cython.longlong = 5
_SMALL: cython.longlong = 512
_BUSY: cython.longlong = 10_000
_BULK_PACKETS: cython.longlong = 10
_LARGE: cython.longlong = 1200
_MANY: cython.longlong = 35
_JUMBO: cython.longlong = 2000
_PAIR: cython.longlong = 2
_FLOOD: cython.longlong = 25_000
_QUIET: cython.longlong = 1500
# those of igb_update_ring_itr
_FRAMING: cython.longlong = 24
_MOST_WIRE: cython.longlong = 3000
_MIDDLE_FROM: cython.longlong = 300
_MIDDLE_TO: cython.longlong = 1200


@cython.final
@cython.cclass
class RingContainer:
    """One direction (`struct igb_ring_container`)."""

    # that polls have taken since the last look, and their bytes
    packets: cython.longlong = 0
    size: cython.longlong = 0
    itr: Public[cython.int] = 0  # class of its traffic, where the device has one vector

    def took(self, packets: cython.longlong, size: cython.longlong) -> cython.int:
        """A poll has taken packets with so many bytes."""
        self.packets += packets
        self.size += size
        return 0

    def judge(self) -> cython.int:  # noqa: C901, PLR0912 - decisions of the driver
        """`igb_update_itr`: judge what has been taken; return the class."""
        packets: cython.longlong = self.packets
        size: cython.longlong = self.size
        each: cython.longlong
        if packets == 0:
            return self.itr
        each = size // packets
        if self.itr == _LOWEST:
            if each > _OFFLOADED:
                self.itr = _BULK
            elif packets < _FEW and size > _SMALL:
                self.itr = _LOW
        elif self.itr == _LOW:
            if size > _BUSY:
                if packets < _BULK_PACKETS or each > _LARGE:
                    self.itr = _BULK
                elif packets > _MANY:
                    self.itr = _LOWEST
            elif each > _JUMBO:
                self.itr = _BULK
            elif packets <= _PAIR and size < _SMALL:
                self.itr = _LOWEST
        elif size > _FLOOD:
            if packets > _MANY:
                self.itr = _LOW
        elif size < _QUIET:
            self.itr = _LOW
        return self.itr


@cython.final
@cython.cclass
class IgbItr:
    """The throttle of one vector.

    Args:
        usecs: what `ethtool -C` has set: 0 for none, 1 and 3 for one that adapts, else us.
        alone: the device has no other vector for queues.
        link_mbps: speed of the link.
        faster: what adapts, adapts on links of more than 1 Gbit/s, too.
    """

    # received and sent frames
    rx: RingContainer = None
    tx: RingContainer = None
    mode: cython.longlong = 0
    alone: cython.bint = False
    quick: cython.bint = False
    itr_val: Public[cython.longlong] = 0  # what it should be, in quarters of a us
    set_itr: Public[cython.bint] = False  # it is to be written

    def __init__(self, usecs: int, *, alone: bool, link_mbps: int, faster: bool = False) -> None:
        self.rx = RingContainer()
        self.tx = RingContainer()
        self.mode = usecs if 0 < usecs <= _MODES else 0
        self.alone = alone
        self.quick = link_mbps == _GIGABIT_MBPS or (faster and link_mbps > _GIGABIT_MBPS)
        self.itr_val = _START if self.mode else 4 * usecs
        self.set_itr = True

    def write(self) -> cython.longlong:
        """`igb_write_itr`; return what the register has from now on, in ps, or -1: as before."""
        itr: cython.longlong = self.itr_val & _REGISTER
        if not self.set_itr:
            return -1
        self.set_itr = False
        return max(itr, 4) * _QUARTER_PS

    def update(self) -> cython.int:
        """`igb_ring_irq_enable`: a poll is over."""
        if self.mode > 0:
            self._program(self._by_class() if self.alone else self._by_size())
            self.rx.packets = self.rx.size = 0
            self.tx.packets = self.tx.size = 0
        return 0

    def _program(self, itr: cython.longlong) -> cython.int:
        if itr != self.itr_val:
            self.itr_val = itr
            self.set_itr = True
        return 0

    def _by_size(self) -> cython.longlong:
        """`igb_update_ring_itr`."""
        size: cython.longlong = 0
        itr: cython.longlong
        if not self.quick:
            return _BULK_ITR
        if self.rx.packets > 0:
            size = self.rx.size // self.rx.packets
        if self.tx.packets > 0:
            size = max(size, self.tx.size // self.tx.packets)
        if size == 0:
            return self.itr_val
        size = min(size + _FRAMING, _MOST_WIRE)
        itr = size // 3 if _MIDDLE_FROM < size < _MIDDLE_TO else size // 2
        return max(itr, _LOW_ITR) if self.mode == _CONSERVATIVE else itr

    def _by_class(self) -> cython.longlong:
        """`igb_set_itr`."""
        itr: cython.int
        if not self.quick:
            return _BULK_ITR
        itr = self.tx.judge()
        itr = max(itr, self.rx.judge())
        if itr == _LOWEST and self.mode == _CONSERVATIVE:
            itr = _LOW
        if itr == _LOWEST:
            return _LOWEST_ITR
        return _LOW_ITR if itr == _LOW else _BULK_ITR
