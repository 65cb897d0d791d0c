"""Cost of a packet on the receive path in miniature, beside SimPy in the same run."""

import sys
from functools import partial

from bench import rxpath_simpy
from bench.compiling import load
from bench.measuring import heading, medians, verdict

# ports, duration, gap, cost of a frame (ns), duration for SimPy: what all engines agree on.
CASES = {
    (8, 200_000_000, 12_304, 3_000, 20_000_000): (
        {"arrivals": 130_040, "drops": 0, "irqs": 43_352, "polls": 43_352, "delivered": 130_040}
        | {"wakeups": 43_352, "copied": 130_040, "acks": 65_016, "latency": 2_561_354_272}
        | {"clock": 200_034_263, "events": 628_544}
    ),
    (8, 600_000_000, 12_304, 12_901, 20_000_000): (
        {"arrivals": 390_120, "drops": 13_984, "irqs": 8, "polls": 5_880, "delivered": 376_136}
        | {"wakeups": 376_136, "copied": 376_136, "acks": 188_064, "latency": 2_195_517_434_216}
        | {"clock": 606_626_375, "events": 1_712_488}
    ),
    (8, 100_000_000, 3_203, 2_501, 5_000_000): (
        {"arrivals": 249_768, "drops": 0, "irqs": 11_360, "polls": 11_360, "delivered": 249_768}
        | {"wakeups": 68_120, "copied": 249_768, "acks": 124_880, "latency": 3_504_962_088}
        | {"clock": 100_069_215, "events": 976_384}
    ),
}


def main() -> None:
    """Check the counters of both, then time them."""
    heading("rxpath: 8 ports, NIC ring, moderation, interrupt, NAPI, socket, application")
    rxpath = load("rxpath")
    for (ports, end_ns, gap_ns, cost_ns, short_ns), expected in CASES.items():
        whole = rxpath.Load(ports, end_ns, gap_ns, cost_ns)
        found = rxpath.simulate(whole)
        if found != expected:
            sys.exit(f"{whole}: found {found}, expected {expected}")
        short = rxpath.simulate(rxpath.Load(ports, short_ns, gap_ns, cost_ns))
        peer = rxpath_simpy.simulate(ports, short_ns, gap_ns, cost_ns)
        if any(peer[name] != short[name] for name in peer):
            sys.exit(f"{whole}: SimPy finds {peer}, simnet {short}")
        ours, simpys = medians(
            partial(rxpath.simulate, whole),
            partial(rxpath_simpy.simulate, ports, short_ns, gap_ns, cost_ns),
        )
        ours_ns = ours / found["arrivals"] * 1e9
        simpys_ns = simpys / short["arrivals"] * 1e9
        print(
            f"gap {gap_ns} ns, frame {cost_ns} ns: simnet {ours_ns:.0f} ns a packet"
            f" ({ours / found['events'] * 1e9:.0f} ns an event), SimPy {simpys_ns:.0f} ns"
        )
        verdict("  times faster than SimPy", simpys_ns / ours_ns, 100)


if __name__ == "__main__":
    main()
