"""A vector of Intel's 700 and 800 series: both rings of a channel share one throttled interrupt.

Source: Intel Ethernet Controller X710/XXV710/XL710 and E810 data sheets, interrupt throttling;
drivers/net/ethernet/intel/i40e/i40e_txrx.c and ice/ice_txrx.c of Linux 6.6 (`i40e_clean_tx_irq`,
`ice_napi_poll`). Received and sent frames have a throttle (ITR) each, the least time from the last
interrupt of the vector to one of that cause, in steps of 2 us; the rate limit (INTRL) is a least
time between interrupts whatever their cause. The interrupt disables the vector, and the end of a
poll enables it.

The device writes descriptors back four at a time, or with the next interrupt. That a poll finds
every frame whose time has come is assumed, as is that the rate limit has no credits.
"""

from __future__ import annotations

from array import array

import cython

from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Array
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.link.gro import Gro
from simnet.net.link.skb import Skb
from simnet.net.nic.adaptive_channel import AdaptiveChannel
from simnet.net.nic.channel import Channel
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.offloading import OffloadingNic

# ICE_DFLT_IRQ_WORK, I40E_DEFAULT_IRQ_WORK
_WORK_LIMIT = 256
# the tail of the receive ring, and what enables the vector
_DOORBELLS = 2


@cython.cclass
class ItrChannel(AdaptiveChannel):
    """One vector with its rings.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        rx_itr_ps, tx_itr_ps: throttles of received and of sent frames.
        intrl_ps: least time between two interrupts; 0 for no limit.

    Attributes:
        taken, taken_bytes: frames that polls have taken between the last two looks.
        freed, freed_bytes: likewise, sent frames that polls have freed.
    """

    rx_itr_ps: cython.longlong = 0
    tx_itr_ps: cython.longlong = 0
    intrl_ps: cython.longlong = 0
    tx_lengths: Array[cython.longlong] = None
    cleaned: cython.longlong = 0
    cleaned_bytes: cython.longlong = 0
    looked: cython.longlong = 0
    looked_bytes: cython.longlong = 0
    looked_cleaned: cython.longlong = 0
    looked_cleaned_bytes: cython.longlong = 0
    taken: cython.longlong = 0
    taken_bytes: cython.longlong = 0
    freed: cython.longlong = 0
    freed_bytes: cython.longlong = 0

    def __init__(
        self,
        device: NetDevice,
        gro: Gro,
        *,
        tso: bool,
        rx_itr_ps: int,
        tx_itr_ps: int,
        intrl_ps: int,
    ) -> None:
        super().__init__(
            device,
            gro,
            tso=tso,
            page_bytes=0,
            tx_budget=_WORK_LIMIT,
            doorbells=_DOORBELLS,
        )
        self.rx_itr_ps = rx_itr_ps
        self.tx_itr_ps = tx_itr_ps
        self.intrl_ps = intrl_ps
        self.tx_lengths = array("q", [0]) * (self.tx.mask + 1)
        self._throttle()

    def _throttle(self) -> cython.int:
        """Write the registers."""
        self.rx_cq.moderate(max(self.rx_itr_ps, self.intrl_ps), 0, False)
        self.tx_cq.moderate(max(self.tx_itr_ps, self.intrl_ps), 0, False)
        return 0

    def _notify(self) -> cython.int:
        """Interrupt, which disables the vector for both causes."""
        self.rx_cq.close(self.sim.now)
        self.tx_cq.close(self.sim.now)
        return Channel._notify(self)  # noqa: SLF001 - the method that this one extends

    def _send_now(self, skb: Skb) -> cython.int:
        """Put a frame on the wire, and keep its length for the driver's count."""
        self.tx_lengths[self.tx.sent & self.tx.mask] = skb.wire_bytes - UNCOUNTED_BYTES
        return OffloadingNic._send_now(self, skb)  # noqa: SLF001 - the method that this one extends

    def _reclaim(self, cpu: Cpu) -> cython.int:
        """Free what has been sent, and count it (`i40e_update_tx_stats`)."""
        position: cython.longlong = self.tx.reclaimed
        count: cython.int = Channel._reclaim(self, cpu)  # noqa: SLF001 - the same
        self.cleaned += self.tx.reclaimed - position
        while position < self.tx.reclaimed:
            self.cleaned_bytes += self.tx_lengths[position & self.tx.mask]
            position += 1
        return count

    def _look(self) -> cython.int:
        """Count what polls have brought since the last look."""
        size: cython.longlong = self._rx_counted_bytes()
        self.taken = self.consumed - self.looked
        self.taken_bytes = size - self.looked_bytes
        self.freed = self.cleaned - self.looked_cleaned
        self.freed_bytes = self.cleaned_bytes - self.looked_cleaned_bytes
        self.looked = self.consumed
        self.looked_bytes = size
        self.looked_cleaned = self.cleaned
        self.looked_cleaned_bytes = self.cleaned_bytes
        return 0

    def _tx_counted(self) -> cython.longlong:
        """Frames that have been reclaimed."""
        return self.cleaned

    def _tx_counted_bytes(self) -> cython.longlong:
        """Their bytes."""
        return self.cleaned_bytes
