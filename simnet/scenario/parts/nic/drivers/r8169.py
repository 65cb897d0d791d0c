"""Realtek RTL8111/8168 and RTL8125 with the driver r8169."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar, Final, Literal

from simnet.host.release import release
from simnet.scenario.parts.nic.schema import BusLatency, Ethernet, Polled, ReceiveOffload, Remaps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.parts.nic.schema import Given, Slot

_RING: Final = 256
# Ethernet's header, NET_IP_ALIGN and NET_SKB_PAD; SKB_DATA_ALIGN
_AROUND_BYTES: Final = 14 + 2 + 64
_LINE_BYTES: Final = 64
# before, the driver has the chip wait, and how long is not published
_UNMODERATED: Final = (5, 1)
_DEFERS: Final = (6, 2)
_SOURCE: Final = "r8169_main.c since Linux 6.2: netdev_sw_irq_coalesce_default_on"
_DEFERRED: Final = {"napi_defer_hard_irqs": 1, "gro_flush_timeout_ps": 20 * 10**6}


class R8169(BusLatency, ReceiveOffload, Polled, Ethernet):
    """A port with one queue and without moderation of its own, which copies what it receives."""

    ring_counter: ClassVar[str] = "rx_missed"
    statistics: ClassVar[dict[str, str]] = {name: name for name in ("tx_packets", "rx_packets")}
    one_queue: ClassVar[bool] = True
    # rtl8169_ethtool_ops has no set_ringparam
    fixed_rings: ClassVar[bool] = True
    forwards: ClassVar[bool] = True
    disciplines: ClassVar[bool] = True
    unmoderated: ClassVar[str] = "its chips wait by rules that are not published"

    driver: Literal["r8169"]

    @classmethod
    def settle(cls, given: Given) -> None:
        """Defer interrupts, as the driver asks for where nobody says otherwise."""
        version = given.tree.get((*given.host, "kernel"))["version"]
        if release(version) >= _DEFERS and not any(map(given.is_set, _DEFERRED)):
            for field, value in _DEFERRED.items():
                given.put(field, value, _SOURCE)

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse kernels that moderate, and rings that the driver has not; see `Nic.check`."""
        super().check(given)
        version = given.tree.get((*given.host, "kernel"))["version"]
        if release(version) < _UNMODERATED:
            message = (
                f"r8169 of Linux {version} has the chip wait, by rules that are not published:"
                " expected Linux 5.1"
            )
            raise given.error("driver", message)
        for field in ("rx_ring", "rx_buffers_posted"):
            if given[field] != _RING:
                raise given.error(field, f"r8169 has {_RING} descriptors, and no way to change it")

    @classmethod
    def unknown(cls, knob: str, values: Mapping[str, Any]) -> str:  # noqa: ARG003 - of the base
        """Return why nobody knows what moderation does; see `Nic.unknown`."""
        if knob.startswith("ethtool -C"):
            return f"moderation of the driver r8169 is not modelled: {cls.unmoderated}"
        return ""

    @property
    def frame_buffer_bytes(self) -> int:
        """What a full frame is copied into (`napi_alloc_skb`)."""
        return -(-(self.mtu_bytes + _AROUND_BYTES) // _LINE_BYTES) * _LINE_BYTES

    @classmethod
    def remaps(cls, version: str) -> Remaps:  # noqa: ARG003 - the same in all
        """None; see `Nic.remaps`."""
        return Remaps(0, "rtl_rx: frames are copied out of buffers that stay mapped")

    def make(self, slot: Slot) -> Device:
        """Return the chip and its driver."""
        from simnet.net.nic.realtek import r8169

        made = r8169.R8169(slot.device, self.offload(slot), tso=self.tso)
        self.configure(made.instance, slot)
        return made


DRIVER = R8169
