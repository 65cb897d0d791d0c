"""What became of packets in a home router: counters, and losses by place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import Field

from simnet.rows import Count, Row
from simnet.scenario.core.subject import Column

if TYPE_CHECKING:
    from simnet.scenario.system.system import Snapshot


@dataclass(frozen=True)
class GatewayCounts:
    """Cumulative counters; what they are says `GatewayUse`."""

    offered: int
    ring: int
    backlog: int
    received: int
    bridged: int
    handed_over: int
    qdisc: int
    sent: int
    waiting: int


class GatewayUse(Row):
    """Packets of both directions that came while measured, and what became of packets meanwhile."""

    offered: Count = Field(description="packets that came to the port")
    ring: Count = Field(description="of them lost for want of a posted buffer")
    backlog: Count = Field(description="lost in CPUs' backlogs: softnet_stat, second column")
    received: Count = Field(description="packets that the switch's ports got")
    bridged: Count = Field(description="of them those that passed the bridge on their way up")
    handed_over: Count = Field(description="packets that another CPU sent, as it was sending")
    qdisc: Count = Field(description="lost in the queueing discipline of the port")
    sent: Count = Field(description="packets that left by the port")
    waiting: Count = Field(description="in the router at the end")


def _use(start: Snapshot, end: Snapshot) -> GatewayUse | None:
    """Counts between two snapshots; None for another system."""
    more = end.grown(start, "gateway")
    if more is None:
        return None
    more["waiting"] = end.more["gateway"].waiting
    return GatewayUse(**more)


COLUMNS: Final = (
    Column(
        "gateway",
        GatewayUse | None,
        "of packets through a home router",
        _use,
        default=None,
        order=63,
    ),
)
