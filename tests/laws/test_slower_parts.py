"""What costs more or answers later never makes a published system faster by more than chance.

Each parameter of memory and of the way, and the largest costs, at both ends of its range, all else
and the seed the same. Chance is three standard deviations of the throughput over seeds, at least
1 % for runs as short as these.
"""

from __future__ import annotations

from statistics import mean, stdev

import pytest

import simnet
from simnet.study.work.cases import Case, Member, simulate_all
from simnet.study.work.vary import ranged

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

COSTS = ("driver_rx_cycles", "tcp_rx_cycles", "copy_line_cycles", "wakeup_cycles")
WAYS = ("latency_ps", "dma_latency_ps", "fetch_latency_ps")
SEEDS = (1, 2, 3)


def is_a_cost(name: str) -> bool:
    """Of the memory, of the way, or of a step that each packet takes."""
    last = name.rpartition(".")[2]
    if last == "line_latency_ps":
        return False  # for what latency the costs are stated
    return ".memory." in name or last in COSTS or last in WAYS


@pytest.mark.parametrize(
    "scenario", ["x460-out-of-box", "ipoib-sunway", "sw1621-t520", "relay-tuned"]
)
def test_what_costs_more_never_carries_more(scenario: str) -> None:
    case = Case(scenario)
    ends = {
        (one.name, value): Member(
            case, seed=1, duration="60 ms", warm_up="60 ms", values=((one.name, value),)
        )
        for one in ranged(Member(case).effective())
        if is_a_cost(one.name)
        for value in (one.low, one.high)
    }
    seeds = [Member(case, seed=seed, duration="60 ms", warm_up="60 ms") for seed in SEEDS]
    assert len(ends) > 10
    results = simulate_all([*seeds, *ends.values()], jobs=1, lean=True)
    throughput = [result.throughput_bps for result in results]
    usual = throughput[: len(seeds)]
    chance = max(0.01, 3 * stdev(usual) / mean(usual))
    carried = dict(zip(ends, throughput[len(seeds) :], strict=True))
    names = {name for name, _ in carried}
    gains = {}
    for name in names:
        low, high = (carried[name, value] for value in sorted(v for n, v in carried if n == name))
        gains[name] = high / low - 1
    assert {name: gain for name, gain in gains.items() if gain > chance} == {}


def throughput_of(scenario: str, setting: str, value: str) -> float:
    """Mbit/s of a short run."""
    result = simnet.run(
        scenario, settings={setting: value}, seed=1, duration="100 ms", warm_up="100 ms"
    )
    return result.throughput_bps / 1e6


def test_slower_local_memory_makes_a_whole_host_slower() -> None:
    """Also where far memory stays as far as it was."""
    name = "cpu.memory.local_latency"
    fast, usual, slow = (
        throughput_of("x460-out-of-box", name, value) for value in ("50 ns", "108 ns", "300 ns")
    )
    assert fast > 1.02 * usual
    assert usual > 1.2 * slow
