"""Ensembles over ranges, and the store that keeps their results."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import qmc

from simnet.study.work.ensemble import Anchor, Range, condition, latin_hypercube

RANGES = [Range("cpu.costs.hardirq_cycles", 1000, 2999), Range("cpu.smt_slowdown_permille", 5, 5)]


def test_a_latin_hypercube_covers_each_range_evenly_and_is_the_same_every_time() -> None:
    points = latin_hypercube(RANGES, 20)
    values = sorted(point["cpu.costs.hardirq_cycles"] for point in points)
    assert [(value - 1000) // 100 for value in values] == list(range(20))
    assert {point["cpu.smt_slowdown_permille"] for point in points} == {5}
    assert points == latin_hypercube(RANGES, 20)


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(1, 40))
def test_members_stay_inside_their_ranges(low: int, span: int, members: int) -> None:
    for point in latin_hypercube([Range("x", low, low + span)], members):
        assert low <= point["x"] <= low + span


def test_without_ranges_members_differ_by_their_seed_alone() -> None:
    assert latin_hypercube([], 3) == [{}, {}, {}]


def test_conditioning_removes_what_the_anchor_fixes_and_keeps_the_rest() -> None:
    generator = np.random.default_rng(5)
    local, extra = generator.uniform(50, 90, 400), generator.uniform(0, 20, 400)
    members = [{"remote": a + b, "far": 1.0 + b} for a, b in zip(local, extra, strict=True)]
    at_anchors = [{"local": a} for a in local]
    moved = condition(members, at_anchors, {"local": Anchor(75, 1.0)})
    remote = np.array([member["remote"] for member in moved])
    assert remote.mean() == pytest.approx(75 + 10, abs=0.7)
    assert remote.std() == pytest.approx(np.hypot(extra.std(), 1.0), rel=0.05)
    far = np.array([member["far"] for member in moved])
    assert far.std() == pytest.approx(extra.std(), rel=0.05)


def test_a_vague_anchor_moves_nothing() -> None:
    members = [{"x": float(n)} for n in range(10)]
    moved = condition(members, members, {"x": Anchor(100, 1e6)})
    shifts = [after["x"] - before["x"] for before, after in zip(members, moved, strict=True)]
    assert shifts == pytest.approx([0] * 10, abs=0.01)


def test_without_anchors_or_members_nothing_is_conditioned() -> None:
    assert condition([{"x": 1.0}], [{}], {}) == [{"x": 1.0}]
    assert condition([], [], {"x": Anchor(1, 1)}) == []


@given(st.integers(1, 200))
def test_the_points_are_scipys(members: int) -> None:
    points = [one["a.b"] for one in latin_hypercube([Range("a.b", 0, 2**40)], members)]
    rng = np.random.default_rng([460, *b"a.b"])
    expected = qmc.LatinHypercube(d=1, rng=rng).random(members)[:, 0]
    assert points == [int(float(share) * (2**40 + 1)) for share in expected]
