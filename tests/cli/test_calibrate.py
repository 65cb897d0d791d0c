"""Calibration as a user asks for it; the fit itself is replaced by its result."""

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import simnet.study.calibrate.calibrate as study
import simnet.study.calibrate.cross_validation as cross
import simnet.study.calibrate.modelfile as files
import simnet.study.validate.residuals as kept
from simnet.report import progress
from simnet.scenario.core.load import load
from simnet.study.calibrate.calibrate import Calibration, Runs, Target
from simnet.study.calibrate.cross_validation import CrossValidation
from simnet.study.statistics.leastsquares import Direction, Estimate, Fit
from simnet.study.validate.residuals import Residual
from simnet.study.work.cases import Progress
from simnet.study.work.vary import ranged
from tests.cli.conftest import Simnet

SCENARIO = "x460-out-of-box"
NAME = "intel-xeon-7040.costs.driver_rx_cycles"
BEFORE = load(SCENARIO).provenance["host.cpu.costs.driver_rx_cycles"].value
ID = "x460.listing1.cpu_busy_percent"


def advance(progress: Progress | None) -> None:
    """Two of nine simulations are done."""
    assert progress is not None
    progress(1, 9)
    progress(2, 9)


def validated(name: str) -> CrossValidation:
    row = Residual(
        id="i", key="k", kind="ratio", configuration=name, measured=2, fitted=2, left_out=2.5
    )
    return CrossValidation(name, (), (row,))


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """Answer every fit with one parameter; the list says what was asked."""
    said: list[dict[str, Any]] = []
    base = {p.name: p for p in ranged(load(SCENARIO), ("assumed", "calibrated"))}

    def calibrate(
        against: tuple[str, ...], parameters: tuple[str, ...], *, runs: Runs, **options: Any
    ) -> Calibration:
        said.append({"against": against, "parameters": parameters, "runs": runs, **options})
        advance(runs.progress)
        value = 3000.0 + 100 * len(said)
        fit = Fit(
            (Estimate(NAME, value, 2900, 3300, identified=True),),
            (Direction(0.5, {NAME: 1.0}, identified=True),),
            1, np.array([0.01, -0.02]), 0.02, 3,
        )  # fmt: skip
        target = Target(ID, ("cpu0", "cpu8"), np.array([75.0, 71.0]), None)  # type: ignore[arg-type]
        return Calibration({NAME: base[NAME]}, (target,), fit, (), runs.messages)

    monkeypatch.setattr(study, "calibrate", calibrate)
    return said


def test_options_reach_the_fit(simnet: Simnet, asked: list[dict[str, Any]]) -> None:
    status, out, err = simnet(
        "calibrate", SCENARIO, "--against", f"{ID}:cpu0", "--against", ID, "--parameter", NAME,
        "--message", "64 B", "--seeds", "2", "--duration", "1 s", "--warm-up", "2 s", "--profiles",
    )  # fmt: skip
    assert (status, err) == (0, "")
    (one,) = asked
    assert (one["against"], one["parameters"]) == ((f"{ID}:cpu0", ID), (NAME,))
    assert (one["scenario"], one["profiles"]) == (SCENARIO, True)
    runs = one["runs"]
    assert (runs.duration, runs.warm_up, runs.seeds, runs.messages) == (
        "1 s", "2 s", (1, 2), ("64 B",),
    )  # fmt: skip
    assert "# means over 64 B, plus what they lacked" in out
    assert re.search(rf"^costs\.driver_rx_cycles +{BEFORE} +3100 ", out, re.MULTILINE)


def test_time_to_go_is_that_of_one_batch(
    simnet: Simnet, asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "SURE_S", 0)
    monkeypatch.setattr(progress, "LONG_S", 0)

    def cross_validate(name: str, *, progress: Progress, **_: object) -> CrossValidation:
        advance(progress)
        return validated(name)

    monkeypatch.setattr(cross, "cross_validate", cross_validate)
    some = ("--against", ID, "--parameter", NAME)
    for work, arguments in {
        "stage A": (SCENARIO, "--stage", "A"),
        "simulating": (SCENARIO, *some),
        "x460": ("x460", "--cross-validate"),
    }.items():
        status, _, err = simnet("calibrate", *arguments)
        line = f"simnet: {work}, one of several batches of simulations: about .* to go\n"
        assert (status, bool(re.fullmatch(line, err))) == (0, True), err
    assert len(asked) == 2


def test_json_holds_parameters_and_numbers(simnet: Simnet, asked: list[dict[str, Any]]) -> None:
    status, out, _ = simnet("calibrate", SCENARIO, "--stage", "A", "--json")
    document = json.loads(out)
    assert (status, document["schema"], len(asked)) == (0, "simnet.calibration/1", 1)
    (fit,) = document["fits"]
    assert fit["stage"] == "A"
    assert fit["parameters"] == [
        {
            "name": NAME,
            "value": 3100,
            "low": 2900,
            "high": 3300,
            "identified": True,
            "before": BEFORE,
        }
    ]
    assert fit["numbers"][0] == {
        "id": ID, "key": "cpu0", "measured": 75.0, "predicted": pytest.approx(75.73),
    }  # fmt: skip


