"""Ethernet of Broadcom's BCM4908 with the driver bcm4908_enet: one queue each way.

Source: drivers/net/ethernet/broadcom/bcm4908_enet.c of Linux 5.11 to 6.6
(`bcm4908_enet_irq_handler`, `bcm4908_enet_poll_rx`, `bcm4908_enet_poll_tx`). Each frame that was
received or sent sets a status, which the handler clears when it masks it: there is no moderation.
The poll takes frames for as long as there are some and weight is left. What comes after the handler
interrupts again as soon as the poll is over and unmasks, though the poll may have taken it.
Receiving and sending have an interrupt and a NAPI instance each, both on one CPU by default; here
they are one. Frames go up one by one (`netif_receive_skb`).
"""

from __future__ import annotations

import cython

from simnet.kernel.sentinel import NEVER
from simnet.net.link.skb import Skb
from simnet.net.nic.port import Nic

__all__ = ["Bcm4908Enet"]


@cython.final
@cython.cclass
class Bcm4908Enet(Nic):
    """One port; `status`: whether a status is set."""

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

    def has_work(self) -> cython.bint:
        """After a poll that used up its weight; what has come since else interrupts again."""
        return self.done >= self.limit

    def acknowledge(self, now: cython.longlong) -> cython.int:
        """The handler clears the status, the end of a poll does not."""
        if self.asserted:
            self.status = False
        return 0

    def unmask(self, now: cython.longlong) -> cython.int:
        """`bcm4908_enet_dma_ring_intrs_on`."""
        self.unmasked = True
        self.advance(now)
        self.arm()
        return 0
