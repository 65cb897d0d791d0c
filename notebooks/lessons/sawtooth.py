"""A bulk transfer with random losses: the congestion window over time, and what it carries.

The law beside it: Mathis, Semke, Mahdavi and Ott, "The Macroscopic Behavior of the TCP Congestion
Avoidance Algorithm", 1997.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.study.conform.tcp_path import PathOptions, TcpOptions, TcpPath

if TYPE_CHECKING:
    import numpy.typing as npt

_MS: Final = 10**9
_SECOND: Final = 10**12
_RATE_BPS: Final = 10**9
_KERNEL: Final = "3.8"
_MSS: Final = 1448
_RTT_MS: Final = 100
# every second segment is acknowledged
_C: Final = 0.87


@dataclass(frozen=True)
class Sawtooth:
    """The congestion window of a transfer.

    Attributes:
        seconds: when it was looked at.
        segments: the window then.
        mbit_per_s: goodput of the whole.
    """

    seconds: list[float]
    segments: list[int]
    mbit_per_s: float


def sawtooth(congestion: str) -> Sawtooth:
    """Simulate a minute over a gigabit, round trip 50 ms, one packet of 50,000 lost.

    It begins after ten seconds: how slow start ends is another story.
    """
    path = PathOptions(
        rate_bps=_RATE_BPS, delay_ps=25 * _MS, loss_ppb=20_000, queue_bytes=3_000_000
    )
    tcp = TcpOptions(kernel=_KERNEL, hz=1000, congestion=congestion)
    run = TcpPath(path, tcp, BulkSource(), Sink(), seed=4)
    run.run_for(10 * _SECOND)
    start, before = run.sim.now, run.right.delivered
    seconds, segments = [], []
    while run.sim.now < 70 * _SECOND:
        run.run_for(50 * _MS)
        seconds.append(run.sim.now / _SECOND)
        segments.append(run.left.sender.congestion.cwnd)
    took_s = (run.sim.now - start) / _SECOND
    return Sawtooth(seconds, segments, 8 * (run.right.delivered - before) / took_s / 1e6)


def goodput_mbit(congestion: str, loss: float) -> float:
    """Simulate two minutes with a round trip of 100 ms; `loss` is the share of lost packets."""
    path = PathOptions(rate_bps=_RATE_BPS, delay_ps=_RTT_MS * _MS // 2, loss_ppb=round(loss * 1e9))
    tcp = TcpOptions(kernel=_KERNEL, congestion=congestion)
    run = TcpPath(path, tcp, BulkSource(), Sink(), seed=1)
    run.run_for(20 * _SECOND)
    before = run.right.delivered
    run.run_for(120 * _SECOND)
    return 8 * (run.right.delivered - before) / 120 / 1e6


def mathis_mbit(
    losses: npt.ArrayLike, *, trip_ms: float = _RTT_MS, constant: float = _C
) -> npt.NDArray[np.float64]:
    """Return what the law says: C MSS / (RTT sqrt(loss)); by default of the same path.

    Args:
        losses: shares of packets, from 0 to 1.
        trip_ms: round trip.
        constant: C; sqrt(3/2) where every segment is acknowledged.
    """
    shares = np.asarray(losses, dtype=np.float64)
    return constant * 8 * _MSS / (trip_ms / 1e3) / np.sqrt(shares) / 1e6
