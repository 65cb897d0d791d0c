"""Cross-validation of a made-up document, whose numbers follow from two parameters."""

import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.study.calibrate import cross_validation
from simnet.study.calibrate.cross_validation import cross_validate
from simnet.study.run.result import Result
from simnet.study.validate import document
from simnet.study.validate.document import Answer, Document
from simnet.study.validate.measurements import Measurement
from simnet.study.validate.residuals import keep, residuals
from simnet.study.work import cases, task
from simnet.study.work.cases import Case, Draw

SCENARIO = "x460-out-of-box"
# of the CPU time: by id, how much of it receives and how much sends
SHARES = {"a": (1.0, 0.0), "b": (1.0, 0.1), "c": (0.0, 1.0), "d": (0.4, 0.6), "e": (0.5, 0.5)}
TRUE_CYCLES = (3900, 4000)


def _rate(name: str, received: float, sent: float) -> float:
    one, other = SHARES[name]
    return float(1e12 / (received**one * sent**other))


_MEASURED = {
    name: Measurement(
        id=name, where="", use="predict" if name == "e" else "calibrate", unit="bit/s",
        value={"value": _rate(name, *TRUE_CYCLES)},
    )
    for name in SHARES
}  # fmt: skip


def _throughput(results: Any) -> dict[str, float]:
    return {"value": results["run"].throughput_bps}


@pytest.fixture
def made_up(monkeypatch: pytest.MonkeyPatch, measure: Callable[..., Result]) -> list[Effective]:
    """Five configurations; `e` may only score. The list says what was simulated."""
    asked: list[Effective] = []

    def simulate(effective: Effective, *, settings: dict[str, str]) -> Result:
        asked.append(effective)
        costs = effective.cpu.costs
        rate = _rate(settings["message"], costs.driver_rx_cycles, costs.tcp_tx_cycles)
        return measure(seed=effective.run.seed).model_copy(update={"throughput_bps": rate})

    def loaded(_case: Case) -> Effective:
        return original(Case(SCENARIO))

    original = cases._loaded
    monkeypatch.setattr(cases, "_loaded", loaded)
    monkeypatch.setattr(task, "simulate", simulate)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    answers = {
        name: Answer({"run": Case(SCENARIO, (("message", name),))}, _throughput) for name in SHARES
    }
    one = Document("made-up", answers, {"*": "throughput"})
    for module in (cross_validation, document):
        monkeypatch.setattr(module, "documents", lambda: (one,))
    monkeypatch.setattr(cross_validation, "measurements", lambda: _MEASURED)
    monkeypatch.setattr(cross_validation, "measurement", _MEASURED.__getitem__)
    monkeypatch.setattr(cross_validation, "residuals", tuple)
    return asked


def test_what_is_left_out_is_predicted_from_the_others(made_up: list[Effective]) -> None:
    found = cross_validate("made-up", seeds=(1,), jobs=1)
    errors = {row.id: row.left_out / row.measured - 1 for row in found.rows}
    assert max(map(abs, errors.values())) < 0.06
    for row in found.rows:
        start = made_up[0].cpu.costs
        now = _rate(row.id, start.driver_rx_cycles, start.tcp_tx_cycles)
        assert abs(row.fitted / row.measured - 1) < 0.5 * abs(now / row.measured - 1)
    # each beside the largest of the others: all but the largest of all
    assert found.coverage == 0.8
    # each number as predicted, and in short at the start and beside it, for each parameter
    assert len(made_up) == len(SHARES) * (1 + 1 + len(found.parameters))


