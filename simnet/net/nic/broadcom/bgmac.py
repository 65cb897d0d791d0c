"""Broadcom's gigabit MAC of home routers with the driver bgmac: one queue, one interrupt for all.

Source: drivers/net/ethernet/broadcom/bgmac.c of Linux 5.10 to 6.6 (`bgmac_interrupt`, `bgmac_poll`,
`bgmac_dma_rx_read`, `bgmac_dma_tx_free`; `BGMAC_INT_RECV_LAZY` is one frame). Each frame that was
received or sent sets a bit of the status, and a bit that is set interrupts unless the handler has
masked it: there is no moderation. The poll clears the status first, frees what has been sent,
and takes what had been received when it looked. If a bit has been set meanwhile it asks for another
poll as if it had used up its weight, so that under load the interrupt stays off.

Frames go up by `napi_gro_receive`. With receive offload switched off that collects them, and hands
them up as lists of `gro_normal_batch` (net/core/dev.c of 5.4, `gro_normal_one`,
`netif_receive_skb_list_internal`), the last of a poll shorter.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.verdict import POLL_DONE, POLL_MORE
from simnet.net.link.skb import Skb
from simnet.net.nic.broadcom.status_bits import StatusBits
from simnet.net.nic.net_device import NetDevice
from simnet.net.nic.port import Nic


@cython.final
@cython.cclass
class Bgmac(StatusBits):
    """One port.

    Args:
        device: what the chips and drivers have in common.
        batch: `gro_normal_batch`.
    """

    full: cython.int = 0
    most: cython.int = 0
    in_list: cython.int = 0
    list_number: cython.longlong = 0  # of the list that the frame which is handed up belongs to

    def __init__(self, device: NetDevice, batch: int) -> None:
        super().__init__(device)
        self.most = batch

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Clear the status, free what was sent, and note how much there is to take."""
        seen: cython.longlong
        self.full = self.quota if self.quota < budget else budget
        self._read_status(cpu, work_ps)
        self.advance(self.sim.now)
        self.status = False
        self._next_list()
        seen = self.announced - self.consumed
        self.limit = self.full
        if seen < self.full:
            self.limit = seen
        self._reclaim(cpu)
        return self._next_frames(cpu, softirq)

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work."""
        if not self.finishing:
            return Nic.poll_step(self, cpu, softirq)
        self._hand_back(cpu)
        if self.status or self.done >= self.full:
            softirq.charge(self.full)
            return POLL_MORE
        softirq.charge(self.done)
        softirq.complete(self)
        self.unmask(self.sim.now)
        return POLL_DONE

    def _next_list(self) -> cython.int:
        """`gro_normal_list`: what comes is of another list."""
        self.in_list = 0
        self.list_number += 1
        return 0

    def _to_stack(self, skb: Skb, cpu: Cpu) -> cython.int:
        """Let the stack receive a frame as one of a list."""
        Nic._to_stack(self, skb, cpu)  # noqa: SLF001 - the method that this one extends
        self.in_list += 1
        if self.in_list == self.most:
            self._next_list()
        return 0

    def acknowledge(self, now: cython.longlong) -> cython.int:
        """The handler only masks: `bgmac_chip_intrs_off`."""
        return 0
