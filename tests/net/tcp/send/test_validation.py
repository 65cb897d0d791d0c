"""Whether its window is what limits a sender: `tcp_is_cwnd_limited` by version."""

from typing import Any

import pytest

from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.validation import WindowValidation
from tests.net.tcp.recovery.test_recovery import FIRST, LATER
from tests.net.tcp.send.test_sender import make

LIMITED_WHEN_SENT = "3.16"
pytestmark = pytest.mark.skipif(not hasattr(WindowValidation, "limited"), reason="C functions")


def validation(version: str, cwnd: int, *, tso: bool = False, divisor: int = 3) -> Any:
    sender = make(cwnd=cwnd, tso=tso, tso_win_divisor=divisor, rules=sender_rules(version))
    return sender.validation


@pytest.mark.parametrize(
    ("version", "tso", "divisor", "cwnd", "flights"),
    # flights that do not fill the window, and the least that does
    [
        # `left <= 0`; of TSO all but a third, or a burst of three
        (FIRST, False, 3, 20, (0, 17, 19, 20)),
        (FIRST, True, 3, 30, (0, 19, 20, 21)),
        (FIRST, True, 3, 6, (0, 3, 4, 5)),
        (FIRST, True, 1, 20, (0, 0, 0, 1)),
        (FIRST, True, 0, 20, (0, 15, 16, 17)),
        # a burst of three always counts, and what is left of 64 KiB is no limit
        (LATER, False, 3, 20, (0, 15, 16, 17)),
        (LATER, True, 3, 30, (0, 19, 20, 21)),
        (LATER, True, 0, 20, (0, 15, 16, 17)),
        # a third of 300 segments of 1000 bytes is more than that: 65 are not
        (LATER, True, 3, 300, (0, 201, 234, 235)),
        (FIRST, True, 3, 300, (0, 199, 200, 201)),
    ],
)
def test_which_flights_fill_it(
    version: str, divisor: int, cwnd: int, flights: tuple[int, ...], *, tso: bool
) -> None:
    its = validation(version, cwnd, tso=tso, divisor=divisor)
    *free, full = flights
    assert [its.limited(flight) for flight in (*free, full, cwnd, cwnd + 1)] == [
        *[False] * len(free),
        *[True] * 3,
    ]


def test_since_3_16_slow_start_takes_twice_what_was_out_at_most() -> None:
    its = validation(LIMITED_WHEN_SENT, 20)
    its.max_packets_out = 10
    assert not its.limited(20)
    its.max_packets_out = 11
    assert its.limited(0)
    # beyond slow start, what was found when it was sent
    its.congestion.set_threshold(10)
    assert not its.limited(20)
    its.cwnd_limited = True
    assert its.limited(0)
