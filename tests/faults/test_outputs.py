"""Every command that writes a file: whatever fails, the old file stays, or the new one is whole."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Simnet
from tests.faults.conftest import FailingOs

SCENARIO = "x460-out-of-box"
SHORT = (SCENARIO, "--set", "nodes=1", "--warm-up", "15 ms", "--duration", "1 ms")
SWEEP = ("sweep", *SHORT, "--over", "seed=1,2", "--jobs", "1", "--out")
OUTPUTS = {
    "a.json": ("run", *SHORT, "--trace"),
    "a.json.gz": ("run", *SHORT, "--trace"),
    "a.png": ("explain", *SHORT, "--out"),
    "b.csv": SWEEP,
    "b.json": SWEEP,
    "b.parquet": SWEEP,
    "b.svg": SWEEP,
}
OLD = b"old"


@pytest.fixture(autouse=True)
def kept(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results of sweeps are kept: their files are what fails here."""
    monkeypatch.setenv("SIMNET_CACHE_DIR", str(tmp_path_factory.getbasetemp() / "kept"))


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=[pytest.mark.nightly] if name == "a.png" else [])
        for name in OUTPUTS
    ],
)
def test_each_call_of_the_system_fails_once(
    simnet: Simnet, failing_os: FailingOs, tmp_path: Path, name: str
) -> None:
    target = tmp_path / name
    assert simnet(*OUTPUTS[name], str(target)).status == 0
    with failing_os.failing(None):
        assert simnet(*OUTPUTS[name], str(target)).status == 0
    whole = target.read_bytes()
    calls = list(failing_os.calls)
    # of many writes the first and the last
    numbers = [n for n, call in enumerate(calls) if call not in calls[n + 1 : n + 9]]
    failed = set()
    for number in dict.fromkeys((*range(6), calls.index("write"), *numbers)):
        target.write_bytes(OLD)
        with failing_os.failing(number):
            status, out, err = simnet(*OUTPUTS[name], str(target))
        assert [path.name for path in tmp_path.iterdir()] == [name]
        if status == 2:
            assert (out, err.count("\n")) == ("", 1)
            assert err.endswith("cannot be read: Input/output error\n")
            assert calls[number] in {"open", "read"}
        elif status:
            said = f"simnet: {target}: cannot be written: Input/output error"
            assert (status, out, err.splitlines()[-1:]) == (74, "", [said])
            failed.add(calls[number])
        if status:
            assert target.read_bytes() == OLD
        elif not name.endswith("svg"):  # which has ids that chance draws
            assert target.read_bytes() == whole
    assert failed == {"open", "write", "fsync", "replace"}


@pytest.mark.parametrize("name", OUTPUTS)
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_full_disk_has_a_status_of_its_own(simnet: Simnet, tmp_path: Path, name: str) -> None:
    target = tmp_path / name
    target.symlink_to("/dev/full")
    status, out, err = simnet(*OUTPUTS[name], str(target))
    said = f"simnet: {target}: cannot be written: No space left on device"
    assert (status, out, err.splitlines()[-1:]) == (74, "", [said])
    assert target.is_symlink()
    assert Path("/dev/full").is_char_device()


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_place_that_cannot_be_is_found_before_anything_is_simulated(
    simnet: Simnet, tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def never(*_arguments: object, **_options: object) -> None:
        raise AssertionError

    monkeypatch.setattr("simnet.scenario.system.system.System.run", never)
    (tmp_path / name).mkdir()
    for target in (tmp_path / "gone" / name, tmp_path / name):
        status, out, err = simnet(*OUTPUTS[name], str(target))
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert str(tmp_path) in err


@pytest.fixture
def full_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder on a file system without a free page, but for the names of files."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=64k", "none", disk], capture_output=True, check=False
    )
    if mounted.returncode:
        pytest.skip("may not mount a file system")
    yield disk
    subprocess.run(["umount", disk], check=True)


@pytest.mark.parametrize("name", OUTPUTS)
def test_a_disk_that_is_full_keeps_the_old_file(simnet: Simnet, full_disk: Path, name: str) -> None:
    target = full_disk / name
    target.write_bytes(OLD)
    with (full_disk / "rest").open("wb", 0) as rest:
        free = os.statvfs(full_disk).f_bavail
        assert rest.write(bytes(4096 * free)) == 4096 * free
    status, out, err = simnet(*OUTPUTS[name], str(target))
    said = f"simnet: {target}: cannot be written: No space left on device"
    assert (status, out, err.splitlines()[-1:]) == (74, "", [said])
    assert sorted(path.name for path in full_disk.iterdir()) == sorted(["rest", name])
    assert target.read_bytes() == OLD


def test_a_run_that_is_killed_while_it_writes_loses_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(OLD)
    part = tmp_path / ".a.json.part"
    command = (sys.executable, "-c", "from simnet.cli import main; main()", "run", SCENARIO)
    times = ("--warm-up", "0 s", "--duration")
    with subprocess.Popen([*command, *times, "100 s", "--trace", target]) as run:
        while not (part.exists() and part.stat().st_size):
            assert run.poll() is None
            time.sleep(0.01)
        run.kill()
    assert target.read_bytes() == OLD
    assert part.exists()
    arguments = ("--set", "nodes=1", *times, "1 ms", "--trace", target)
    assert subprocess.run([*command, *arguments], check=False, capture_output=True).returncode == 0
    assert [path.name for path in tmp_path.iterdir()] == [target.name]
    assert json.loads(target.read_text("utf-8"))["traceEvents"]
