"""Intel's gigabit ports from the 82576 to the I211 with the driver igb: a vector with its rings.

Source: drivers/net/ethernet/intel/igb/igb_main.c of Linux 4.19 (`igb_msix_ring`,
`igb_poll`, `igb_clean_tx_irq`, `igb_clean_rx_irq`; igb.h IGB_DEFAULT_TX_WORK, IGB_RX_BUFFER_WRITE);
Intel I210 data sheet, 7.3.4 Interrupt Moderation and 8.8.14 EITR. A vector has one throttle for
both rings: the register is loaded into a counter when the vector interrupts, and the next interrupt
waits until that is 0. `igb_itr` says what the register has. The interrupt disables the vector, and
the end of a poll enables it. Buffers are handed back 16 at a time.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.net.link.gro import Gro
from simnet.net.nic.channel import Channel
from simnet.net.nic.intel.igb_itr import IgbItr
from simnet.net.nic.intel.itr_channel import ItrChannel
from simnet.net.nic.net_device import NetDevice

__all__ = ["Igb"]

_TX_WORK = 128
_BUFFER_WRITE: cython.int = 16
_MBPS = 10**6


@cython.final
@cython.cclass
class Igb(ItrChannel):
    """One vector; see `ItrChannel`.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        usecs: what `ethtool -C` has set, see `IgbItr`.
        alone: the device has no other vector for queues.

    Attributes:
        itr: its throttle.
        interval_ps: of the register.
    """

    itr: IgbItr = None
    interval_ps: cython.longlong = 0
    rx_looked: cython.longlong = 0
    rx_looked_bytes: cython.longlong = 0
    tx_looked: cython.longlong = 0
    tx_looked_bytes: cython.longlong = 0

    def __init__(self, device: NetDevice, gro: Gro, *, tso: bool, usecs: int, alone: bool) -> None:
        super().__init__(device, gro, tso=tso, rx_itr_ps=0, tx_itr_ps=0, intrl_ps=0)
        self.tx_budget = _TX_WORK
        self.itr = IgbItr(usecs, alone=alone, link_mbps=device.rate_bps // _MBPS)

    def _notify(self) -> cython.int:
        """Interrupt, and load the counter."""
        self.rx_itr_ps = self.tx_itr_ps = self.interval_ps
        self._throttle()
        return ItrChannel._notify(self)  # noqa: SLF001 - the method that this one extends

    def step(self, cpu: Cpu) -> None:
        """`igb_msix_ring`."""
        interval_ps: cython.longlong = self.itr.write()
        if interval_ps >= 0:
            self.interval_ps = interval_ps
        Channel.step(self, cpu)

    def _next_entry(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Hand buffers back before the next frames are taken, if it is time."""
        if self.done - self.returned >= _BUFFER_WRITE:
            self._hand_back(cpu)
        return ItrChannel._next_entry(  # noqa: SLF001 - the method that it extends
            self, cpu, softirq
        )

    def _poll_completed(self, now: cython.longlong) -> cython.int:
        """`igb_ring_irq_enable`."""
        size: cython.longlong = self._rx_counted_bytes()
        self.itr.rx.took(self.consumed - self.rx_looked, size - self.rx_looked_bytes)
        self.rx_looked = self.consumed
        self.rx_looked_bytes = size
        size = self.cleaned_bytes
        self.itr.tx.took(self.cleaned - self.tx_looked, size - self.tx_looked_bytes)
        self.tx_looked = self.cleaned
        self.tx_looked_bytes = size
        self.itr.update()
        return 0
