"""What became of packets on their way through: the kernel's counters, and losses by place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import Field

from simnet.rows import Count, Percent, Row
from simnet.scenario.core.subject import Column, Measure, column_field
from simnet.scenario.parts.network.lost import lost_text
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.scenario.system.system import Snapshot

_PERCENT: Final = 100
# places where packets are lost, and the counter of each; that of the ring is the driver's
_LOST: Final = {
    "ring": "",
    "backlog": "softnet_stat, second column",
    "conntrack": "drop of /proc/net/stat/nf_conntrack, table full",
    "addr_errors": "InAddrErrors",
    "hdr_errors": "InHdrErrors",
    "qdisc": "dropped of tc -s qdisc",
}
_NAMED: Final = {"addr_errors": "IP", "hdr_errors": "IP"}


@dataclass(frozen=True)
class ForwardCounts:
    """Cumulative counters."""

    offered: int  # packets that came to the port
    ring: int  # of them dropped for want of a posted buffer
    received: int  # taken by the stack
    backlog: int  # dropped by backlogs of CPUs
    conntrack: int  # dropped, the table of connections is full
    early_drop: int  # connections that made room for others
    # dropped by a rule
    raw: int
    filter: int
    # dropped by IP
    addr_errors: int
    hdr_errors: int
    offloaded: int  # sent by the flow table
    qdisc: int  # dropped by the queueing discipline of the other port
    sent: int  # that have left by the other port
    waiting: int  # packets in the host now


class ForwardUse(Row):
    """Packets that came while measured, and what became of packets meanwhile.

    Counters have the kernel's names; of the driver what `ethtool -S` shows as `ring_counter`.
    """

    offered: Count = Field(description="packets that came to the port")
    received: Count = Field(description="that the stack took up")
    sent: Count = Field(description="that left by the other port")
    offloaded: Count = Field(description="that the flow table sent")
    raw: Count = Field(description="dropped by a rule of raw, as the rule counts")
    filter: Count = Field(description="dropped by a rule of filter, as the rule counts")
    ring: Count = Field(description="lost in the receive rings")
    ring_counter: str = Field(description="what the driver calls these")
    backlog: Count = Field(description="lost in CPUs' backlogs: softnet_stat, second column")
    conntrack: Count = Field(description="lost for nf_conntrack: table full, its counter drop")
    early_drop: Count = Field(description="connections that made room for others (early_drop)")
    addr_errors: Count = Field(description="InAddrErrors: the host does not forward")
    hdr_errors: Count = Field(description="InHdrErrors: time to live exceeded")
    qdisc: Count = Field(description="lost in queueing disciplines of the other port")
    waiting: Count = Field(description="in the host at the end")
    packets_per_s: float = Field(description="that were sent, or dropped by a rule, a second")
    idle_percent: Percent = Field(description="idle time of all CPUs together")
    delivered_percent: Percent = Field(
        description="share of those that came which was not lost; what a rule drops is not"
    )

    @property
    def sentence(self) -> str:
        """What was lost, and where, the place with most first, each with its counter."""
        places = (
            (_NAMED.get(name, name), getattr(self, name), counter or self.ring_counter)
            for name, counter in _LOST.items()
        )
        return lost_text("packet", _PERCENT - self.delivered_percent, places)


def _use(start: Snapshot, end: Snapshot) -> ForwardUse | None:
    """Counts between two snapshots; None for another system."""
    more = end.grown(start, "forward")
    if more is None:
        return None
    offered = more["offered"]
    lost = sum(more[name] for name in _LOST)
    span_ps = end.time_ps - start.time_ps
    idle_ps = sum(cpu.idle_ps for cpu in end.cpus) - sum(cpu.idle_ps for cpu in start.cpus)
    counted = (*_LOST, "received", "sent", "offloaded", "raw", "filter", "early_drop")
    return ForwardUse(
        offered=offered,
        **{name: more[name] for name in counted},
        ring_counter=end.more["forward_ring_counter"],
        waiting=end.more["forward"].waiting,
        packets_per_s=(more["sent"] + more["raw"] + more["filter"]) * PS_PER_S / span_ps,
        idle_percent=min(_PERCENT * idle_ps / (span_ps * len(end.cpus)), _PERCENT),
        delivered_percent=_PERCENT * max(1 - lost / max(offered, 1), 0.0),
    )


def _lost_at(name: str) -> Measure:
    return Measure(
        f"packets lost in {name} (number)", f"lost {name}", column_field("forward", name)
    )


COLUMNS: Final = (
    Column(
        "forward",
        ForwardUse | None,
        "of packets on their way through",
        _use,
        default=None,
        measures={
            "forward_packets_per_s": Measure(
                "packets sent, or dropped by a rule (1/s)",
                "packets/s",
                column_field("forward", "packets_per_s"),
                largest=True,
            ),
            "forward_delivered_percent": Measure(
                "packets not lost (%)",
                "not lost %",
                column_field("forward", "delivered_percent"),
                digits=3,
                largest=True,
            ),
            **{f"forward_lost_{name}": _lost_at(name) for name in _LOST},
        },
        order=62,
    ),
)
