"""The Sunway scenario: what it consists of, its knobs and tunings, and what it refuses."""

from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.study.run.run import simulate
from simnet.study.work.cases import Case, Member

SCENARIO = "ipoib-sunway"
BOTH = ("checksum-offload", "kernel-parameters")


def short(**options: Any) -> simnet.Result:
    settings = {"message": "128 KiB"} | options.pop("settings", {})
    times = {"duration": "20 ms", "warm_up": "20 ms"}
    return simnet.run(SCENARIO, settings=settings, **(times | options))


def test_both_nodes_are_simulated_whole_and_have_four_management_cores() -> None:
    effective = load(SCENARIO)
    assert effective.host.cpu_count == effective.peers[0].cpu_count == 4
    assert effective.workload.peers_simulated == "machines"
    assert effective.fabric is not None
    assert effective.ports[0].nic.mtu_bytes == 65520


def test_connections_are_streams_of_one_port() -> None:
    effective = load(SCENARIO, settings={"type": "iperf", "connections": "3"})
    assert [flow.name for flow in effective.flows] == ["ib0.0", "ib0.1", "ib0.2"]
    assert {flow.port for flow in effective.flows} == {0}


def test_all_connections_carry_data() -> None:
    result = short(settings={"type": "iperf", "connections": "3"}, tunings=BOTH)
    assert len(result.flows) == 3
    assert all(flow.goodput_bps > 0 for flow in result.flows)


def test_each_core_group_has_a_memory_of_its_own() -> None:
    effective = load(SCENARIO)
    assert [cpu.node for cpu in build(effective, seed=1).machine.cpus] == [0, 1, 2, 3]
    assert effective.ports[0].node == 0


def test_memory_of_other_core_groups_is_what_limits_several_connections() -> None:
    settings = (("type", "iperf"), ("message", "8 KiB"), ("recv_size", "8 KiB"))
    case = Case(SCENARIO, (*settings, ("connections", "8")), BOTH)
    name = "sunway-mpe-1450.memory.remote_latency_ps"

    def bandwidth(remote_ns: int) -> float:
        member = Member(case, 1, "40 ms", "40 ms", ((name, remote_ns * 1000),))
        return simulate(member.effective()).throughput_bps

    near, far = bandwidth(200), bandwidth(400)
    assert 1.3 < near / far < 2


def test_leaving_the_checksum_to_the_adapter_raises_the_bandwidth_severalfold() -> None:
    # a process is moved to the adapter's core group only when it is woken
    before, after = (short(tunings=some, warm_up="200 ms") for some in ((), ("checksum-offload",)))
    assert 4 < after.throughput_bps / before.throughput_bps < 8
    work = {share.mechanism: share.percent for share in after.work}
    assert work["checksums by the CPU"] == 0


def test_results_do_not_depend_on_batching_of_arrivals() -> None:
    one, other = short(tunings=BOTH), short(tunings=BOTH, per_frame=True)
    assert one.fingerprint == other.fingerprint


def test_dropped_packets_are_sent_again() -> None:
    system = build(load(SCENARIO, tunings=BOTH, settings={"ib_ipoib drop": "5000"}), seed=1)
    system.run(60 * 10**9)
    nic: Any = system.nics[0]
    assert nic.lost > 0
    assert system.parts["senders"][0].sender.output.retransmissions > 0
    assert system.flows[0][2].delivered > 0


def test_a_window_is_on_both_nodes_when_both_are_tuned() -> None:
    tuned: Any = build(load(SCENARIO, tunings=("window-32",)), seed=1).nics[0]
    plain: Any = build(load(SCENARIO), seed=1).nics[0]
    assert (tuned.window.window, plain.window.window) == (32, 0)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"TCP_DELACK_MIN": "0 ms"},
         "0 s is less than a jiffy, 1 ms at HZ 1000"),
        ({"TCP_DELACK_MIN": "1 ms", "HZ": "250"},
         "1 ms is less than a jiffy, 4 ms at HZ 250"),
        ({"ib_ipoib reorder_window": "70000"}, "70000 is outside the legal range 0 to 32767"),
        ({"/sys/class/net/ib0/mode": "datagram"},
         "datagram: an MTU of at most 4092 B"),
        ({"ifconfig ib0 mtu": "65521"}, "connected: an MTU of at most 65520 B"),
        ({"ib_ipoib checksum": "adapter"}, "expected one of device, cpu, got 'adapter'"),
        ({"peers_simulated": "ends"},
         'ib0 is an InfiniBand port: expected peers_simulated = "machines"'),
        ({"fabric.spine_switches": "0"}, "no spine switch joins the leaf switches"),
        ({"fabric.leaf_switches": "1", "fabric.hosts_per_leaf": "1"},
         "the fabric has no place for two nodes"),
        ({"ib_ipoib reorder_windw": "3"},
         "unknown knob; did you mean ib_ipoib reorder_window?"),
    ],
)  # fmt: skip
def test_a_bad_setting_is_refused_in_one_line(settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(SCENARIO, settings=settings)
    assert caught.value.message == message
    assert caught.value.file == "--set"


def test_several_connections_need_whole_machines() -> None:
    with pytest.raises(InputError, match="several connections: expected peers_simulated"):
        load("x460-out-of-box", settings={"connections": "2", "peers_simulated": "auto"})


def test_a_datagram_interface_carries_data() -> None:
    result = short(
        settings={
            "/sys/class/net/ib0/mode": "datagram",
            "peer:/sys/class/net/ib0/mode": "datagram",
            "ifconfig ib0 mtu": "2044",
            "peer:ifconfig ib0 mtu": "2044",
        }
    )
    assert result.throughput_bps > 10**8


def test_a_result_tells_what_a_window_put_in_order() -> None:
    settings = {"type": "iperf", "connections": "4", "test": "netserver"}
    loaded = short(settings=settings, tunings=(*BOTH, "window-32"))
    order = loaded.reordering[0]
    assert order.out_of_order_before > order.out_of_order_after
