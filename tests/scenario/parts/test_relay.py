"""The relay's scenarios: its knobs, what is refused, and what a small one does."""

from functools import lru_cache
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.scenario.system.system import System

UNTUNED, TUNED = "relay-untuned", "relay-tuned"
SMALL = {"relay.connections": "40", "relay.rate": "20000"}
MS = 10**9


def _error(name: str, value: str, scenario: str = TUNED, tunings: tuple[str, ...] = ()) -> str:
    with pytest.raises(InputError) as caught:
        load(scenario, settings={name: value}, tunings=tunings)
    assert (caught.value.file, caught.value.key) == ("--set", name)
    return caught.value.message


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("/sys/class/net/eth0/queues/rx-9/rps_cpus", "ff",
         "eth0 has no queue rx-9: it has rx-0 to rx-8"),
        ("/sys/class/net/eth0/queues/rx-0/rps_cpus", "100",
         "CPU 8 is beyond the machine: dell-r410 has CPUs 0 to 7"),
        ("/sys/class/net/eth2/queues/rx-0/rps_cpus", "1",
         "dell-r410 has no port eth2: expected one of eth0, eth1"),
        ("/proc/irq/89/smp_affinity", "1",
         "dell-r410 has no interrupt 89: expected one of 80-88, 90-98"),
        ("/proc/irq/98/smp_affinity", "1ff",
         "CPU 8 is beyond the machine: dell-r410 has CPUs 0 to 7"),
        ("net.core.rps_sock_flow_entries", "-1", "-1 is outside the legal range 0 to 4194304"),
        ("ethtool -L eth0 rx", "16", "not in Linux 2.6.32: it came with Linux 3.0"),
        ("/sys/class/net/eth0/queues/tx-0/xps_cpus", "1",
         "not in this kernel, Linux 2.6.32: it has no XPS"),
        ("modprobe e1000e InterruptThrottleRate", "3",
         "the driver bnx2 has no such knob; it belongs to e1000e"),
        ("relay.rate", "0", "0 is outside the legal range 1 to 100000000"),
        ("relay.balance", "ballanced",
         "expected one of balanced, round_robin, random, got 'ballanced'"),
    ],
)  # fmt: skip
def test_a_bad_setting_is_refused_in_one_line(name: str, value: str, message: str) -> None:
    assert _error(name, value) == message


def test_steering_is_refused_where_the_kernel_has_none() -> None:
    name = "/sys/class/net/eth0/queues/rx-*/rps_cpus"
    assert _error(name, "ff", UNTUNED) == "not in this kernel, Linux 2.6.18: it has no RPS"


def test_a_table_size_that_is_no_power_of_two_is_said_to_be_rounded() -> None:
    given = load(TUNED, settings={"net.core.rps_sock_flow_entries": "30976"})
    assert "net.core.rps_sock_flow_entries: 30976 becomes 32768, the next power of two" in (
        given.remarks
    )


def test_coalescing_of_bnx2_is_set_as_an_administrator_does() -> None:
    assert vars(load(TUNED, settings={"ethtool -C eth0 rx-usecs": "40"}).ports[0].nic)[
        "rx_usecs_ps"
    ] == (40 * 10**6)


def test_a_star_sets_all_queues_and_is_undone_for_all() -> None:
    tuned = load(UNTUNED, tunings=["rps-ff"])
    assert tuned.ports[0].rps_cpus == (tuple(range(8)),) * 9
    knob = next(k for k in tuned.applied if k.name.startswith("/sys/class/net/eth0"))
    loop = "for file in /sys/class/net/eth0/queues/rx-*/rps_cpus; do echo {} > $file; done"
    assert (knob.apply, knob.undo) == (loop.format("ff"), loop.format("0"))


def test_each_queue_has_its_interrupt() -> None:
    queues = load(UNTUNED, tunings=["affinity"]).ports[1].queue_affinity
    assert queues == ((0,), *((cpu,) for cpu in range(8)))
    moved = load(TUNED).ports[1].queue_affinity
    assert [queue for queue in range(9) if moved[queue] != queues[queue]] == [1, 3, 5]
    by_hand = load(UNTUNED, tunings=["affinity", "interrupts-moved"])
    assert by_hand.ports[1].queue_affinity == moved
    assert load(UNTUNED).ports[1].queue_affinity == (tuple(range(8)),) * 9


def test_a_relay_needs_its_table() -> None:
    with pytest.raises(InputError, match=r"no table \[relay\]"):
        load("x460-out-of-box", settings={"test": "relay"})


@lru_cache
def _ran(scenario: str, tunings: tuple[str, ...] = ()) -> System:
    effective = load(scenario, settings=SMALL, tunings=tunings)
    system = build(effective, seed=1)
    system.run(60 * MS)
    return system


def _interrupted(system: System) -> set[int]:
    return {
        cpu for port in system.snapshot().ports for cpu, n in port.interrupts_by_cpu.items() if n
    }


def test_untuned_one_cpu_takes_all_interrupts_though_the_masks_name_all() -> None:
    assert {len(mask) for mask in load(UNTUNED).ports[0].queue_affinity} == {8}
    assert _interrupted(_ran(UNTUNED)) == {0}


def test_tuned_every_cpu_but_one_with_much_else_is_interrupted_and_all_are_busy() -> None:
    system = _ran(TUNED)
    assert _interrupted(system) == set(range(8)) - {4}
    assert min(cpu.softirq_ps for cpu in system.snapshot().cpus) > 0


def test_what_is_offered_is_delivered_or_on_its_way() -> None:
    for scenario in (UNTUNED, TUNED):
        counts = _ran(scenario).snapshot().messages
        assert counts is not None
        assert 0 <= counts.offered - counts.delivered <= 12
        assert counts.delivered > 1000


def test_a_population_has_its_addresses_rates_and_workers_in_every_run() -> None:
    def clients(seed: int, population: str) -> list[object]:
        relay: Any = build(
            load(TUNED, settings=SMALL | {"relay.population": population}), seed=seed
        ).parts["relay"]
        headers = [end.endpoint.header for end in relay.clients]
        addresses = [(header.source_ip, header.source_port) for header in headers]
        return [relay.weights, relay.handed, addresses]

    assert clients(1, "5") == clients(2, "5")
    assert clients(1, "0") != clients(2, "0")


def test_rps_of_rhel_6_1_sends_what_has_no_flow_entry_to_the_first_cpu() -> None:
    steered = _ran(UNTUNED, ("affinity", "rps-ff")).snapshot()
    busy = [cpu.softirq_ps for cpu in steered.cpus]
    assert busy[0] > 3 * max(busy[1:])
    fixed = _ran(UNTUNED, ("affinity", "rps-ff", "xps-ff")).snapshot()
    busy = [cpu.softirq_ps for cpu in fixed.cpus]
    assert busy[0] < 2 * max(busy[1:])


def test_per_frame_arrivals_give_the_same() -> None:
    effective = load(TUNED, settings=SMALL)
    runs = []
    for per_frame in (False, True):
        system = build(effective, seed=1, per_frame=per_frame)
        system.run(20 * MS)
        runs.append(system.fingerprint())
    assert runs[0] == runs[1]
