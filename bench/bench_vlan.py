"""Guests of one machine: a packet between two partitions, and a frame between guests of KVM."""

import statistics

from bench.measuring import ROUNDS, TIMEOUTS, heading, seconds, timeouts, verdict
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.scenario.system.system import System

PS = 10**12
WARM_UP_PS = PS // 5
SLICE_PS = PS // 2
STREAMS = {
    "half a processor": ("vlan-half-cpu", (), {}),
    "a processor": ("vlan-half-cpu", ("one-cpu",), {}),
    "guests of KVM, frames of up to 64 KiB": ("vm-virtio", (), {}),
    "a gigabit port, no partition": ("x460-out-of-box", (), {"nodes": "1", "test": "netperf"}),
}
WANTED_SPEED = 2


def _made(name: str) -> System:
    scenario, tunings, settings = STREAMS[name]
    system = build(load(scenario, tunings=tunings, settings=settings), seed=1)
    system.run(WARM_UP_PS)
    return system


def _packets(system: System) -> int:
    return sum(nic.tx_packets + nic.rx_packets for nic in system.nics)


def main() -> None:
    """Time the systems and SimPy's timeouts in turns."""
    heading("iperf between two guests of one machine, both simulated whole")
    systems = {name: _made(name) for name in STREAMS}
    costs: dict[str, list[float]] = {name: [] for name in systems}
    speeds = []
    simpys = []
    for _ in range(ROUNDS):
        simpys.append(seconds(timeouts) / TIMEOUTS)
        for name, system in systems.items():
            before = _packets(system)
            wall_s = seconds(lambda: system.run(SLICE_PS))  # noqa: B023 - called at once
            costs[name].append(wall_s / (_packets(system) - before))
            if name == next(iter(STREAMS)):
                speeds.append(SLICE_PS / PS / wall_s)
    timeout_s = statistics.median(simpys)
    found = {name: statistics.median(each) for name, each in costs.items()}
    for name, packet_s in found.items():
        print(
            f"{name}: {packet_s * 1e6:.2f} us a packet, {packet_s / timeout_s:.2f} SimPy timeouts"
        )
    whole, half = found["a processor"], found["half a processor"]
    verdict(
        "  a packet with half a processor costs, in packets with one",
        half / whole,
        1.5,
        at_most=True,
    )
    verdict("  simulated seconds a wall second", statistics.median(speeds), WANTED_SPEED)


if __name__ == "__main__":
    main()
