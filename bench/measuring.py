"""Times, and what is said about them."""

import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import simpy

from simnet.kernel.huge_pages import use_huge_pages

use_huge_pages()  # as workers and `simnet run` do

ROUNDS = 5
TIMEOUTS = 400_000


def seconds(work: Callable[[], object], clock: Callable[[], float] = time.perf_counter) -> float:
    """Return the time that a piece of work takes: wall time, or by another clock."""
    start = clock()
    work()
    return clock() - start


def medians(
    *works: Callable[[], object], clock: Callable[[], float] = time.perf_counter
) -> list[float]:
    """Return the median time of each of several works, which take turns on a noisy machine."""
    rounds = [[seconds(work, clock) for work in works] for _ in range(ROUNDS)]
    return [statistics.median(times) for times in zip(*rounds, strict=True)]


def timeouts() -> None:
    """Let one SimPy process wait `TIMEOUTS` times."""

    def process(env: simpy.Environment) -> simpy.events.ProcessGenerator:
        while True:
            yield env.timeout(1)

    env = simpy.Environment()
    env.process(process(env))
    env.run(until=TIMEOUTS)


def resident_mib() -> float:
    """Return how much memory this process holds."""
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def verdict(what: str, found: float, wanted: float, *, at_most: bool = False) -> None:
    """Print a ratio beside what it should be."""
    reached = found <= wanted if at_most else found >= wanted
    bound = "at most" if at_most else "at least"
    print(f"{what}: {found:.2f} ({bound} {wanted:g}: {'yes' if reached else 'NO'})")


def heading(title: str) -> None:
    """Print what is measured, and on what."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.is_file():
        names = [line for line in cpuinfo.read_text().splitlines() if "model name" in line]
        model = names[0].partition(":")[2].strip() if names else model
    print(f"\n{title}\nPython {platform.python_version()}, {model}; medians of {ROUNDS}")
