"""Sweeps on a Dask cluster: the same results, whatever happens to a worker."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from simnet import _engine
from simnet.errors import InputError, LostRunError
from simnet.study.sweep.sweep import Sweep, sweep
from simnet.study.work import cluster as module

# What the cluster itself leaves open when a worker is killed is not simnet's to close.
pytestmark = [
    pytest.mark.skipif(find_spec("distributed") is None, reason="Dask is not installed"),
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
        warm_up="0 s",
        duration=DURATION,
        **options,
    )


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    with pytest.MonkeyPatch.context() as patch:
        # the workers keep nothing, so what is found later was kept by the caller
        patch.setenv("SIMNET_CACHE_DIR", "")
        # taken in here: to import Dask takes seconds, and every process collects this module
        with import_module("distributed").LocalCluster(
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
def test_nobody_at_the_address_is_one_line(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_PATIENCE_S", 0.5)
    with pytest.raises(InputError, match=f"scheduler: no Dask scheduler answers at '{address}'"):
        grid(scheduler=address)


def test_a_run_that_ends_its_workers_is_named() -> None:
    class Future:
        def result(self) -> None:
            raise import_module("distributed").KilledWorker("task", None, 3)

    with pytest.raises(LostRunError, match=r"^that run: each of 4 workers .* was killed"):
        module._answer(Future(), "that run", "tcp://here:1")


def make_certificates(folder: Path) -> None:
    """As the documentation says."""
    key = ("-newkey", "rsa:2048", "-nodes", "-keyout")
    for command in (
        ("req", "-x509", "-days", "2", *key, "ca-key.pem", "-out", "ca.pem", "-subj", "/CN=a"),
        ("req", *key, "key.pem", "-out", "request.pem", "-subj", "/CN=b"),
        ("x509", "-req", "-in", "request.pem", "-CA", "ca.pem", "-CAkey", "ca-key.pem",
         "-CAcreateserial", "-days", "2", "-out", "cert.pem"),
    ):  # fmt: skip
        subprocess.run(("openssl", *command), cwd=folder, check=True, capture_output=True)


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    files = {"--tls-ca-file": "ca.pem", "--tls-cert": "cert.pem", "--tls-key": "key.pem"}
    tls = [text for option, name in files.items() for text in (option, str(folder / name))]
    return subprocess.Popen(
        [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:], *tls,
         "--protocol", "tls", "--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0"],
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env={**os.environ, "SIMNET_CACHE_DIR": ""},
    )  # fmt: skip


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
@pytest.mark.nightly
def test_with_tls_only_who_has_a_certificate_gets_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIMNET_CACHE_DIR", "")
    make_certificates(tmp_path)
    scheduler = start(tmp_path, "dask_scheduler", "--port", "0")
    assert scheduler.stderr is not None
    line = next(line for line in scheduler.stderr if "Scheduler at:" in line)
    address = line.split()[-1]
    worker = start(tmp_path, "dask_worker", address, "--nthreads", "1", "--no-nanny")
    try:
        files = {"ca-file": "ca.pem", "client.cert": "cert.pem", "client.key": "key.pem"}
        settings = {f"distributed.comm.tls.{key}": str(tmp_path / files[key]) for key in files}
        with import_module("dask.config").set(settings):
            assert grid(scheduler=address) == grid(jobs=1)
        with pytest.raises(InputError, match="expected the files for TLS in Dask's configuration"):
            grid(scheduler=address)
        with pytest.raises(InputError, match="no Dask scheduler answers"):
            grid(scheduler=address.replace("tls", "tcp"))
    finally:
        for process in (worker, scheduler):
            process.terminate()
            process.communicate()
