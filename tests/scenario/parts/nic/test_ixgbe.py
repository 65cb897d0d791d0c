"""Ports with ixgbe: modes of `rx-usecs`, queues that flows learn, and imports of hosts."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.net.link.skb import Header, Station
from simnet.scenario.core import library
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from simnet.scenario.parts.nic.build import _rss
from simnet.scenario.scenarios import find_scenario
from simnet.scenario.system.build import build
from simnet.study.run.result import Result
from tests.scenario.parts.nic.test_igb import taken
from tests.scenario.parts.nic.test_intel_nics import written

PORT = "ens1f0np0"
USECS = f"ethtool -C {PORT} rx-usecs"
CHANNELS = f"ethtool -L {PORT} combined"
EIGHT = {CHANNELS: "8", f"peer:{CHANNELS}": "8"}
NTUPLE = f"ethtool -K {PORT} ntuple"
RULE = {f"ethtool -N {PORT}": "flow-type tcp4 src-port 12865 action 3"}
HOST = {
    "lscpu.txt": "Architecture: x86_64\nCPU(s): 24\n",
    "uname.txt": "Linux box 5.15.0-91-generic #101 SMP x86_64\n",
    "ethtool-i-eth0.txt": "driver: ixgbe\nbus-info: 0000:03:00.0\n",
    "ethtool-c-eth0.txt": "Coalesce parameters for eth0:\nrx-usecs: 1\nrx-frames: 0\ntx-usecs: 0\n",
}
CONTROLLER = "03:00.0 Ethernet controller: Intel Corporation"


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Requests over a port of an X520."""
    return written(tmp_path_factory.mktemp("ixgbe"), "intel-82599")


def loaded(scenario: Path, settings: dict[str, str]) -> Effective:
    return load(str(scenario), settings={**EIGHT, **settings})


@cache
def ran(scenario: Path, *settings: tuple[str, str]) -> Result:
    return simnet.run(str(scenario), settings={**EIGHT, **dict(settings)}, duration="10 ms")


