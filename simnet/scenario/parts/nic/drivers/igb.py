"""Intel 82576, 82580, I350, I354, I210 and I211 with the driver igb."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from simnet.host.release import release
from simnet.scenario.core.specs import Flag
from simnet.scenario.parts.nic.gigabit import Gigabit
from simnet.scenario.parts.nic.page_parts import LargeParts
from simnet.scenario.parts.nic.schema import SHARED_INFO_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.scenario.parts.nic.schema import Given

# IGB_MAX_FRAME_BUILD_SKB: half a page without skb_shared_info, NET_SKB_PAD and a time stamp
_SMALL_FRAME_BYTES: Final = 2048 - SHARED_INFO_BYTES - 64 - 16
# header, FCS and a VLAN's tag
_AROUND_BYTES: Final = 14 + 4 + 4
_BUILDS: Final = (4, 12)
_SOURCE: Final = "igb_main.c before Linux 4.12: igb_fetch_rx_buffer, igb_add_rx_frag"


class Igb(LargeParts, Gigabit):
    """A gigabit port."""

    around_bytes: ClassVar[int] = _AROUND_BYTES
    most_small_bytes: ClassVar[int] = _SMALL_FRAME_BYTES
    most_usecs: ClassVar[int] = 8191
    charges_datagrams: ClassVar[bool] = True
    ring_counter: ClassVar[str] = "rx_fifo_errors"
    forwards: ClassVar[bool] = True
    disciplines: ClassVar[bool] = True

    driver: Literal["igb"]
    legacy_rx: Annotated[
        bool, Flag("frames lie in halves of pages beside an sk_buff (`--show-priv-flags`)")
    ] = False

    @classmethod
    def settle(cls, given: Given) -> None:
        """Put frames into halves of pages where the kernel knows no other way."""
        version = given.tree.get((*given.host, "kernel"))["version"]
        if release(version) < _BUILDS and not given.is_set("legacy_rx"):
            given.put("legacy_rx", value=True, source=_SOURCE)

    @classmethod
    def charges(cls, values: Mapping[str, Any]) -> bool:
        """Whether an `sk_buff` is built around the frame; see `Nic.charges`."""
        return not values["legacy_rx"]

    def parts_bytes(self, length: int) -> int:
        """The parts of pages that a frame lies in."""
        return self.whole_buffers_bytes(length) if self.legacy_rx else super().parts_bytes(length)


DRIVER = Igb
