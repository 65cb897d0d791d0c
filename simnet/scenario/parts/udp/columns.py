"""What became of datagrams: the kernel's counters, and shares lost by place."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pydantic import Field

from simnet.rows import Count, Percent, Row
from simnet.scenario.core.subject import Column, Measure, column_field
from simnet.scenario.parts.network.lost import lost_text

if TYPE_CHECKING:
    from simnet.scenario.system.system import Snapshot

_PERCENT: Final = 100
# field of each place where datagrams are lost
_PLACES: Final = {
    "qdisc": "qdisc",
    "wire": "wire",
    "ring": "ring",
    "backlog": "backlog",
    "veth": "veth",
    "socket": "rcvbuf_errors",
    "memory": "mem_errors",
}


@dataclass(frozen=True)
class UdpCounts:
    """Cumulative counters."""

    # datagrams, and their payload
    sent: int
    sent_bytes: int
    # likewise, read by the workers (`InDatagrams`)
    received: int
    received_bytes: int
    wire: int  # dropped by the switch
    ring: int  # dropped for want of a posted buffer
    backlog: int  # dropped by backlogs of CPUs (`softnet_stat`, second column)
    # dropped by sockets
    rcvbuf_errors: int
    mem_errors: int
    waiting: int  # in sockets now


@dataclass(frozen=True)
class ContainerUdpCounts(UdpCounts):
    """Likewise, of a container's sockets; `veth` is what found the ring of its pair full."""

    veth: int = 0


@dataclass(frozen=True)
class ServedCounts(UdpCounts):
    """Likewise, of requests that workers answer."""

    qdisc: int = 0  # answers that the queueing discipline has refused (`SndbufErrors`)
    answers: int = 0  # that have come to who asked


@dataclass(frozen=True)
class SentCounts(UdpCounts):
    """Likewise, of datagrams that the system sends; `ring_counter` of the peers' driver."""

    qdisc: int = 0  # refused by the system's queueing discipline (`SndbufErrors`)
    ring_counter: str = ""


@dataclass(frozen=True)
class DatagramCounts:
    """Cumulative counters of one host that sends and receives."""

    name: str
    out_datagrams: int
    sndbuf_errors: int
    in_datagrams: int
    rcvbuf_errors: int
    mem_errors: int


class DatagramUse(Row):
    """What a host sent and read while measured, by `/proc/net/snmp`."""

    name: str = Field(description="of the host: system, or which peer")
    out_datagrams: Count = Field(description="OutDatagrams")
    sndbuf_errors: Count = Field(description="SndbufErrors: refused by the queueing discipline")
    in_datagrams: Count = Field(description="InDatagrams")
    rcvbuf_errors: Count = Field(description="RcvbufErrors: dropped by a full socket")
    mem_errors: Count = Field(description="MemErrors: dropped, net.ipv4.udp_mem")


class UdpUse(Row):
    """Datagrams that were sent while measured, and what became of datagrams meanwhile.

    Counters have the kernel's names: `/proc/net/snmp`, the second column of
    `/proc/net/softnet_stat`, and of the driver what `ethtool -S` shows as `ring_counter`.
    """

    sent: Count
    received: Count = Field(description="InDatagrams")
    answers: Count = Field(default=0, description="that have come to who asked")
    qdisc: Count = Field(default=0, description="SndbufErrors: refused by the sender's qdisc")
    wire: Count = Field(description="dropped by the switch's port to the system")
    ring: Count = Field(description="dropped by the receive rings")
    ring_counter: str = Field(description="what the driver calls these")
    backlog: Count = Field(description="dropped by CPUs' backlogs: softnet_stat, second column")
    veth: Count = Field(default=0, description="dropped by a veth pair's full ring: tx_dropped")
    rcvbuf_errors: Count = Field(description="RcvbufErrors: dropped by a full socket")
    mem_errors: Count = Field(description="MemErrors: dropped, net.ipv4.udp_mem")
    in_errors: Count = Field(description="InErrors: the sum of these two")
    waiting: Count = Field(description="in sockets at the end")
    delivered_percent: Percent = Field(
        description="share of those sent that was not dropped; null without any"
    )

    @property
    def lost(self) -> dict[str, int]:
        """Datagrams lost by place."""
        return {place: getattr(self, field) for place, field in _PLACES.items()}

    @property
    def sentence(self) -> str:
        """What was lost, and where, the place with most first, each with its counter."""
        counters = {
            "qdisc": "SndbufErrors of the sender",
            "wire": "a full port of the switch",
            "ring": self.ring_counter,
            "backlog": "softnet_stat, second column",
            "veth": "tx_dropped of the host's end",
            "socket": "RcvbufErrors",
            "memory": "MemErrors, net.ipv4.udp_mem",
        }
        places = ((at, count, counters[at]) for at, count in self.lost.items())
        return lost_text("datagram", _PERCENT - self.delivered_percent, places)


def _use(start: Snapshot, end: Snapshot) -> UdpUse | None:
    """Counts between two snapshots; None for another system."""
    last = end.observed.get("udp")
    if last is not None:
        before = vars(start.observed["udp"])
        counter = last.ring_counter
        found = {name: n - before[name] for name, n in vars(last).items() if n is not counter}
    else:
        grown = end.grown(start, "udp")
        if grown is None:
            return None
        last, counter, found = end.more["udp"], end.more["udp_ring_counter"], grown
    more = {"qdisc": 0, "veth": 0, "answers": 0, **found}
    sent = more["sent"]
    lost = sum(more[field] for field in _PLACES.values())
    return UdpUse(
        sent=sent,
        received=more["received"],
        answers=more["answers"],
        **{field: more[field] for field in _PLACES.values()},
        ring_counter=counter,
        in_errors=more["rcvbuf_errors"] + more["mem_errors"],
        waiting=last.waiting,
        delivered_percent=_PERCENT * max(1 - lost / max(sent, 1), 0.0),
    )


def _by_host(start: Snapshot, end: Snapshot) -> tuple[DatagramUse, ...]:
    """Counts of each host between two snapshots."""
    found = []
    pairs = (start.observed.get("datagrams", ()), end.observed.get("datagrams", ()))
    for first, last in zip(*pairs, strict=True):
        before = vars(first)
        more = {key: count - before[key] for key, count in vars(last).items() if key != "name"}
        found.append(DatagramUse(name=last.name, **more))
    return tuple(found)


def _lost_at(name: str) -> Measure:
    label = {"rcvbuf_errors": "socket", "mem_errors": "udp_mem"}.get(name, name)
    return Measure(
        f"datagrams lost in the {label} (number)", f"lost {label}", column_field("udp", name)
    )


COLUMNS: Final = (
    Column(
        "udp",
        UdpUse | None,
        "of datagrams",
        _use,
        default=None,
        measures={
            "datagrams_delivered_percent": Measure(
                "datagrams not lost (%)",
                "not lost %",
                column_field("udp", "delivered_percent"),
                digits=3,
                largest=True,
            ),
            **{f"datagrams_lost_{field}": _lost_at(field) for field in _PLACES.values()},
        },
        order=61,
    ),
    Column(
        "datagrams",
        tuple[DatagramUse, ...],
        "what each host of requests in datagrams sent and read",
        _by_host,
        table=True,
        order=62,
    ),
)
