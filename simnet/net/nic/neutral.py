"""A card of which only its rings, its vectors and its link are known: one vector with its rings.

It does what drivers with NAPI have in common: the interrupt schedules a poll and is disabled until
the poll ends; the poll reclaims sent frames and takes as many received ones as its weight allows;
what has come meanwhile interrupts again. Between two interrupts of a vector there is a least time,
for received and sent frames alike. How long it is nobody knows: it is a value with a wide range,
not the rule of a driver.

Source: Documentation/networking/napi.rst of Linux 6.12; `napi_schedule`, `napi_complete_done` of
net/core/dev.c. That a poll reclaims at most 256 frames and rings two doorbells at its end (the tail
of the receive ring, the interrupt's mask) is assumed, as of most drivers in drivers/net/ethernet.
"""

from __future__ import annotations

import cython

from simnet.net.link.gro import Gro
from simnet.net.nic.channel import Channel
from simnet.net.nic.net_device import NetDevice

_TX_BUDGET = 256
_DOORBELLS = 2


@cython.final
@cython.cclass
class Neutral(Channel):
    """One vector; see `Channel`.

    Args:
        device: what the chips and drivers have in common.
        gro: receive offload of its NAPI instance.
        tso: the device cuts large segments.
        gap_ps: least time between two interrupts.
    """

    def __init__(self, device: NetDevice, gro: Gro, *, tso: bool, gap_ps: int) -> None:
        super().__init__(
            device, gro, tso=tso, page_bytes=0, tx_budget=_TX_BUDGET, doorbells=_DOORBELLS
        )
        self.rx_cq.moderate(gap_ps, 0, False)
        self.tx_cq.moderate(gap_ps, 0, False)

    def _notify(self) -> cython.int:
        """Interrupt, which disables the vector for both causes."""
        self.rx_cq.close(self.sim.now)
        self.tx_cq.close(self.sim.now)
        return Channel._notify(self)  # noqa: SLF001 - the method that this one extends
