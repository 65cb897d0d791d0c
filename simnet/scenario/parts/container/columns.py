"""What both ends of a container's veth pair count."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import Field

from simnet.rows import Count, Row
from simnet.scenario.core.subject import Column

if TYPE_CHECKING:
    from simnet.scenario.system.system import Snapshot


@dataclass(frozen=True)
class VethCounts:
    """Cumulative counters; what they are says `VethUse`."""

    tx_packets: int
    tx_dropped: int
    rx_packets: int
    ring_drops: int
    conntrack: int


class VethUse(Row):
    """Packets to a container while measured, as both ends of its veth pair count them."""

    tx_packets: Count = Field(description="of the host's end")
    tx_dropped: Count = Field(
        description="of the host's end: a full backlog, which softnet_stat counts, too, or ring"
    )
    rx_packets: Count = Field(description="of the container's end")
    ring_drops: Count = Field(description="of tx_dropped those that found the ring full")
    conntrack: Count = Field(description="nf_conntrack_count at the end")


def _use(start: Snapshot, end: Snapshot) -> VethUse | None:
    """Counts between two snapshots; None for another system."""
    more = end.grown(start, "veth")
    if more is None:
        return None
    more["conntrack"] = end.more["veth"].conntrack
    return VethUse(**more)


COLUMNS: Final = (
    Column("veth", VethUse | None, "of packets to a container", _use, default=None, order=64),
)
