"""Nagle's algorithm against delayed ACKs, beside measurements on a real kernel.

`validation/external/linux-nagle-delack.csv`: write 100 B, write 200 B, read 10 B, 60 times between
two network namespaces; Linux 6.18 with 250 jiffies a second. The second write waits for the ACK of
the first, which the other end delays.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from functools import cache
from statistics import median

from simnet._share import folder
from simnet.files import read_text
from simnet.study.conform.tcp_path import PathOptions, Requester, Responder, TcpOptions, TcpPath
from simnet.time_units import PS_PER_MS, PS_PER_US

_TRANSACTIONS = 60
JIFFY_MS = 4.0
# from one namespace to the other, with what both kernels take; not measured
WAY_US = 20
WAYS_US = (5, 60)


@dataclass(frozen=True)
class Stall:
    """A row of the file."""

    name: str  # what was set
    delack_max_us: int | None  # TCP_DELACK_MAX_US, None where it was not set
    quickack: bool  # of the route
    nodelay: bool  # TCP_NODELAY
    median_ms: float  # of a transaction


@cache
def measured() -> tuple[Stall, ...]:
    """The rows of the file."""
    path = folder("validation") / "external" / "linux-nagle-delack.csv"
    lines = read_text(path, kind="table of measurements").splitlines()
    return tuple(_stall(row) for row in csv.DictReader(lines))


def _stall(row: dict[str, str]) -> Stall:
    delack, quickack, nodelay = (row[key] for key in ("delack_max_us", "route_quickack", "nodelay"))
    name = f"delack_max_{delack}us"
    if quickack == "1":
        name = "quickack"
    elif nodelay == "1":
        name = "nodelay"
    return Stall(
        name=name,
        delack_max_us=None if delack == "default" else int(delack),
        quickack=quickack == "1",
        nodelay=nodelay == "1",
        median_ms=float(row["median_ms"]),
    )


def options(stall: Stall) -> TcpOptions:
    """The connection of a row."""
    delack_us = stall.delack_max_us
    return TcpOptions(
        kernel="6.18",
        delack_limit_ps=(delack_us or 0) * PS_PER_US,
        quickack=stall.quickack,
        nodelay=stall.nodelay,
    )


def stall_ms(tcp: TcpOptions, way_us: int = WAY_US, writes: tuple[int, ...] = (100, 200)) -> float:
    """Median duration of a transaction, ms; the hosts cost nothing, one way takes `way_us`."""
    client = Requester(writes, 10, _TRANSACTIONS)
    path = PathOptions(rate_bps=10**10, delay_ps=way_us * PS_PER_US)
    run = TcpPath(path, tcp, client, Responder(sum(writes), 10))
    run.run_for(10_000 * PS_PER_MS)
    return median(client.times_ps) / PS_PER_MS