def test_stages_stand_side_by_side(simnet: Simnet, asked: list[dict[str, Any]]) -> None:
    status, out, _ = simnet("calibrate", SCENARIO, "--stage", "A", "--stage", "B")
    assert (status, len(asked)) == (0, 2)
    last = out[out.rindex("parameter of ") :]
    assert "3100 (2900 to 3300)  3200 (2900 to 3300)" in last
    assert set(asked[0]["against"]) < set(asked[1]["against"])


@pytest.mark.usefixtures("asked")
def test_what_is_written_is_said(simnet: Simnet, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[Calibration] = []

    def write(found: Calibration, *_: object) -> list[files.Written]:
        written.append(found)
        return [files.Written(NAME, Path("cpu.toml"), "2600 cycles", "3100 cycles")]

    monkeypatch.setattr(files, "write_fitted", write)
    status, _, err = simnet("calibrate", SCENARIO, "--stage", "A", "--write")
    assert (status, len(written)) == (0, 1)
    assert err == f"simnet: cpu.toml: {NAME}: 2600 cycles -> 3100 cycles\n"


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        ([], "--stage: expected either --stage, or --against and --parameter"),
        (["--against", ID], "--parameter: expected at least one"),
        (["--parameter", NAME], "--against: expected at least one"),
        (["--stage", "A", "--parameter", NAME],
         "--stage: expected either --stage, or --against and --parameter"),
        (["--stage", "AA"], "--stage: AA: expected one of A, B, all"),
        (["--stage", "A", "--stage", "B", "--write"], "--write: expected one stage, not several"),
        (["--against", "x460.listing1.cpu_busy", "--parameter", NAME],
         ("x460.listing1.cpu_busy: expected the id of a measurement; did you mean"
         " x460.listing1.cpu_busy_percent?")),
        (["--against", "x460.bonding", "--parameter", NAME],
         "x460.bonding: expected a measurement: this can only be predicted"),
        (["--against", f"{ID}:cpu77", "--parameter", NAME],
         f"cpu77: expected a key of {ID}; did you mean cpu7?"),
        (["--against", ID, "--parameter", NAME.replace("rx", "rs")],
         f"{NAME.replace('rx', 'rs')}: expected a parameter; did you mean {NAME}?"),
        (["--against", f"{ID}:cpu0", "--parameter", NAME,
          "--parameter", "cpu.costs.tcp_rx_cycles"],
         "--parameter: 2 parameters for 1 measured numbers: at most as many as numbers"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(simnet: Simnet, arguments: list[str], line: str) -> None:
    assert simnet("calibrate", SCENARIO, *arguments) == (2, "", f"simnet: {line}\n")


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["x461", "--cross-validate"],
         r"x461: expected the name of a document: one of .*; did you mean x460\?"),
        (["x460", "--cross-validate", "--stage", "A"], r"--stage: --cross-validate fits what .*"),
        (["x460", "--cross-validate", "--message", "1"], r"--message: --cross-validate fits .*"),
        ([SCENARIO, "--stage", "A", "--keep"], r"--keep: only with --cross-validate"),
        ([], r"SCENARIO: expected the name or the file of one"),
    ],
)  # fmt: skip
def test_what_cannot_be_cross_validated_is_one_clear_line(
    simnet: Simnet, arguments: list[str], line: str
) -> None:
    status, out, err = simnet("calibrate", *arguments)
    assert (status, out) == (2, "")
    assert re.fullmatch(rf"simnet: {line}\n", err)


def test_every_document_is_cross_validated_and_kept(
    simnet: Simnet, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def cross_validate(name: str, **_: object) -> CrossValidation:
        return validated(name)

    monkeypatch.setattr(cross, "cross_validate", cross_validate)
    monkeypatch.setattr(cross, "residuals", tuple)
    monkeypatch.setattr(kept, "folder", lambda _name: tmp_path)
    (tmp_path / "residuals").mkdir()
    status, out, err = simnet("calibrate", "--cross-validate", "--keep")
    names = list(cross.cross_validated_documents())
    assert (status, len(err.splitlines())) == (0, len(names))
    assert sorted(file.stem for file in (tmp_path / "residuals").iterdir()) == names
    assert out.splitlines()[-1].split() == ["all", str(len(names)), "25.0%", "0%"]
    document = json.loads(simnet("calibrate", "x460", "--cross-validate", "--json").out)
    assert document["documents"][0]["rows"][0]["left_out"] == 2.5


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (["host"], "host/measured: expected a folder with captures: No such file or directory"),
        (["host", "--profiles"], "--profiles: expected --against or --stage with it"),
        (["host", "--error", "0"], "calibrate: invalid value for '--error'"),
        ([SCENARIO, "--stage", "A", "--plan"], "--plan: only of a host"),
        (["nowhere.toml", "--plan"], "nowhere.toml: cannot be read: No such file or directory"),
    ],
)
def test_bad_input_about_a_host_is_one_line(
    simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], line: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "host").mkdir()
    (tmp_path / "host" / "scenario.toml").write_text("kind = 'scenario'\n", "utf-8")
    status, out, err = simnet("calibrate", *arguments)
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert line in err


def test_a_folder_without_a_scenario_is_no_host(simnet: Simnet, tmp_path: Path) -> None:
    said = f"simnet: {tmp_path}: expected scenario.toml in it, as simnet import writes\n"
    assert simnet("calibrate", str(tmp_path)) == (2, "", said)
    assert list(tmp_path.iterdir()) == []
