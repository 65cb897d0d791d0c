"""Random streams depend on seed and path alone, and are what they are called."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from simnet.kernel.random import RandomStream, first_below, first_raw, stream


def draws(random: RandomStream) -> list[int]:
    return [random.below(1000) for _ in range(5)] + [random.exponential_ps(10**6)]


def test_numbers_are_the_same_everywhere_and_for_ever() -> None:
    random = stream(1, "a.b")
    assert random.raw() == 15939380217834405973
    assert [random.below(100) for _ in range(5)] == [38, 35, 36, 78, 17]
    assert [random.exponential_ps(10**6) for _ in range(3)] == [1308821, 50692, 492997]
    assert random.generator.bit_generator.random_raw() == 14685413490733583468


def test_another_component_changes_no_numbers() -> None:
    alone = draws(stream(1, "host.nic0"))
    first, second = stream(1, "host.nic0"), stream(1, "host.nic1")
    both = [(first.below(1000), second.below(1000)) for _ in range(5)]
    assert [one for one, _ in both] == alone[:5]
    assert [other for _, other in both] != alone[:5]


def test_statistics_disturb_no_event_times() -> None:
    random = stream(1, "host.nic0")
    random.generator.normal(size=100)
    assert draws(random) == draws(stream(1, "host.nic0"))


@pytest.mark.parametrize(
    "other", [(2, "a"), (1, "b"), (1, "a\0integers"), (-1, "a"), (1 << 200, "a")]
)
def test_seed_and_path_both_count(other: tuple[int, str]) -> None:
    assert draws(stream(*other)) != draws(stream(1, "a"))


@given(st.integers(), st.text())
def test_the_first_number_alone_is_that_of_the_stream(seed: int, path: str) -> None:
    assert first_raw(seed, path) == stream(seed, path).raw()


@given(st.integers(1, (1 << 63) - 1), st.integers(0, 100))
def test_below_is_below(count: int, seed: int) -> None:
    random = stream(seed, "below")
    assert all(0 <= random.below(count) < count for _ in range(20))


def test_below_is_even() -> None:
    random = stream(5, "dice")
    seen = np.bincount([random.below(6) for _ in range(30_000)], minlength=6)
    assert stats.chisquare(seen).pvalue > 0.001
    # Two thirds of a range that 2**64 does not divide: plain remainders would show here.
    third = (1 << 62) // 3 * 4
    low = sum(random.below(third) < third // 2 for _ in range(20_000))
    assert abs(low - 10_000) < 4 * math.sqrt(5_000)


def test_exponential_is_exponential() -> None:
    random = stream(5, "arrivals")
    sample = np.array([random.exponential_ps(10**9) for _ in range(30_000)]) / 1e9
    assert stats.kstest(sample, "expon").pvalue > 0.001
    assert abs(np.corrcoef(sample[:-1], sample[1:])[0, 1]) < 0.02
    assert random.exponential_ps(0) == 0


def test_impossible_draws_are_refused() -> None:
    random = stream(1, "host.nic0")
    with pytest.raises(ValueError, match=r"host\.nic0: no number is below 0"):
        random.below(0)
    for mean in (-1, 1 << 60):
        with pytest.raises(ValueError, match=r"host\.nic0: a mean of"):
            random.exponential_ps(mean)


@given(st.integers(0, 2**40), st.integers(1, 2**62))
def test_a_first_number_below_is_that_of_the_stream(seed: int, count: int) -> None:
    assert first_below(seed, "flow.one", count) == stream(seed, "flow.one").below(count)
