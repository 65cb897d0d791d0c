"""memcached at a million requests a second: a simulated second, and a request, by the way of it."""

import gc
import statistics

from bench.measuring import ROUNDS, heading, seconds, verdict
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

PS = 10**12
QPS = 1_000_000
WAYS = ("", "defer50", "fullbusy", "suspend50")
SLICE_PS = PS // 50


def main() -> None:
    """Time a slice of each way in turns."""
    heading(f"memcached: 4,480 connections, {QPS:,} requests a second")
    systems = {}
    for way in WAYS:
        given = load(
            "memcached-100g", settings={"memcached.qps": str(QPS)}, tunings=(way,) if way else ()
        )
        systems[way or "interrupts"] = build(given, seed=1)
    gc.collect()
    gc.freeze()
    for system in systems.values():
        system.run(PS // 20)
    walls: dict[str, list[float]] = {way: [] for way in systems}
    requests: dict[str, int] = {}
    for _ in range(ROUNDS):
        for way, system in systems.items():
            counts = system.parts["memcached"].requests
            before = counts.delivered
            walls[way].append(seconds(lambda: system.run(SLICE_PS)))  # noqa: B023 - called at once
            requests[way] = counts.delivered - before
    for way, each in walls.items():
        wall_s = statistics.median(each)
        print(f"{way}: {wall_s / requests[way] * 1e6:.1f} us a request")
        verdict("  s a simulated second", wall_s * PS / SLICE_PS, 15, at_most=True)


if __name__ == "__main__":
    main()
