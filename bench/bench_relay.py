"""A relay of small messages: cost of a packet by the number of connections; speed; memory.

And what it costs to build a system of that size from its scenario, and to drop it after a run.
"""

import gc
import statistics
from multiprocessing import get_context

from bench.measuring import ROUNDS, TIMEOUTS, heading, resident_mib, seconds, timeouts, verdict
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.scenario.system.system import System
from simnet.workload.relay_system import Load, Workers
from tests.workload.relays import RelayRig

PS = 10**12
CONNECTIONS = (10, 100, 1000, 5000, 10_000)
MOST = 5000
CPUS = 8
# with pure ACKs that is 255,000 packets a second on both devices
MESSAGES_MHZ = 135_000 * 1000
SLICE_PS = PS // 5
LONG_S = 10
SCENARIO = "relay-untuned"
MOST_TIMEOUTS = 100


def _rig(connections: int) -> dict[int, RelayRig]:
    rig = RelayRig(
        connections=connections,
        workers=Workers([frozenset({cpu}) for cpu in range(CPUS)]),
        load=Load(rate_mhz=MESSAGES_MHZ, sizes=[(170, 1)], sigma=1.0),
        cpus=CPUS,
    )
    return {connections: rig}


def _slice(rig: RelayRig) -> tuple[float, int]:
    """Wall time of a slice of simulated time, and the packets in it."""
    before = rig.packets()
    wall_s = seconds(lambda: rig.run(SLICE_PS))
    return wall_s, rig.packets() - before


def _built_and_dropped(effective: Effective) -> tuple[float, float]:
    """Wall time for a connection, both ways: each has four ends."""
    systems: list[System] = []
    built_s = seconds(lambda: systems.append(build(effective, seed=1)))

    def drop() -> None:
        systems.pop().close()

    return built_s / MOST, seconds(drop) / MOST


def _systems() -> None:
    """Time building and dropping, in turns with SimPy's timeouts."""
    effective = load(SCENARIO, settings={"relay.connections": str(MOST)})
    _built_and_dropped(effective)
    rounds = [(seconds(timeouts) / TIMEOUTS, *_built_and_dropped(effective)) for _ in range(ROUNDS)]
    timeout_s, built_s, dropped_s = (
        statistics.median(times) for times in zip(*rounds, strict=True)
    )
    print(f"{SCENARIO}: a connection built in {built_s * 1e6:.0f} us, dropped in", end="")
    print(f" {dropped_s * 1e6:.0f} us")
    verdict(
        "  building and dropping one, in SimPy timeouts",
        (built_s + dropped_s) / timeout_s,
        MOST_TIMEOUTS,
        at_most=True,
    )


def main() -> None:
    """Time systems; then relays of all sizes and SimPy's timeouts in turns; then one's memory."""
    heading("relay: far hosts, two devices, eight workers, 135,000 messages a second")
    # in a process of its own: what it frees it keeps, and relays would seem to take no memory
    process = get_context("fork").Process(target=_systems)
    process.start()
    process.join()
    rigs: dict[int, RelayRig] = {}
    for connections in CONNECTIONS:
        before_mib = resident_mib()
        made_s = seconds(lambda: rigs.update(_rig(connections)))  # noqa: B023 - called at once
        print(
            f"{connections} connections: made in {made_s / connections * 1e6:.0f} us and"
            f" {(resident_mib() - before_mib) * 1024 / connections:.1f} KiB each"
        )
    # as `System.run` has it: what was built is not looked at again and again
    gc.collect()
    gc.freeze()
    gc.set_threshold(200_000)
    for rig in rigs.values():
        rig.run(PS // 2)
    walls: dict[int, list[float]] = {connections: [] for connections in rigs}
    rates: dict[int, float] = {}
    simpys = []
    for _ in range(ROUNDS):
        simpys.append(seconds(timeouts) / TIMEOUTS)
        for connections, rig in rigs.items():
            wall_s, packets = _slice(rig)
            walls[connections].append(wall_s / packets)
            rates[connections] = packets * (PS / SLICE_PS)
    timeout_s = statistics.median(simpys)
    costs = {connections: statistics.median(each) for connections, each in walls.items()}
    for connections, packet_s in costs.items():
        print(
            f"{connections} connections: {rates[connections]:.0f} packets a simulated second,"
            f" {packet_s * 1e6:.2f} us each, {packet_s / timeout_s:.2f} SimPy timeouts"
        )
    verdict(
        f"  simulated seconds a wall second with {MOST} connections",
        1 / (costs[MOST] * rates[MOST]),
        1,
    )
    verdict(
        "  a packet with 10,000 connections costs, in packets with 10",
        costs[10_000] / costs[10],
        2,
        at_most=True,
    )
    rig = rigs[MOST]
    first_mib = resident_mib()
    rig.run(LONG_S * PS)
    verdict(
        f"  MiB more after another {LONG_S} simulated seconds",
        resident_mib() - first_mib,
        10,
        at_most=True,
    )


if __name__ == "__main__":
    main()
