"""Which points of a sweep may be the best."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import dunnett
from scipy.stats import t as student

from simnet.study.run.duration_text import duration_text
from simnet.study.run.measures import MEASURES
from simnet.study.statistics.best import contenders, largest_student
from simnet.study.statistics.optimum import cells, optimum
from simnet.study.sweep.sweep import Point, Sweep


# Dunnett, JASA 50 (1955) 1096, table 1a: one-sided, 95 %.
@pytest.mark.parametrize(
    ("count", "freedom", "quantile"),
    [(1, 10, 1.81), (2, 10, 2.15), (3, 10, 2.34), (9, 10, 2.81), (2, 10**6, 1.92)],
)
def test_the_quantile_is_the_published_one(count: int, freedom: int, quantile: float) -> None:
    assert round(largest_student(count, freedom), 2) == quantile


@settings(max_examples=10)
@given(freedom=st.integers(1, 1000))
def test_one_comparison_is_students(freedom: int) -> None:
    assert largest_student(1, freedom) == pytest.approx(student.ppf(0.95, freedom), rel=1e-5)


def test_the_set_is_what_dunnetts_one_sided_tests_leave() -> None:
    generator = np.random.default_rng(1)
    means = np.array([10.0, 10.4, 9.0, 10.1, 8.0, 10.3])
    values = means[:, None] + 0.3 * generator.standard_normal((6, 6))
    found = contenders(values, largest=True)
    assert found is not None
    left = tuple(
        i
        for i in range(6)
        if dunnett(
            *np.delete(values, i, axis=0), control=values[i], alternative="greater", rng=generator
        ).pvalue.min()
        > 0.05
    )
    assert found.members == left
    assert 1 < len(left) < 6


def test_the_best_is_in_the_set_as_often_as_it_says() -> None:
    generator = np.random.default_rng(2)
    tries, held = 400, 0
    for _ in range(tries):
        block = generator.standard_normal(4)  # what all points of one seed have in common
        values = 5 * block + generator.standard_normal((7, 4)) + np.linspace(0.0, 0.5, 7)[:, None]
        found = contenders(values, largest=True)
        held += found is not None and 6 in found.members
    # three standard errors below 95 %
    assert held / tries >= 0.95 - 3 * (0.95 * 0.05 / tries) ** 0.5


@given(st.lists(st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=2, max_size=8))
def test_least_is_most_of_the_negative(rows: list[list[int]]) -> None:
    values = np.array(rows, dtype=float)
    most, least = contenders(values, largest=True), contenders(-values, largest=False)
    assert most == least
    assert most is not None
    assert most.best in most.members


def test_one_seed_says_nothing_about_how_sure_it_is() -> None:
    assert contenders(np.array([[1.0], [2.0]]), largest=True) is None


def _rows(means: list[float], spread: float) -> list[dict[str, object]]:
    others = dict.fromkeys(MEASURES, None)
    return [
        {**others, "delack": f"{10 * place} ms", "throughput_bps": 1e9 * (mean + spread * sign)}
        for place, mean in enumerate(means)
        for sign in (-1.0, 0.0, 1.0)
    ]


def test_neighbours_are_named_as_a_range() -> None:
    # the same spread around every mean cancels, so a little is added to one of them
    rows = _rows([1.0, 2.0, 2.0, 2.0, 1.0, 2.0], 0.1)
    rows[0]["throughput_bps"] = 0.88e9
    said = optimum(cells(rows, ["delack"]), "throughput_bps").sentence()
    assert said == (
        "best throughput (Mbit/s): 2000.0 at delack=10 ms;"
        " not distinguishable from it (95 %): delack 10 ms to 30 ms, 50 ms"
    )


def _sweep(*knobs: str) -> Sweep:
    values = {"a": ("1", "2", "3"), "b": ("x", "y")}
    points: list[Point] = []
    for row in product(*(values[name] for name in knobs)):
        for seed in (1, 2):
            # a = 1 is worse by far, the others differ by less than the seeds do
            throughput = 1e9 + (row[0] != "1") * 1e9 + 1e6 * (-1) ** (seed + len(points))
            measured = {**dict.fromkeys(MEASURES), "throughput_bps": throughput}
            measured["cpu_busy_percent"] = 1.0
            points.append(Point(dict(zip(knobs, row, strict=True)), "", seed, measured))
    return Sweep("tiny", knobs, tuple(points))


def test_a_plane_is_a_heat_map_with_the_set_outlined() -> None:
    panel: Any = _sweep("a", "b").plot().axes[0]
    assert panel.get_images()[0].get_array().shape == (2, 3)
    assert (panel.get_xlabel(), panel.get_ylabel()) == ("a", "b")
    corners = {(round(p.get_x()), round(p.get_y())) for p in panel.patches}
    assert corners == {(1, 0), (1, 1), (2, 0), (2, 1)}


def test_one_knob_is_a_curve_with_intervals_and_the_set_outlined() -> None:
    panel: Any = _sweep("a").plot().axes[0]
    (curve,) = panel.containers
    assert curve.has_yerr
    (outlines,) = [line for line in panel.lines if line.get_markersize() == 9]
    assert list(outlines.get_xdata()) == [2, 3]
    assert "(Mbit/s)" in panel.get_ylabel()


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(3, "3 seconds"), (90, "1.5 minutes"), (36_000, "10 hours"), (3e9, "95 years")],
)
def test_a_time_is_two_digits_and_a_unit(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
