"""Intel X710, XXV710 and XL710 with the driver i40e: one vector with its rings.

Source: drivers/net/ethernet/intel/i40e of Linux 4.16 to 6.6 (i40e_txrx.c `i40e_napi_poll`,
`i40e_update_enable_itr`; i40e_main.c `i40e_vsi_configure_msix`). A throttle that adapts starts from
what is set; it is looked at where a poll enables the vector, see `dynamic_itr`.
"""

from __future__ import annotations

import cython

from simnet.net.link.gro import Gro
from simnet.net.nic.intel.dynamic_itr import DynamicItr, RingContainer
from simnet.net.nic.intel.itr_channel import ItrChannel
from simnet.net.nic.net_device import NetDevice

_US_PS: cython.longlong = 1_000_000
_MASK: cython.longlong = 0x1FFE
_MBPS = 10**6


@cython.final
@cython.cclass
class I40e(ItrChannel):
    """One vector; see `ItrChannel`.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        rx_itr_ps, tx_itr_ps: throttles that are set.
        intrl_ps: least time between two interrupts; 0 for no limit.
        adaptive_rx, adaptive_tx: the driver changes the throttle.
    """

    itr: DynamicItr = None

    def __init__(
        self,
        device: NetDevice,
        gro: Gro,
        *,
        tso: bool,
        rx_itr_ps: int,
        tx_itr_ps: int,
        intrl_ps: int,
        adaptive_rx: bool,
        adaptive_tx: bool,
    ) -> None:
        super().__init__(
            device, gro, tso=tso, rx_itr_ps=rx_itr_ps, tx_itr_ps=tx_itr_ps, intrl_ps=intrl_ps
        )
        self.itr = DynamicItr(
            RingContainer(rx_itr_ps // _US_PS, dynamic=adaptive_rx),
            RingContainer(tx_itr_ps // _US_PS, dynamic=adaptive_tx),
            device.rate_bps // _MBPS,
        )

    def _poll_completed(self, now: cython.longlong) -> cython.int:
        """`i40e_update_enable_itr`."""
        written: RingContainer
        self._look()
        self.itr.took(self.itr.rx, self.taken, self.taken_bytes)
        self.itr.took(self.itr.tx, self.freed, self.freed_bytes)
        written = self.itr.update(now // self.jiffy_ps)
        if written is not None:
            self.rx_itr_ps = (self.itr.rx.current_itr & _MASK) * _US_PS
            self.tx_itr_ps = (self.itr.tx.current_itr & _MASK) * _US_PS
            self._throttle()
        return 0
