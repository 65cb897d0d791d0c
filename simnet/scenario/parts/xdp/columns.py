"""What became of packets under a program of XDP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import Field

from simnet.rows import Count, Percent, Rate, Row
from simnet.scenario.core.subject import Column, Measure, column_field
from simnet.scenario.parts.network.lost import lost_text
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from simnet.scenario.system.system import Snapshot

_PERCENT: Final = 100
_LOST: Final = ("slot", "ring", "tx_full", "redirect_err")


@dataclass(frozen=True)
class XdpCounts:
    """Cumulative counters."""

    sent: int  # frames of the generator
    # packets by the program's verdict; the last two: in a ring
    drop: int
    passed: int
    tx: int
    redirect: int
    slot: int  # discarded by the card, whose slot was too slow
    ring: int  # dropped for want of a posted buffer
    tx_full: int  # dropped because a ring for XDP was full
    redirect_err: int  # dropped because there was no ring for the CPU
    no_ports: int  # that passed and found no socket


class XdpUse(Row):
    """Packets while measured, by what became of them, under the drivers' names."""

    sent: Count = Field(description="by the generator")
    drop: Count = Field(description="XDP_DROP")
    passed: Count = Field(description="XDP_PASS: to the stack")
    tx: Count = Field(description="XDP_TX: put into the port's own ring")
    redirect: Count = Field(description="XDP_REDIRECT: put into the other port's ring")
    slot: Count = Field(description="discarded by the card: the PCI Express slot was too slow")
    slot_counter: str = Field(description="what the driver calls these")
    ring: Count = Field(description="dropped for want of a posted buffer")
    ring_counter: str = Field(description="what the driver calls these")
    tx_full: Count = Field(description="dropped: the ring for XDP was full")
    tx_full_counter: str = Field(description="where these are counted")
    redirect_err: Count = Field(
        description="dropped: no ring for XDP with the number of the CPU (xdp:xdp_redirect_map_err)"
    )
    no_ports: Count = Field(description="NoPorts: passed, and no socket was bound")
    rx_pps: Rate = Field(description="packets a second that the program saw")
    drop_pps: Rate = Field(description="packets a second that found no posted buffer")
    handled_pps: Rate = Field(description="packets a second as the program answered")
    softirq_percent: Percent = Field(description="of the CPU with most of it")
    idle_percent: Percent = Field(description="of all CPUs together")
    lost_percent: Percent = Field(description="share of what came that was lost, not dropped")

    @property
    def sentence(self) -> str:
        """What was lost, and where, the place with most first, each with its counter."""
        places = (
            ("slot", self.slot, self.slot_counter),
            ("ring", self.ring, self.ring_counter),
            ("ring for XDP", self.tx_full, self.tx_full_counter),
            ("other port", self.redirect_err, "xdp:xdp_redirect_map_err"),
        )
        return lost_text("packet", self.lost_percent, places)


def _use(start: Snapshot, end: Snapshot) -> XdpUse | None:
    """Counts between two snapshots; None for another system."""
    more = end.grown(start, "xdp")
    if more is None:
        return None
    elapsed = max(end.time_ps - start.time_ps, 1)
    seconds = elapsed / PS_PER_S
    lost = sum(more[name] for name in _LOST)
    done = sum(more[name] for name in ("drop", "passed", "tx", "redirect"))
    beyond = more["tx_full"] + more["redirect_err"]
    names = end.more["xdp_names"]
    pairs = tuple(zip(start.cpus, end.cpus, strict=True))
    softirq = max(after.softirq_ps - before.softirq_ps for before, after in pairs)
    idle = sum(after.idle_ps - before.idle_ps for before, after in pairs)
    return XdpUse(
        **{
            name: more[name]
            for name in ("sent", "drop", "passed", "tx", "redirect", "no_ports", *_LOST)
        },
        slot_counter=names["slot"],
        ring_counter=names["ring"],
        tx_full_counter=names["tx_full"],
        rx_pps=(done + beyond) / seconds,
        drop_pps=more["ring"] / seconds,
        handled_pps=more[names["action"]] / seconds,
        softirq_percent=min(_PERCENT * softirq / elapsed, _PERCENT),
        idle_percent=min(_PERCENT * idle / elapsed / len(pairs), _PERCENT),
        lost_percent=_PERCENT * lost / max(done + lost, 1),
    )


COLUMNS: Final = (
    Column(
        "xdp",
        XdpUse | None,
        "of packets under a program of XDP",
        _use,
        default=None,
        measures={
            "xdp_handled_pps": Measure(
                "packets as the program answered (1/s)",
                "handled/s",
                column_field("xdp", "handled_pps"),
                largest=True,
            ),
            "xdp_drop_pps": Measure(
                "packets without a posted buffer (1/s)",
                "ring drops/s",
                column_field("xdp", "drop_pps"),
            ),
            "xdp_softirq_percent": Measure(
                "softirq, of the CPU with most of it (%)",
                "softirq %",
                column_field("xdp", "softirq_percent"),
                digits=1,
            ),
        },
        order=62,
    ),
)