@pytest.mark.usefixtures("made_up")
def test_a_number_that_only_scores_is_not_fitted_to(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {row.id: row.fitted for row in cross_validate("made-up", seeds=(1,), jobs=1).rows}
    known = dict(_MEASURED)
    known["e"] = known["e"].model_copy(update={"value": {"value": 1.0}})
    monkeypatch.setattr(cross_validation, "measurement", known.__getitem__)
    rows = cross_validate("made-up", seeds=(1,), jobs=1).rows
    assert {row.id: row.fitted for row in rows} == before
    assert rows[-1].fitted == rows[-1].left_out


@pytest.mark.usefixtures("made_up")
def test_a_configuration_that_is_left_out_has_no_say(monkeypatch: pytest.MonkeyPatch) -> None:
    before = cross_validate("made-up", seeds=(1,), jobs=1).rows[0]
    known = dict(_MEASURED)
    value = {"value": 1.2 * known["a"].value["value"]}
    known["a"] = known["a"].model_copy(update={"value": value})
    monkeypatch.setattr(cross_validation, "measurement", known.__getitem__)
    after = cross_validate("made-up", seeds=(1,), jobs=1).rows[0]
    assert (before.id, after.measured) == ("a", value["value"])
    assert after.left_out == before.left_out
    assert after.fitted > before.fitted


@pytest.mark.usefixtures("made_up")
def test_what_no_other_configuration_says_is_not_predicted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only `c` knows what sending costs where `b` does not send and `d` may not be fitted to."""
    monkeypatch.setitem(SHARES, "b", (1.0, 0.0))
    known = dict(_MEASURED)
    known["b"] = known["b"].model_copy(update={"value": {"value": _rate("b", *TRUE_CYCLES)}})
    known["d"] = known["d"].model_copy(update={"use": "predict"})
    monkeypatch.setattr(cross_validation, "measurement", known.__getitem__)
    rows = cross_validate("made-up", seeds=(1,), jobs=1).rows
    assert [row.id for row in rows] == ["a", "b", "d", "e"]


def test_few_configurations_are_not_fitted_again(
    monkeypatch: pytest.MonkeyPatch, made_up: list[Effective]
) -> None:
    use = {name: "calibrate" if name in "ab" else "predict" for name in SHARES}
    known = {name: one.model_copy(update={"use": use[name]}) for name, one in _MEASURED.items()}
    monkeypatch.setattr(cross_validation, "measurement", known.__getitem__)
    rows = cross_validate("made-up", jobs=1).rows
    start = made_up[0].cpu.costs
    assert [row.id for row in rows] == ["c", "d", "e"]
    for row in rows:
        now = _rate(row.id, start.driver_rx_cycles, start.tcp_tx_cycles)
        assert row.left_out == row.fitted == now
    assert len(made_up) == len(rows)


RECEIVING = "intel-xeon-7040.costs.driver_rx_cycles"


def _searching(found: Sequence[Draw]) -> Document:
    """A document that keeps two draws, and finds others when `a` is left out."""
    kept = [Draw(1, {RECEIVING: cycles}) for cycles in (3000, 5000)]
    case = Case(SCENARIO, (("message", "a"),))
    of = Answer({"run": case}, _throughput, ensemble=lambda: kept, hours=True)
    return Document(
        "made-up", {"a": of}, {"*": "throughput"}, searches={"a": lambda _jobs, _progress: found}
    )


@pytest.mark.usefixtures("made_up")
def test_draws_are_searched_for_without_what_chose_them(monkeypatch: pytest.MonkeyPatch) -> None:
    one = _searching([Draw(1, {RECEIVING: cycles}) for cycles in (2500, 4000)])
    for module in (cross_validation, document):
        monkeypatch.setattr(module, "documents", lambda: (one,))
    assert "made-up" not in cross_validation.cross_validated_documents()
    (row,) = cross_validate("made-up", jobs=1).rows
    assert row.fitted == pytest.approx((1e12 / 3000 + 1e12 / 5000) / 2)
    assert row.left_out == pytest.approx((1e12 / 2500 + 1e12 / 4000) / 2)
    assert (row.measured, row.looked_at) == (_MEASURED["a"].value["value"], True)


@pytest.mark.usefixtures("made_up")
@pytest.mark.parametrize(
    ("given", "line"),
    [({"confirm": True}, "confirm.*: nothing to confirm"), ({"seeds": (1,)}, "seeds.*: each of")],
)
def test_a_search_refuses_what_has_no_effect_on_it(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, Any], line: str
) -> None:
    one = _searching([Draw(1, {RECEIVING: 2500})])
    monkeypatch.setattr(cross_validation, "documents", lambda: (one,))
    with pytest.raises(InputError, match=line):
        cross_validate("made-up", jobs=1, **given)


@pytest.mark.usefixtures("made_up")
def test_where_no_draw_is_found_one_clear_line_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    one = _searching([])
    monkeypatch.setattr(cross_validation, "documents", lambda: (one,))
    with pytest.raises(InputError, match="a: no draw is consistent with the other measurements"):
        cross_validate("made-up", jobs=1)


@pytest.mark.usefixtures("made_up")
def test_confirming_simulates_what_was_left_out() -> None:
    linear = cross_validate("made-up", seeds=(1,), jobs=1).rows
    confirmed = cross_validate("made-up", seeds=(1,), confirm=True, jobs=1).rows
    for one, other in zip(linear, confirmed, strict=True):
        assert one.left_out != other.left_out
        assert math.log(one.left_out / other.left_out) == pytest.approx(0, abs=0.05)


@pytest.mark.usefixtures("made_up")
def test_residuals_are_kept_as_data(tmp_path: Path) -> None:
    found = cross_validate("made-up", seeds=(1,), jobs=1).residuals
    path = keep(found, tmp_path)
    assert path.name == "made-up.json"
    assert residuals(tmp_path) == found.rows
    path.write_text(
        path.read_text(encoding="utf-8").replace('"throughput"', '"thruput"', 1), "utf-8"
    )
    residuals.cache_clear()
    with pytest.raises(InputError, match=r"made-up\.json: rows\.0\.kind: .*throughput"):
        residuals(tmp_path)


@pytest.mark.usefixtures("made_up")
def test_a_name_that_is_no_document_s_is_one_clear_line() -> None:
    with pytest.raises(InputError, match=r"one of made-up; did you mean made-up\?"):
        cross_validate("madeup")
