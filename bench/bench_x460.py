"""The x460 out of the box, eight ports: cost of a data packet beside a SimPy timeout; memory."""

from bench.measuring import TIMEOUTS, heading, medians, resident_mib, timeouts, verdict
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.scenario.system.system import System

PS = 10**12
SIMULATED_S = 1
LONG_S = 60


def _received(system: System) -> int:
    return sum(port.rx_packets for port in system.snapshot().ports)


def main() -> None:
    """Time one simulated second in turns with SimPy, then watch memory over a minute."""
    heading("x460-out-of-box: 4 nodes, 8 ports, 8 KiB messages; sender, ACKs and 64 CPUs included")
    system = build(load("x460-out-of-box"), seed=1)
    system.run(SIMULATED_S * PS)
    first_mib = resident_mib()
    packets, events = _received(system), system.env.sim.events
    ours, simpys = medians(lambda: system.run(SIMULATED_S * PS), timeouts)
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
        resident_mib() - first_mib,
        10,
        at_most=True,
    )


if __name__ == "__main__":
    main()
