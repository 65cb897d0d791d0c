"""Histograms in constant space: what is lost is at most one part in 128."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.histogram import LogHistogram

VALUES = st.lists(
    st.one_of(st.integers(0, 600), st.integers(0, (1 << 63) - 1)), min_size=1, max_size=80
)


def histogram_of(values: list[int]) -> LogHistogram:
    histogram = LogHistogram()
    for value in values:
        histogram.add(value)
    return histogram


@given(VALUES, st.sampled_from([0, 1, 7, 50, 93, 99, 100]))
def test_a_quantile_is_the_value_of_its_rank_but_for_one_part_in_128(
    values: list[int], percent: int
) -> None:
    exact = sorted(values)[max(1, math.ceil(percent * len(values) / 100)) - 1]
    found = histogram_of(values).quantile(percent / 100)
    assert exact <= found <= exact + exact // 128
    assert found <= max(values)


@given(VALUES)
def test_buckets_hold_all_values_in_order(values: list[int]) -> None:
    buckets = histogram_of(values).buckets()
    uppers = [upper for upper, _ in buckets]
    assert uppers == sorted(set(uppers))
    assert sum(count for _, count in buckets) == len(values)
    for upper, count in buckets:
        near = [value for value in values if upper - upper // 128 <= value <= upper]
        assert len(near) >= count


@given(VALUES, VALUES)
def test_merging_is_adding(first: list[int], second: list[int]) -> None:
    merged = histogram_of(first)
    merged.merge(histogram_of(second))
    together = histogram_of(first + second)
    assert merged.buckets() == together.buckets()
    assert (merged.count, merged.largest) == (together.count, together.largest)


def test_cleared_is_empty() -> None:
    histogram = histogram_of([5, 1 << 40])
    histogram.clear()
    assert (histogram.count, histogram.largest, histogram.buckets()) == (0, 0, ())
    with pytest.raises(ValueError, match="no quantile"):
        histogram.quantile(0.5)


def test_impossible_requests_are_refused() -> None:
    histogram = histogram_of([1])
    with pytest.raises(ValueError, match="negative"):
        histogram.add(-1)
    with pytest.raises(ValueError, match="no quantile"):
        histogram.quantile(1.5)
    assert histogram.count == 1
