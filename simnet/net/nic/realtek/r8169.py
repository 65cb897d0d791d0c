"""Realtek's gigabit and 2.5 gigabit cards with the driver r8169: one queue, one interrupt for all.

Source: drivers/net/ethernet/realtek/r8169_main.c of Linux 6.13 to 6.18 (`rtl8169_interrupt`,
`rtl8169_poll`, `rtl_tx`, `rtl_rx`, `rtl8169_mark_to_asic`). Each frame that was received or sent
sets a bit of the status, and a bit that is set interrupts unless the driver has masked it: there is
no moderation. The handler masks the interrupt and clears the bits that it has read; the poll does
not. What comes later sets them again, so that the end of a poll interrupts at once, even if that
poll has taken it.

A poll frees all that has been sent, and copies each received frame into a new buffer: the ring
keeps its own, and each goes back at once. That the status register is read is not counted.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.link.gro import Gro
from simnet.net.link.skb import Skb
from simnet.net.nic.channel import Channel
from simnet.net.nic.net_device import NetDevice

# rtl_tx has no budget
_ALL = 1 << 30
# the mask
_DOORBELLS = 1


@cython.final
@cython.cclass
class R8169(Channel):
    """One port; see `Channel`.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.

    Attributes:
        cleared, tx_cleared: frames received and sent whose bits the handler has cleared.
    """

    cleared: cython.longlong = 0
    tx_cleared: cython.longlong = 0

    def __init__(self, device: NetDevice, gro: Gro, *, tso: bool) -> None:
        super().__init__(device, gro, tso=tso, page_bytes=0, tx_budget=_ALL, doorbells=_DOORBELLS)

    def _notify(self) -> cython.int:
        """Interrupt, which is for both causes."""
        self.rx_cq.close(self.sim.now)
        self.tx_cq.close(self.sim.now)
        return Channel._notify(self)  # noqa: SLF001 - the method that this one extends

    def _send_message(self) -> cython.int:
        """Interrupt: the handler writes mask and status."""
        cpu: Cpu = self._asserted_to()
        self.ledger.hardirq += self.costs.hardirq_ps + 2 * self.access.near_mmio_ps
        self.ledger.device_lines += 2 * self.access.far_mmio_ps
        cpu.raise_irq(self, self.costs.hardirq_ps + 2 * self.access.mmio_ps)
        return 0

    def step(self, cpu: Cpu) -> None:
        """`rtl8169_interrupt`."""
        Channel.step(self, cpu)
        self.cleared = self.announced
        self.tx_cleared = self.tx.announced

    def _next_entry(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Buffers of the frames that have been copied are posted before the next ones."""
        if self.done > self.returned:
            self._hand_back(cpu)
        return Channel._next_entry(  # noqa: SLF001 - the method that it extends
            self, cpu, softirq
        )

    def _frame_work_ps(self, cpu: Cpu) -> cython.longlong:
        """The driver's work for the next frame, with its copy."""
        skb: Skb = self.ring.head
        length: cython.longlong = skb.wire_bytes - UNCOUNTED_BYTES
        copy_ps: cython.longlong = self.costs.lines(length) * self.costs.copy_line_ps
        self.ledger.copy += copy_ps
        copy_ps += self.access.memory.received_ps(
            cpu, self.costs, None, length, self.buffer_node, self.node
        )
        return copy_ps + Channel._frame_work_ps(  # noqa: SLF001 - the method that it extends
            self, cpu
        )

    def _taken(self, cpu: Cpu) -> Skb:
        """Take the next frame: what goes up is in memory of the CPU that copied it."""
        skb: Skb = Channel._taken(self, cpu)  # noqa: SLF001 - the method that this one extends
        skb.home_node = cpu.node
        skb.writer_node = cpu.node
        return skb

    def _arm_queues(self, now: cython.longlong) -> cython.int:
        """`rtl_irq_enable`: what has set a bit since the handler cleared them interrupts."""
        self.rx_cq.arm(now, self.announced - self.cleared)
        self.tx_cq.arm(now, self.tx.announced - self.tx_cleared)
        return 0
