"""Fitted values in models' files: what is written, what stays, what is refused."""

import errno
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simnet import _share
from simnet.errors import InputError, OutputError
from simnet.scenario.core.load import load
from simnet.scenario.scenarios import find_scenario
from simnet.study.calibrate.calibrate import Calibration, Target
from simnet.study.calibrate.modelfile import write_fitted
from simnet.study.statistics.leastsquares import Estimate, Fit
from simnet.study.work.vary import ranged

DRIVER_RX = "intel-xeon-7040.costs.driver_rx_cycles"
LATENCY = "intel-xeon-7040.memory.remote_latency_ps"
KERNEL = "linux-2.6.16-sles10"
COPY_OVERLAP = "intel-xeon-7040.copy_overlap"


@pytest.fixture
def models(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the models' folder, in which models are found."""
    shutil.copytree(_share.folder("models"), tmp_path / "models")
    real = _share.folder

    def folder(name: Any) -> Path:
        return tmp_path / "models" if name == "models" else real(name)

    monkeypatch.setattr(_share, "folder", folder)
    return tmp_path / "models"


def fitted(*estimates: Estimate) -> Calibration:
    base = {p.name: p for p in ranged(load("x460-out-of-box"), ("assumed", "calibrated"))}
    fit = Fit(estimates, (), 1, np.zeros(1), 0.01, 3)
    targets = (Target("x460.table1.netserver", ("cpu_1to2",), np.ones(1), None),)  # type: ignore[arg-type]
    return Calibration({e.name: base[e.name] for e in estimates}, targets, fit, ())


def test_values_are_written_with_state_and_source_and_the_rest_stays(models: Path) -> None:
    file = models / "cpus" / "intel-xeon-7040.toml"
    before = file.read_text(encoding="utf-8").splitlines()
    found = fitted(
        Estimate(DRIVER_RX, 3123.7, 2800.4, 3401.9, identified=True),
        Estimate(LATENCY, 371_234.0, 350_000.0, 390_000.0, identified=True),
        Estimate(COPY_OVERLAP, 2.6, 2.0, 3.0, identified=True),
    )
    changes = write_fitted(found, load("x460-out-of-box"))
    after = file.read_text(encoding="utf-8").splitlines()
    changed = [(old, new) for old, new in zip(before, after, strict=True) if old != new]
    assert len(changed) == 3
    assert [change.after for change in changes] == ["3120 cycles", "371 ns", "3"]
    provenance = load("x460-out-of-box").provenance
    value = provenance["host.cpu.costs.driver_rx_cycles"]
    assert (value.value, value.low, value.high, value.state) == (3120, 2400, 6600, "calibrated")
    assert value.source.startswith("x460.table1.netserver, 20")
    assert "; 95 %: 2800 cycles to 3400 cycles; range: " in value.source
    assert provenance["host.cpu.memory.remote_latency_ps"].value == 371_000
    assert provenance["host.cpu.copy_overlap"].value == 3


def test_writing_again_keeps_the_reason_of_the_range(models: Path) -> None:
    found = fitted(Estimate(DRIVER_RX, 3000, 2900, 3100, identified=True))
    for _ in range(2):
        write_fitted(found, load("x460-out-of-box"))
    source = load("x460-out-of-box").provenance["host.cpu.costs.driver_rx_cycles"].source
    assert source.count("; range: ") == 1
    assert source.endswith("above a quarter of all")
    assert [path.name for path in (models / "cpus").glob(".*")] == []


def test_what_the_data_do_not_fix_is_not_written(models: Path) -> None:
    file = models / "cpus" / "intel-xeon-7040.toml"
    before = file.read_bytes()
    found = fitted(
        Estimate(DRIVER_RX, 3000, 2900, 3100, identified=True),
        Estimate(LATENCY, 380_000, 250_000, 450_000, identified=False),
    )
    with pytest.raises(InputError, match=f"^{LATENCY}: nothing is written"):
        write_fitted(found, load("x460-out-of-box"))
    assert file.read_bytes() == before


def test_a_folder_that_cannot_be_written_to_is_one_line(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_arguments: object) -> int:
        raise PermissionError(13, "Permission denied")

    assert models.is_dir()
    monkeypatch.setattr("simnet.files._locked_part", refuse)
    found = fitted(Estimate(DRIVER_RX, 3000, 2900, 3100, identified=True))
    with pytest.raises(InputError, match=r"7040\.toml: cannot be written: Permission denied"):
        write_fitted(found, load("x460-out-of-box"))


def test_of_two_models_neither_changes_when_one_does_not_fit_on_the_disk(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = [models / "cpus" / "intel-xeon-7040.toml", models / "kernels" / f"{KERNEL}.toml"]
    before = [file.read_bytes() for file in files]
    found = fitted(
        Estimate(DRIVER_RX, 3000, 2900, 3100, identified=True),
        Estimate(f"{KERNEL}.netdev_lines", 5, 4, 6, identified=True),
    )
    for full in (1, 2):
        fits = [None] * (full - 1)

        def fsync(_descriptor: int, fits: list[None] = fits) -> None:
            if not fits:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
            fits.pop()

        with monkeypatch.context() as patch:
            patch.setattr("simnet.files.os.fsync", fsync)
            with pytest.raises(OutputError, match="cannot be written: No space left on device"):
                write_fitted(found, load("x460-out-of-box"))
        assert [file.read_bytes() for file in files] == before
        assert list(models.rglob(".*")) == []
    write_fitted(found, load("x460-out-of-box"))
    assert all(file.read_bytes() != old for file, old in zip(files, before, strict=True))


def test_what_the_scenario_sets_is_written_there(tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.toml"
    text = find_scenario("memcached-100g").read_text("utf-8").partition("\n")[2]
    scenario.write_text(text, "utf-8")
    name = "memcached.client_wake_ps"
    (base,) = (one for one in ranged(load(str(scenario)), ("calibrated",)) if one.name == name)
    fit = Fit((Estimate(name, 11.3e6, 5e6, 34e6, identified=True),), (), 1, np.zeros(1), 0.01, 3)
    targets = (Target("mine", ("latency_us.p50",), np.ones(1), None),)  # type: ignore[arg-type]
    (change,) = write_fitted(
        Calibration({name: base}, targets, fit, ()), load(str(scenario)), str(scenario)
    )
    assert (change.file, change.after) == (scenario, "11.3 us")
    after = scenario.read_text("utf-8").splitlines()
    changed = [new for old, new in zip(text.splitlines(), after, strict=True) if old != new]
    assert len(changed) == 1
    assert changed[0].startswith('client_wake = {value = "11.3 us", low = "5 us", high = "80 us"')
    assert load(str(scenario)).provenance[name].state == "calibrated"
