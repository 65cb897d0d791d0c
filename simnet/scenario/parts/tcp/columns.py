"""What TCP has done for each stream: losses, acknowledgements, order, stalls; both ends together.

Nothing simulated depends on these counters, and a run's fingerprint leaves them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Protocol

from pydantic import Field

from simnet.rows import Count, Row
from simnet.scenario.core.subject import Column, Measure
from simnet.time_units import PS_PER_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from simnet.net.tcp.receive.receiver import TcpReceiver
    from simnet.net.tcp.send.sender import TcpSender
    from simnet.scenario.system.system import Snapshot


@dataclass(frozen=True)
class SendingHalf:
    """TCP's half that sends, at one end of a flow; a jiffy is that of its host."""

    flow: str
    sender: TcpSender
    jiffy_ps: int


class ReceivingHalf(Protocol):
    """What acknowledges at one end of a flow."""

    receiver: TcpReceiver
    acks_sent: int


@dataclass(frozen=True)
class TcpCounts:
    """Cumulative counters of a stream."""

    segments: int = 0
    retransmissions: int = 0
    timeouts: int = 0
    acks: int = 0
    delayed_acks: int = 0
    quick_acks: int = 0
    received: int = 0
    out_of_order: int = 0
    stalls: int = 0
    stalled_ps: int = 0
    marked: int = 0
    delivered_ce: int = 0

    def since(self, before: TcpCounts) -> TcpCounts:
        """The difference."""
        pairs = zip(vars(self).values(), vars(before).values(), strict=True)
        return TcpCounts(*[now - then for now, then in pairs])


class TcpUse(Row):
    """What TCP did for one stream while measured; both directions of requests and responses."""

    name: str = Field(description="of the flow")
    segments: Count = Field(description="sent for the first time, as long as the MSS or shorter")
    retransmissions: Count = Field(description="segments sent again")
    timeouts: Count = Field(description="of the retransmission timer")
    acks: Count = Field(description="segments that only acknowledge")
    acks_per_segment: float | None = Field(description="null where no segment was sent")
    delayed_acks: Count = Field(description="that the delayed-ACK timer sent")
    quick_acks: Count = Field(description="sent in quick ACK mode")
    out_of_order_percent: float | None = Field(
        description="of the segments that TCP took, how many were ahead of a missing one"
    )
    stalls: Count = Field(
        description="how often data that were written waited for more than a jiffy to be sent"
    )
    stalled_ms: float = Field(description="how long, in all")
    marked: Count = Field(description="frames that came with a mark (IpExtInCEPkts)")
    delivered_ce: Count = Field(
        description="segments that came though the way was marked (TcpExtTCPDeliveredCE)"
    )


def counts_of(
    halves: Iterable[SendingHalf], receiving: Iterable[tuple[str, ReceivingHalf]]
) -> Callable[[], dict[str, TcpCounts]]:
    """Return what reads the counters by flow."""

    def read() -> dict[str, TcpCounts]:
        sending: dict[str, list[SendingHalf]] = {}
        taking: dict[str, list[ReceivingHalf]] = {}
        for half in halves:
            sending.setdefault(half.flow, []).append(half)
        for flow, end in receiving:
            taking.setdefault(flow, []).append(end)
        flows = dict.fromkeys((*sending, *taking))
        return {flow: _sum(sending.get(flow, ()), taking.get(flow, ())) for flow in flows}

    return read


def _sum(halves: Sequence[SendingHalf], ends: Sequence[ReceivingHalf]) -> TcpCounts:
    """The counters of all ends of a flow."""
    outputs = [half.sender.output for half in halves]
    receivers = [end.receiver for end in ends]
    delacks = [receiver.delack for receiver in receivers]
    marks = [receiver.ecn for receiver in receivers if receiver.ecn]
    return TcpCounts(
        segments=sum([output.segments for output in outputs]),
        retransmissions=sum([output.retransmissions for output in outputs]),
        timeouts=sum([half.sender.timeouts for half in halves]),
        acks=sum([end.acks_sent for end in ends]),
        delayed_acks=sum([delack.delayed_acks for delack in delacks]),
        quick_acks=sum([delack.quick_acks for delack in delacks]),
        received=sum([receiver.segments for receiver in receivers]),
        out_of_order=sum([receiver.out_of_order_segments for receiver in receivers]),
        stalls=sum([output.stalls for output in outputs]),
        stalled_ps=sum([half.sender.output.stalled_jiffies * half.jiffy_ps for half in halves]),
        marked=sum([mark.marked for mark in marks]),
        delivered_ce=sum([mark.delivered_ce for mark in marks]),
    )


