"""A researcher's plane: 40 values of TCP_DELACK_MIN, 8 reorder windows, 3 seeds, in parallel."""

import os
import time
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.measuring import heading, verdict
from simnet.study.sweep.sweep import sweep

DELAYS = tuple(f"{ms} ms" for ms in range(1, 41))
WINDOWS = ("0", "4", "8", "16", "32", "48", "64", "80")
OVER = {"TCP_DELACK_MIN": DELAYS, "peer:ib_ipoib reorder_window": WINDOWS}
SEEDS = 3
TUNINGS = ("checksum-offload", "kernel-parameters")
WANTED_S = 300


def main() -> None:
    """Simulate the plane with nothing kept from before."""
    runs = len(DELAYS) * len(WINDOWS) * SEEDS
    heading(f"ipoib-sunway, tuned: {runs} runs on {os.cpu_count()} CPUs")
    with TemporaryDirectory() as folder:
        os.environ["SIMNET_CACHE_DIR"] = str(Path(folder) / "results")
        start = time.perf_counter()
        found = sweep(
            "ipoib-sunway",
            OVER,
            tunings=["+".join(TUNINGS)],
            replications=SEEDS,
            warm_up="50 ms",
            duration="100 ms",
        )
        wall_s = time.perf_counter() - start
    rates = [row["throughput_bps"] / 8e6 for row in found.rows()]
    print(f"{len(rates)} runs, {min(rates):.0f} to {max(rates):.0f} MB/s")
    verdict("  seconds for the plane", wall_s, WANTED_S, at_most=True)


if __name__ == "__main__":
    main()
