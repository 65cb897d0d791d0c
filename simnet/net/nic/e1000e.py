"""Intel 82574 with the driver e1000e: one queue, and a throttle that adapts to the traffic.

Source: drivers/net/e1000e of Linux 2.6.32 (netdev.c `e1000_update_itr`, `e1000_set_itr`,
`e1000e_write_itr`, `e1000e_poll`; param.c, InterruptThrottleRate). Received frames and transmitted
ones share a message-signalled vector (IntMode=1). With InterruptThrottleRate 1 or 3 the driver
judges at the end of each poll what went through since the last interrupt, received and transmitted
apart, as bulk, low latency or lowest latency, and programs the rate of the more patient class:
4000, 20000 or 70000 interrupts a second. A higher rate is approached in steps of a quarter; 3
knows no lowest latency. Other values are a rate, 0 none. The chip counts in units of 256 ns.

A poll that has used less than its weight ends, whatever has come meanwhile.
"""

from __future__ import annotations

from array import array

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.verdict import POLL_DONE, POLL_MORE
from simnet.kernel.compiled import Array
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.link.skb import Skb
from simnet.net.nic.e1000 import E1000
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.port import Nic

_LOWEST: cython.int = 0
_LOW: cython.int = 1
_BULK: cython.int = 2
_DYNAMIC: cython.int = 1
_CONSERVATIVE: cython.int = 3
_START_RATE: cython.longlong = 20000
# the limits of e1000_update_itr
_FEW_PACKETS: cython.longlong = 5
_PAIR: cython.longlong = 2
_BULK_PACKETS: cython.longlong = 10
_MANY_PACKETS: cython.longlong = 35
_SMALL_BYTES: cython.longlong = 512
_QUIET_BYTES: cython.longlong = 6000
_BUSY_BYTES: cython.longlong = 10000
_FLOOD_BYTES: cython.longlong = 25000
_LARGE_BYTES: cython.longlong = 1200
_OFFLOADED_BYTES: cython.longlong = 2000
_HUGE_BYTES: cython.longlong = 8000
_UNIT_PS: cython.longlong = 256_000


def update_itr(  # noqa: C901, PLR0912 - the driver's decisions, as they stand there
    latency: cython.int, packets: cython.longlong, size: cython.longlong
) -> cython.int:
    """Return the class of traffic after an interval (`e1000_update_itr`).

    Args:
        latency: class before: 0 lowest latency, 1 low latency, 2 bulk.
        packets: in the interval.
        size: bytes in the interval.
    """
    result: cython.int = latency
    each: cython.longlong
    if packets == 0:
        return result
    each = size // packets
    if latency == _LOWEST:
        if each > _HUGE_BYTES:
            result = _BULK
        elif packets < _FEW_PACKETS and size > _SMALL_BYTES:
            result = _LOW
    elif latency == _LOW:
        if size > _BUSY_BYTES:
            if packets < _BULK_PACKETS or each > _LARGE_BYTES:
                result = _BULK
            elif packets > _MANY_PACKETS:
                result = _LOWEST
        elif each > _OFFLOADED_BYTES:
            result = _BULK
        elif packets <= _PAIR and size < _SMALL_BYTES:
            result = _LOWEST
    elif size > _FLOOD_BYTES:
        if packets > _MANY_PACKETS:
            result = _LOW
    elif size < _QUIET_BYTES:
        result = _LOW
    return result


def throttle_interval_ps(rate: cython.longlong) -> cython.longlong:
    """Return what the chip makes of a rate in interrupts a second; 0 is no throttle."""
    return 10**9 // (rate * 256) * _UNIT_PS if rate > 0 else 0


