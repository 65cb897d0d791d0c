"""Intel X710, XXV710 and XL710 with the driver i40e."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from simnet.scenario.parts.nic.intel import Throttled

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Slot

__all__ = ["DRIVER"]


class I40e(Throttled):
    """A port whose driver adapts its throttles itself, unless they are set."""

    most_descriptors: ClassVar[int] = 4096

    ring_counter: ClassVar[str] = "port.rx_dropped"

    driver: Literal["i40e"]

    def make(self, slot: Slot) -> Device:
        """Return one vector with its rings."""
        from simnet.net.nic.intel import i40e

        made = i40e.I40e(slot.device, **self.throttles(slot))
        self.configure(made.instance, slot)
        return made


DRIVER = I40e
