"""Every command that writes a file: whatever fails, the old file stays, or the new one is whole."""

from __future__ import annotations

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


@pytest.mark.parametrize("name", OUTPUTS)
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
    for number in dict.fromkeys((calls.index("open"), calls.index("write"), *numbers)):
        target.write_bytes(OLD)
        with failing_os.failing(number):
            status, out, err = simnet(*OUTPUTS[name], str(target))
        assert [path.name for path in tmp_path.iterdir()] == [name]
        if status:
            said = f"simnet: {target}: cannot be written: Input/output error"
            assert (status, out, err.splitlines()[-1:]) == (74, "", [said])
            assert target.read_bytes() == OLD
            failed.add(calls[number])
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

    monkeypatch.setattr("simnet.scenario.system.System.run", never)
    (tmp_path / name).mkdir()
    for target in (tmp_path / "gone" / name, tmp_path / name):
        status, out, err = simnet(*OUTPUTS[name], str(target))
        assert (status, out, err.count("\n")) == (2, "", 1)
        assert str(tmp_path) in err