def interrupts(result: Result) -> float:
    return sum(sum(line.by_cpu.values()) for line in result.interrupts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({USECS: "1023"}, "ixgbe takes at most 1022 us"),
        ({"nic.rx_usecs": "1500 ns"}, "ixgbe takes whole microseconds"),
        ({f"ethtool -G {PORT} tx": "9000"}, "a ring of ixgbe has at most 8192 descriptors"),
        ({"system.kernel": "linux-6.1", f"ethtool -G {PORT} tx": "5000"},
         "a ring of ixgbe has at most 4096 descriptors"),
        ({f"ethtool -L {PORT} combined": "64"}, "expected 1 to 63"),
        ({CHANNELS: "24", f"ethtool -X {PORT} equal": "17"}, "sorts to at most 16 queues"),
        ({f"ifconfig {PORT} mtu": "9711"}, "ixgbe takes at most 9710 B"),
        (RULE, f"ixgbe takes rules with ntuple only: ethtool -K {PORT} ntuple on"),
        ({f"ethtool -C {PORT} tx-usecs": "10"}, "the driver ixgbe has no such knob"),
        ({f"ethtool -C {PORT} rx-frames": "10"}, "the driver ixgbe has no such knob"),
        ({"nic.link_rate": "100 Mbit/s"}, "slower than 1 Gbit/s is not modelled"),
        ({"system.kernel": "linux-4.10"}, "of Linux 4.10 is not modelled: expected Linux 4.12"),
    ],
)  # fmt: skip
def test_what_the_driver_refuses(scenario: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        loaded(scenario, settings)
    assert message in str(caught.value)


def test_a_ring_is_as_long_as_the_kernel_s_driver_makes_it(scenario: Path) -> None:
    rings = [
        loaded(scenario, {"system.kernel": f"linux-{version}"}).ports[0].nic.rx_ring
        for version in ("6.1", "6.6")
    ]
    assert rings == [4096, 8192]


def test_each_cpu_sends_by_the_queue_of_its_number_unless_somebody_says_otherwise(
    scenario: Path,
) -> None:
    knob = f"/sys/class/net/{PORT}/queues/tx-{{}}/xps_cpus"
    own = [(queue,) for queue in range(8)]
    assert list(loaded(scenario, {}).ports[0].xps_cpus) == own
    settings = {knob.format(1): "ff", knob.format(2): "0"}
    found = list(loaded(scenario, settings).ports[0].xps_cpus)
    assert found == [(0,), tuple(range(8)), (), *own[3:]]


def test_rss_sorts_to_sixteen_queues_of_twenty_four(scenario: Path) -> None:
    whole: Any = loaded(scenario, {CHANNELS: "24"}).ports[0].nic
    few: Any = loaded(scenario, {CHANNELS: "24", f"ethtool -X {PORT} equal": "5"}).ports[0].nic
    for port in range(40_000, 40_060):
        header = Header(Station(1), Station(2), 0x0A000001, 0x0A000002, port, 80)
        place = _rss(whole).hash_of(header) & 127
        assert (_rss(whole).queue(header), _rss(few).queue(header)) == (place % 16, place % 5)


def test_a_time_moderates_more_than_the_mode(scenario: Path) -> None:
    adapts = ran(scenario)
    assert interrupts(ran(scenario, (USECS, "250"))) < 0.5 * interrupts(adapts)
    # each CPU serves one vector
    most = max(rate for line in ran(scenario, (USECS, "251")).interrupts
               for rate in line.by_cpu.values())  # fmt: skip
    assert 0.9 * 1e6 / 250 < most <= 1.01 * 1e6 / 250


def test_flows_come_by_the_queue_that_they_are_sent_by(scenario: Path) -> None:
    """With 16 of 24 queues in the table only what is learnt reaches the others."""
    settings = {CHANNELS: "24", f"peer:{CHANNELS}": "24"}
    taken_by = {}
    for ntuple in ("off", "on"):
        system = build(
            load(str(scenario), settings=settings | {NTUPLE: ntuple, "connections": "40"}), seed=1
        )
        system.run(12 * 10**9)
        port: Any = system.nics[0]
        received = [queue.rx_packets for queue in port.queues]
        taken_by[ntuple] = (received, port.rules.steered if port.rules else {})
        sent = [queue.tx.sent for queue in port.queues]
        # eight CPUs send
        assert sum(sent[8:]) == 0
    received, steered = taken_by["off"]
    assert len(steered) > 10
    assert set(steered.values()) <= set(range(8))
    assert sum(received[8:16]) < 0.2 * sum(received)
    received, steered = taken_by["on"]
    assert not steered
    assert sum(received[8:16]) > 0.3 * sum(received)


def test_what_is_learnt_is_in_the_result(scenario: Path) -> None:
    (row,) = ran(scenario).flow_rules
    assert row["steered"] > 0
    assert ran(scenario, (NTUPLE, "on")).flow_rules == ()


def test_a_jumbo_frame_lies_in_halves_of_two_pages(scenario: Path) -> None:
    small, large = (
        loaded(scenario, {f"ifconfig {PORT} mtu": mtu, f"peer:ifconfig {PORT} mtu": mtu})
        .ports[0]
        .nic
        for mtu in ("1500", "9000")
    )
    assert (small.frame_buffer_bytes, large.frame_buffer_bytes) == (2048, 3 * 4096)
    assert (small.datagram_truesize(1000, 576), large.datagram_truesize(5000, 576)) == (
        2048 + 256,
        2 * 4096 + 256,
    )


@pytest.mark.parametrize(
    ("chip", "most"),
    [
        ("82599ES 10-Gigabit SFI/SFP+ Network Connection (rev 01)", 16),
        ("Ethernet Controller 10-Gigabit X540-AT2 (rev 01)", 16),
        ("Ethernet Controller 10G X550T (rev 01)", 63),
        ("Ethernet Connection X553 10 GbE SFP+ (rev 11)", 63),
        ("", 16),
    ],
)
def test_an_imported_port_has_the_rules_of_its_chip(tmp_path: Path, chip: str, most: int) -> None:
    files = {**HOST, "lspci.txt": f"{CONTROLLER} {chip}\n"} if chip else HOST
    found = taken(tmp_path, files)
    (port,) = load(tmp_path / "out" / "scenario.toml").host.ports
    nic: Any = port.nic
    assert (nic.driver, nic.rx_queues, nic.rss_most) == ("ixgbe", 24, most)
    assert (nic.rx_usecs_ps, nic.link_rate_bps, nic.rx_ring) == (10**6, 10**10, 4096)
    read = {one["name"] for one in found.values() if one["state"] == "read"}
    assert "ethtool -C eth0 rx-usecs" in read


def test_a_kernel_whose_driver_has_other_rules_gets_the_neutral_card(tmp_path: Path) -> None:
    version = "Linux box 3.10.0-1160.el7.x86_64 #1 SMP x86_64\n"
    found = taken(tmp_path, {**HOST, "uname.txt": version})
    (port,) = load(tmp_path / "out" / "scenario.toml").host.ports
    assert port.nic.driver == "neutral"
    assert "ixgbe of Linux 3.10" in "".join(found.notes)


def test_a_discipline_and_byte_limits_may_be_above_its_rings(scenario: Path) -> None:
    settings = {**EIGHT, "net.core.default_qdisc": "fq_codel", "CONFIG_BQL": "on"}
    result = simnet.run(str(scenario), settings=settings, duration="2 ms")
    assert result.throughput_bps > 0


def test_it_forwards(tmp_path: Path) -> None:
    """The counter is the card's own where a router loses packets."""
    chip, peer = "mellanox-connectx-5", "xeon-e5-1650v4-connectx5"
    server = library.find_model("server", peer).read_text("utf-8")
    (tmp_path / "server.toml").write_text(server.replace(chip, "intel-82599"), "utf-8")
    switch = library.find_model("switch", "back-to-back-100g").read_text("utf-8")
    (tmp_path / "switch.toml").write_text(switch.replace("100 Gbit", "10 Gbit"), "utf-8")
    text = find_scenario("router-connectx5").read_text("utf-8")
    text = text.replace(f'"{peer}"', '"server.toml"')
    text = text.replace('"back-to-back-100g"', '"switch.toml"')
    (tmp_path / "router.toml").write_text(text, "utf-8")
    ports = {f"{host}ethtool -L {port} combined": "6" for host in ("", "peer:") for port in
             ("eth0", "eth1")}  # fmt: skip
    result = simnet.run(
        str(tmp_path / "router.toml"), settings=ports, warm_up="1 ms", duration="1 ms"
    )
    assert result.forward is not None
    assert result.forward.packets_per_s > 10**6
    assert result.drops
