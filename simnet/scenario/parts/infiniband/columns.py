"""In which order packets came to InfiniBand ports, and what the reorder windows made of it.

Nothing simulated depends on these counters, and a run's fingerprint leaves them out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final

from pydantic import Field

from simnet.net.infiniband.ipoib import Ipoib
from simnet.rows import Count, Row
from simnet.scenario.core.subject import Column, Measure
from simnet.time_units import PS_PER_US

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic
    from simnet.scenario.system.system import Snapshot

Amount = Annotated[float, Field(ge=0.0)]


@dataclass(frozen=True)
class OrderCounts:
    """Cumulative counters of one port."""

    packets: int
    before: int
    after: int
    late: int
    buffered: int
    slid_over: int
    waited_ps: int


class PortOrder(Row):
    """Packets behind one with a higher number, before and after a port's reorder window.

    Both numbers are the same without one (0 packets wide).
    """

    port: str = Field(description="of a peer as in peer0.ib0")
    packets: Count = Field(description="that came")
    out_of_order_before: Count
    out_of_order_after: Count
    before_percent: Amount | None = Field(description="of the packets; null if none came")
    after_percent: Amount | None = Field(description="of the packets; null if none came")
    late: Count = Field(description="behind the window's left edge")
    given_up: Count = Field(description="numbers that the window went on without")
    held_mean: Amount = Field(description="packets that wait in the window, mean over time")
    held_us: Amount | None = Field(description="mean wait of a packet that had to; null if none")


def counts_of(
    ports: Iterable[tuple[str, Nic | MultiqueuePort]],
) -> Callable[[], dict[str, OrderCounts]] | None:
    """Return what reads the counters by the ports' names; None if none is an InfiniBand port."""
    windows = {name: port.window for name, port in ports if isinstance(port, Ipoib)}

    def read() -> dict[str, OrderCounts]:
        return {
            name: OrderCounts(
                packets=one.arrived,
                before=one.out_of_order_before,
                after=one.out_of_order_after,
                late=one.late,
                buffered=one.buffered,
                slid_over=one.slid_over,
                waited_ps=one.waited_ps,
            )
            for name, one in windows.items()
        }

    return read if windows else None


def _orders(start: Snapshot, end: Snapshot) -> tuple[PortOrder, ...]:
    before = start.observed.get("reordering", {})
    elapsed_ps = end.time_ps - start.time_ps
    return tuple(
        _row(name, before[name], last, elapsed_ps)
        for name, last in end.observed.get("reordering", {}).items()
    )


def _row(name: str, first: OrderCounts, last: OrderCounts, elapsed_ps: int) -> PortOrder:
    packets, buffered = last.packets - first.packets, last.buffered - first.buffered
    before, after = last.before - first.before, last.after - first.after
    waited_ps = last.waited_ps - first.waited_ps
    return PortOrder(
        port=name,
        packets=packets,
        out_of_order_before=before,
        out_of_order_after=after,
        before_percent=100 * before / packets if packets else None,
        after_percent=100 * after / packets if packets else None,
        late=last.late - first.late,
        given_up=last.slid_over - first.slid_over,
        held_mean=waited_ps / elapsed_ps,
        held_us=waited_ps / buffered / PS_PER_US if buffered else None,
    )


def _share(count: str) -> Callable[[Any], float | None]:
    """Percent of the packets that came, of all ports together."""

    def of(result: Any) -> float | None:
        rows: tuple[PortOrder, ...] = result.reordering
        packets = sum(row.packets for row in rows)
        return 100 * sum(getattr(row, count) for row in rows) / packets if packets else None

    return of


def _held(result: Any) -> float | None:
    rows: tuple[PortOrder, ...] = result.reordering
    return sum(row.held_mean for row in rows) if rows else None


def _held_us(result: Any) -> float | None:
    return max((r.held_us for r in result.reordering if r.held_us is not None), default=None)


_MEASURES: Final = {
    "out_of_order_before_percent": Measure(
        *("out of order before the window (% of packets)", "ooo before %"),
        _share("out_of_order_before"),
        digits=3,
    ),
    "out_of_order_after_percent": Measure(
        *("out of order after the window (% of packets)", "ooo after %"),
        _share("out_of_order_after"),
        digits=3,
    ),
    "window_held_packets": Measure(
        "packets held in all windows (mean over time)", "held", _held, digits=3
    ),
    "window_held_us": Measure(
        "wait in the window, worst port's mean (us)", "held us", _held_us, digits=1
    ),
}

COLUMNS: Final = (
    Column(
        "reordering",
        tuple[PortOrder, ...],
        "order of packets, one row an InfiniBand port",
        _orders,
        measures=_MEASURES,
        order=6,
    ),
)
