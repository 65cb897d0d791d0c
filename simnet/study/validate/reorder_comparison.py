"""The reorder window before a TCP receiver, beside measurements on real kernels.

`validation/external/linux-reorder-window.csv`: Reno without SACK and RACK (`classic`) between two
Linux hosts, 200 Mbit/s, a round trip of 1 ms, an MTU of 1500 bytes; 5 % of the packets come 1200 us
(20 packets) later, and a share is lost. A reorder window without timer that drains after a slide
stands before the receiver. Its length is not known: that one packet in 20 is late, and was counted
as out of order without a window, makes it 4 s.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache

from simnet._share import folder
from simnet.files import read_text
from simnet.net.infiniband.reorder_window import MessageNumbers, ReorderWindow
from simnet.net.link.lossy_path import FLUSHED
from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.study.conform.tcp_path import PathOptions, TcpOptions, TcpPath
from simnet.time_units import PS_PER_S, PS_PER_US

DURATION_PS = 4 * PS_PER_S
# on this link a packet of 1500 bytes takes 60 us: there is no Ethernet around it
# what was learnt of reordering was not used
CLASSIC = TcpOptions(
    kernel="6.18",
    congestion="reno",
    sack=False,
    header_bytes=52,
    initial_cwnd=10,
    max_reordering=3,
    tso=True,
)


@dataclass(frozen=True)
class Measured:
    """A row of the file: payload rate, retransmissions, what the window handed up out of order."""

    loss: float
    window: int
    mbit_per_s: float
    retransmissions: int
    out_of_order: int


@dataclass(frozen=True)
class Simulated(Measured):
    """The same of a simulation, and what came out of order before the window."""

    timeouts: int
    out_of_order_before: int


@cache
def measured() -> dict[tuple[float, int], Measured]:
    """The rows by share of loss and window."""
    path = folder("validation") / "external" / "linux-reorder-window.csv"
    lines = read_text(path, kind="table of measurements").splitlines()
    rows = [
        Measured(
            float(row["loss"]),
            int(row["W"]),
            float(row["rx_mbps"]),
            int(row["retrans"]),
            int(row["ooo_after_W"]),
        )
        for row in csv.DictReader(lines)
        if row["sender"] == "classic"
    ]
    return {(row.loss, row.window): row for row in rows}


def connection(
    window: int,
    *,
    loss: float = 0.0,
    flush_timeout_ps: int = 0,
    drain_after_slide: bool = True,
    tcp: TcpOptions = CLASSIC,
    seed: int = 1,
) -> TcpPath:
    """The connection of a row, before it runs; see `ReorderWindow` for its options."""
    path = PathOptions(
        rate_bps=200 * 10**6,
        delay_ps=500 * PS_PER_US,
        loss_ppb=round(loss * 10**9),
        late_ppb=50_000_000,
        late_ps=1200 * PS_PER_US,
    )
    run = TcpPath(path, tcp, BulkSource(), Sink(), seed=seed)
    run.forward.numbers = MessageNumbers()
    run.forward.element = ReorderWindow(
        run.sim,
        "window",
        window,
        drain_after_slide=drain_after_slide,
        flush_timeout_ps=flush_timeout_ps,
        owner=run.forward,
        kind=FLUSHED,
    )
    return run


def simulate(
    window: int,
    *,
    loss: float = 0.0,
    duration_ps: int = DURATION_PS,
    flush_timeout_ps: int = 0,
    drain_after_slide: bool = True,
    seed: int = 1,
) -> Simulated:
    """Simulate a row; see `connection`."""
    run = connection(
        window,
        loss=loss,
        flush_timeout_ps=flush_timeout_ps,
        drain_after_slide=drain_after_slide,
        seed=seed,
    )
    run.run_for(duration_ps)
    reorder = run.forward.element
    return Simulated(
        loss=loss,
        window=window,
        mbit_per_s=8 * run.right.delivered * PS_PER_US / duration_ps,
        retransmissions=run.left.sender.output.retransmissions,
        out_of_order=reorder.out_of_order_after,
        timeouts=run.left.sender.timeouts,
        out_of_order_before=reorder.out_of_order_before,
    )
