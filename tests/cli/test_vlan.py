"""Partitions and their virtual LAN, as an administrator meets them."""

import json
from pathlib import Path

import pytest

from simnet import _share
from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.study.run.run import simulate
from tests.cli.conftest import Simnet

SCENARIO = "vlan-half-cpu"
SHORT = ("--warm-up", "20 ms", "--duration", "40 ms")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (("lpar proc_units=0.05",), "at least 0.1, 0.1 for each"),
        (("lpar procs=6",), "0.5 processors for 6 virtual ones: expected at least 0.6"),
        (("lpar proc_units=1.5",), "1.5 processors need more than 1 virtual ones"),
        (("lpar proc_units=0.505",), "expected steps of 0.01 processors, got 0.505"),
        (("lpar procs=4", "lpar proc_units=3.6"), "entitled to 4.1 processors, the pool has 4"),
        (("lpar sharing_mode=shared",), "expected one of cap, uncap"),
        (("partition.phase=10 ms",), "expected less than a dispatch window"),
        (("ifconfig eth0 mtu=65514",), "eth0: expected an MTU of at most 65513 B, got 65514 B"),
    ],
)
def test_an_entitlement_that_the_hypervisor_does_not_give_is_one_line(
    simnet: Simnet, settings: tuple[str, ...], message: str
) -> None:
    found = simnet("run", SCENARIO, *(part for one in settings for part in ("--set", one)))
    assert found.status == 2
    assert found.out == ""
    assert found.err.count("\n") == 1
    assert message in found.err


@pytest.mark.parametrize(
    ("pool", "line"),
    [
        ("processors = 9", "pool.processors: 9 processors: the server has 4"),
        (
            "processors = 1\nothers = 1",
            "the partitions are entitled to 1.5 processors, the pool has 1",
        ),
        (
            'others = 1\nothers_proc_units = "0.05"',
            "pool.others_proc_units: 0.05 processors: expected at least 0.1",
        ),
        (
            'others = 1\nothers_proc_units = "0.505"',
            "pool.others_proc_units: expected steps of 0.01 processors, got 0.505",
        ),
        (
            'others = 1\nothers_phase = "10 ms"',
            "pool.others_phase: expected less than a dispatch window",
        ),
    ],
)
def test_a_pool_that_cannot_be_is_refused(tmp_path: Path, pool: str, line: str) -> None:
    text = (_share.folder("scenarios") / f"{SCENARIO}.toml").read_text("utf-8")
    (tmp_path / "mine.toml").write_text(f"{text}\n[pool]\n{pool}\n", "utf-8")
    with pytest.raises(InputError) as caught:
        load(tmp_path / "mine.toml")
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_partitions_knobs_are_refused_elsewhere(simnet: Simnet) -> None:
    found = simnet("run", "x460-out-of-box", "--set", "lpar proc_units=0.5")
    assert (found.status, found.err.count("\n")) == (2, 1)
    assert "ibm-x460 is no partition of a hypervisor" in found.err


def test_a_knob_comes_with_the_command_that_turns_it(simnet: Simnet) -> None:
    shown = simnet("show", SCENARIO, "--set", "lpar uncap_weight=64", "--json")
    knobs = {knob["name"]: knob for knob in json.loads(shown.out)["knobs"]}
    knob = knobs["lpar uncap_weight"]
    assert knob["apply"].startswith("chhwres -r proc ")
    assert knob["apply"].endswith(" uncap_weight=64")
    assert knob["undo"].endswith(" uncap_weight=128")


def test_vmstat_and_iperf_as_the_administrator_reads_them(simnet: Simnet) -> None:
    found = simnet("run", SCENARIO, *SHORT, "--format", "vmstat,iperf").out.splitlines()
    assert found[1].split() == ["r", "b", "in", "cs", "us", "sy", "id", "wa"]
    row = [int(number) for number in found[2].split()]
    assert 98 <= sum(row[4:]) <= 102
    assert found[-1].startswith("[  3]  0.0- 0.0 sec ")
    assert found[-1].endswith("bits/sec")


def test_a_capped_partition_uses_what_it_is_entitled_to() -> None:
    result = simulate(load(SCENARIO, warm_up="20 ms", duration="40 ms"))
    assert result.partition is not None
    assert result.partition.processors == pytest.approx(0.5, abs=1e-9)
    assert sum(result.partition.purr) == pytest.approx(50.0, abs=1e-9)
    for cpu in result.cpus:
        total = cpu.user + cpu.system + cpu.softirq + cpu.irq + cpu.iowait + cpu.steal + cpu.idle
        assert total == pytest.approx(100.0, abs=1e-9)
    # what ticks see of a partition is not what it has had
    assert sum(row.idle for row in result.ticks) / 2 < 75


def test_a_socket_buffer_is_limited_and_doubled() -> None:
    small, large = (
        load(SCENARIO, settings={"net.core.wmem_max": size, "iperf -w": "1 MiB"})
        for size in ("131071 B", "10485760 B")
    )
    from simnet.net.tcp.send.sender import TcpSender
    from simnet.scenario.parts.tcp.build import sender_settings

    sizes = [TcpSender(sender_settings(e.host, e.host.ports[0])).seq.sndbuf for e in (small, large)]
    assert sizes == [262142, 2097152]


@pytest.mark.parametrize("knob", ["ifconfig eth0 mtu", "peer:ifconfig eth0 mtu"])
def test_the_smaller_mtu_of_the_two_ends_is_the_size_of_segments(knob: str) -> None:
    result = simulate(load(SCENARIO, settings={knob: "9000"}, warm_up="20 ms", duration="40 ms"))
    (port,) = result.ports
    assert result.throughput_bps > 100e6
    payload = result.throughput_bps / 8 / max(port.rx_packets_per_s, port.tx_packets_per_s)
    assert 1300 < payload < 1460


@pytest.mark.compiled
def test_half_a_processor_is_as_the_document_lists_it() -> None:
    result = simulate(load(SCENARIO, warm_up="500 ms", duration="2 s"))
    assert result.throughput_bps == pytest.approx(530e6, rel=0.05)
    for row in result.vmstat:
        assert row.interrupts_per_s == pytest.approx(13_800, rel=0.2)
        assert row.context_switches_per_s == pytest.approx(1500, rel=0.2)
        assert row.system == pytest.approx(64, rel=0.15)
        assert row.idle == pytest.approx(36, rel=0.15)
