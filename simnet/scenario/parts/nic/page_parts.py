"""Frames in parts of pages: what a frame takes, and what a socket is charged with for a datagram.

Source: drivers/net/ethernet/intel of Linux: `i40e_build_skb`, `ice_build_skb`, `ixgbe_build_skb`,
`igc_build_skb`; `ixgbe_set_rx_buffer_len`, `igc_set_rx_buffer_len`. `build_skb` makes an `sk_buff`
around a frame, so `skb_shared_info` lies in its first part. A part is a receive buffer; where a
full frame does not fit, it is half of two pages, of which a frame takes up to 3 KiB.
"""

from typing import ClassVar, Final

from simnet.scenario.parts.nic.schema import (
    DATAGRAM_HEADERS_BYTES,
    FRAME_HEADER_BYTES,
    SHARED_INFO_BYTES,
    Remaps,
    Rings,
)

# in 1/1000 of the frames
_HALF_A_PAGE: Final = 500
_LARGE_PART_BYTES: Final = 4096
_LARGE_BUFFER_BYTES: Final = 3072


class PageParts(Rings):
    """A driver whose frames lie in as many receive buffers as they take."""

    around_bytes: ClassVar[int] = FRAME_HEADER_BYTES  # of a full frame, beside its MTU

    def parts_bytes(self, length: int) -> int:
        """The parts of pages that a frame lies in."""
        return self.whole_buffers_bytes(length)

    @property
    def frame_buffer_bytes(self) -> int:
        """As many parts of pages as a full frame takes."""
        return self.parts_bytes(self.mtu_bytes + self.around_bytes)

    @classmethod
    def remaps(cls, version: str) -> Remaps:  # noqa: ARG003 - the same in all
        """The halves of a page take turns, unless the other is in use; see `Nic.remaps`."""
        why = "i40e_can_reuse_rx_page and the like: a page stays mapped unless its half is in use"
        return Remaps(0, why, _HALF_A_PAGE)

    def datagram_truesize(self, length: int, overhead: int) -> int:
        """Parts of pages and an `sk_buff`; `skb_shared_info` lies in the first part."""
        parts = self.parts_bytes(length + DATAGRAM_HEADERS_BYTES)
        return parts + overhead - SHARED_INFO_BYTES


class LargeParts(PageParts):
    """The same, with larger parts where a full frame is larger than it may be for small ones."""

    most_small_bytes: ClassVar[int]  # of a full frame in receive buffers

    def parts_bytes(self, length: int) -> int:
        """The parts of pages that a frame lies in."""
        if self.mtu_bytes + self.around_bytes <= self.most_small_bytes:
            return super().parts_bytes(length)
        return -(-length // _LARGE_BUFFER_BYTES) * _LARGE_PART_BYTES
