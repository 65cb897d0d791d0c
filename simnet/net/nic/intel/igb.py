"""Intel's ports from the 82576 to the I226 with the drivers igb and igc: a vector with its rings.

Source: drivers/net/ethernet/intel/igb/igb_main.c of Linux 4.19 (`igb_msix_ring`, `igb_poll`,
`igb_clean_tx_irq`; igb.h IGB_DEFAULT_TX_WORK), igc/igc_main.c and igc.h of Linux 5.5 to 5.15.
`igb_itr` says what the throttle's register has; it is written when an interrupt is handled.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.net.link.gro import Gro
from simnet.net.nic.channel import Channel
from simnet.net.nic.intel.igb_itr import IgbItr
from simnet.net.nic.intel.loaded_vector import LoadedVector
from simnet.net.nic.net_device import NetDevice

_TX_WORK = 128
_MBPS = 10**6


@cython.final
@cython.cclass
class Igb(LoadedVector):
    """One vector; see `LoadedVector`.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        usecs: what `ethtool -C` has set, see `IgbItr`.
        alone: the device has no other vector for queues.
        faster: of igc, see `IgbItr`.
    """

    itr: IgbItr = None  # its throttle

    def __init__(
        self,
        device: NetDevice,
        gro: Gro,
        *,
        tso: bool,
        usecs: int,
        alone: bool,
        faster: bool = False,
    ) -> None:
        super().__init__(device, gro, tso=tso, tx_work=_TX_WORK)
        link_mbps = device.rate_bps // _MBPS
        self.itr = IgbItr(usecs, alone=alone, link_mbps=link_mbps, faster=faster)

    def step(self, cpu: Cpu) -> None:
        """`igb_msix_ring`."""
        interval_ps: cython.longlong = self.itr.write()
        if interval_ps >= 0:
            self.interval_ps = interval_ps
        Channel.step(self, cpu)

    def _poll_completed(self, now: cython.longlong) -> cython.int:
        """`igb_ring_irq_enable`."""
        self._look()
        self.itr.rx.took(self.taken, self.taken_bytes)
        self.itr.tx.took(self.freed, self.freed_bytes)
        self.itr.update()
        return 0
