"""Workers end at any moment: their work is done by others, and who ends them each time is named."""

import contextlib
import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

import pytest

from simnet import _engine
from simnet.errors import LostRunError
from simnet.study.work import fork_server, workers
from simnet.study.work.cases import Case, Member, simulate_all
from simnet.study.work.fork_server import ForkServer
from simnet.study.work.store import Store
from simnet.study.work.workers import done_by_workers, expected
from tests.faults.work import Piece, double, grow, parent

FAULTS = ("killed", "killed_answering", "killed_within_the_answer", "out_of_memory", "crashed")
DURATION = "400 ms" if _engine.active() == "compiled" else "8 ms"
SWEEP = ("x460-out-of-box", "--set", "nodes=1", "--warm-up", "0 s", "--duration", DURATION)


def doubled(pieces: list[Piece], count: int = 2) -> list[int]:
    return sorted(done_by_workers(double, pieces, count, name=lambda piece: f"no {piece.number}"))


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("attempts", [1, 2])
def test_the_work_of_a_worker_that_ends_is_done_by_another(
    tmp_path: Path, fault: str, attempts: int
) -> None:
    pieces = [Piece(n, tmp_path, fault if n == 1 else "", attempts) for n in range(5)]
    assert doubled(pieces) == [0, 2, 4, 6, 8]
    assert [piece.tried() for piece in pieces] == [1, 1 + attempts, 1, 1, 1]


@pytest.mark.parametrize(
    ("fault", "how"),
    [
        ("killed", "was killed, as systems do when memory runs out"),
        ("out_of_memory", "ran out of memory"),
        ("crashed", "was ended by SIGABRT"),
    ],
)
def test_work_that_ends_each_worker_is_named_when_all_else_is_done(
    tmp_path: Path, fault: str, how: str
) -> None:
    pieces = [Piece(n, tmp_path, fault if n == 1 else "", 9) for n in range(20)]
    found: list[int] = []
    with pytest.raises(LostRunError, match=rf"^no 1: each of 3 processes .* {how}$"):
        found.extend(done_by_workers(double, pieces, 2, name=lambda piece: f"no {piece.number}"))
    assert sorted(found) == [2 * n for n in range(20) if n != 1]
    assert pieces[1].tried() == 3


def test_the_next_piece_is_made_while_the_workers_are_busy(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[int] = []
    made_when_waiting = []

    def pieces() -> Iterator[Piece]:
        for number in range(4):
            made.append(number)
            yield Piece(number, tmp_path)

    def noted(connections: list[Any]) -> list[Any]:
        made_when_waiting.append(len(made))
        return wait(connections)

    monkeypatch.setattr(workers, "wait", noted)
    assert sorted(done_by_workers(double, pieces(), 1, name=str)) == [0, 2, 4, 6]
    assert made_when_waiting == [2, 3, 4, 4]


def test_what_is_done_again_comes_last_and_has_no_other_beside_it(tmp_path: Path) -> None:
    pieces = [Piece(n, tmp_path, "killed" if n < 2 else "", n + 1, 0.1) for n in range(6)]
    found = list(done_by_workers(double, pieces, 3, name=str))
    assert (sorted(found[:4]), found[4:]) == ([4, 6, 8, 10], [0, 2])
    beside = [(tmp_path / f"{n}-{attempt}").read_text() for n, attempt in ((0, 2), (1, 2), (1, 3))]
    assert beside == ["", "", ""]


def test_when_all_work_ends_its_worker_not_all_of_it_is_tried(tmp_path: Path) -> None:
    pieces = [Piece(n, tmp_path, "killed", 9) for n in range(100)]
    with pytest.raises(LostRunError):
        doubled(pieces)
    assert sum(piece.tried() for piece in pieces) <= 3 * 3


@pytest.mark.parametrize("most", [0, 1])
def test_where_few_processes_can_be_started_those_do_it_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    monkeypatch.setattr(workers, "_IDLE", [])
    started: list[int] = []
    fork = ForkServer.fork

    def limited(server: ForkServer, descriptor: int) -> int:
        if len(started) == most:
            raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
        started.append(descriptor)
        return fork(server, descriptor)

    monkeypatch.setattr(ForkServer, "fork", limited)
    pieces = [Piece(n, tmp_path) for n in range(4)]
    if most:
        assert doubled(pieces, 3) == [0, 2, 4, 6]
        workers._end_idle()
    else:
        with pytest.raises(
            LostRunError, match=r"^no 0: no process can be started for it: Resource"
        ):
            doubled(pieces, 3)


def test_workers_that_grow_stay_and_say_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    # joblib's would end one second after the first piece, and warn of it
    sizes = [1, 1, 350, 350]
    before = set()
    for _ in range(2):
        before |= set(done_by_workers(grow, sizes, 2, name=str))
        time.sleep(1)
    assert len(before) == 2
    assert capfd.readouterr() == ("", "")
    for worker in before:  # and give the memory back
        os.kill(worker, signal.SIGKILL)
    members = [Member(Case(SWEEP[0], (("nodes", "1"),)), seed, "1 ms", "0 s") for seed in (1, 2)]
    assert len(simulate_all(members, jobs=2, store=Store(None))) == 2


def sweep(kept: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "simnet", "sweep", *SWEEP, "--over", "seed=1..6", "--jobs", "2"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "SIMNET_CACHE_DIR": str(kept), "PYTHONWARNINGS": "ignore"},
    )


