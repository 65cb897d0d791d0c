"""An import that fails or is killed leaves nothing that stops the next one."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

import simnet as api
from simnet.errors import SimnetError
from simnet.folders import scratch_folder, write_folder
from simnet.importing.writing import tuning
from tests.cli.conftest import Simnet
from tests.cli.test_import import HOST
from tests.faults.conftest import FailingOs
from tests.importing.trees import folder

_FILL = """
import os, signal, sys
from pathlib import Path
from simnet import folders
kept = folders.scratch_folder(Path(sys.argv[1]), "simnet-import-")
kept.__enter__()
folders._move = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
folders.write_folder(Path(sys.argv[1]) / "imp", {"models/a": "a", "b": "b"})
"""


def _names(root: Path) -> list[str]:
    return sorted(str(path.relative_to(root)) for path in root.rglob("*"))


@pytest.mark.parametrize("before", ["gone", "empty"])
def test_each_call_of_the_system_fails_once(
    failing_os: FailingOs, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, before: str
) -> None:
    for name in ("rename", "mkdir"):
        monkeypatch.setattr(Path, name, failing_os.counted(name, getattr(Path, name)))
    texts = {"models/a.toml": "a", "scenario.toml": "b"}
    target = tmp_path / ("out" if before == "empty" else "above/out")
    failed: set[str] = set()
    number = 0
    while True:
        if before == "empty":
            os.mkdir(target)  # noqa: PTH102 (Path.mkdir is what fails)
        there = _names(tmp_path)
        with failing_os.failing(number):
            try:
                write_folder(target, texts)
            except SimnetError as error:
                assert str(error).startswith(f"{target}")  # noqa: PT017 (some calls may fail)
                failed.add(failing_os.calls[number])
        if number >= len(failing_os.calls):
            break
        if failed:
            assert _names(tmp_path) == there
        for path in sorted(tmp_path.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() else path.unlink()
        number += 1
    assert failed >= {"open", "write", "fsync", "rename", "mkdir", "replace"}
    assert {name: (target / name).read_text() for name in texts} == texts


def test_what_a_killed_process_left_goes_with_the_next(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", _FILL, tmp_path], check=False)
    assert done.returncode == -signal.SIGKILL
    left = _names(tmp_path)
    assert any(name.startswith("simnet-import-") for name in left)
    assert any(name.startswith(".simnet-") for name in left)
    with scratch_folder(tmp_path, "simnet-import-") as used:
        write_folder(tmp_path / "imp", {"b": "b"})
        with scratch_folder(tmp_path, "simnet-import-"):
            assert used.is_dir()
    assert _names(tmp_path) == ["imp", "imp/b"]


def test_an_import_that_is_terminated_leaves_nothing(
    simnet: Simnet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    folder(tmp_path / "host", HOST)
    monkeypatch.setattr(tuning, "load", lambda _: os.kill(os.getpid(), signal.SIGTERM))
    arguments = ("import", str(tmp_path / "host"), "--out", str(tmp_path / "out"))
    assert simnet(*arguments) == (143, "", "simnet: terminated\n")
    assert [path.name for path in tmp_path.iterdir()] == ["host"]
    assert signal.getsignal(signal.SIGTERM) == signal.SIG_DFL


def test_a_full_disk_does_not_stop_the_next_import(failing_os: FailingOs, tmp_path: Path) -> None:
    found = api.import_host(folder(tmp_path / "host", HOST))
    with failing_os.failing(9), pytest.raises(SimnetError, match=r"imp/.*cannot be written"):
        found.write(tmp_path / "imp")
    found.write(tmp_path / "imp")
    assert {"IMPORT.md", "models", "scenario.toml"} == {
        path.name for path in (tmp_path / "imp").iterdir()
    }


def test_a_scratch_folder_that_another_import_removes_at_once_is_made_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    make = tempfile.mkdtemp
    made: list[str] = []

    def raced(**where: str) -> str:
        made.append(make(**where))
        if len(made) == 1:
            Path(made[0]).rmdir()
        return made[-1]

    monkeypatch.setattr(tempfile, "mkdtemp", raced)
    with scratch_folder(tmp_path, "simnet-import-") as scratch:
        assert [str(scratch)] == made[1:]
