import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.scenario.scenarios import find_scenario

SCENARIO = "x460-out-of-box"


def test_every_value_is_plain_and_in_base_units() -> None:
    effective = load(SCENARIO)
    assert effective.cpu.clock_hz == 3_000_000_000
    assert effective.cpu.memory.local_latency_ps == 108_000
    assert vars(effective.ports[0].nic)["rx_usecs_ps"] == 20_000_000
    assert effective.ports[0].nic.link_rate_bps == 1_000_000_000
    assert effective.kernel.tcp_rmem_bytes == (4096, 87380, 174760)
    assert effective.workload.message_bytes == 8192
    assert effective.host.cpu_count == 64
    assert [effective.host.node_of(cpu) for cpu in (0, 15, 16, 63)] == [0, 0, 1, 3]


def test_interrupts_are_where_listing_1_shows_them() -> None:
    found = {port.name: port.smp_affinity for port in load(SCENARIO).ports}
    expected = {
        "eth0": 0,
        "eth1": 8,
        "eth2": 2,
        "eth3": 5,
        "eth4": 4,
        "eth5": 1,
        "eth6": 6,
        "eth7": 9,
    }
    assert found == {name: (cpu,) for name, cpu in expected.items()}


@pytest.mark.parametrize(("nodes", "ports"), [(1, 2), (2, 4), (4, 8)])
def test_nodes_says_whose_ports_carry_traffic(nodes: int, ports: int) -> None:
    effective = load(SCENARIO, settings={"nodes": str(nodes)})
    assert [flow.name for flow in effective.flows] == [f"eth{n}" for n in range(ports)]
    assert effective.machine.nodes == 4
    assert len(effective.ports) == 8


