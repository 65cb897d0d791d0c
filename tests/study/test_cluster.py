"""Sweeps on a Dask cluster: the same results, whatever happens to a worker."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simnet import _engine
from simnet.errors import InputError
from simnet.study.sweep import Sweep, sweep

distributed: Any = pytest.importorskip("distributed")

# What the cluster itself leaves open when a worker is killed is not simnet's to close.
pytestmark = [
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]
SEEDS = 8
DURATION = "100 ms" if _engine.active() == "compiled" else "5 ms"


def grid(**options: Any) -> Sweep:
    return sweep(
        "x460-out-of-box",
        {"seed": f"1..{SEEDS}"},
        settings={"nodes": "1"},
        warmup="0 s",
        duration=DURATION,
        **options,
    )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        # the workers keep nothing, so what is found later was kept by the caller
        patch.setenv("SIMNET_CACHE_DIR", "")
        with distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            dashboard_address=None,
            local_directory=str(tmp_path_factory.mktemp("workers")),
        ) as made:
            yield made


def test_a_worker_is_killed_and_nothing_is_lost(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMNET_CACHE_DIR", str(tmp_path))
    victim = next(iter(cluster.workers.values())).pid
    killed: list[int] = []

    def kill_once(done: int, _total: int) -> None:
        if done == 2 and not killed:
            os.kill(victim, signal.SIGKILL)
            killed.append(victim)

    found = grid(scheduler=cluster.scheduler_address, progress=kill_once)
    assert killed
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    assert found == grid(jobs=1)


def test_an_interrupted_sweep_goes_on(
    cluster: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMNET_CACHE_DIR", str(tmp_path))

    def interrupt(done: int, _total: int) -> None:
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        grid(scheduler=cluster.scheduler_address, progress=interrupt)
    kept = len(list(tmp_path.glob("*.gz")))
    assert 3 <= kept < SEEDS
    seen: list[int] = []
    found = grid(scheduler=cluster.scheduler_address, progress=lambda done, _: seen.append(done))
    assert seen[0] == kept
    assert len(found.points) == SEEDS


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:9", "nonsense", "a b", "tcp://x.invalid:1"])
def test_nobody_at_the_address_is_one_line(address: str) -> None:
    with pytest.raises(InputError, match=f"scheduler: no Dask scheduler answers at '{address}'"):
        grid(scheduler=address)
