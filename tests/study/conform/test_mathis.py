"""The law of Mathis, Semke, Mahdavi and Ott (1997): goodput = C * MSS / (RTT * sqrt(loss)).

C is sqrt(3/2) = 1.22 if every segment raises the window, sqrt(3/4) = 0.87 if every second one does.
"""

from math import log, sqrt

import pytest

from simnet.net.tcp.endpoint import BulkSource, Sink
from simnet.study.conform.tcp_path import PathOptions, TcpOptions, TcpPath
from tests.host.parts import MS

RTT_MS = 100
MSS = 1448
LOSSES = (0.0005, 0.001, 0.002, 0.005)


def constant(loss: float, seconds: int = 600, seed: int = 1, **tcp: object) -> float:
    """C that a connection of so many seconds shows, the first ten left out."""
    path = PathOptions(rate_bps=10**9, delay_ps=RTT_MS * MS // 2, loss_ppb=round(loss * 10**9))
    options = TcpOptions(**tcp)  # type: ignore[arg-type]
    run = TcpPath(path, options, BulkSource(), Sink(), seed=seed)
    run.run_for(10_000 * MS)
    before = run.right.delivered
    run.run_for(seconds * 1000 * MS)
    goodput = (run.right.delivered - before) / seconds
    return goodput * RTT_MS / 1000 / MSS * sqrt(loss)


@pytest.mark.parametrize(("kernel", "c"), [("2.6.18", 0.87), ("2.6.32", 0.87), ("6.18", 1.22)])
def test_goodput_falls_with_the_root_of_loss(kernel: str, c: float) -> None:
    """Since 4.0 segments are counted, not ACKs."""
    constants = [constant(loss, kernel=kernel) for loss in LOSSES]
    assert constants == pytest.approx([c] * len(LOSSES), rel=0.15)
    x, y = (
        [log(loss) for loss in LOSSES],
        [log(c / sqrt(p)) for c, p in zip(constants, LOSSES, strict=True)],
    )
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    slope = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    slope /= sum((a - mean_x) ** 2 for a in x)
    assert slope == pytest.approx(-0.5, abs=0.05)


def test_counting_bytes_it_is_as_if_every_segment_were_acknowledged() -> None:
    # net.ipv4.tcp_abc = 1: a window of bytes raises the window by a segment
    constants = [constant(loss, abc=1) for loss in (0.002, 0.005)]
    assert constants == pytest.approx([1.22] * 2, rel=0.1)


def test_without_sack_there_is_little_less() -> None:
    # NewReno takes a round trip for each of several losses
    assert 0.7 < constant(0.002, sack=False) < 1.0