@cython.final
@cython.cclass
class E1000e(E1000):
    """One 82574 port.

    Args:
        device: what it has in common with others.
        interrupt_throttle_rate: the module's parameter: 1 and 3 adapt, others are a rate.
        tx_delay_ps: TIDV.
    """

    mode: cython.int = 0
    rate: cython.longlong = 0  # interrupts a second that the throttle allows now
    rx_latency: cython.int = 0
    tx_latency: cython.int = 0
    rx_total_packets: cython.longlong = 0
    rx_total_bytes: cython.longlong = 0
    tx_total_packets: cython.longlong = 0
    tx_total_bytes: cython.longlong = 0
    tx_lengths: Array[cython.longlong] = None

    def __init__(
        self, device: NetDevice, *, interrupt_throttle_rate: int, tx_delay_ps: int
    ) -> None:
        adapts = interrupt_throttle_rate in {_DYNAMIC, _CONSERVATIVE}
        rate = _START_RATE if adapts else interrupt_throttle_rate
        super().__init__(device, throttle_ps=throttle_interval_ps(rate), tx_delay_ps=tx_delay_ps)
        self.mode = interrupt_throttle_rate if adapts else 0
        self.rate = rate
        self.rx_latency = _LOWEST
        self.tx_latency = _LOWEST
        self.tx_lengths = array("q", [0]) * (self.tx.mask + 1)

    # -- the throttle ---------------------------------------------------------------------

    def _set_itr(self) -> cython.int:
        """`e1000_set_itr`: judge the interval and program the throttle."""
        latency: cython.int
        rate: cython.longlong
        self.tx_latency = self._judged(self.tx_latency, self.tx_total_packets, self.tx_total_bytes)
        self.rx_latency = self._judged(self.rx_latency, self.rx_total_packets, self.rx_total_bytes)
        latency = self.tx_latency if self.tx_latency > self.rx_latency else self.rx_latency
        rate = 70000
        if latency == _LOW:
            rate = 20000
        elif latency == _BULK:
            rate = 4000
        if rate > self.rate and self.rate + rate // 4 < rate:
            rate = self.rate + rate // 4
        if rate != self.rate:
            self.rate = rate
            self.throttle_ps = throttle_interval_ps(rate)
        return 0

    def _judged(
        self, latency: cython.int, packets: cython.longlong, size: cython.longlong
    ) -> cython.int:
        latency = update_itr(latency, packets, size)
        if self.mode == _CONSERVATIVE and latency == _LOWEST:
            return _LOW
        return latency

    def step(self, cpu: Cpu) -> None:
        """The interrupt handler has run: a new interval begins with a new poll."""
        if not self.scheduled:
            self.rx_total_packets = 0
            self.rx_total_bytes = 0
            self.tx_total_packets = 0
            self.tx_total_bytes = 0
        Nic.step(self, cpu)

    # -- the poll -------------------------------------------------------------------------

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Reclaim transmitted frames, start on received ones."""
        position: cython.longlong = self.tx.reclaimed
        verdict: cython.int = Nic.poll_begin(self, cpu, softirq, budget, work_ps)
        self.tx_total_packets += self.tx.reclaimed - position
        while position < self.tx.reclaimed:
            self.tx_total_bytes += self.tx_lengths[position & self.tx.mask]
            position += 1
        return verdict

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        skb: Skb
        count: cython.int
        if not self.finishing:
            skb = self.ring.head
            count = self.batch
            self.rx_total_packets += count
            while count > 0:
                count -= 1
                self.rx_total_bytes += skb.wire_bytes - UNCOUNTED_BYTES
                skb = skb.next
            return Nic.poll_step(self, cpu, softirq)
        softirq.charge(self._hand_back(cpu))
        if self.done >= self.limit:
            return POLL_MORE
        if self.mode > 0:
            self._set_itr()
        softirq.complete(self)
        self.unmask(self.sim.now)
        return POLL_DONE

    # -- transmit -------------------------------------------------------------------------

    def _send_now(self, skb: Skb) -> cython.int:
        """Put a frame on the wire, and keep its length for the driver's count."""
        self.tx_lengths[self.tx.sent & self.tx.mask] = skb.wire_bytes - UNCOUNTED_BYTES
        return Nic._send_now(self, skb)  # noqa: SLF001 - the method that this one extends
