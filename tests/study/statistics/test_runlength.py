"""How long to simulate, judged on series whose answer is known."""

from collections.abc import Callable
from dataclasses import replace
from itertools import accumulate
from math import exp, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.scenario.system.system import Snapshot, System
from simnet.study.statistics.runlength import BATCHES, check, independent, measure, mser5

MS_PS = 10**9
MEAN = 1_000_000


def ar1(seed: int, count: int, phi: float, deviation: float) -> list[int]:
    """An autoregressive series around MEAN, in its steady state from the start."""
    noise = np.random.default_rng(seed).normal(0, deviation * sqrt(1 - phi * phi), count)
    value = np.random.default_rng(seed + 10**6).normal(0, deviation)
    series = []
    for shock in noise:
        value = phi * value + float(shock)
        series.append(MEAN + round(value))
    return series


def waits(seed: int, count: int, load: float) -> list[int]:
    """Waiting times in an M/M/1 queue that starts 1000 service times behind; sums of 20."""
    random = np.random.default_rng(seed)
    steps = random.exponential(1.0, 20 * count) - random.exponential(1.0 / load, 20 * count)
    line = accumulate(map(float, steps), lambda wait, step: max(wait + step, 0.0), initial=1000.0)
    sums = np.fromiter(line, float, 20 * count).reshape(count, 20).sum(axis=1)
    return [round(1000 * value) for value in sums]


class Replayed:
    """A system whose throughput and CPU time a slice are given."""

    def __init__(self, end: Snapshot, series: list[int]) -> None:
        self._flow, self._cpu = end.flows[0], end.cpus[0]
        self._series = series
        self._template = end
        self.slices = 0

    def run(self, duration_ps: int) -> None:
        assert duration_ps == 10 * MS_PS
        self.slices += 1

    def progress(self) -> tuple[int, int]:
        total = sum(self._series[: self.slices])
        return total, 3 * total

    def snapshot(self) -> Snapshot:
        total = sum(self._series[: self.slices])
        return replace(
            self._template,
            time_ps=self.slices * 10 * MS_PS,
            cpus=(replace(self._cpu, user_ps=3 * total),),
            flows=(replace(self._flow, bytes=total),),
        )


@pytest.fixture
def replay(end: Snapshot) -> Callable[[list[int]], System]:
    return lambda series: Replayed(end, series)  # type: ignore[return-value]


def test_what_has_no_transient_keeps_its_start() -> None:
    cuts = [mser5(ar1(seed, 400, 0.5, 0.1 * MEAN)) for seed in range(40)]
    assert sum(cut <= 40 for cut, _ in cuts) >= 34
    assert sum(known for _, known in cuts) >= 36


def test_a_transient_is_cut_off_and_little_more() -> None:
    cuts = []
    for seed in range(20):
        steady = ar1(seed, 400, 0.5, 0.02 * MEAN)
        series = [value + round(MEAN * exp(-n / 10)) for n, value in enumerate(steady)]
        cuts.append(mser5(series))
    assert all(cut >= 20 for cut, _ in cuts)
    assert sum(cut <= 80 and known for cut, known in cuts) >= 17


def test_a_transient_that_lasts_is_noticed() -> None:
    assert mser5([MEAN + 1000 * n for n in range(200)]) == (100, False)


@given(st.lists(st.integers(0, 10**15), max_size=200))
def test_the_cut_is_a_multiple_of_five_in_the_first_half(series: list[int]) -> None:
    cut, _ = mser5(series)
    assert cut % 5 == 0
    assert cut <= len(series) / 2


def test_a_constant_needs_the_least_time(replay: Callable[[list[int]], System]) -> None:
    system = replay([MEAN] * 1000)
    found = measure(system, permille=1, most_ps=10**13)
    assert found.check.enough
    assert found.check.half_widths == (0.0, 0.0)
    assert (found.start.time_ps, found.end.time_ps) == (0, 600 * MS_PS)


@pytest.mark.parametrize("phi", [0.0, 0.8])
def test_intervals_hold_the_mean_and_are_as_narrow_as_asked(
    replay: Callable[[list[int]], System], phi: float
) -> None:
    inside = lengths = 0
    runs = 40
    for seed in range(runs):
        series = ar1(seed, 4000, phi, 0.05 * MEAN)
        found = measure(replay(series), permille=10, most_ps=40 * 10**12)
        width = found.check.half_widths[0]
        assert found.check.enough
        assert width is not None
        assert width <= 0.01
        slices = (found.end.time_ps - found.start.time_ps) / (10 * MS_PS)
        mean = (found.end.flows[0].bytes - found.start.flows[0].bytes) / slices
        inside += abs(mean / MEAN - 1) <= width
        lengths += found.end.time_ps
    # stopping when an interval is narrow costs some of its 95 %; correlation costs time
    assert inside >= 0.8 * runs
    mean_slices = lengths / runs / (10 * MS_PS)
    assert 60 <= mean_slices <= 200 if phi == 0 else mean_slices >= 300


def test_a_queue_that_starts_full_is_measured_in_its_steady_state(
    replay: Callable[[list[int]], System],
) -> None:
    load = 0.5
    means = []
    for seed in range(5):
        found = measure(replay(waits(seed, 4000, load)), permille=50, most_ps=40 * 10**12)
        assert found.check.enough
        slices = (found.end.time_ps - found.start.time_ps) / (10 * MS_PS)
        means.append((found.end.flows[0].bytes - found.start.flows[0].bytes) / slices / 20_000)
        assert found.start.time_ps >= 500 * MS_PS
    assert np.mean(means) == pytest.approx(load / (1 - load), rel=0.05)


def test_a_run_that_may_not_last_says_what_it_reached(
    replay: Callable[[list[int]], System],
) -> None:
    found = measure(replay(ar1(1, 200, 0.5, 0.5 * MEAN)), permille=1, most_ps=10**12)
    assert found.end.time_ps == 10**12
    assert not found.check.precise
    assert found.check.half_widths[0] is not None
    assert found.check.half_widths[0] > 0.02


def test_marks_are_few_however_long_the_run(replay: Callable[[list[int]], System]) -> None:
    steady = ar1(3, 4000, 0.0, 0.2 * MEAN)
    series = [value + round(MEAN * exp(-n / 200)) for n, value in enumerate(steady)]
    found = measure(replay(series), permille=15, most_ps=40 * 10**12)
    assert found.check.enough
    assert 2000 * MS_PS <= found.start.time_ps < 10_000 * MS_PS
    assert found.start.time_ps - 10 * MS_PS * found.check.cut < found.end.time_ps / 30


def test_correlated_batches_are_not_taken_for_independent() -> None:
    passed = {
        phi: sum(independent(ar1(seed, BATCHES, phi, 0.1 * MEAN)) for seed in range(200))
        for phi in (0.0, 0.9)
    }
    assert 165 <= passed[0.0] <= 195
    assert passed[0.9] <= 20


def test_nothing_moves_in_an_idle_system() -> None:
    found = check([[0] * 60, [0] * 60], 10)
    assert found.enough
    assert found.half_widths == (None, None)
