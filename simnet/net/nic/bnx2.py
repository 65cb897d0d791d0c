"""Broadcom BCM5709 and BCM5716 with the driver bnx2: one vector of a port, with its rings.

Source: drivers/net/bnx2.c of RHEL 5 (2.0.21) and RHEL 6 (`bnx2_init_chip`, `bnx2_setup_int_mode`,
`bnx2_init_all_rings`, `bnx2_msi_1shot`, `bnx2_poll_msix`, `bnx2_start_xmit`). Each MSI-X vector has
a status block of its own, which host coalescing updates as in tg3: receive and transmit each count
completions, and an update is due at a count (`rx_quick_cons_trip`, ethtool's rx-frames) or when a
timer (`rx_ticks`, rx-usecs) runs out. The driver sets RX_TMR_MODE and TX_TMR_MODE; that the timer
then runs from the first completion is assumed: the chip's manual is not public.

The message masks its vector itself (one-shot), and the handler touches no register. The poll goes
on, within its weight, until the status block shows nothing new; then the write of the last index
seen unmasks, and interrupts at once if the block has been updated since. The values for the time
while an interrupt is masked hold for vector 0 alone: the driver sets USE_INT_PARAM in HC_CONFIG,
but not in the words of the other vectors (HC_SB_CONFIG_1 and so on).
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.verdict import POLL_DONE, POLL_MORE
from simnet.net.nic.port import Nic
from simnet.net.nic.tg3 import Tg3


@cython.final
@cython.cclass
class Bnx2(Tg3):
    """A vector with a receive and a transmit ring; see `Tg3` for the coalescing parameters."""

    def raise_line(self) -> cython.int:
        """Send the MSI-X message, which masks the vector; the handler only schedules the poll."""
        self.unmasked = False
        return self._send_message()

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Go on after a piece of work; the poll ends when nothing is left or its weight is."""
        now: cython.longlong = self.sim.now
        if not self.finishing:
            return Nic.poll_step(self, cpu, softirq)
        softirq.charge(self._hand_back(cpu))
        if self.done >= self.limit:
            return POLL_MORE
        self.acknowledge(now)
        if self.has_work():
            self._reclaim(cpu)
            return self._next_frames(cpu, softirq)
        softirq.complete(self)
        self.unmask(now)
        return POLL_DONE

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """What one frame costs from `cpu`: the doorbell is two registers, index and byte count."""
        work: cython.longlong = Nic.transmit_cost_ps(self, cpu)
        self.ledger.tcp_send += self.access.near_mmio_ps
        self.ledger.device_lines += self.access.far_mmio_ps
        return work + self.access.mmio_ps