def _use(start: Snapshot, end: Snapshot) -> tuple[TcpUse, ...]:
    before = start.observed.get("tcp", {})
    return tuple(
        _row(name, last.since(before[name])) for name, last in end.observed.get("tcp", {}).items()
    )


def _row(name: str, done: TcpCounts) -> TcpUse:
    return TcpUse(
        name=name,
        segments=done.segments,
        retransmissions=done.retransmissions,
        timeouts=done.timeouts,
        acks=done.acks,
        acks_per_segment=done.acks / done.segments if done.segments else None,
        delayed_acks=done.delayed_acks,
        quick_acks=done.quick_acks,
        out_of_order_percent=100 * done.out_of_order / done.received if done.received else None,
        stalls=done.stalls,
        stalled_ms=done.stalled_ps / PS_PER_MS,
        marked=done.marked,
        delivered_ce=done.delivered_ce,
    )


def _per_s(count: str) -> Callable[[Any], float | None]:
    """Of all streams together."""

    def of(result: Any) -> float | None:
        rows: tuple[TcpUse, ...] = result.tcp
        return sum(getattr(row, count) for row in rows) / result.simulated_s if rows else None

    return of


def _acks_per_segment(result: Any) -> float | None:
    rows: tuple[TcpUse, ...] = result.tcp
    segments = sum(row.segments for row in rows)
    return sum(row.acks for row in rows) / segments if segments else None


def _out_of_order_percent(result: Any) -> float | None:
    """Of all streams, each as heavy as what it sent."""
    rows: tuple[TcpUse, ...] = result.tcp
    known = [(r.out_of_order_percent, r.segments) for r in rows if r.out_of_order_percent]
    segments = sum(row.segments for row in rows)
    return sum(share * weight for share, weight in known) / segments if segments else None


_MEASURES: Final = {
    "tcp_out_of_order_percent": Measure(
        "segments that TCP took out of order (%)", "TCP ooo %", _out_of_order_percent, digits=3
    ),
    "tcp_retransmissions_per_s": Measure(
        "segments sent again (1/s)", "retrans/s", _per_s("retransmissions"), digits=1
    ),
    "tcp_timeouts_per_s": Measure(
        "retransmission timeouts (1/s)", "timeouts/s", _per_s("timeouts"), digits=1
    ),
    "tcp_acks_per_segment": Measure(
        "ACKs per segment (number)", "ACKs/segment", _acks_per_segment, digits=3
    ),
    "tcp_delayed_acks_per_s": Measure(
        "ACKs that the delayed-ACK timer sent (1/s)", "delayed ACKs/s", _per_s("delayed_acks")
    ),
    "tcp_quick_acks_per_s": Measure(
        "ACKs in quick ACK mode (1/s)", "quick ACKs/s", _per_s("quick_acks")
    ),
    "tcp_stalls_per_s": Measure(
        "stalls: written data that waited over a jiffy (1/s)", "stalls/s", _per_s("stalls"),
        digits=1,
    ),
    "tcp_stalled_ms_per_s": Measure(
        "stalled, all streams together (ms/s)", "stalled ms/s", _per_s("stalled_ms"), digits=1
    ),
}  # fmt: skip

COLUMNS: Final = (
    Column(
        "tcp",
        tuple[TcpUse, ...],
        "what TCP did, one row a stream",
        _use,
        table=True,
        measures=_MEASURES,
        order=5,
    ),
)
