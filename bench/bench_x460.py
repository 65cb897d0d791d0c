"""The x460 out of the box, eight ports: cost of a data packet beside a SimPy timeout; memory."""

from __future__ import annotations

from pathlib import Path

import simpy

from bench.measuring import heading, medians, verdict
from simnet.scenario.build import build
from simnet.scenario.load import load
from simnet.scenario.system import System

PS = 10**12
TIMEOUTS = 400_000
SIMULATED_S = 1
LONG_S = 60


def _timeouts(count: int) -> None:
    """One SimPy process that waits `count` times."""

    def process(env: simpy.Environment) -> simpy.events.ProcessGenerator:
        while True:
            yield env.timeout(1)

    env = simpy.Environment()
    env.process(process(env))
    env.run(until=count)


def _received(system: System) -> int:
    return sum(port.rx_packets for port in system.snapshot().ports)


def _resident_mib() -> float:
    status = Path("/proc/self/status").read_text(encoding="ascii")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


def main() -> None:
    """Time one simulated second in turns with SimPy, then watch memory over a minute."""
    heading("x460-out-of-box: 4 nodes, 8 ports, 8 KiB messages; sender, ACKs and 64 CPUs included")
    system = build(load("x460-out-of-box"), seed=1)
    system.run(SIMULATED_S * PS)
    first_mib = _resident_mib()
    packets, events = _received(system), system.env.sim.events
    ours, simpys = medians(lambda: system.run(SIMULATED_S * PS), lambda: _timeouts(TIMEOUTS))
    rounds = (system.env.sim.now - SIMULATED_S * PS) // (SIMULATED_S * PS)
    packets = (_received(system) - packets) // rounds
    events = (system.env.sim.events - events) // rounds
    packet_ns = ours / packets * 1e9
    timeout_ns = simpys / TIMEOUTS * 1e9
    print(
        f"{packets} data packets a simulated second, {events / packets:.2f} events a packet,"
        f" {packet_ns:.0f} ns a packet; a SimPy timeout {timeout_ns:.0f} ns;"
        f" {SIMULATED_S / ours:.2f} simulated seconds a wall second"
    )
    verdict("  a packet costs, in SimPy timeouts", packet_ns / timeout_ns, 1, at_most=True)
    system.run(LONG_S * PS - system.env.sim.now)
    verdict(
        f"  MiB more after {LONG_S} simulated seconds than after one",
        _resident_mib() - first_mib,
        10,
        at_most=True,
    )


if __name__ == "__main__":
    main()