def descendants(process: int) -> list[int]:
    """The fork server and its workers, or what is left of them; the youngest first."""
    try:
        listed = Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii")
    except (FileNotFoundError, ProcessLookupError):
        return []
    found = [int(number) for number in listed.split()]
    return [*(below for one in found for below in descendants(one)), *found]


def kill(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGKILL)


@pytest.mark.nightly
@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_a_sweep_whose_workers_are_killed_gives_the_same_table(tmp_path: Path) -> None:
    killed: set[int] = set()
    command = sweep(tmp_path / "kept")
    while command.poll() is None and len(killed) < 2:
        done = len(list((tmp_path / "kept").glob("*.gz")))
        # one as it starts, one when something is done
        for process in descendants(command.pid)[: 1 if done or not killed else 0]:
            kill(process)
            killed.add(process)
        time.sleep(0.01)
    out, err = command.communicate()
    assert (command.returncode, err, len(killed)) == (0, "", 2)
    whole = sweep(tmp_path / "other")
    assert whole.communicate() == (out, "")


@pytest.mark.skipif(not Path("/proc/self/task").exists(), reason="needs Linux")
def test_a_sweep_whose_workers_are_all_killed_says_so_on_one_line(tmp_path: Path) -> None:
    command = sweep(tmp_path)
    while command.poll() is None:
        for process in descendants(command.pid):
            kill(process)
        time.sleep(0.01)
    out, err = command.communicate()
    assert (command.returncode, out, err.count("\n")) == (3, "", 1)
    assert err.startswith("simnet: x460-out-of-box, nodes=1, seed ")
    assert re.search("each of 3 processes that simulated it|no process can be started for it", err)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_workers_are_forked_from_a_process_whose_end_they_survive(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(workers, "_IDLE", [])
    monkeypatch.setattr(fork_server, "_STARTED", [])
    expected(2)
    (server,) = fork_server._STARTED
    first = set(done_by_workers(parent, [0.2, 0.2], 2, name=str))
    kill(server._process.pid)
    server._process.wait()
    pieces = [Piece(n, tmp_path, "killed" if n == 0 else "") for n in range(4)]
    assert doubled(pieces, 3) == [0, 2, 4, 6]
    assert first == {server._process.pid}
    assert [server] != fork_server._STARTED
    workers._end_idle()
    fork_server._close()


class _Interrupted:
    """A channel on which the answer to the first question is not waited for."""

    def __init__(self, channel: Any) -> None:
        self.channel = channel
        self.sendmsg, self.close = channel.sendmsg, channel.close

    def recv(self, _size: int) -> bytes:
        raise KeyboardInterrupt


def test_after_an_interrupt_no_answer_is_taken_for_that_of_another_question(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(workers, "_IDLE", [])
    monkeypatch.setattr(fork_server, "_STARTED", [])
    server = fork_server.prepare()
    monkeypatch.setattr(server, "_channel", _Interrupted(server._channel))
    with pytest.raises(KeyboardInterrupt):
        doubled([Piece(n, tmp_path) for n in range(3)])
    monkeypatch.undo()
    assert server._channel.fileno() == -1
    monkeypatch.setattr(workers, "_IDLE", [])
    monkeypatch.setattr(fork_server, "_STARTED", [server])
    assert doubled([Piece(n, tmp_path) for n in range(3)]) == [0, 2, 4]
    assert [server] != fork_server._STARTED
    workers._end_idle()
    fork_server._close()


def test_threads_share_the_fork_server(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(workers, "_IDLE", [])
    with ThreadPoolExecutor(8) as threads:
        folders = [tmp_path / f"{number}" for number in range(8)]
        for folder in folders:
            folder.mkdir()
        found = threads.map(lambda one: doubled([Piece(n, one) for n in range(3)]), folders)
        assert list(found) == [[0, 2, 4]] * 8
    workers._end_idle()
