"""What costs more or answers later never makes a published system faster by more than chance.

Each parameter of memory and of the way, and the largest costs, at both ends of its range, all else
and the seed the same. Chance is three standard deviations of the throughput over seeds, at least
1 % for runs as short as these.
"""

from statistics import mean, stdev

import pytest

import simnet
from simnet.study.run.result import Result
from simnet.study.work.cases import Case, Member, simulate_all
from simnet.study.work.vary import ranged

pytestmark = [pytest.mark.compiled, pytest.mark.slow]

COSTS = ("driver_rx_cycles", "tcp_rx_cycles", "copy_line_cycles", "wakeup_cycles")
WAYS = ("latency_ps", "dma_latency_ps", "fetch_latency_ps")
SEEDS = (1, 2, 3)
# The same packets a second over fewer connections, which take most of the time to be made.
SETTINGS = {"relay-tuned": (("relay.connections", "1000"),)}


def is_a_cost(name: str) -> bool:
    """Of the memory, of the way, or of a step that each packet takes."""
    last = name.rpartition(".")[2]
    if last == "line_latency_ps":
        return False  # for what latency the costs are stated
    return ".memory." in name or last in COSTS or last in WAYS


def gains(scenario: str) -> dict[str, tuple[Result, Result]]:
    """Results at the low and the high end of each cost that carries more at the high one."""
    case = Case(scenario, SETTINGS.get(scenario, ()))
    ones = [one for one in ranged(Member(case).effective()) if is_a_cost(one.name)]
    assert len(ones) > 10
    seeds = [Member(case, seed=seed, duration="60 ms", warm_up="60 ms") for seed in SEEDS]
    ends = [
        Member(case, seed=1, duration="60 ms", warm_up="60 ms", values=((one.name, value),))
        for one in ones
        for value in (one.low, one.high)
    ]
    results = simulate_all([*seeds, *ends], jobs=1, lean=True)
    usual = [result.throughput_bps for result in results[: len(seeds)]]
    chance = max(0.01, 3 * stdev(usual) / mean(usual))
    of_ends = results[len(seeds) :]
    pairs = zip(ones, of_ends[::2], of_ends[1::2], strict=True)
    return {
        one.name: (low, high)
        for one, low, high in pairs
        if high.throughput_bps / low.throughput_bps - 1 > chance
    }


@pytest.mark.parametrize(
    "scenario",
    [
        "x460-out-of-box",
        "ipoib-sunway",
        "sw1621-t520",
        pytest.param("relay-tuned", marks=pytest.mark.nightly),
        pytest.param("vm-virtio", marks=pytest.mark.nightly),
    ],
)
@pytest.mark.nightly
def test_what_costs_more_never_carries_more(scenario: str) -> None:
    assert gains(scenario) == {}


def test_what_costs_more_carries_more_only_where_it_spares_interrupts() -> None:
    """A poll that takes longer finds more packets: NAPI's interrupts stay off meanwhile.

    On half a processor an interrupt costs as much as a packet, so a dearer driver can carry more.
    """

    def interrupts_a_bit(result: Result) -> float:
        return sum(port.interrupts_per_s for port in result.ports) / result.throughput_bps

    found = gains("vlan-half-cpu")
    assert {name.rpartition(".")[2] for name in found} == {"driver_rx_cycles"}
    for low, high in found.values():
        assert interrupts_a_bit(high) < interrupts_a_bit(low) / 3


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
