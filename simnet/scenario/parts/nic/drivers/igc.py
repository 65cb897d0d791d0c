"""Intel I225 and I226 with the driver igc."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Final, Literal

from simnet.host.release import release
from simnet.scenario.parts.nic.gigabit import Gigabit
from simnet.scenario.parts.nic.schema import DATAGRAM_HEADERS_BYTES, SHARED_INFO_BYTES

if TYPE_CHECKING:
    from simnet.scenario.parts.nic.schema import Given

__all__ = ["DRIVER"]

# TSO came in 5.7, the last of what is modelled
_FIRST: Final = (5, 10)
# MAX_STD_JUMBO_FRAME_SIZE 9216; header, FCS and a VLAN's tag
_MOST_MTU_BYTES: Final = 9216
_AROUND_BYTES: Final = 14 + 4 + 4
# IGC_MAX_FRAME_BUILD_SKB: half a page without skb_shared_info, NET_SKB_PAD and a time stamp
_SMALL_FRAME_BYTES: Final = 2048 - SHARED_INFO_BYTES - 64 - 16
# half of two pages, where a frame takes up to 3 KiB
_LARGE_PART_BYTES: Final = 4096
_LARGE_BUFFER_BYTES: Final = 3072


class Igc(Gigabit):
    """A port of 2.5 Gbit/s; it adapts at each speed from 1 Gbit/s on."""

    most_usecs: ClassVar[int] = 10_000
    charges_datagrams: ClassVar[bool] = True
    ring_counter: ClassVar[str] = "rx_missed_errors"
    faster: ClassVar[bool] = True
    forwards: ClassVar[bool] = True
    disciplines: ClassVar[bool] = True

    driver: Literal["igc"]

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse versions whose rules are others, and packets that are too large."""
        super().check(given)
        version = given.tree.get((*given.host, "kernel"))["version"]
        if release(version) < _FIRST:
            message = f"igc of Linux {version} is not modelled: expected Linux 5.10"
            raise given.error("driver", message)
        if given["mtu_bytes"] > _MOST_MTU_BYTES:
            raise given.error("mtu_bytes", f"igc takes at most {_MOST_MTU_BYTES} B")

    def _parts_bytes(self, length: int) -> int:
        """The parts of pages that a frame lies in (`igc_set_rx_buffer_len`)."""
        if self.mtu_bytes + _AROUND_BYTES <= _SMALL_FRAME_BYTES:
            return self.whole_buffers_bytes(length)
        return -(-length // _LARGE_BUFFER_BYTES) * _LARGE_PART_BYTES

    @property
    def frame_buffer_bytes(self) -> int:
        """As many parts of pages as a full frame takes."""
        return self._parts_bytes(self.mtu_bytes + _AROUND_BYTES)

    def datagram_truesize(self, length: int, overhead: int) -> int:
        """Parts of pages and an `sk_buff` (`igc_build_skb`, `igc_get_rx_frame_truesize`)."""
        parts = self._parts_bytes(length + DATAGRAM_HEADERS_BYTES)
        return parts + overhead - SHARED_INFO_BYTES


DRIVER = Igc
