"""What a Dask scheduler, the command and a worker do for each batch of a sweep.

The batches are those of `simnet sweep --into`, of so many runs each, and nothing is simulated.
"""

import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

from bench.measuring import heading, resident_mib
from simnet.study.work.batch import Batch, Cell
from simnet.study.work.cases import Case, Member
from simnet.study.work.cluster import done_on_cluster

BATCHES = 1_000
RUNS = 500
ROUNDS = 3
WORKERS = 2
BATCH_S = 5.0
TICKS_A_S = 100
CASE = Case("vlan-half-cpu", (("message", "1 KiB"),))


def main() -> None:
    """Send batches through a scheduler to two workers, and take the least CPU time of each."""
    heading(f"{BATCHES} batches of {RUNS} runs through a Dask scheduler")
    with ExitStack() as opened:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1]
        address = f"tcp://127.0.0.1:{port}"
        scheduler = _started(opened, "scheduler", "--port", str(port))
        workers = [
            _started(opened, "worker", address, "--nthreads", "1", "--no-nanny")
            for _ in range(WORKERS)
        ]
        _send(address, WORKERS)  # waits until there are workers
        found = [_round(address, scheduler, workers) for _ in range(ROUNDS)]
        grown = f"{_resident_mib(scheduler):.0f} MiB"
    least_ms = [1e3 * min(times) / BATCHES for times in zip(*found, strict=True)]
    for name, each_ms in zip(("scheduler", "command", "workers"), least_ms, strict=True):
        print(f"{name}: {each_ms:.2f} ms of CPU time a batch")
    print(f"memory: scheduler {grown}, command {resident_mib():.0f} MiB")
    fed = BATCH_S / (least_ms[0] / 1e3)
    print(f"workers that one scheduler feeds with batches of {BATCH_S:g} s: {fed:,.0f}")


def _round(address: str, scheduler: int, workers: list[int]) -> tuple[float, float, float]:
    """CPU seconds of the scheduler, this process and all workers."""
    before = _cpu_s(scheduler), time.process_time(), sum(map(_cpu_s, workers))
    _send(address, BATCHES)
    after = _cpu_s(scheduler), time.process_time(), sum(map(_cpu_s, workers))
    return after[0] - before[0], after[1] - before[1], after[2] - before[2]


def _send(address: str, count: int) -> None:
    for _ in done_on_cluster(len, _batches(count), address):
        pass


def _batches(count: int) -> Iterator[Batch]:
    first = Member(CASE, seed=1, duration="1 ms", warm_up="0 s")
    for number in range(count):
        seeds = tuple(range(number * RUNS, (number + 1) * RUNS))
        cells = (Cell((("message", "1 KiB"),), CASE, seeds),)
        yield Batch(f"/rows/part-{number:06d}.parquet", "0" * 32, cells, first, "0" * 16)


def _started(opened: ExitStack, what: str, *arguments: str) -> int:
    """Start a part of the cluster, which ends with this process; its process number."""
    here = ("--host", "127.0.0.1", "--dashboard-address", "127.0.0.1:0")
    command = [sys.executable, "-m", f"distributed.cli.dask_{what}", *arguments, *here]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    opened.callback(process.wait)
    opened.callback(process.kill)
    return process.pid


def _cpu_s(process: int) -> float:
    status = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(status[11]) + int(status[12])) / TICKS_A_S


def _resident_mib(process: int) -> float:
    status = Path(f"/proc/{process}/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    main()
