"""Ethernet of Broadcom's BCM4908 with the driver bcm4908_enet."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from simnet.scenario.parts.nic.drivers.bgmac import RouterPort

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Slot


class Bcm4908Enet(RouterPort):
    """A port of a BCM4908; the driver counts no frames that found no buffer."""

    ring_counter: ClassVar[str] = ""

    driver: Literal["bcm4908_enet"]

    def make(self, slot: Slot) -> Device:
        """Return the chip and its driver."""
        from simnet.net.nic.broadcom import bcm4908_enet

        return bcm4908_enet.Bcm4908Enet(slot.device)


DRIVER = Bcm4908Enet
