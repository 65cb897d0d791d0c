"""Which lines of tables a cache keeps."""

import random
from collections import OrderedDict

import pytest

from simnet.net.forward.fib import lookup_lines
from simnet.net.forward.resident import Lines, found, missed


def simulated(kinds: list[Lines], capacity: int, packets: int) -> float:
    """Lines a packet that a cache with perfect LRU misses, by trying it."""
    luck = random.Random(7)  # noqa: S311 - nothing is secret
    cache: OrderedDict[tuple[int, int], None] = OrderedDict()
    count = 0
    for packet in range(2 * packets):
        for number, kind in enumerate(kinds):
            for _ in range(int(kind.used)):
                line = (number, luck.randrange(int(kind.count)))
                if line in cache:
                    cache.move_to_end(line)
                    continue
                count += packet >= packets
                cache[line] = None
                if len(cache) > capacity:
                    cache.popitem(last=False)
    return count / packets


@pytest.mark.parametrize("capacity", [300, 1000, 2500])
def test_a_cache_misses_what_a_simulated_one_does(capacity: int) -> None:
    kinds = [Lines(100, 1), Lines(600, 1), Lines(2000, 2)]
    assert missed(kinds, capacity) == pytest.approx(simulated(kinds, capacity, 20000), rel=0.03)


def test_what_fits_is_never_missed() -> None:
    kinds = [Lines(100, 1), Lines(600, 3)]
    assert missed(kinds, 700) == 0
    assert missed(kinds, 699) > 0
    assert missed([], 0) == 0


def test_a_line_comes_from_one_place_only() -> None:
    kinds = lookup_lines(690_000, 200_000, 64)
    shared, memory = found(kinds, 2048, 245_760)
    assert shared > 0
    assert memory > 0
    assert shared + memory == pytest.approx(missed(kinds, 2048))
    assert shared + memory < sum(kind.used for kind in kinds) == 4


def test_one_route_costs_no_line_and_more_destinations_cost_more() -> None:
    assert found(lookup_lines(1, 1, 64), 2048, 245_760) == (0.0, 0.0)
    costs = [
        found(lookup_lines(690_000, reached, 64), 2048, 245_760)[1]
        for reached in (1000, 50_000, 200_000, 690_000)
    ]
    assert costs == sorted(costs)
    assert costs[0] == 0.0
    assert 2.0 < costs[-1] < 4.0
