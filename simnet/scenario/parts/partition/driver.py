"""A port of a hypervisor's virtual LAN with the driver ibmveth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from simnet.scenario.core.specs import Choice, Quantity
from simnet.scenario.parts.nic.schema import Nic

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Given, Slot


class Ibmveth(Nic):
    """A virtual port that signals when its queue is no longer empty."""

    network: ClassVar[str] = "hypervisor"

    driver: Literal["ibmveth"]
    checksum: Annotated[
        str, Choice("who computes and verifies TCP's checksums", ("device", "cpu"))
    ] = "device"
    rx_pool_buffers: Annotated[
        tuple[int, int, int, int, int],
        Quantity("buffers of 512 B, 2, 16, 32 and 64 KiB", "count", "0", "4096", 5),
    ]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse an MTU for which no pool has buffers; see `Nic.check`."""
        from simnet.net.virtual_lan.ibmveth_pools import LARGEST_MTU_BYTES

        super().check(given)
        if given["mtu_bytes"] > LARGEST_MTU_BYTES:
            name = given.tree.get((*given.port, "name"))
            message = f"{name}: expected an MTU of at most {LARGEST_MTU_BYTES} B"
            raise given.error("mtu_bytes", f"{message}, got {given['mtu_bytes']} B")

    def make(self, slot: Slot) -> Device:
        """Return the port; `connect` completes it."""
        from simnet.net.virtual_lan import ibmveth

        return ibmveth.Ibmveth(
            slot.device, buffers_by_pool=self.rx_pool_buffers, mtu=self.mtu_bytes
        )

    @property
    def frame_buffer_bytes(self) -> int:
        """The buffer of the pool that a full frame is received in."""
        from simnet.net.virtual_lan.ibmveth_pools import pool_bytes

        return pool_bytes(self.mtu_bytes)

    @property
    def checksum_by_cpu(self) -> bool:
        """Whether the CPU computes and verifies TCP's checksums."""
        return self.checksum == "cpu"


DRIVERS = (Ibmveth,)
