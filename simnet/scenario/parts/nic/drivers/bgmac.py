"""Broadcom's gigabit MAC of home routers with the driver bgmac."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from simnet.scenario.parts.nic.schema import Rings

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Slot


class RouterPort(Rings):
    """A port with one queue and without moderation, behind which is a switch."""

    ring_counter: ClassVar[str] = "rx_missed"


class Bgmac(RouterPort):
    """A port of a BCM4708 or BCM47094."""

    driver: Literal["bgmac"]

    def make(self, slot: Slot) -> Device:
        """Return the chip and its driver."""
        from simnet.net.link.gro import gro_rules
        from simnet.net.nic.broadcom import bgmac

        return bgmac.Bgmac(slot.device, gro_rules(slot.kernel.version).normal_batch)


DRIVER = Bgmac
