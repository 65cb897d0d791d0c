"""What mutilate's clients ask, and when: distributions, and the order of a thread's work."""

import math
from itertools import pairwise

import pytest

from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.workload.mutilate import Gaps, MutilateConnection, MutilateThread, Requests
from simnet.workload.mutilate_sizes import fb_sizes

US = 10**6
MEAN = 20_000 * US
DRAWS = 40_000


def gaps(arrivals: str, mean_ps: int = MEAN) -> Gaps:
    return Gaps(arrivals, mean_ps, stream(1, "gaps"))


@pytest.mark.parametrize("arrivals", ["fb_ia", "exponential"])
def test_the_mean_of_the_gaps_is_the_rate_asked_for(arrivals: str) -> None:
    drawn = gaps(arrivals)
    assert sum(drawn.draw_ps() for _ in range(DRAWS)) / DRAWS / MEAN == pytest.approx(1, abs=0.02)


def test_gaps_of_fb_ia_are_a_generalised_pareto() -> None:
    """P(gap > x) = (1 + k x / s)^(-1/k), s = mean (1 - k)."""
    shape = 0.154971
    drawn = gaps("fb_ia")
    found = sorted(drawn.draw_ps() / MEAN for _ in range(DRAWS))
    for share in (0.1, 0.5, 0.9, 0.99, 0.999):
        expected = (1 - shape) * ((1 - share) ** -shape - 1) / shape
        assert found[int(share * DRAWS)] == pytest.approx(expected, rel=0.12), share


def test_a_closed_loop_has_no_gaps_and_a_fixed_one_always_the_same() -> None:
    assert {gaps("fb_ia", 0).draw_ps() for _ in range(9)} == {0}
    assert {gaps("fixed").draw_ps() for _ in range(9)} == {MEAN}


def test_sizes_are_those_of_the_fits() -> None:
    """Means of the GEV and of the small sizes with the Pareto, beyond what a table cuts off."""
    keys, values = fb_sizes(1_000_000)
    scale, shape = 8.20449, 0.078688
    mean_key = 30.7984 + scale * (math.gamma(1 - shape) - 1) / shape
    assert sum(keys) / len(keys) == pytest.approx(mean_key, abs=0.3)
    assert sum(size < 15 for size in values) / len(values) == pytest.approx(0.4416, abs=0.001)
    pareto = [size for size in values if size >= 15]
    assert sum(pareto) / len(pareto) == pytest.approx(15 + 214.476 / (1 - 0.348238), rel=0.02)
    assert min(fb_sizes(10**45)[0]) == 46


def thread_of(requests: Requests) -> MutilateThread:
    return MutilateThread(
        Simulator(),
        "thread",
        requests=requests,
        gaps=gaps("fixed"),
        wake_ps=0,
        read_ps=0,
        write_ps=0,
    )


def test_sizes_that_are_given_are_all_alike() -> None:
    requests = Requests(1_000_000, 0, stream(1, "requests"), key_bytes=30, value_bytes=1000)
    connection = MutilateConnection(thread_of(requests))
    for _ in range(50):
        requests.draw(connection)
        # get K; VALUE K 0 1000, V, END
        assert (connection.request_bytes, connection.response_bytes) == (36, 18 + 30 + 4 + 1000)


def test_a_request_in_thirty_is_an_update() -> None:
    requests = Requests(1_000_000, 30, stream(1, "requests"))
    connection = MutilateConnection(thread_of(requests))
    updates = 0
    for _ in range(20_000):
        requests.draw(connection)
        updates += connection.response_bytes == 8
        asks, answers = connection.request_bytes, connection.response_bytes
        assert (asks > 13 + 7) if answers == 8 else (asks >= 6 + 7 and answers > asks)
    assert updates / 20_000 == pytest.approx(0.03, abs=0.004)
    assert requests.offered == 20_000


def test_gaps_of_a_stream_do_not_repeat() -> None:
    drawn = gaps("fb_ia")
    found = [drawn.draw_ps() for _ in range(100)]
    assert all(first != second for first, second in pairwise(found))
