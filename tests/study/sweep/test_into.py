"""Sweeps of any size: rows in files, whatever ends, and memory that does not grow."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pandas as pd
import pytest

from simnet.errors import InputError
from simnet.study.run.measures import LATENCY_KIND
from simnet.study.sweep import into as module
from simnet.study.sweep.into import Rows, sweep_into
from simnet.study.sweep.sweep import sweep

pytest.importorskip("pyarrow")

SCENARIO = "vlan-half-cpu"
TIMES = {"warm_up": "0 s", "duration": "1 ms"}
OVER = {"message": "1 KiB,8 KiB", "seed": "1..5"}


def rows(folder: Path, **options: object) -> Rows:
    return sweep_into(folder, SCENARIO, OVER, **{**TIMES, "jobs": 1, **options})  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder; each file gets three runs."""
    monkeypatch.setattr(module, "_runs_per_file", lambda *_: 3)
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    return tmp_path / "rows"


def test_the_rows_are_those_of_a_sweep_in_its_order(folder: Path) -> None:
    seen: list[tuple[int, int]] = []
    found = rows(folder, jobs=2, progress=lambda *counts: seen.append(counts))
    whole = sweep(SCENARIO, OVER, warm_up="0 s", duration="1 ms", jobs=1).to_frame()
    pd.testing.assert_frame_equal(found.to_frame(list(whole.columns)), whole, check_dtype=False)
    assert [file.name for file in found.files] == [f"part-00000{n}.parquet" for n in range(4)]
    assert seen[-1] == (10, 10)
    name, values, mean, runs = found.best()
    means = whole.groupby("message")[name].mean()
    assert (values, mean, runs) == ({"message": means.idxmax()}, means.max(), 5)
    assert found.sentence().startswith(f"10 runs in 4 files in {folder}\nbest throughput (Mbit/s):")


@pytest.mark.nightly
def test_files_that_do_not_say_what_their_latencies_are_are_read(folder: Path) -> None:
    found = rows(folder)
    assert found.to_frame([LATENCY_KIND])[LATENCY_KIND].unique().tolist() == ["one-way"]
    for path in found.files:
        pd.read_parquet(path).drop(columns=LATENCY_KIND).to_parquet(path)
    assert "best throughput (Mbit/s):" in found.sentence()


@pytest.mark.nightly
def test_only_what_has_no_whole_file_is_simulated(folder: Path) -> None:
    before = rows(folder).to_frame()
    first, second, third, last = sorted(folder.glob("part-*"))
    first.unlink()
    second.write_bytes(second.read_bytes()[:-9])
    third.write_bytes(last.read_bytes())  # of this sweep, but with one row
    kept = last.stat().st_mtime_ns
    seen: list[int] = []
    found = rows(folder, progress=lambda count, _: seen.append(count))
    pd.testing.assert_frame_equal(found.to_frame(), before)
    assert seen == [3, 6, 9]
    assert last.stat().st_mtime_ns == kept


@pytest.mark.parametrize(
    "other",
    [
        {"duration": "2 ms"},
        pytest.param({"warm_up": "1 ms"}, marks=pytest.mark.nightly),
        pytest.param({"tunings": "none"}, marks=pytest.mark.nightly),
    ],
)
def test_a_folder_of_another_sweep_is_refused(folder: Path, other: dict[str, str]) -> None:
    rows(folder)
    with pytest.raises(InputError, match="has rows of another sweep"):
        rows(folder, **other)


def test_a_folder_with_other_files_is_refused(folder: Path) -> None:
    folder.mkdir()
    (folder / "letter.txt").write_text("dear reader", encoding="utf-8")
    with pytest.raises(InputError, match="expected an empty folder"):
        rows(folder)


@pytest.mark.parametrize(
    ("count", "each_s", "workers", "runs"),
    [
        (100_000, 0.01, 2, 500),  # five seconds
        (1_000, 0.01, 50, 5),  # each worker has some
        (1_000, 0.01, 2, 16),  # and more may come
        (100, 60, 2, 1),
        (100_000, 1, 100, 20),  # no more than 5,000 files
    ],
)
def test_a_file_has_the_rows_of_seconds(count: int, each_s: float, workers: int, runs: int) -> None:
    assert module._runs_per_file(count, each_s, workers) == runs


class Cluster:
    """Scheduler, workers and a client, each a process that can be killed."""

    def __init__(self, folder: Path, port: int, opened: ExitStack) -> None:
        self.folder, self.address = folder, f"tcp://127.0.0.1:{port}"
        self._opened = opened
        self.start(port)

    def start(self, port: int) -> None:
        """Start a scheduler and two workers."""
        here = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
        self.scheduler = self.run("distributed.cli.dask_scheduler", "--port", str(port), *here)
        worker = ("distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-nanny")
        self.workers = [self.run(*worker, *here) for _ in range(2)]

    def sweep(self, runs: int) -> subprocess.Popen[str]:
        """Start the command."""
        over = ("--over", f"seed=1..{runs}", "--warm-up", "0 s", "--duration", "1 ms")
        into = ("--into", str(self.folder), "--scheduler", self.address)
        return self.run("simnet", "sweep", SCENARIO, *over, *into)

    def run(self, *arguments: str) -> subprocess.Popen[str]:
        """Start a module as a process that ends with the test."""
        pipe = subprocess.PIPE if arguments[0] == "simnet" else subprocess.DEVNULL
        process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", *arguments],
            stdout=pipe,
            stderr=pipe,
            text=True,
            cwd=self.folder.parent,
        )
        self._opened.callback(process.communicate)
        self._opened.callback(process.kill)
        return process

    def wait_for_more(self, client: subprocess.Popen[str]) -> None:
        """Wait until there is another file."""
        before = len(list(self.folder.glob("part-*")))
        while client.poll() is None and len(list(self.folder.glob("part-*"))) == before:
            time.sleep(0.01)
        assert client.poll() is None, client.communicate()


@pytest.fixture
def cluster(tmp_path: Path, unused_port: Callable[[], int]) -> Iterator[Cluster]:
    pytest.importorskip("distributed")
    with ExitStack() as opened:
        yield Cluster(tmp_path / "rows", unused_port(), opened)


@pytest.fixture
def unused_port() -> Callable[[], int]:
    import socket

    def found() -> int:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port: int = taken.getsockname()[1]
        return port

    return found


@pytest.mark.slow
@pytest.mark.compiled
@pytest.mark.nightly
def test_whatever_is_killed_no_row_is_lost_and_none_is_there_twice(cluster: Cluster) -> None:
    runs = 2_000
    client = cluster.sweep(runs)
    cluster.wait_for_more(client)
    os.kill(cluster.workers[0].pid, signal.SIGKILL)
    cluster.wait_for_more(client)
    os.kill(client.pid, signal.SIGKILL)
    client = cluster.sweep(runs)
    for _ in range(3):  # what the first client's worker had in hand is one of them
        cluster.wait_for_more(client)
    os.kill(cluster.scheduler.pid, signal.SIGKILL)
    _, err = client.communicate()
    assert (client.returncode, err.count("\n")) == (3, 1), err
    assert f"the scheduler at {cluster.address} has ended" in err
    for worker in cluster.workers:
        worker.kill()
    cluster.start(int(cluster.address.rpartition(":")[2]))
    out, err = cluster.sweep(runs).communicate()
    assert out.startswith(f"{runs:,} runs in ")
    frame = pd.read_parquet(cluster.folder)
    assert sorted(frame["seed"]) == list(range(1, runs + 1))
