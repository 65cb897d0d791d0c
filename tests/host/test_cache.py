"""Last-level caches that devices write into: what waits too long is lost."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.host.cache import CacheWays

SHARE = 1 << 20


def lost(waiting: float, ways: int = 2) -> int:
    cache = CacheWays(SHARE, ways, 60_000)
    cache.waiting = int(waiting * SHARE)
    return cache.lost_permille()


def test_nothing_is_lost_while_nothing_waits() -> None:
    assert lost(0) == 0


@pytest.mark.parametrize("waiting", [0.125, 0.5, 1, 2, 4])
def test_two_ways_lose_a_line_when_two_later_ones_come_to_its_set(waiting: float) -> None:
    later = 2 * waiting
    assert lost(waiting) == round(1000 * (1 - math.exp(-later) * (1 + later)))


def test_one_way_loses_it_to_the_next() -> None:
    assert lost(1, ways=1) == round(1000 * (1 - math.exp(-1)))


def test_many_ways_lose_nearly_nothing_below_the_share_and_nearly_all_above() -> None:
    assert lost(0.5, ways=32) < 10
    assert lost(2, ways=32) > 990


def test_more_that_waits_never_loses_less() -> None:
    found = [lost(step / 7) for step in range(100)]
    assert found == sorted(found)
    assert found[-1] == 1000


@given(st.integers(1, 8), st.integers(0, 255), st.sampled_from((16, 64)))
def test_more_that_waits_never_loses_less_whatever_the_steps(
    ways: int, step: int, steps: int
) -> None:
    cache = CacheWays(64 * steps, ways, 60_000, steps)
    found = []
    for waiting in (0, step, step + 1):
        cache.waiting = 64 * waiting
        found.append(cache.lost_permille())
    assert found[0] == 0
    assert 0 <= found[1] <= found[2] <= 1000
    shares = step / steps
    assert found[1] == pytest.approx(lost(shares, ways), abs=1000 * ways / 64)
