"""Ensembles over ranges, and the store that keeps their results."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.study.ensemble import Anchor, Range, condition, interval, intervals, latin_hypercube
from simnet.study.result import Result
from simnet.study.store import Store, sources_digest

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


def test_the_interval_leaves_out_five_per_cent_and_holds_the_prediction() -> None:
    members = [float(n) for n in range(1001)]
    assert interval(500, members) == (25, 975)
    assert interval(2000, members) == (25, 2000)
    assert interval(7, []) == (7, 7)
    assert intervals({"a": 1, "b": 2}, [{"a": 0, "b": 2}, {"a": 2, "b": 2}]) == {
        "a": (pytest.approx(0.05), pytest.approx(1.95)),
        "b": (2, 2),
    }


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


def test_a_store_gives_back_what_it_was_given(tmp_path: Path, result: Result) -> None:
    store = Store(tmp_path / "new" / "place")
    assert store.get("key") is None
    store.put("key", result)
    assert store.get("key") == result
    assert [path.name for path in (tmp_path / "new" / "place").iterdir()] == ["key.json.gz"]


def test_a_damaged_entry_counts_as_absent(tmp_path: Path, result: Result) -> None:
    store = Store(tmp_path)
    store.put("key", result)
    path = tmp_path / "key.json.gz"
    whole = path.read_bytes()
    for damaged in (b"", b"{", whole[:-20], whole[:40] + whole[60:]):
        path.write_bytes(damaged)
        assert store.get("key") is None


def test_a_store_that_cannot_be_written_to_keeps_nothing(tmp_path: Path, result: Result) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    store = Store(tmp_path / "file")
    store.put("key", result)
    assert store.get("key") is None
    Store(None).put("key", result)
    assert Store(None).get("key") is None


def test_pruning_removes_what_was_not_used_for_the_longest_time(
    tmp_path: Path, result: Result
) -> None:
    store = Store(tmp_path)
    for age, key in enumerate(("newest", "older", "oldest")):
        store.put(key, result)
        os.utime(tmp_path / f"{key}.json.gz", (1e9 - age, 1e9 - age))
    store.prune(most_files=2)
    assert sorted(path.name.split(".")[0] for path in tmp_path.iterdir()) == ["newest", "older"]


def test_the_environment_places_the_store_or_switches_it_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMNET_CACHE_DIR", str(tmp_path))
    assert Store.of_user().directory == tmp_path
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    assert Store.of_user().directory is None
    monkeypatch.delenv("SIMNET_CACHE_DIR")
    assert Store.of_user().directory is not None


def test_the_digest_of_the_sources_is_stable() -> None:
    assert sources_digest() == sources_digest()
    assert len(sources_digest()) == 32
