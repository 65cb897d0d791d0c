"""Chelsio T4 and T5 with the driver cxgb4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from simnet.scenario.core.specs import Flag
from simnet.scenario.core.tree import DEFAULT, dotted
from simnet.scenario.parts.nic.schema import BusLatency, Ethernet, RxModeration

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Given, Slot

__all__ = ["DRIVER"]


class Cxgb4(BusLatency, RxModeration, Ethernet):
    """A port that holds its interrupt off, for a time after the first frame or for frames."""

    driver: Literal["cxgb4"]
    gro: Annotated[bool, Flag("receive offload: a poll merges segments")]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse GRO on a kernel whose model says that it has none; see `Nic.check`."""
        super().check(given)
        kernel = given.tree.get((*given.host, "kernel"))
        stated = given.tree.provenance[dotted((*given.host, "kernel", "gro"))].source != DEFAULT
        if given["gro"] and stated and not kernel["gro"]:
            message = f"GRO is on, Linux {kernel['version']} has none: nic.gro=off"
            paths = ((*given.host, "kernel", "gro"), (*given.host, "kernel"))
            raise given.table.error((*given.port, "nic", "gro"), "system", message, *paths)

    def make(self, slot: Slot) -> Device:
        """Return a queue pair of the chip, and its driver."""
        from simnet.net.nic import cxgb4

        return cxgb4.Cxgb4(
            slot.device,
            holdoff_ps=self.rx_usecs_ps,
            frames=self.rx_frames,
            gro=self.gro,
            tso=self.tso,
        )


DRIVER = Cxgb4
