import math
from statistics import fmean, stdev

import numpy as np
import pytest

from simnet.study.whatif.plan import without_chance
from simnet.study.whatif.verdict import Change, Interval


def test_draws_keep_what_is_not_chance() -> None:
    draw = np.random.default_rng(1)
    pairs = np.exp(draw.normal(0, 0.02, 400))
    unknown = draw.normal(0.1, 0.03, 400)
    drawn = (unknown + draw.normal(0, 0.02, 400)).tolist()
    found = without_chance(drawn, pairs.tolist())
    assert stdev(found) == pytest.approx(0.03, rel=0.1)
    assert fmean(found) == pytest.approx(fmean(drawn))
    assert sorted(found) == [found[n] for n in np.argsort(drawn)]


def test_draws_that_differ_by_no_more_than_pairs_say_nothing_of_the_machine() -> None:
    assert without_chance([0.01, 0.03, 0.02, 0.02], [0.9, 1.1, 1.0, 1.2]) == [0.02] * 4


@pytest.mark.parametrize("pairs", [[1.0, 1.1, 0.9], [1.0, 1.1, 0.9, 0.0], []])
def test_where_pairs_say_too_little_of_chance_draws_stay(pairs: list[float]) -> None:
    assert without_chance([0.1, 0.2, 0.3, 0.4], pairs) == [0.1, 0.2, 0.3, 0.4]


def _change(percent: float, seeds: Interval, parameters: Interval) -> Change:
    return Change(
        metric="throughput", unit="Mbit/s", before=1.0, after=1.0 + percent / 100,
        percent=percent, seeds=seeds, parameters=parameters,
    )  # fmt: skip


def test_chance_and_what_is_unknown_are_wider_together() -> None:
    three, four = (Interval(low=-n / 100, high=n / 100) for n in (3, 4))
    hull = _change(0.0, three, four).hull
    assert hull is not None
    assert (hull.low, hull.high) == pytest.approx((-0.05, 0.05), rel=1e-3)


def test_nothing_falls_below_nothing_however_wide_its_parts() -> None:
    wide = Interval(low=-100.0, high=900.0)
    hull = _change(-99.0, wide, wide).hull
    assert hull is not None
    assert -100 <= hull.low < -99
    assert math.isfinite(hull.high)
    assert _change(-100.0, wide, wide).hull == wide
