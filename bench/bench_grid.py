"""The x460's grid for one configuration: 15 message sizes, 3 tests, 1, 2 and 4 nodes."""

import math
import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measuring import TIMEOUTS, heading, medians, timeouts, verdict
from simnet.documents.x460.answers import MESSAGES
from simnet.study.sweep.sweep import Sweep, sweep

OVER = {
    "test": ("netserver", "netperf", "bidirectional"),
    "nodes": ("1", "2", "4"),
    "message": MESSAGES,
}
PRECISION = "1 %"
LONGEST = "5 s"
WANTED_S = 60


def _simulated_s(found: Sweep) -> float:
    return math.fsum(row["warmup_s"] + row["simulated_s"] for row in found.rows())


def _packets(found: Sweep) -> float:
    """Frames that crossed the system's ports, ACKs included, warm-up too."""
    return math.fsum(
        row["packets_per_s"] * (row["warmup_s"] + row["simulated_s"]) for row in found.rows()
    )


def main() -> None:
    """Simulate the grid once, with nothing kept from before; then once more, all kept."""
    heading(f"a grid of {15 * 3 * 3} runs, each until {PRECISION}, on {os.cpu_count()} CPUs")
    with TemporaryDirectory() as folder:
        os.environ["SIMNET_CACHE_DIR"] = str(Path(folder) / "results")
        start = time.perf_counter()
        found = sweep("x460-out-of-box", OVER, precision=PRECISION, duration=LONGEST)
        wall_s = time.perf_counter() - start
        start = time.perf_counter()
        sweep("x460-out-of-box", OVER, precision=PRECISION, duration=LONGEST)
        again_s = time.perf_counter() - start
    (timeouts_s,) = medians(timeouts)
    packets = _packets(found)
    per_timeout = timeouts_s / TIMEOUTS
    print(
        f"{_simulated_s(found):.0f} simulated seconds, {packets / 1e6:.0f} million packets;"
        f" {packets / wall_s / 1e6:.2f} million packets a second,"
        f" {packets * per_timeout / wall_s:.2f} for each timeout that SimPy has in that time;"
        f" {again_s:.1f} s when all is kept"
    )
    verdict("  seconds for the grid", wall_s, WANTED_S, at_most=True)


if __name__ == "__main__":
    main()
