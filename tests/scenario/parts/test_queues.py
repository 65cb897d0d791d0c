"""Streams and requests over ports with several queues, and what NAPI's knobs change of them."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.core import library
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from simnet.scenario.system.ground import Ground
from simnet.study.run.result import Result

SCENARIO = """
kind = "scenario"
description = "requests over a port with eight queues"

[system]
server = "server.toml"
kernel = "linux-6.12"
switch = "switch.toml"

[[system.peers]]
server = "server.toml"
kernel = "linux-6.12"

[workload]
type = "netperf-tcp-stream"
test = "tcp_rr"
nodes = 1
message = "1 B"
connections = 100
peers_simulated = "machines"

[tuning]
irqbalance = "off"
"/proc/irq/80/smp_affinity" = "1"
"/proc/irq/81/smp_affinity" = "2"
"/proc/irq/82/smp_affinity" = "4"
"/proc/irq/83/smp_affinity" = "8"
"/proc/irq/84/smp_affinity" = "10"
"/proc/irq/85/smp_affinity" = "20"
"/proc/irq/86/smp_affinity" = "40"
"/proc/irq/87/smp_affinity" = "80"

[irqbalance]
map = "none"

[run]
warm_up = "5 ms"
duration = "15 ms"
"""
PORT = '[[ports]]\nname = "ens1f0np0"\nnode = 0\nirq = 80\nnic = "mellanox-connectx-5"\n'
DEFERRED = {
    "/sys/class/net/ens1f0np0/napi_defer_hard_irqs": "100",
    "/sys/class/net/ens1f0np0/gro_flush_timeout": "50000",
}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("queues")
    server = library.find_model("server", "dell-r410").read_text("utf-8")
    (folder / "server.toml").write_text(server[: server.index("[[ports]]")] + PORT, "utf-8")
    switch = library.find_model("switch", "ethernet-10g").read_text("utf-8")
    (folder / "switch.toml").write_text(switch.replace("10 Gbit/s", "100 Gbit/s"), "utf-8")
    path = folder / "rr.toml"
    path.write_text(SCENARIO, "utf-8")
    return path


@cache
def ran(scenario: Path, *settings: tuple[str, str], per_frame: bool = False) -> Result:
    return simnet.run(str(scenario), settings=dict(settings), per_frame=per_frame)


def serving(result: Result) -> set[int]:
    """Return the CPUs that took interrupts of the port."""
    return {int(cpu) for cpu, rate in result.interrupts[0].by_cpu.items() if rate > 0}


def transactions(result: Result) -> float:
    return sum(flow.transactions_per_s or 0 for flow in result.flows)


def loaded(scenario: Path, **settings: str) -> Effective:
    return load(str(scenario), settings=settings)


def test_requests_are_spread_over_queues_and_their_cpus(scenario: Path) -> None:
    assert [port.name for port in ran(scenario).ports] == ["ens1f0np0"]
    assert serving(ran(scenario)) == set(range(8))


def test_one_queue_serves_all_on_one_cpu(scenario: Path) -> None:
    one = ran(scenario, ("ethtool -L ens1f0np0 combined", "1"))
    assert serving(one) <= {0}
    assert transactions(one) < transactions(ran(scenario))


@pytest.mark.parametrize("test", ["netserver", "netperf"])
def test_streams_use_several_queues(scenario: Path, test: str) -> None:
    result = ran(scenario, ("test", test), ("connections", "16"), ("message", "16 KiB"))
    assert len(serving(result)) > 4
    assert min(flow.goodput_bps for flow in result.flows) > 0


def test_the_reference_with_one_event_a_frame_agrees(scenario: Path) -> None:
    batched, reference = ran(scenario), ran(scenario, per_frame=True)
    # work is booked when it begins, which is sooner for several frames at once
    for what in ("flows", "ports", "interrupts", "cpus"):
        assert getattr(batched, what) == getattr(reference, what)


def test_deferral_takes_the_place_of_interrupts(scenario: Path) -> None:
    deferred = ran(scenario, *DEFERRED.items())
    assert deferred.ports[0].interrupts_per_s < ran(scenario).ports[0].interrupts_per_s / 10


def test_only_ends_of_peers_know_one_queue(scenario: Path) -> None:
    message = "ens1f0np0 has several queues, workload.peers_simulated = ends knows one: expected 1"
    with pytest.raises(InputError, match=message):
        loaded(scenario, peers_simulated="ends", test="netserver", connections="1")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"system.kernel": "linux-2.6.38", **DEFERRED},
            "not in Linux 2.6.38: it came with Linux 5.8",
        ),
        (
            {"netdev napi-set ens1f0np0 irq-suspend-timeout": "20000000"},
            "not in this kernel, Linux 6.12: it has no IRQ_SUSPEND",
        ),
        (
            {"netdev napi-set ens1f0np0 rx-0 defer-hard-irqs": "2", "system.kernel": "linux-6.6"},
            "kernel.irq_suspend=on does; Linux has it since 6.13",
        ),
        (
            {"nic.irq_suspend_timeout": "20 ms"},
            "Linux 6.12 has no irq-suspend-timeout: it came with Linux 6.13",
        ),
        (
            {"system.kernel": "linux-2.6.38", "nic.napi_defer_hard_irqs": "2"},
            "Linux 2.6.38 has no napi_defer_hard_irqs: it came with Linux 5.8",
        ),
    ],
)
def test_what_the_kernel_lacks_names_the_version_that_has_it(
    scenario: Path, settings: dict[str, str], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        load(str(scenario), settings=settings)


def test_channels_come_and_go_with_both_queues(scenario: Path) -> None:
    nic = load(str(scenario), settings={"ethtool -L ens1f0np0 combined": "4"}).ports[0].nic
    assert (nic.rx_queues, nic.tx_queues) == (4, 4)
    message = (
        "mlx5 has channels of both, not 4 receive and 8 transmit queues: ethtool -L ens1f0np0"
        " combined N"
    )
    with pytest.raises(InputError, match=message):
        load(str(scenario), settings={"ethtool -L ens1f0np0 rx": "4"})


def test_the_indirection_table_leaves_queues_out(scenario: Path) -> None:
    few = ran(scenario, ("ethtool -X ens1f0np0 equal", "3"))
    softirq = [cpu.softirq for cpu in few.cpus]
    # the others reclaim what their own processes have sent
    assert min(softirq[:3]) > 4 * max(softirq[3:])
    message = "expected at most the 8 receive queues that there are"
    with pytest.raises(InputError, match=message):
        load(str(scenario), settings={"ethtool -X ens1f0np0 equal": "9"})
    made = load(str(scenario), settings={"ethtool -X ens1f0np0 equal": "3"})
    assert [(knob.apply, knob.undo) for knob in made.applied if "-X" in knob.name] == [
        ("ethtool -X ens1f0np0 equal 3", "ethtool -X ens1f0np0 default")
    ]


@pytest.mark.parametrize("kernel", ["5.4", "5.14-rhel9", "6.1", "6.6", "6.12", "6.18"])
def test_packets_of_one_queue_are_spread_by_any_kernel_of_today(
    scenario: Path, kernel: str
) -> None:
    one = ("ethtool -L ens1f0np0 combined", "1"), ("system.kernel", f"linux-{kernel}")
    alone = ran(scenario, *one)
    spread = ran(scenario, *one, ("/sys/class/net/ens1f0np0/queues/rx-0/rps_cpus", "ff"))
    assert max(cpu.softirq for cpu in alone.cpus[1:]) < 2
    assert min(cpu.softirq for cpu in spread.cpus) > 5
    assert transactions(spread) > transactions(alone)


def test_interrupts_are_placed_by_lists_of_cpus(scenario: Path) -> None:
    placed = {f"/proc/irq/{irq}/smp_affinity_list": "2,5" for irq in range(80, 88)}
    affinity = load(str(scenario), settings=placed).ports[0].queue_affinity
    assert set(affinity) == {(2, 5)}
    with pytest.raises(InputError, match=r"CPU 9 is beyond the machine"):
        load(str(scenario), settings={"/proc/irq/80/smp_affinity_list": "0-9"})


def test_a_queue_has_settings_of_its_own_and_the_rest_those_of_the_port(scenario: Path) -> None:
    port = "netdev napi-set ens1f0np0"
    own = {f"{port} rx-2 defer-hard-irqs": "5", f"{port} rx-* irq-suspend-timeout": "20000000"}
    made = loaded(scenario, **{"system.kernel": "linux-6.18"}, **DEFERRED, **own)
    port_made: Any = Ground(made, seed=1).ports[0]
    instances = [queue.instance for queue in port_made.queues]
    assert [one.defer_hard_irqs for one in instances] == [100, 100, 5, 100, 100, 100, 100, 100]
    assert {one.gro_flush_timeout_ps for one in instances} == {50 * 10**6}
    assert {one.irq_suspend_timeout_ps for one in instances} == {20 * 10**9}
    typed = {knob.name: knob for knob in made.applied}[f"{port} rx-2 defer-hard-irqs"]
    assert (typed.value, typed.before) == ("5", "100")
    assert '\\"id\\": 2}' in typed.apply


def test_suspension_is_typed_for_each_instance_of_the_port(scenario: Path) -> None:
    name = "netdev napi-set ens1f0np0 irq-suspend-timeout"
    made = loaded(scenario, **{"system.kernel": "linux-6.18", name: "20000000"})
    assert made.ports[0].nic.irq_suspend_timeout_ps == 20 * 10**9
    typed = next(knob.apply for knob in made.applied if knob.name == name)
    assert "ynl --family netdev --do napi-set" in typed
    assert '\\"irq-suspend-timeout\\": 20000000}' in typed
