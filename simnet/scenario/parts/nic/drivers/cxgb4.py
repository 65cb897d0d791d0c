"""Chelsio T4 and T5 with the driver cxgb4."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from simnet.scenario.parts.nic.schema import BusLatency, Ethernet, ReceiveOffload, RxModeration

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Slot


class Cxgb4(BusLatency, ReceiveOffload, RxModeration, Ethernet):
    """A port that holds its interrupt off, for a time after the first frame or for frames."""

    driver: Literal["cxgb4"]

    def make(self, slot: Slot) -> Device:
        """Return a queue pair of the chip, and its driver."""
        from simnet.net.nic import cxgb4

        return cxgb4.Cxgb4(
            slot.device,
            holdoff_ps=self.rx_usecs_ps,
            frames=self.rx_frames,
            gro=self.offload(slot),
            tso=self.tso,
        )


DRIVER = Cxgb4
