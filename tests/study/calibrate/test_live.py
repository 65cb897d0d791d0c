"""A veth pair of this machine, measured, calibrated to and compared, where the kernel allows it."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import simnet
from simnet.importing.source import read_live
from simnet.importing.writing.folder_out import imported
from simnet.study.calibrate.calibrate import Runs
from simnet.study.calibrate.conditions import conditions, targets_of
from simnet.study.calibrate.host import calibrate_host, write

ROOT = Path(__file__).parents[3]


@pytest.mark.nightly
def test_this_machine_is_measured_calibrated_and_compared(tmp_path: Path) -> None:
    if os.geteuid() != 0 or shutil.which("ip") is None:
        pytest.skip("network namespaces need root and ip")
    host = tmp_path / "host"
    imported(read_live(), "stream").write(host)
    command = [sys.executable, "-m", "validation.live.veth", "--seconds", "0.3"]
    run = subprocess.run(
        [*command, "--out", str(host / "measured")],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    if run.returncode != 0:
        pytest.skip(run.stderr.strip().splitlines()[-1])
    found = conditions(host / "scenario.toml")
    assert [one.name for one in found] == ["receive", "requests"]
    assert {key for one in targets_of(found) for key in one.keys} >= {
        "throughput_bps", "transactions_per_s", "cpu.all.softirq",
    }  # fmt: skip
    shutil.move(host / "measured" / "receive", tmp_path / "kept-aside")
    fit = calibrate_host(host, runs=Runs("3 ms", "2 ms", (1,), jobs=1), members=8)
    changes, _ = write(fit)
    assert {one.file.parent for one in changes} <= {host, host / "models"}
    scenario = host / "scenario.toml"
    result = simnet.run(scenario, duration="3 ms", warm_up="2 ms")
    capture = tmp_path / "kept-aside" / "measured.toml"
    compared = simnet.compare(result, capture, scenario=scenario, members=2, jobs=1)
    assert compared.members == 3
    assert compared.exit_status in {0, 1}
    assert json.loads(compared.to_json())["rows"]
