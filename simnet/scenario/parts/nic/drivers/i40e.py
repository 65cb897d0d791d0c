"""Intel X710, XXV710 and XL710 with the driver i40e."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal

from simnet.host.release import release
from simnet.scenario.parts.nic.intel import Throttled
from simnet.scenario.parts.nic.schema import USUAL_STATISTICS, of_queues

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Slot

_HEEDS: Final = (5, 0)


class I40e(Throttled):
    """A port whose driver adapts its throttles itself, unless they are set."""

    most_descriptors: ClassVar[int] = 4096

    ring_counter: ClassVar[str] = "port.rx_dropped"
    statistics: ClassVar[dict[str, str]] = USUAL_STATISTICS
    queue_statistics: ClassVar[dict[str, str]] = of_queues("{}-{{}}.{}")

    driver: Literal["i40e"]

    def make(self, slot: Slot) -> Device:
        """Return one vector with its rings."""
        from simnet.net.nic.intel import i40e

        made = i40e.I40e(slot.device, **self.throttles(slot))
        # until then i40e_napi_poll took no notice of what napi_complete_done returned
        made.rearms = release(slot.kernel.version) < _HEEDS
        self.configure(made.instance, slot)
        return made


DRIVER = I40e
