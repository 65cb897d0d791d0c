"""Broadcom BCM57xx with the driver tg3."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from simnet.scenario.core.specs import Flag
from simnet.scenario.parts.nic.schema import Coalescing, Ethernet

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Slot


class Tg3(Coalescing, Ethernet):
    """A port whose chip coalesces receive and transmit interrupts."""

    # later ones have several queues, GRO and byte queue limits
    last: ClassVar[tuple[int, ...]] = (2, 6, 18)

    driver: Literal["tg3"]
    tagged_status: Annotated[bool, Flag("status block carries a tag; unmasking compares it")]

    def make(self, slot: Slot) -> Device:
        """Return the chip and its driver."""
        from simnet.net.nic import tg3

        return tg3.Tg3(slot.device, **self.coalescing())


DRIVER = Tg3
