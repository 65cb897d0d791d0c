"""Intel 82599, X540 and X550 with the driver ixgbe: one vector with its rings.

Source: drivers/net/ethernet/intel/ixgbe of Linux 4.12 to 6.9 (ixgbe_main.c `ixgbe_poll`,
`ixgbe_clean_tx_irq`, `ixgbe_xmit_frame_ring`; ixgbe.h IXGBE_DEFAULT_TX_WORK). `ixgbe_itr` says what
the throttle's register has; a poll that ends writes it, and does not touch the counter
(IXGBE_EITR_CNT_WDIS). `atr` says how flows come to the queue that they are sent by.
"""

from __future__ import annotations

import cython

from simnet.kernel.compiled import Public
from simnet.net.link.gro import Gro
from simnet.net.link.skb import Skb
from simnet.net.nic.intel.atr import AtrRing
from simnet.net.nic.intel.itr_channel import ItrChannel
from simnet.net.nic.intel.ixgbe_itr import ItrRules, IxgbeItr
from simnet.net.nic.intel.loaded_vector import LoadedVector
from simnet.net.nic.net_device import NetDevice

_TX_WORK = 256
_MBPS = 10**6


@cython.final
@cython.cclass
class Ixgbe(LoadedVector):
    """One vector; see `LoadedVector`.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        usecs: what `ethtool -C` has set, see `IxgbeItr`.
        rules: how the throttle adapts.
    """

    itr: IxgbeItr = None  # its throttle
    # what looks at sent packets; None while flow rules are set, and of a single queue
    atr: Public[AtrRing] = None

    def __init__(
        self, device: NetDevice, gro: Gro, *, tso: bool, usecs: int, rules: ItrRules
    ) -> None:
        super().__init__(device, gro, tso=tso, tx_work=_TX_WORK)
        self.itr = IxgbeItr(usecs, device.rate_bps // _MBPS, rules)
        self.interval_ps = self.itr.interval_ps()

    def _send_now(self, skb: Skb) -> cython.int:
        """Put a frame on the wire; the segments of a large one are one packet of the ring."""
        number: cython.longlong = self.tx.sent
        ItrChannel._send_now(self, skb)  # noqa: SLF001 - the method that this one extends
        if self.atr is not None and self.tx_parts[number & self.tx.mask] == 0:
            self.atr.sent(skb)
        return 0

    def _poll_completed(self, now: cython.longlong) -> cython.int:
        """`ixgbe_set_itr`."""
        self._look()
        self.itr.rx.took(self.taken, self.taken_bytes)
        self.itr.tx.took(self.freed, self.freed_bytes)
        self.itr.update(now // self.jiffy_ps)
        self.interval_ps = self.itr.interval_ps()
        return 0
