"""What changes were said to be by fits that had not seen them."""

import pytest

from simnet.errors import InputError
from simnet.report.validation import scored_changes
from simnet.study.validate.changes import discrepancy_of_changes, known_changes
from simnet.study.whatif import record
from simnet.study.whatif.record import ChangeRecord, ScoredChange, record_of_changes
from tests.study.synthetic import known_change


def change(measured: float, low: float, high: float) -> ScoredChange:
    return ScoredChange(
        before="web.plain",
        after="web.tuned",
        key="mbit_s",
        kind="throughput",
        sort="setting",
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
        (8.0, -5.0, 12.0, "abstained", True),
        # so little is no difference, and right as far as the interval says
        (8.0, -5.0, 10.0, "right", True),
        (-8.0, -5.0, 10.0, "wrong", False),
        (8.0, -12.0, 12.0, "right", True),
        (8.0, 0.5, 10.0, "right", True),
        (8.0, 0.0, 10.5, "abstained", True),
        (0.4, -0.5, 0.5, "right", True),
        (8.0, -0.5, 0.5, "wrong", False),
    ],
)
def test_a_change_is_right_where_it_goes_as_was_said(
    measured: float, low: float, high: float, outcome: str, *, covered: bool
) -> None:
    found = change(measured, low, high)
    assert (found.outcome, found.covered) == (outcome, covered)


def test_the_interval_is_learned_without_both_sides(monkeypatch: pytest.MonkeyPatch) -> None:
    """Changes that were all predicted right, and one that was not: it does not see itself."""
    right = [known_change(0.7, 0.7, configuration=f"{number}") for number in range(9)]
    known = (*right, known_change(0.7, 1.4, configuration="off"))
    monkeypatch.setattr(record, "known_changes", lambda: known)
    *others, off = record_of_changes().changes
    assert off.high < 102
    assert not off.covered
    assert all(one.covered and one.high > 102 for one in others)


def test_most_changes_on_real_hosts_go_as_predicted() -> None:
    found = record_of_changes()
    assert len(found.changes) > 200
    for some in (found, found.unseen):
        right, wrong = some.count("right"), some.count("wrong")
        assert right > 0.9 * (right + wrong)
        assert some.count("abstained") < len(some.changes) / 3
        assert some.coverage > 0.9


def test_of_a_system_that_was_left_out_nine_changes_in_ten_lie_inside() -> None:
    known = known_changes()
    inside = 0
    for change in known:
        others = [one for one in known if one.system != change.system]
        inside += change.off <= discrepancy_of_changes(others, change.kind, change.sort).of(
            change.predicted
        )
    assert inside > 0.9 * len(known)


def test_a_table_names_what_went_another_way() -> None:
    told = ChangeRecord((change(8.0, 5.0, 10.0), change(-8.0, 5.0, 10.0)))
    text = scored_changes(told)
    assert text.startswith("not as predicted\n")
    assert "web.plain  web.tuned  mbit_s    -8.0 %     +7.5 %  +5.0 %  +10.0 %       no" in text
    assert text.splitlines()[-1].split() == ["all", "2", "1", "0", "1", "50%", "50%"]


def test_a_system_without_changes_is_refused() -> None:
    with pytest.raises(InputError, match="did you mean x460"):
        record_of_changes("x461")
