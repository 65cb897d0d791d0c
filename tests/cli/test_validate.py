from __future__ import annotations

import json
from typing import Any

import pytest

import simnet.study.validate as study
from simnet.study.listing import Gate
from simnet.study.validate import Row, Validation
from tests.cli.conftest import Simnet

ROW = Row(
    id="x460.listing1.cpu_busy_percent",
    key="cpu0",
    predicted=70.0,
    low=65.0,
    high=78.0,
    measured=74.68,
    use="calibrate",
)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Answer with one row and one condition; return what was asked and set what is met."""
    said: dict[str, Any] = {"met": True}

    def answer(ids: tuple[str, ...], **options: Any) -> Validation:
        said.update(ids=ids, options={k: v for k, v in options.items() if k != "progress"})
        return Validation((ROW,), (Gate(said["met"], "busy within 8 %"),), {})

    monkeypatch.setattr(study, "validate", answer)
    return said


def test_rows_and_conditions_are_printed(simnet: Simnet, asked: dict[str, Any]) -> None:
    status, out, err = simnet("validate", ROW.id, "--members", "4", "--duration", "1 s")
    assert (status, err) == (0, "")
    assert asked["ids"] == (ROW.id,)
    assert asked["options"] == {"members": 4, "duration": "1 s"}
    assert "cpu0" in out
    assert "74.68" in out
    assert "busy within 8 %" in out


def test_json_is_the_list_of_rows(simnet: Simnet, asked: dict[str, Any]) -> None:
    status, out, err = simnet("validate", "--json")
    assert (status, err) == (0, "")
    assert asked["ids"] == ()
    assert json.loads(out) == [ROW.model_dump(mode="json")]


@pytest.mark.parametrize("as_json", [[], ["--json"]])
def test_a_missed_condition_is_exit_status_1(
    simnet: Simnet, asked: dict[str, Any], as_json: list[str]
) -> None:
    asked["met"] = False
    status, out, _ = simnet("validate", *as_json)
    assert status == 1
    assert out
