"""Nagle meets delayed ACK: stalls measured on Linux, validation/external/linux-nagle-delack.csv."""

from __future__ import annotations

import csv
from statistics import median

import pytest

from simnet._share import folder
from simnet.study.tcp_path import PathOptions, Requester, Responder, TcpOptions, TcpPath
from tests.host.parts import MS, US

FILE = folder("validation") / "external" / "linux-nagle-delack.csv"
ROWS = list(csv.DictReader(FILE.read_text().splitlines()))
# the measured ones vary by that much; the least that is asked for is a jiffy, 4 ms
SPREAD_MS = 0.1


def stall_ms(tcp: TcpOptions) -> float:
    """Median duration of a transaction: write 100 B, write 200 B, read 10 B."""
    client = Requester((100, 200), 10, 60)
    path = PathOptions(rate_bps=10**10, delay_ps=20 * US)
    run = TcpPath(path, tcp, client, Responder(300, 10))
    run.run_for(10_000 * MS)
    assert len(client.times_ps) == 60
    return median(client.times_ps) / MS


@pytest.mark.parametrize("row", [row for row in ROWS if row["delack_max_us"] != "default"])
def test_stalls_are_within_a_jiffy_of_linux(row: dict[str, str]) -> None:
    tcp = TcpOptions(kernel="6.18", delack_limit_ps=int(row["delack_max_us"]) * US)
    assert stall_ms(tcp) == pytest.approx(float(row["median_ms"]), abs=SPREAD_MS)


@pytest.mark.parametrize("hz", [100, 250, 1000])
@pytest.mark.parametrize("delack_ms", [20, 40])
def test_a_stall_is_the_delay_in_whole_jiffies_and_one_more(hz: int, delack_ms: int) -> None:
    jiffy_ms = 1000 // hz
    stall = (-(-delack_ms // jiffy_ms) + 1) * jiffy_ms
    assert stall_ms(TcpOptions(hz=hz, delack_ps=delack_ms * MS)) == pytest.approx(
        stall, abs=jiffy_ms
    )


def test_nodelay_takes_a_round_trip() -> None:
    assert stall_ms(TcpOptions(nodelay=True)) < 0.1


def test_quickack_takes_two_round_trips() -> None:
    # the second write waits for the ACK of the first
    round_trip_ms = 0.04
    assert stall_ms(TcpOptions(quickack=True)) == pytest.approx(2 * round_trip_ms, rel=0.05)
