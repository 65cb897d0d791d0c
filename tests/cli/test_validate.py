import json
import re
from pathlib import Path
from typing import Any

import pytest

import simnet.study.validate.validate as study
from simnet.study.calibrate.listing import Gate
from simnet.study.validate import predictions
from simnet.study.validate.validate import Row, Validation
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
    assert status == 0
    assert re.search(r"\d+ ids are simulated only when named, such as \w+\.\S+: they take", err)
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


@pytest.fixture
def records(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder for frozen predictions."""
    (tmp_path / "predictions").mkdir()
    monkeypatch.setattr(predictions, "folder", lambda _name: tmp_path)
    return tmp_path / "predictions"


def test_predictions_are_frozen_and_stand_beside_later_ones(
    simnet: Simnet, asked: dict[str, Any], records: Path
) -> None:
    freeze = ("--freeze", "early", "--stage", "before any fit")
    status, out, err = simnet("validate", ROW.id, *freeze)
    assert status == 0
    (file,) = records.glob("*-early.json")
    assert err == f"simnet: frozen: {file}\n"
    record = json.loads(file.read_text(encoding="utf-8"))
    assert record["stage"] == "before any fit"
    assert record["rows"] == [
        {"id": ROW.id, "key": "cpu0", "predicted": 70.0, "low": 65.0, "high": 78.0}
    ]
    assert f"# frozen: {file.name}" in out
    later = simnet("validate", ROW.id).out.splitlines()
    assert later[0].split()[-3:] == ["frozen", "low", "high"]
    assert later[1].split()[-3:] == ["70.00", "65.00", "78.00"]
    asked.clear()
    again = simnet("validate", ROW.id, *freeze)
    assert (again.status, again.out) == (2, "")
    assert "a frozen prediction is never overwritten" in again.err
    assert not asked  # nothing was simulated for it


@pytest.mark.parametrize("name", ["../evil", "a/b", "", ".", "a.json", "a b", "a\n", "x" * 99])
def test_a_record_is_named_before_anything_is_simulated(
    simnet: Simnet, asked: dict[str, Any], records: Path, name: str
) -> None:
    before = dict(asked)
    line = f"simnet: --freeze: expected a name of letters, digits, - and _, got {name!r}\n"
    assert simnet("validate", f"--freeze={name}", "--stage", "b") == (2, "", line)
    assert asked == before
    assert not list(records.parent.rglob("*.json"))


@pytest.mark.usefixtures("asked")
@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["--freeze", "a"], "--freeze: --freeze NAME and --stage TEXT go together"),
        (["--stage", "a"], "--freeze: --freeze NAME and --stage TEXT go together"),
        (["--freeze", "a", "--stage", "b", "--members", "0"],
         "--freeze: a frozen prediction has an interval: not with --members 0"),
    ],
)  # fmt: skip
def test_a_record_that_would_be_worthless_is_refused(
    simnet: Simnet, arguments: list[str], line: str
) -> None:
    assert simnet("validate", *arguments) == (2, "", f"simnet: {line}\n")


def test_frozen_predictions_are_scored_without_simulating(
    simnet: Simnet, asked: dict[str, Any], tmp_path: Path
) -> None:
    drawing = tmp_path / "record.svg"
    status, out, err = simnet("validate", "--frozen", "relay.*", "--out", str(drawing))
    assert (status, err) == (0, "")
    assert "ids" not in asked
    assert out.splitlines()[-1].split() == ["all", "5", "15.9%", "20%"]
    assert drawing.read_text(encoding="utf-8").startswith("<?xml")


def test_changes_are_scored_without_simulating(simnet: Simnet, tmp_path: Path) -> None:
    drawing = tmp_path / "changes.svg"
    status, out, err = simnet("validate", "--changes", "x460", "--out", str(drawing))
    assert (status, err) == (0, "")
    assert out.splitlines()[1].split()[:2] == ["x460", "36"]
    assert "measured: after / before" in drawing.read_text("utf-8")
    status, out, _ = simnet("validate", "--changes", "x460", "--json")
    rows = json.loads(out)
    assert (status, len(rows)) == (0, 36)
    assert {row["outcome"] for row in rows} <= {"right", "abstained", "wrong"}


def test_settings_are_listed_with_what_never_was_compared(simnet: Simnet, tmp_path: Path) -> None:
    status, out, err = simnet("validate", "--changes", "--by", "knob")
    assert (status, err) == (0, "")
    assert out.splitlines()[1].split()[:3] == ["memcached.qps", "100", "100"]
    assert "kvm (0 numbers): virsh vcpupin, " in out
    kept = tmp_path / "knobs.json"
    status, out, _ = simnet("validate", "--changes", "--by", "knob", "--json", "--out", str(kept))
    found = json.loads(out)
    assert (status, json.loads(kept.read_text("utf-8"))) == (0, found)
    assert found["settings"][0].keys() == {"setting", "changes", "alone", "usual", "worst"}
    assert "rx-usecs" in str(next(row for row in found["parts"] if row["part"] == "nic"))
    by_system = simnet("validate", "--changes", "x460", "--by", "system").out
    assert by_system == simnet("validate", "--changes", "x460").out


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--frozen", "--members", "3"], "--members: --frozen simulates nothing"),
        (["--frozen", "--freeze", "x", "--stage", "y"], "--freeze: --frozen simulates nothing"),
        (["--changes", "--members", "3"], "--members: --changes simulates nothing"),
        (["--frozen", "--changes"], "--changes: --frozen simulates nothing"),
        (["--changes", "x461"], "x461: no change of it was measured; did you mean x460?"),
        (["--changes", "udp"], "udp: no change of it was measured: expected one of ess, ipoib, "),
        (["--by", "knob"], "--by: expected with --changes"),
        (["--changes", "--by", "knob", "x460"], "x460: expected no ID: --by knob counts the"),
        (["--changes", "--by", "knob", "--out", "x.svg"], "--out: not drawn with --by knob: "),
        (["--out", "x.png"], "--out: drawn only with --frozen or --changes"),
        (["--frozen", "--out", "x.txt"], "--out: x.txt"),
    ],
)
def test_what_does_not_go_with_frozen_is_refused(
    simnet: Simnet, options: list[str], expected: str
) -> None:
    status, out, err = simnet("validate", *options)
    assert (status, out) == (2, "")
    assert expected in err
