"""Every step of keeping a result fails once, or is the last: nothing is lost or half there."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

from simnet import files
from simnet.study.run.result import Result
from simnet.study.work.cases import Case, Member, simulate_all
from simnet.study.work.store import Store
from tests.faults.conftest import FailingOs

CASE = Case("x460-out-of-box", (("nodes", "1"),))
MEMBERS = [Member(CASE, seed, duration="1 ms", warm_up="0 s") for seed in (1, 2)]
MOST_TRIES = 100
# ends itself before the call of the system that has this number
PUT_AND_DIE = """
import os, signal, sys
from pathlib import Path
from simnet.study.run.result import Result
from simnet.study.work.store import Store
calls = 0
def look(event, arguments):
    global calls
    if event in {"open", "os.rename", "os.mkdir", "os.remove"} and calls is not None:
        calls += 1
        if calls == int(sys.argv[1]):
            os.kill(os.getpid(), signal.SIGKILL)
result = Result.from_json(Path(sys.argv[2]).read_text())
store = Store(Path(sys.argv[3]))
store.get("key")
sys.addaudithook(look)
store.put("key", result)
calls = None
"""


def test_each_call_of_the_system_fails_once(
    tmp_path: Path, failing_os: FailingOs, result: Result
) -> None:
    store = Store(tmp_path)
    with failing_os.failing(None):
        store.put("key", result)
    failed = set()
    for number, call in enumerate(list(failing_os.calls)):
        (tmp_path / "key.json.gz").unlink(missing_ok=True)
        with failing_os.failing(number):
            store.put("key", result)
        assert store.get("key") in (None, result)
        assert list(tmp_path.glob("*.part")) == []
        failed.add(call)
    assert failed == {"open", "write", "replace"}


def test_a_process_killed_at_any_step_leaves_the_old_or_the_new(
    tmp_path: Path, result: Result
) -> None:
    given, kept = tmp_path / "result.json", tmp_path / "kept"
    given.write_text(result.to_json(), encoding="utf-8")
    store = Store(kept)
    left = 0
    for step in range(1, 10):
        shutil.rmtree(kept, ignore_errors=True)
        command = [sys.executable, "-c", PUT_AND_DIE, str(step), str(given), str(kept)]
        status = subprocess.run(command, check=False).returncode
        assert store.get("key") == (None if status else result)
        left += len(list(kept.glob(".*.part")))
        store.prune()
        assert list(kept.glob(".*.part")) == []
        store.put("key", result)
        assert store.get("key") == result
        if status == 0:
            break
        assert status == -signal.SIGKILL
    assert (step, left) == (4, 1)  # folder, part file, its name


def test_pruning_leaves_what_is_being_written(tmp_path: Path) -> None:
    stream = files.NewFile(tmp_path / "key.json.gz")
    Store(tmp_path).prune()
    assert len(list(tmp_path.glob(".*.part"))) == 1
    stream.discard()


def _vanish(folder: Path) -> None:
    # at once: a worker that writes into it makes it anew, and a removal bit by bit may meet that
    gone = Path(tempfile.mkdtemp(dir=folder.parent)) / folder.name
    folder.rename(gone)
    shutil.rmtree(gone, ignore_errors=True)


def _be_a_file(folder: Path) -> None:
    for _ in range(MOST_TRIES):
        _vanish(folder)
        with contextlib.suppress(FileExistsError):  # made anew
            return folder.touch(exist_ok=False)
    raise AssertionError


def _cut(folder: Path) -> None:
    for path in folder.glob("*.gz"):  # a worker may be writing another
        os.truncate(path, path.stat().st_size // 2)


def _be_of_tomorrow(folder: Path) -> None:
    for path in folder.glob("*.gz"):
        os.utime(path, (9e9, 9e9))


@pytest.mark.parametrize("happens", [_vanish, _be_a_file, _cut, _be_of_tomorrow])
@pytest.mark.parametrize("jobs", [1, 2])
def test_whatever_becomes_of_the_folder_results_are_the_same(
    tmp_path: Path, happens: Callable[[Path], None], jobs: int
) -> None:
    kept = tmp_path / "kept"
    store = Store(kept)
    whole = simulate_all(MEMBERS, jobs=1, store=Store(None))
    simulate_all(MEMBERS[:1], jobs=1, store=store)
    assert len(list(kept.iterdir())) == 1
    happens(kept)

    def again(done: int, _total: int, _phase: str = "") -> None:
        if done == 1 and kept.is_dir():
            happens(kept)

    assert simulate_all(MEMBERS, jobs=jobs, store=store, progress=again) == whole
    assert simulate_all(MEMBERS, jobs=jobs, store=store) == whole
