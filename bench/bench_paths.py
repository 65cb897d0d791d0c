"""A packet on each of the ways that are no stream of TCP, beside one of TCP and a SimPy timeout.

Of datagrams: from the sender to the reader, or to where they are lost. Of a router and of XDP:
from the generator out of the other port, or to where they are dropped. A container's pass a veth
pair.
"""

import gc
import statistics
import time
from typing import Final, NamedTuple

from bench.measuring import ROUNDS, TIMEOUTS, heading, seconds, timeouts, verdict
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.scenario.system.system import System

PS: Final = 10**12
SLICE_PS: Final = PS
ROUTED_PER_S: Final = 1_000_000


class Way(NamedTuple):
    """A scenario, what is set of it, and where its packets are counted."""

    scenario: str
    counts: str
    packets: str
    settings: dict[str, str]

    def built(self) -> System:
        """Return its system after its warm-up."""
        given = load(self.scenario, settings=self.settings)
        system = build(given, seed=1)
        system.run(given.run.warm_up_ps)
        return system

    def packets_of(self, system: System) -> int:
        """How many packets there have been."""
        seen = system.snapshot()
        if not self.counts:
            return sum(port.rx_packets for port in seen.ports)
        return int(getattr(seen.more[self.counts], self.packets))


TCP: Final = Way("x460-out-of-box", "", "", {})
ROUTER: Final = Way("router-connectx5", "forward", "offered", {"forward.rate": f"{ROUTED_PER_S}"})
WAYS: Final = {
    "TCP received, eight ports": TCP,
    "UDP received": Way("media-udp", "udp", "sent", {}),
    "UDP to a container": Way("container-udp", "udp", "sent", {}),
    "forwarded, a million a second": ROUTER,
    "NAT of a home router": Way("home-router", "gateway", "offered", {}),
    "XDP": Way("xdp-firewall", "xdp", "sent", {}),
}


def main() -> None:
    """Time all in turns, by CPU time."""
    heading("a packet by its way")
    systems = {name: way.built() for name, way in WAYS.items()}
    gc.collect()
    gc.freeze()
    spent: dict[str, list[float]] = {name: [] for name in ("SimPy", *WAYS)}
    packets = dict.fromkeys(WAYS, 0)
    for _ in range(ROUNDS):
        spent["SimPy"].append(seconds(timeouts, time.process_time) / TIMEOUTS)
        for name, way in WAYS.items():
            system = systems[name]
            before = way.packets_of(system)
            took = seconds(lambda: system.run(SLICE_PS), time.process_time)  # noqa: B023 - called at once
            packets[name] = way.packets_of(system) - before
            spent[name].append(took / packets[name])
    each = {name: statistics.median(times) for name, times in spent.items()}
    for name in WAYS:
        ratio = each[name] / each["SimPy"]
        print(f"{name}: {each[name] * 1e9:.0f} ns a packet, {ratio:.2f} SimPy timeouts")
    verdict(
        "  UDP received, of TCP received",
        each["UDP received"] / each["TCP received, eight ports"],
        1,
        at_most=True,
    )
    verdict(
        "  CPU s of a simulated second of the router",
        each["forwarded, a million a second"] * ROUTED_PER_S,
        3,
        at_most=True,
    )


if __name__ == "__main__":
    main()
