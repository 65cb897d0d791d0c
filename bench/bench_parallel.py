"""What a sweep gains from a second worker: whole commands, start and end included.

The limit is what two commands give that have half of the runs each and know nothing of each other:
two processes that run at the same time share caches, memory and the power of a core.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measuring import heading, verdict

SCENARIO = "x460-out-of-box"
RUNS = 20
RUN_S = (0.1, 0.5, 2.0)
ROUNDS = 3
WANTED = 0.9
FROM_S = 0.5
TELLING_S = 2.0


@dataclass(frozen=True)
class Cost:
    """Wall time, and CPU time of all processes."""

    wall_s: float
    cpu_s: float


def main(rounds: int = ROUNDS) -> None:
    """Do the same runs with one worker, with two, and with two commands."""
    heading(f"{RUNS} runs of {SCENARIO} by one worker and by two; the best of {rounds}")
    rate = _simulated_s_a_second()
    for run_s in RUN_S:
        duration = f"{run_s * rate * 1e6:.0f} us"
        found = [_round(duration) for _ in range(rounds)]
        one, two, apart = (_best(costs) for costs in zip(*found, strict=True))
        print(
            f"runs of {run_s:g} s: one worker {one.wall_s:.2f} s ({one.cpu_s:.2f} s of CPU),"
            f" two {two.wall_s:.2f} ({two.cpu_s:.2f}),"
            f" two commands {apart.wall_s:.2f} ({apart.cpu_s:.2f})"
        )
        scaling, limit = (one.wall_s / (2 * cost.wall_s) for cost in (two, apart))
        if run_s >= FROM_S:
            verdict("  scaling", scaling, WANTED)
        else:
            print(f"  scaling: {scaling:.2f}")
        print(f"  of two commands: {limit:.2f}; CPU time: {two.cpu_s / one.cpu_s:.3f} of one's")


def _round(duration: str) -> tuple[Cost, Cost, Cost]:
    half = RUNS // 2
    return (
        _cost([_sweep(range(RUNS), duration, jobs=1)]),
        _cost([_sweep(range(RUNS), duration, jobs=2)]),
        _cost([_sweep(range(first, first + half), duration, jobs=1) for first in (0, half)]),
    )


def _best(costs: Iterable[Cost]) -> Cost:
    """The least of each: whatever else the machine does only adds."""
    kept = tuple(costs)
    return Cost(min(cost.wall_s for cost in kept), min(cost.cpu_s for cost in kept))


def _cost(commands: Sequence[Sequence[str]]) -> Cost:
    """What commands take that run at the same time, each with an empty store."""
    with TemporaryDirectory() as folder:
        before_s, start_s = _cpu_s(), time.perf_counter()
        running = [
            subprocess.Popen(
                command,
                stdout=subprocess.DEVNULL,
                env={**os.environ, "SIMNET_CACHE_DIR": str(Path(folder) / str(number))},
            )
            for number, command in enumerate(commands)
        ]
        if any(status != 0 for status in [process.wait() for process in running]):
            raise RuntimeError("a sweep failed")
        return Cost(time.perf_counter() - start_s, _cpu_s() - before_s)


def _cpu_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _sweep(seeds: range, duration: str, *, jobs: int) -> list[str]:
    over = f"seed={seeds[0]}..{seeds[-1]}"
    times = ["--warm-up", "0 s", "--duration", duration]
    command = [sys.executable, "-m", "simnet", "sweep", SCENARIO, "--over", over]
    return [*command, *times, "--jobs", str(jobs)]


def _simulated_s_a_second() -> float:
    """Simulated seconds a second of CPU time, from runs of two lengths."""
    short, long = (
        _cost([_sweep(range(2), f"{seconds:g} s", jobs=1)]).cpu_s for seconds in (0.001, TELLING_S)
    )
    return 2 * TELLING_S / (long - short)


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
