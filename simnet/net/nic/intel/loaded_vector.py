"""A vector of Intel's ports of 1 to 10 Gbit/s: a throttle of both rings, which interrupts load.

Source: Intel I210 data sheet, 7.3.4 Interrupt Moderation and 8.8.14 EITR; `igb_clean_rx_irq`,
`ixgbe_clean_rx_irq` and `igc_clean_rx_irq` of drivers/net/ethernet/intel (IGB_RX_BUFFER_WRITE,
IXGBE_RX_BUFFER_WRITE, IGC_RX_BUFFER_WRITE). The register is loaded into a counter when the vector
interrupts, and the next interrupt waits until that is 0: a register that is written between two
interrupts acts from the second one on. The interrupt disables the vector, and the end of a poll
enables it. Buffers are handed back 16 at a time.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.net.link.gro import Gro
from simnet.net.nic.intel.itr_channel import ItrChannel
from simnet.net.nic.net_device import NetDevice

_BUFFER_WRITE: cython.int = 16


@cython.cclass
class LoadedVector(ItrChannel):
    """One vector; see `ItrChannel`.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        tx_work: sent frames that one poll reclaims.
    """

    interval_ps: cython.longlong = 0  # of the register

    def __init__(self, device: NetDevice, gro: Gro, *, tso: bool, tx_work: int) -> None:
        super().__init__(device, gro, tso=tso, rx_itr_ps=0, tx_itr_ps=0, intrl_ps=0)
        self.tx_budget = tx_work

    def _notify(self) -> cython.int:
        """Interrupt, and load the counter."""
        self.rx_itr_ps = self.tx_itr_ps = self.interval_ps
        self._throttle()
        return ItrChannel._notify(self)  # noqa: SLF001 - the method that this one extends

    def _next_entry(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """Hand buffers back before the next frames are taken, if it is time."""
        if self.done - self.returned >= _BUFFER_WRITE:
            self._hand_back(cpu)
        return ItrChannel._next_entry(  # noqa: SLF001 - the method that it extends
            self, cpu, softirq
        )