def test_ports_are_cabled_as_the_scenario_says(tmp_path: Path) -> None:
    ends = [(flow.peer, flow.peer_port) for flow in load(SCENARIO).flows]
    assert ends == [(0, 0), (0, 1), (1, 0), (1, 1), (0, 2), (0, 3), (1, 2), (1, 3)]
    text = find_scenario(SCENARIO).read_text("utf-8")
    uncabled = tmp_path / "uncabled.toml"
    uncabled.write_text(re.sub(r"(?m)^cables = .*$", "", text), "utf-8")
    ends = [(flow.peer, flow.peer_port) for flow in load(uncabled).flows]
    assert ends == [(0, 0), (0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (1, 2), (1, 3)]


def test_recv_asks_for_the_receive_buffer_unless_told() -> None:
    assert {flow.recv_bytes for flow in load(SCENARIO).flows} == {87380}
    settings = {"net.ipv4.tcp_rmem": "4096 65536 174760"}
    assert {f.recv_bytes for f in load(SCENARIO, settings=settings).flows} == {65536}
    told = load(SCENARIO, settings={"recv_size": "16 KiB"})
    assert {flow.recv_bytes for flow in told.flows} == {16384}


@pytest.mark.parametrize("size", ["64B", "1460 B", "8KiB", "256KiB"])
def test_message_sizes_of_the_document_are_legal(size: str) -> None:
    effective = load(SCENARIO, settings={"message": size})
    assert {flow.message_bytes for flow in effective.flows} == {effective.workload.message_bytes}


@pytest.mark.parametrize(
    ("value", "expected"), [("nic", [0, 0, 1, 1, 2, 2, 3, 3]), ("2", [2] * 8), ("any", [None] * 8)]
)
def test_numactl_binds_each_process(value: str, expected: list[int | None]) -> None:
    settings = {"numactl --cpubind": value, "numactl --preferred": value}
    flows = load(SCENARIO, settings=settings).flows
    assert [flow.cpubind_node for flow in flows] == expected
    assert [flow.preferred_node for flow in flows] == expected


@pytest.mark.parametrize(
    ("name", "mode", "cpus"),
    [
        ("first-fit", "settled", [0, 1, 2, 4, 5, 6, 8, 9]),
        ("one-core", "settled", [0, 1, 4, 5, 6, 7, 8, 9]),
        ("none", "settled", None),
        ("daemon", "daemon", None),
    ],
)
def test_the_irq_map_can_be_chosen(name: str, mode: str, cpus: list[int] | None) -> None:
    effective = load(SCENARIO, settings={"irqbalance.map": name})
    assert effective.irqbalance == mode
    every = tuple(range(64))
    expected = [(cpu,) for cpu in cpus] if cpus else [every] * 8
    assert [port.smp_affinity for port in effective.ports] == expected


def test_a_model_value_changes_on_every_port_that_has_the_model() -> None:
    effective = load(SCENARIO, settings={"nic.rx_frames": "9", "peer:cpu.clock": "2 GHz"})
    assert {vars(port.nic)["rx_frames"] for port in effective.ports} == {9}
    assert {peer.cpu.clock_hz for peer in effective.peers} == {2 * 10**9}
    assert effective.cpu.clock_hz == 3 * 10**9


def test_each_value_knows_where_it_comes_from() -> None:
    effective = load(SCENARIO, settings={"message": "64 B"}, seed=7)
    provenance = effective.provenance
    assert provenance["workload.message_bytes"].source == "--set"
    assert provenance["run.seed"].source == "--seed"
    assert provenance["host.ports[3].smp_affinity"].state == "measured"
    assert provenance["host.kernel.delack_min_ps"].source.startswith("include/net/tcp.h")
    memory = provenance["peers[1].cpu.memory.local_latency_ps"]
    assert (memory.value, memory.low, memory.high) == (120_000, 100_000, 140_000)
    assert provenance["run.duration_ps"].source.split(":")[0].endswith("x460-out-of-box.toml")


def test_every_number_has_provenance() -> None:
    effective = load(SCENARIO)
    known = {path for path in effective.provenance if path.startswith("host.cpu.")}
    costs = {f"host.cpu.costs.{name}" for name in type(effective.cpu.costs).model_fields}
    memory = {f"host.cpu.memory.{name}" for name in type(effective.cpu.memory).model_fields}
    assert costs | memory <= known


def test_options_win_over_the_scenario() -> None:
    effective = load(SCENARIO, seed=7, duration="10 ms", warm_up="1 ms")
    assert effective.run.seed == 7
    assert effective.run.duration_ps == 10 * 10**9
    assert effective.run.warm_up_ps == 10**9


def test_a_bad_option_is_named() -> None:
    with pytest.raises(InputError) as caught:
        load(SCENARIO, duration="10")
    expected = "missing unit in '10': expected a time such as '20 us'"
    assert str(caught.value) == f"duration: {expected}"
    assert caught.value.typed == f"--duration: {expected}"


def test_nothing_can_be_changed_afterwards() -> None:
    effective = load(SCENARIO)
    with pytest.raises(ValidationError, match="frozen"):
        effective.kernel.hz = 1000


@pytest.mark.nightly
def test_the_digest_is_the_same_in_every_process() -> None:
    code = f"from simnet.scenario.core.load import load; print(load({SCENARIO!r}).digest())"
    digests = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": hash_seed},
            capture_output=True,
            text=True,
            check=True,
        ).stdout.strip()
        for hash_seed in ("0", "1")
    }
    assert digests == {load(SCENARIO).digest()}


@settings(max_examples=8)
@given(message=st.integers(1, 2**24), seed=st.integers(0, 2**63 - 1))
def test_the_digest_tells_configurations_apart(message: int, seed: int) -> None:
    effective = load(SCENARIO, settings={"message": f"{message} B"}, seed=seed)
    again = load(SCENARIO, settings={"message": f"{message * 8} bit"}, seed=seed)
    other = load(SCENARIO, settings={"message": f"{message % 2**24 + 1} B"}, seed=seed)
    assert effective.digest() == again.digest()
    assert effective == again
    assert (effective.digest() == other.digest()) == (message == message % 2**24 + 1)
