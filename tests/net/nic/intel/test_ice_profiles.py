"""What ice lets `Dim` choose from: `rx_profile` and `tx_profile` of ice_main.c, in microseconds."""

import pytest

from simnet.net.nic.intel.ice import profiles

# throttle and rate limit: at first a limit for the shortest alone, then 4 us for all
FIRST = (
    [(2, 10), (8, 16), (32, 0), (96, 0), (128, 0)],
    [(2, 10), (8, 16), (64, 0), (128, 0), (256, 0)],
)
LIMITED = (
    [(usecs, 4) for usecs in (2, 8, 16, 62, 126)],
    [(usecs, 4) for usecs in (2, 8, 40, 128, 256)],
)


@pytest.mark.parametrize(
    ("version", "expected"), [("5.13", FIRST), ("5.15", FIRST), ("5.16", LIMITED), ("6.6", LIMITED)]
)
def test_profiles(version: str, expected: tuple[list[tuple[int, int]], ...]) -> None:
    found = profiles(version)
    assert (list(found.rx), list(found.tx)) == expected
