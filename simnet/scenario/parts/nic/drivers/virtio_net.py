"""A virtio network device with the driver virtio_net."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, ClassVar, Final, Literal

from simnet.scenario.core.specs import count
from simnet.scenario.parts.nic.channels import Combined
from simnet.scenario.parts.nic.schema import Ethernet, Polled, ReceiveOffload

if TYPE_CHECKING:
    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Given, Slot

# 2 + MAX_SKB_FRAGS: with fewer free entries the driver stops the queue
_SPARE_ENTRIES: Final = 19
_RINGS: Final = (256, 512, 1024)


class VirtioNet(Combined, ReceiveOffload, Polled, Ethernet):
    """A device of a guest, one thread of the host behind each pair of queues."""

    network: ClassVar[str] = "bridge"
    unmoderated: ClassVar[str] = "vhost-net does not offer VIRTIO_NET_F_NOTF_COAL"

    driver: Literal["virtio_net"]
    tx_ring: Annotated[int, count("transmit descriptors", 16, 65536)]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse rings that QEMU does not make; see `Nic.check`."""
        super().check(given)
        for field in ("rx_buffers_posted", "tx_ring"):
            if given[field] not in _RINGS:
                message = f"expected one of 256, 512, 1024 descriptors, got {given[field]}"
                raise given.error(field, message)

    def make(self, slot: Slot) -> Device:
        """Return a pair of queues; `simnet.scenario.parts.kvm.build.connect` completes it."""
        from dataclasses import replace

        from simnet.net.virtio import virtio_net

        device = replace(slot.device, tx_ring=self.tx_ring - _SPARE_ENTRIES)
        made = virtio_net.VirtioNet(
            device, self.offload(slot), tso=self.tso, ring_size=self.rx_buffers_posted
        )
        self.configure(made.instance, slot)
        return made


DRIVER = VirtioNet
