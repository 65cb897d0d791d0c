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

from simnet.net.nic.broadcom.status_bits import StatusBits


@cython.final
@cython.cclass
class Bcm4908Enet(StatusBits):
    """One port."""

    def has_work(self) -> cython.bint:
        """After a poll that used up its weight; what has come since else interrupts again."""
        return self.done >= self.limit

    def acknowledge(self, now: cython.longlong) -> cython.int:
        """The handler clears the status, the end of a poll does not."""
        if self.asserted:
            self.status = False
        return 0
