"""How far off predictions of changes were: which are known, and what is learned from them."""

import math
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.study.validate import changes
from simnet.study.validate.changes import KnownChange, discrepancy_of_changes, known_changes
from simnet.study.validate.document import sort_of
from simnet.study.validate.measurements import Measurement
from simnet.study.validate.predictions import Frozen, FrozenRow
from simnet.study.validate.residuals import Residual
from tests.study.synthetic import known_change


def fresh() -> tuple[KnownChange, ...]:
    return known_changes.__wrapped__()


@pytest.fixture
def alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No document has numbers that were recorded."""
    monkeypatch.setattr(changes, "documents", tuple)


def residual(name: str, measured: float, left_out: float, kind: str = "throughput") -> Residual:
    return Residual(
        id=name,
        key="n",
        kind=kind,
        configuration=name,
        measured=measured,
        fitted=measured,
        left_out=left_out,
    )


@pytest.mark.usefixtures("alone")
def test_what_differs_in_one_thing_is_a_change_and_so_is_a_ratio(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = (
        residual("web.plain.low", 100.0, 110.0),
        residual("web.tuned.low", 200.0, 198.0),
        residual("web.tuned.high", 500.0, 396.0),
        residual("web.gain", 1.5, 1.2, "ratio"),
    )
    monkeypatch.setattr(changes, "residuals", lambda: rows)
    monkeypatch.setattr(changes, "predictions", dict)
    found = fresh()
    assert [(one.before.id, one.after.id) for one in found] == [
        ("web.gain", "web.gain"),
        ("web.plain.low", "web.tuned.low"),
        ("web.tuned.low", "web.tuned.high"),
    ]
    assert [round(math.exp(one.measured), 6) for one in found] == [1.5, 2.0, 2.5]
    assert [round(math.exp(one.predicted), 6) for one in found] == [1.2, 1.8, 2.0]


@pytest.mark.usefixtures("alone")
def test_what_was_frozen_makes_changes_where_nothing_was_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    values = {"none": (8.0, 10.0), "gro": (24.0, 20.0), "gro+jumbo": (48.0, 50.0), "x": (1.0, 1.0)}
    given = dict.fromkeys(values, "predict") | {"none": "calibrate", "gro": "calibrate"}
    rows = [
        FrozenRow(id=f"net.{name}", key="value", predicted=value, low=value, high=value)
        for name, (_, value) in values.items()
    ]
    frozen = Frozen(date=date(2026, 1, 1), version="1", stage="A", rows=tuple(rows))
    monkeypatch.setattr(changes, "predictions", lambda: {"a.json": frozen})
    measured = {
        f"net.{name}": Measurement.model_validate(
            {"id": f"net.{name}", "where": "", "unit": "", "use": given[name], "value": value}
        )
        for name, (value, _) in values.items()
    }
    monkeypatch.setattr(changes, "measurements", lambda: measured)
    monkeypatch.setattr(changes, "kind_of", lambda _name, _key: "throughput")
    monkeypatch.setattr(changes, "residuals", tuple)
    found = fresh()
    # gro alone was fitted to on both sides, and gro+jumbo is more than one thing more than none
    assert [(one.before.id, one.after.id) for one in found] == [
        ("net.none", "net.x"),
        ("net.gro", "net.gro+jumbo"),
    ]
    assert [round(math.exp(one.measured), 6) for one in found] == [0.125, 2.0]
    assert [round(math.exp(one.predicted), 6) for one in found] == [0.1, 2.5]
    assert not any(one.looked_at for one in found)


@pytest.mark.parametrize(
    ("before", "after", "sort"),
    [
        ("memcached.base.max", "memcached.defer50.max", "setting"),
        ("memcached.base.max", "memcached.base.800000", "load"),
        ("nvme980.throughput.none.1", "nvme980.throughput.none.10", "load"),
        ("nvme980.throughput.none.1", "nvme980.throughput.kyber.1", "setting"),
        ("router.BCM4708.eth0-0.brlan-0.plain", "router.BCM4708.eth0-0.brlan-2.plain", "setting"),
        ("router.BCM4708.eth0-0.brlan-0.plain", "router.BCM4908.eth0-0.brlan-0.plain", "hardware"),
        ("stream.tsogro", "stream.tsogro+jumbo", "setting"),
        ("x460.table1.netperf", "x460.table1.netperf", "hardware"),
    ],
)
def test_documents_say_what_differs(before: str, after: str, sort: str) -> None:
    assert sort_of(before, after) == sort


def test_small_changes_say_the_least_and_large_ones_what_part_they_are_off_beyond_it() -> None:
    small = [known_change(0.0, 0.01 * number) for number in range(8)]
    large = [known_change(-0.5, -0.5 - 0.07 - 0.05 * number) for number in range(8)]
    found = discrepancy_of_changes([*small, *large], "throughput")
    assert (found.least, found.part) == pytest.approx((0.07, 0.7))
    assert found.of(-1.0) == pytest.approx(0.77)


def test_what_is_known_of_the_same_kind_and_sort_counts_and_else_what_is_most_like_it() -> None:
    def eight(off: float, **of: object) -> list[KnownChange]:
        return [known_change(0.0, off, **of) for _ in range(8)]  # type: ignore[arg-type]

    cpu, rates = eight(0.2, kind="CPU share"), eight(0.1)
    few = [known_change(0.0, 0.05, kind="latency")]
    loads = eight(0.3, kind="latency", sort="load")
    known = [*cpu, *rates, *few, *loads]
    least = {
        (kind, sort): discrepancy_of_changes(known, kind, sort).least
        for kind in ("CPU share", "share", "throughput", "latency", "storage latency")
        for sort in ("setting", "load", "hardware", "")
    }
    assert least["CPU share", "setting"] == least["share", "setting"] == 0.2
    assert least["throughput", "setting"] == least["latency", "setting"] == 0.1
    # of disks nothing is known: all settings count
    assert least["storage latency", "setting"] == 0.2
    assert least["throughput", "load"] == least["latency", "load"] == 0.3
    # nor is anything of hardware: all sorts count
    assert least["throughput", "hardware"] == 0.3
    assert least["CPU share", ""] == 0.2


def test_where_nothing_is_known_nothing_is_claimed_of_the_model() -> None:
    found = discrepancy_of_changes((), "latency")
    assert (found.least, found.part) == (0.0, 0.0)


@given(st.lists(st.tuples(st.floats(-2, 2), st.floats(-2, 2)), min_size=40, max_size=80))
def test_nine_in_ten_of_what_it_was_learned_from_lie_inside(
    pairs: list[tuple[float, float]],
) -> None:
    known = [known_change(predicted, measured) for predicted, measured in pairs]
    found = discrepancy_of_changes(known, "throughput")
    inside = sum(one.off <= found.of(one.predicted) + 1e-9 for one in known)
    assert inside >= 0.9 * len(known)


@given(st.floats(0, 1), st.floats(0, 1))
def test_a_larger_change_is_never_less_uncertain(one: float, other: float) -> None:
    known = [known_change(0.02 * n, 0.03 * n) for n in range(40)]
    found = discrepancy_of_changes(known, "throughput")
    assert found.of(min(one, other)) <= found.of(-max(one, other))
