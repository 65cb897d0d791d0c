"""One stream over 100 GbE with all optimisations: a packet of 9000 bytes at both machines."""

from bench.measuring import heading, medians, verdict
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

SIMULATED_PS = 10**11
ALL = ("tso-gro", "jumbo", "arfs")


def main() -> None:
    """Time the scenario after its slow start."""
    heading("stream-100g with all optimisations, a packet of 9000 bytes")
    system = build(load("stream-100g", tunings=ALL), seed=1)
    system.run(SIMULATED_PS)

    def packets() -> int:
        return sum(port.rx_packets for port in system.snapshot().ports)

    before, begin = packets(), system.env.sim.now
    (wall_s,) = medians(lambda: system.run(SIMULATED_PS))
    times = (system.env.sim.now - begin) // SIMULATED_PS
    each = (packets() - before) / times
    print(f"{each:.0f} packets in {SIMULATED_PS // 10**9} ms, {wall_s / each * 1e9:.0f} ns each")
    verdict("  us a packet", wall_s / each * 1e6, 0.5, at_most=True)


if __name__ == "__main__":
    main()
