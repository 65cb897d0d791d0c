"""Nagle meets delayed ACK: stalls measured on Linux, validation/external/linux-nagle-delack.csv."""

import pytest

from simnet.study.conform.tcp_path import TcpOptions
from simnet.study.validate.nagle_comparison import Stall, measured, options, stall_ms
from tests.host.parts import MS

# the measured ones vary by that much; the least that is asked for is a jiffy, 4 ms
SPREAD_MS = 0.1


@pytest.mark.parametrize("stall", measured(), ids=lambda stall: stall.name)
def test_stalls_are_within_a_jiffy_of_linux(stall: Stall) -> None:
    assert stall_ms(options(stall)) == pytest.approx(stall.median_ms, abs=SPREAD_MS)


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
