"""What the gigabit MACs of Broadcom's home routers have in common: a status bit, no moderation.

Each frame that was received or sent sets a bit, and a bit that is set interrupts unless the driver
has masked it. Source: drivers/net/ethernet/broadcom/bgmac.c and bcm4908_enet.c of Linux 5.10 to
6.6; when the bits are cleared is the drivers' own.
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NEVER
from simnet.net.link.skb import Skb
from simnet.net.nic.port import Nic


@cython.cclass
class StatusBits(Nic):
    """One port; `status`: whether a bit is set."""

    status: cython.bint = False

    def advance(self, now: cython.longlong) -> cython.int:
        """Take in frames and completions up to `now`; assert the line for them."""
        skb: Skb = self.incoming.head
        while skb is not None and skb.arrival_ps <= now:
            self.incoming.pop()
            if self._landed(skb, skb.wire_bytes):
                self.status = True
            skb = self.incoming.head
        while self.tx.seen < self.tx.sent and self.tx.ends[self.tx.seen & self.tx.mask] <= now:
            self.tx.seen += 1
            self.status = True
        self.announced = self.arrived
        self.tx.announced = self.tx.seen
        if self.status and self.unmasked and not self.asserted:
            self.raise_line()
        return 0

    def next_update(self) -> cython.longlong:
        """The next frame to come, or to have been sent."""
        when: cython.longlong = NEVER
        if self.incoming.head is not None:
            when = self.incoming.head.arrival_ps
        if self.tx.seen < self.tx.sent:
            when = min(when, self.tx.ends[self.tx.seen & self.tx.mask])
        return when

    def unmask(self, now: cython.longlong) -> cython.int:
        """`bgmac_chip_intrs_on`, `bcm4908_enet_dma_ring_intrs_on`."""
        self.unmasked = True
        self.advance(now)
        self.arm()
        return 0
