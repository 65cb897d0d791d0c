"""Amazon's Elastic Network Adapter with the driver ena: one vector with its rings.

Source: drivers/net/ethernet/amazon/ena of Linux 5.4 to 6.6 (ena_netdev.c `ena_io_poll`,
`ena_clean_rx_irq`, `ena_unmask_interrupt`, `ena_adjust_adaptive_rx_intr_moderation`,
`ena_dim_work`; ena_netdev.h ENA_TX_POLL_BUDGET_DIVIDER, ENA_RX_REFILL_THRESH_DIVIDER,
ENA_RX_REFILL_THRESH_PACKET; ena_eth_io_defs.h `ena_eth_io_intr_reg`); ena.rst: the device masks
the vector when it interrupts, and the driver unmasks it where NAPI is through.

One register unmasks the vector and says how long the device puts an interrupt off, after received
and after sent frames. That this time begins with the first frame that comes after it has been
written, or with the write if frames are there, is assumed: the device's rules are not published.
With adaptive-rx `Dim` chooses the time of received frames by the table of EQE mode. A poll that
has taken nothing since the last sample gives none. What a work queue has set acts from the next
write of the register on.

Buffers go back together where a poll ends, once more than an eighth of the ring is missing, and at
most 256 are.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.net.link.gro import Gro
from simnet.net.nic.adaptive_channel import AdaptiveChannel
from simnet.net.nic.completion_queue import CompletionQueue
from simnet.net.nic.dim import EQE, RX_PROFILES, Dim
from simnet.net.nic.net_device import NetDevice

_US_PS: cython.longlong = 1_000_000
_HEADER_BYTES: cython.longlong = 14
_PAGE_BYTES = 4096
_TX_DIVIDER = 4
_REFILL_DIVIDER = 8
_REFILL_MOST = 256
# the register that unmasks
_DOORBELLS = 1


@cython.final
@cython.cclass
class Ena(AdaptiveChannel):
    """One vector; see `Channel`.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        rx_ps, tx_ps: for how long received and sent frames put an interrupt off.
        adaptive_rx: `Dim` chooses that of received ones.
        work_ps: from a choice to what the driver writes.
    """

    missing: cython.int = 0  # frames taken whose buffers have not gone back
    refill_above: cython.int = 0
    rx_ps: cython.longlong = 0
    tx_ps: cython.longlong = 0
    sampled: cython.longlong = 0
    polls_with_packets: cython.longlong = 0

    def __init__(
        self,
        device: NetDevice,
        gro: Gro,
        *,
        tso: bool,
        rx_ps: int,
        tx_ps: int,
        adaptive_rx: bool,
        work_ps: int,
    ) -> None:
        super().__init__(
            device,
            gro,
            tso=tso,
            page_bytes=_PAGE_BYTES,
            tx_budget=(device.tx_ring + 1) // _TX_DIVIDER,
            doorbells=_DOORBELLS,
        )
        self._adapt(Dim() if adaptive_rx else None, None, work_ps)
        self.refill_above = min((device.rx_buffers + 1) // _REFILL_DIVIDER, _REFILL_MOST)
        self.rx_ps = rx_ps
        self.tx_ps = tx_ps
        self.rx_cq.from_first = True
        self.tx_cq.from_first = True
        self._write()

    def _write(self) -> cython.int:
        """Write the register's times."""
        self.rx_cq.moderate(self.rx_ps, 0, False)
        self.tx_cq.moderate(self.tx_ps, 0, False)
        return 0

    def _notify(self) -> cython.int:
        """Interrupt, which masks the vector for both causes."""
        self.rx_cq.close(self.sim.now)
        self.tx_cq.close(self.sim.now)
        return AdaptiveChannel._notify(self)  # noqa: SLF001 - the method that this one extends

    def _hand_back(self, cpu: Cpu) -> cython.int:
        """`ena_refill_rx_bufs`, if enough are missing."""
        count: cython.int = self.done - self.returned
        self.returned = self.done
        self.missing += count
        if self.missing > self.refill_above:
            self.advance(self.sim.now)
            self.posted += self.missing
            self.missing = 0
            self.buffer_node = cpu.node
        return count

    def _finish(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """The doorbell of the receive ring, if buffers go back."""
        if self.missing + self.done - self.returned > self.refill_above:
            self.debt_ps += self.access.mmio_ps
            self.ledger.softirq += self.access.near_mmio_ps
            self.ledger.device_lines += self.access.far_mmio_ps
        return AdaptiveChannel._finish(  # noqa: SLF001 - the method that it extends
            self, cpu, softirq
        )

    def _rx_events(self) -> cython.longlong:
        """`non_empty_napi_events`."""
        return self.polls_with_packets

    def _rx_counted_bytes(self) -> cython.longlong:
        """Bytes that polls have taken, without Ethernet's header."""
        counted: cython.longlong = AdaptiveChannel._rx_counted_bytes(self)  # noqa: SLF001 - as above
        return counted - _HEADER_BYTES * self._rx_counted()

    def _poll_completed(self, now: cython.longlong) -> cython.int:
        """A sample for `Dim`, unless nothing has come since the last; then the register."""
        if self.consumed > self.sampled:
            self.sampled = self.consumed
            self.polls_with_packets += 1
            AdaptiveChannel._poll_completed(self, now)  # noqa: SLF001 - as above
        self._write()
        return 0

    def _apply(self, dim: Dim, cq: CompletionQueue) -> cython.int:
        """`ena_dim_work`."""
        self.rx_ps = RX_PROFILES[EQE][dim.profile_ix][0] * _US_PS
        return 0
