"""Intel E810 with the driver ice."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from simnet.host.release import release
from simnet.scenario.core.specs import time
from simnet.scenario.parts.nic.intel import Throttled
from simnet.scenario.parts.nic.schema import QUEUE_STATISTICS, USUAL_STATISTICS

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.net.steering.arfs import ArfsDriver
    from simnet.scenario.parts.nic.schema import Given, Slot

# the driver's moderation uses lib/dim since then
_FIRST_DIM = (5, 14)
# ice_arfs_cmp came with it
_COMPARES_FLOWS = (6, 16)
# serv_tmr_period is HZ
_SERVICE_PS = 10**12


class Ice(Throttled):
    """A port whose throttles `Dim` chooses, unless they are set."""

    most_descriptors: ClassVar[int] = 8160
    limit_needs_fixed: ClassVar[bool] = True
    arfs_since: ClassVar[tuple[int, int] | None] = (5, 8)

    ring_counter: ClassVar[str] = "rx_dropped.nic"
    queue_statistics: ClassVar[dict[str, str]] = QUEUE_STATISTICS
    statistics: ClassVar[dict[str, str]] = USUAL_STATISTICS | {
        "rx_packets": "rx_unicast",
        "tx_packets": "tx_unicast",
    }

    driver: Literal["ice"]
    command_latency_ps: Annotated[
        int, time("from a choice of DIM or aRFS to what the device does", "0 us", "100 ms")
    ]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse moderation that adapts by the rules of an earlier driver; see `Nic.check`."""
        super().check(given)
        version = given.tree.get((*given.host, "kernel"))["version"]
        for way in ("rx", "tx"):
            if given[f"adaptive_{way}"] and release(version) < _FIRST_DIM:
                message = (
                    f"ice of Linux {version} adapts without DIM, which is not modelled:"
                    f" expected off, or Linux 5.14"
                )
                raise given.error(f"adaptive_{way}", message)

    def _arfs(self, version: str) -> ArfsDriver:
        """Return the service task."""
        from simnet.net.steering.arfs import ArfsDriver

        return ArfsDriver(
            self.command_latency_ps,
            batches=True,
            by_flow_entry=release(version) < _COMPARES_FLOWS,
            period_ps=_SERVICE_PS,
        )

    def make(self, slot: Slot) -> Device:
        """Return one vector with its rings."""
        from simnet.net.nic.intel import ice

        made = ice.Ice(
            slot.device,
            **self.throttles(slot),
            profiles=ice.profiles(slot.kernel.version),
            command_ps=self.command_latency_ps,
        )
        self.configure(made.instance, slot)
        return made


DRIVER = Ice
