"""What was lost, and where; and what became of the messages of an open-loop load.

An open-loop load offers messages at a rate that does not wait for answers. So a system that is too
slow shows it: queues fill and packets are dropped, or messages pile up before it.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from fractions import Fraction
from itertools import accumulate
from typing import Annotated

from pydantic import Field

from simnet.rows import Count, Row, Shown
from simnet.scenario.system.system import DropCount, PortCounts, Snapshot
from simnet.time_units import PS_PER_S, PS_PER_US

_RANKS = (Fraction(50, 100), Fraction(99, 100), Fraction(999, 1000))
_RING, _WIRE = "ring", "wire"


class Latency(Row):
    """Quantiles in microseconds; null without samples."""

    kind: str = Field(
        default="",
        description="one-way: of a transfer; round trip: from a request to its answer; response:"
        " the same of a disk",
    )
    p50: float | None
    p99: float | None
    p999: float | None = None


class Drops(Row):
    """Packets that one place dropped while measured; a place that dropped none has no entry."""

    place: str = Field(description="wire, switch, ring, backlog, qdisc, socket or memory")
    at: str = Field(description="which: the port, or the CPU as in cpu3")
    packets: int = Field(ge=1)


class Messages(Row):
    """Messages of an open-loop load: counts while measured, rates a second, latency end to end."""

    offered: Count
    delivered: Count
    retransmitted: Count
    offered_per_s: Annotated[float, Shown("offered/s")]
    delivered_per_s: Annotated[float, Shown("delivered/s")]
    latency_us: Latency
    histogram: tuple[tuple[float, int], ...] = Field(
        default=(), description="latencies: upper edge in us and number of messages, ascending"
    )

    def later_than(self, limit_us: float) -> int:
        """Messages in buckets that reach above a latency; at most 1/128 too early."""
        return sum(count for upper_us, count in self.histogram if upper_us > limit_us)


def between(
    start: Sequence[tuple[int, int]], end: Sequence[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The samples that came between two states of a histogram, ascending."""
    before = dict(start)
    return [(upper, count - before.get(upper, 0)) for upper, count in sorted(end)]


def _of_ranks(
    counts: Sequence[tuple[int, int]], shares: Sequence[Fraction]
) -> tuple[float | None, ...]:
    """Upper edges in microseconds of the buckets that hold shares of the samples."""
    seen = list(accumulate([count for _, count in counts]))
    if not seen or not seen[-1]:
        return (None,) * len(shares)
    ranks = [
        bisect_left(seen, -(-seen[-1] * share.numerator // share.denominator)) for share in shares
    ]
    return tuple(counts[rank][0] / PS_PER_US for rank in ranks)


def latency_of(
    start: Sequence[tuple[int, int]], end: Sequence[tuple[int, int]], kind: str = ""
) -> Latency:
    """The quantiles of the samples that came between two states of a histogram."""
    return latency_in(between(start, end), kind)


def latency_in(counts: Sequence[tuple[int, int]], kind: str = "") -> Latency:
    """The quantiles of samples, from their number in each bucket."""
    p50, p99, p999 = _of_ranks(counts, _RANKS)
    return Latency(kind=kind, p50=p50, p99=p99, p999=p999)


def latency_of_all(start: Snapshot, end: Snapshot, kind: str = "") -> Latency | None:
    """The quantiles of all flows' messages between two snapshots; None where none came."""
    found = latency_of(_all(start), _all(end), kind)
    return None if found.p50 is None else found


def kind_of(kinds: Iterable[str]) -> str:
    """What latencies of some kinds are together; empty where it is not known."""
    return " or ".join(sorted(set(kinds) - {""}))


def drops_of(start: Snapshot, end: Snapshot) -> tuple[Drops, ...]:
    """Packets dropped between two snapshots by place, the ports' rings first."""
    before = {(drop.place, drop.at): drop.packets for drop in _dropped(start)}
    counts = [
        (drop.place, drop.at, drop.packets - before.get((drop.place, drop.at), 0))
        for drop in _dropped(end)
    ]
    return tuple(
        Drops(place=place, at=at, packets=packets) for place, at, packets in counts if packets
    )


def loss_of(start: Snapshot, end: Snapshot) -> float | None:
    """Packets dropped anywhere as a share of those that came to the ports; None if none came.

    Those that were dropped before the port, on the wire, would have come, too.
    """
    drops = drops_of(start, end)
    dropped = sum(drop.packets for drop in drops)
    came = _came(end.ports) - _came(start.ports)
    came += sum(drop.packets for drop in drops if drop.place == _WIRE)
    return min(dropped / came, 1.0) if came else None


def messages_of(start: Snapshot, end: Snapshot, kind: str = "") -> Messages | None:
    """What became of the messages between two snapshots; None without an open-loop load."""
    if start.messages is None or end.messages is None:
        return None
    elapsed_ps = end.time_ps - start.time_ps
    offered = end.messages.offered - start.messages.offered
    delivered = end.messages.delivered - start.messages.delivered
    return Messages(
        offered=offered,
        delivered=delivered,
        retransmitted=end.messages.retransmitted - start.messages.retransmitted,
        offered_per_s=offered * PS_PER_S / elapsed_ps,
        delivered_per_s=delivered * PS_PER_S / elapsed_ps,
        latency_us=latency_of(_all(start), _all(end), kind),
        histogram=latencies_of(start, end),
    )


def latencies_of(start: Snapshot, end: Snapshot) -> tuple[tuple[float, int], ...]:
    """Latencies of all flows between two snapshots: upper edge in us and number, ascending."""
    return tuple(
        (upper_ps / PS_PER_US, count)
        for upper_ps, count in between(_all(start), _all(end))
        if count
    )


def pooled(messages: Sequence[Messages]) -> Latency:
    """The quantiles of the messages of several runs together."""
    counts: Counter[int] = Counter()
    for one in messages:
        counts.update({round(upper_us * PS_PER_US): count for upper_us, count in one.histogram})
    kinds = {one.latency_us.kind for one in messages}
    return latency_of((), sorted(counts.items()), kind_of(kinds))


def _dropped(snapshot: Snapshot) -> list[DropCount]:
    rings = [DropCount(_RING, port.name, port.drops) for port in snapshot.ports]
    return [*rings, *snapshot.drops]


def _came(ports: Sequence[PortCounts]) -> int:
    return sum(port.rx_packets + port.drops for port in ports)


def _all(snapshot: Snapshot) -> list[tuple[int, int]]:
    """One histogram of the latencies of all flows."""
    counts: defaultdict[int, int] = defaultdict(int)
    for flow in snapshot.flows:
        for upper_ps, count in flow.latency:
            counts[upper_ps] += count
    return sorted(counts.items())
