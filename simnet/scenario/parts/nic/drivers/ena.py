"""Amazon's Elastic Network Adapter with the driver ena.

Source: drivers/net/ethernet/amazon/ena of Linux 5.4 to 6.6 (ena_netdev.c `ena_rx_skb`,
`ena_alloc_rx_buffer`, `ena_try_rx_buf_page_reuse`; ena_ethtool.c `ena_set_coalesce`,
`ena_set_ringparam`). Each buffer is a page, with room before and behind a frame. Since Linux 5.14
an `sk_buff` is built around the frame, since 6.5 a page goes on to be used while 2 KiB are left.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Final, Literal

from simnet.host.release import release
from simnet.scenario.core.specs import Choice, time
from simnet.scenario.parts.nic.channels import ADAPTIVE_RX, RSS_KNOBS, AdaptiveRx, Combined
from simnet.scenario.parts.nic.queues import Multiqueue
from simnet.scenario.parts.nic.schema import (
    DATAGRAM_HEADERS_BYTES,
    SHARED_INFO_BYTES,
    BusLatency,
    Ethernet,
    Polled,
    ReceiveOffload,
    Remaps,
    of_queues,
)
from simnet.time_units import PS_PER_US

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.net.nic.port import Nic as Device
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.parts.nic.schema import Given, Slot

_FIRST: Final = (5, 4)
# until then a table of five levels, which is not modelled
_FIRST_DIM: Final = (5, 5)
# ENA_MIN_RING_SIZE
_LEAST_RING: Final = 256
_PAGE_BYTES: Final = 4096
_HEADER_BYTES: Final = 14
# NET_SKB_PAD, and skb_shared_info behind the frame
_AROUND_BYTES: Final = 64 + SHARED_INFO_BYTES
_LINE_BYTES: Final = 64
_HEAD_BYTES: Final = 1024
# in 1/1000 of the frames
_HALF_A_PAGE: Final = 500
_EACH: Final = 1000
# how a frame lies in pages, since which version
_LIES: Final = (((6, 5), "part"), ((5, 14), "page"), ((), "fragment"))
_SOURCE: Final = "ena_netdev.c: build_skb since Linux 5.14, ena_try_rx_buf_page_reuse since 6.5"


def _lies(version: str) -> str:
    return next(name for since, name in _LIES if release(version) >= since)


class Ena(Combined, BusLatency, ReceiveOffload, AdaptiveRx, Polled, Multiqueue, Ethernet):
    """A port of an instance, whose interrupts are put off by a time for each direction."""

    first: ClassVar[tuple[int, ...]] = _FIRST
    most_usecs: ClassVar[int] = 10_000
    queue_a_cpu: ClassVar[bool] = True
    forwards: ClassVar[bool] = True
    disciplines: ClassVar[bool] = True
    # ena_get_stats64: `dropped` of `ip -s link`
    ring_counter: ClassVar[str] = "rx_dropped"
    shows_ring: ClassVar[bool] = False
    queue_statistics: ClassVar[dict[str, str]] = of_queues("queue_{{}}_{}_{}", "cnt")

    driver: Literal["ena"]
    lies: Annotated[
        str,
        Choice(
            "how a received frame lies: in part of a page, in a page, in one beside an sk_buff",
            tuple(name for _, name in _LIES),
        ),
    ] = "part"
    work_latency_ps: Annotated[
        int, time("from a choice of DIM to what the driver writes", "0 us", "100 ms")
    ]

    @classmethod
    def settle(cls, given: Given) -> None:
        """Have frames lie as the kernel's driver lays them."""
        name = _lies(given.tree.get((*given.host, "kernel"))["version"])
        if given["lies"] != name and not given.is_set("lies"):
            given.put("lies", name, _SOURCE)

    @classmethod
    def check(cls, given: Given) -> None:
        """Refuse what the driver would not take as it is, and earlier rules; see `Nic.check`."""
        super().check(given)
        version = given.tree.get((*given.host, "kernel"))["version"]
        for field in ("rx_usecs_ps", "tx_usecs_ps"):
            if given[field] % PS_PER_US:
                raise given.error(field, "ena takes whole microseconds")
        if given["adaptive_rx"] and release(version) < _FIRST_DIM:
            message = (
                f"ena of Linux {version} adapts without DIM, which is not modelled:"
                " expected off, or Linux 5.5"
            )
            raise given.error("adaptive_rx", message)
        for field in ("rx_buffers_posted", "tx_ring"):
            size = given[field]
            if size + 1 < _LEAST_RING or (size & (size - 1) and size & (size + 1)):
                message = f"a ring of ena has {_LEAST_RING} descriptors, or twice as many, or more"
                raise given.error(field, message)

    @classmethod
    def knobs(cls) -> tuple[Knob, ...]:
        """Return the number of queues, RSS, and what makes moderation adapt."""
        return (*super().knobs(), *RSS_KNOBS, ADAPTIVE_RX)

    @classmethod
    def remaps(cls, version: str) -> Remaps:
        """Each page until Linux 6.5; see `Nic.remaps`."""
        if _lies(version) != "part":
            return Remaps(_EACH, "ena_alloc_map_page: a page for each frame")
        why = "ena_try_rx_buf_page_reuse: a page holds two full frames"
        return Remaps(_HALF_A_PAGE, why, _EACH)

    @classmethod
    def charges(cls, values: Mapping[str, Any]) -> bool:
        """Whether an `sk_buff` is built around the frame; see `Nic.charges`."""
        return str(values["lies"]) != "fragment"

    def _parts_bytes(self, length: int) -> int:
        """What a frame takes of its pages."""
        most = _PAGE_BYTES - _AROUND_BYTES
        whole, rest = divmod(length, most)
        if self.lies != "part":
            return (whole + (rest > 0)) * _PAGE_BYTES
        part = -(-(rest + _AROUND_BYTES) // _LINE_BYTES) * _LINE_BYTES if rest else 0
        return whole * _PAGE_BYTES + part

    @property
    def frame_buffer_bytes(self) -> int:
        """The pages of a full frame, or what it takes of them."""
        return self._parts_bytes(self.mtu_bytes + _HEADER_BYTES)

    def datagram_truesize(self, length: int, overhead: int) -> int:
        """What a frame takes and an `sk_buff`; a small one is copied (`napi_alloc_skb`)."""
        frame = length + DATAGRAM_HEADERS_BYTES
        small = frame <= self.copybreak_bytes
        return (_HEAD_BYTES if small else self._parts_bytes(frame)) + overhead - SHARED_INFO_BYTES

    @property
    def interrupt_gap_ps(self) -> int:
        """For how long received frames put an interrupt off; where it adapts, from the first."""
        return self.rx_usecs_ps

    def make(self, slot: Slot) -> Device:
        """Return one vector with its rings."""
        from simnet.net.nic.amazon import ena

        made = ena.Ena(
            slot.device,
            self.offload(slot),
            tso=self.tso,
            rx_ps=self.rx_usecs_ps,
            tx_ps=self.tx_usecs_ps,
            adaptive_rx=self.adaptive_rx,
            work_ps=self.work_latency_ps,
        )
        self.configure(made.instance, slot)
        return made


DRIVER = Ena
