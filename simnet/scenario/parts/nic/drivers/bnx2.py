"""Broadcom BCM5709 and BCM5716 with the driver bnx2."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from simnet.scenario.core.specs import Flag
from simnet.scenario.parts.nic.queues import Multiqueue
from simnet.scenario.parts.nic.schema import Coalescing, Ethernet

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Slot


class Bnx2(Multiqueue, Coalescing, Ethernet):
    """A port with a status block and an MSI-X message for each of its queues."""

    driver: Literal["bnx2"]
    irq_values_first_queue: Annotated[
        bool, Flag("what holds while an interrupt is masked holds for the first queue alone")
    ]

    def make(self, slot: Slot) -> Device:
        """Return one vector with its rings."""
        from simnet.net.nic import bnx2

        masked = slot.queue == 0 or not self.irq_values_first_queue
        return bnx2.Bnx2(slot.device, **self.coalescing(masked=masked))


DRIVER = Bnx2
