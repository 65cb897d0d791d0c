"""What changes were said to be by fits that had not seen them."""

from datetime import date

import pytest

from simnet.errors import InputError
from simnet.report.validation import scored_changes
from simnet.study.validate.measurements import Measurement
from simnet.study.validate.predictions import Frozen, FrozenRow
from simnet.study.validate.residuals import Residual
from simnet.study.whatif import record
from simnet.study.whatif.record import ChangeRecord, ScoredChange, record_of_changes


def change(measured: float, low: float, high: float) -> ScoredChange:
    return ScoredChange(
        before="web.plain",
        after="web.tuned",
        key="mbit_s",
        kind="throughput",
        measured=measured,
        predicted=(low + high) / 2,
        low=low,
        high=high,
        looked_at=False,
    )


@pytest.mark.parametrize(
    ("measured", "low", "high", "outcome", "covered"),
    [
        (8.0, 5.0, 10.0, "right", True),
        (30.0, 5.0, 10.0, "right", False),
        (-8.0, -10.0, -5.0, "right", True),
        (-8.0, 5.0, 10.0, "wrong", False),
        (0.5, 5.0, 10.0, "wrong", False),
        (8.0, -5.0, 10.0, "abstained", True),
        (8.0, 0.5, 10.0, "right", True),
        (8.0, 0.0, 10.0, "abstained", True),
        (0.4, -0.5, 0.5, "right", True),
        (8.0, -0.5, 0.5, "wrong", False),
    ],
)
def test_a_change_is_right_where_it_goes_as_was_said(
    measured: float, low: float, high: float, outcome: str, *, covered: bool
) -> None:
    found = change(measured, low, high)
    assert (found.outcome, found.covered) == (outcome, covered)


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


def test_what_differs_in_one_thing_is_a_change_and_so_is_a_ratio(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = (
        residual("web.plain.low", 100.0, 110.0),
        residual("web.tuned.low", 200.0, 198.0),
        residual("web.tuned.high", 500.0, 396.0),
        residual("web.gain", 1.5, 1.2, "ratio"),
    )
    monkeypatch.setattr(record, "residuals", lambda: rows)
    monkeypatch.setattr(record, "predictions", dict)
    found = record_of_changes().changes
    assert [(one.before, one.after) for one in found] == [
        ("web.gain", "web.gain"),
        ("web.plain.low", "web.tuned.low"),
        ("web.tuned.low", "web.tuned.high"),
    ]
    assert [round(one.measured, 6) for one in found] == [50.0, 100.0, 150.0]
    assert [round(one.predicted, 6) for one in found] == [20.0, 80.0, 100.0]


def test_the_interval_is_learned_without_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ratios that were all predicted right, and one that was not: it does not see itself."""
    right = [residual(f"web.r{number}", 2.0, 2.0, "ratio") for number in range(9)]
    rows = (*right, residual("web.off", 4.0, 2.0, "ratio"))
    monkeypatch.setattr(record, "residuals", lambda: rows)
    monkeypatch.setattr(record, "predictions", dict)
    *others, off = record_of_changes().changes
    assert off.high < 102
    assert not off.covered
    assert all(one.covered and one.high > 102 for one in others)


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
    monkeypatch.setattr(record, "predictions", lambda: {"a.json": frozen})
    measured = {
        f"net.{name}": Measurement.model_validate(
            {"id": f"net.{name}", "where": "", "unit": "", "use": given[name], "value": value}
        )
        for name, (value, _) in values.items()
    }
    monkeypatch.setattr(record, "measurements", lambda: measured)
    monkeypatch.setattr(record, "kind_of", lambda _name, _key: "throughput")
    monkeypatch.setattr(record, "residuals", lambda: (residual("web.r", 2.0, 2.0, "ratio"),))
    _, *found = record_of_changes().changes
    # gro alone was fitted to on both sides, and gro+jumbo is more than one thing more than none
    assert [(one.before, one.after) for one in found] == [
        ("net.none", "net.x"),
        ("net.gro", "net.gro+jumbo"),
    ]
    assert [round(one.measured, 6) for one in found] == [-87.5, 100.0]
    assert [round(one.predicted, 6) for one in found] == [-90.0, 150.0]
    assert not any(one.looked_at for one in found)


def test_most_changes_on_real_hosts_go_as_predicted() -> None:
    found = record_of_changes()
    assert len(found.changes) > 200
    right, wrong = found.count("right"), found.count("wrong")
    assert right > 0.9 * (right + wrong)
    assert found.count("abstained") < 0.25 * len(found.changes)
    assert found.coverage > 0.85


def test_a_table_names_what_went_another_way() -> None:
    told = ChangeRecord((change(8.0, 5.0, 10.0), change(-8.0, 5.0, 10.0)))
    text = scored_changes(told)
    assert text.startswith("not as predicted\n")
    assert "web.plain  web.tuned  mbit_s    -8.0 %     +7.5 %  +5.0 %  +10.0 %       no" in text
    assert text.splitlines()[-1].split() == ["all", "2", "1", "0", "1", "50%", "50%"]


def test_a_system_without_changes_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean x460"):
        record_of_changes("x461")
