"""Ports with ena: what the driver takes, how frames lie in pages, and imports of instances."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.report.ethtool import ethtool
from simnet.scenario.core.load import load
from simnet.study.run.result import Result
from tests.scenario.parts.nic.test_igb import interrupts, taken
from tests.scenario.parts.nic.test_intel_nics import written

PORT = "ens1f0np0"
ADAPTIVE = f"ethtool -C {PORT} adaptive-rx"
USECS = f"ethtool -C {PORT} rx-usecs"
RINGS = "Ring parameters for ens5:\nPre-set maximums:\nRX: 8192\nTX: 1024\n"
HOST = {
    "lscpu.txt": "Architecture: x86_64\nCPU(s): 16\n",
    "uname.txt": "Linux ip-10-0-3-17 6.1.0-18-cloud-amd64 #1 SMP x86_64\n",
    "ethtool-i-ens5.txt": "driver: ena\nbus-info: 0000:00:05.0\n",
    "ethtool-c-ens5.txt": "Coalesce parameters for ens5:\nAdaptive RX: on  TX: n/a\n\n"
    "rx-usecs: 0\nrx-frames: n/a\n\ntx-usecs: 64\ntx-frames: n/a\n",
    "ethtool-g-ens5.txt": f"{RINGS}Current hardware settings:\nRX: 2048\nTX: 1024\n",
}
COUNTERS = (
    "NIC statistics:\n     tx_timeout: 0\n     bw_in_allowance_exceeded: 0\n"
    "     bw_out_allowance_exceeded: 530\n     pps_allowance_exceeded: 81234\n"
)


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Requests over a port of an instance."""
    return written(tmp_path_factory.mktemp("ena"), "amazon-ena")


@cache
def ran(scenario: Path, *settings: tuple[str, str]) -> Result:
    return simnet.run(str(scenario), settings=dict(settings), duration="10 ms")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({f"ethtool -G {PORT} rx": "300"}, "a ring of ena has 256 descriptors, or twice as many"),
        ({f"ethtool -G {PORT} tx": "128"}, "a ring of ena has 256 descriptors, or twice as many"),
        ({f"ethtool -G {PORT} rx": "32768"}, "at most 16384 buffers"),
        ({f"ethtool -L {PORT} combined": "9"}, "expected 1 to 8"),
        ({f"ethtool -L {PORT} rx": "2"}, "ena has channels of both, not 2 receive and 8 transmit"),
        ({"nic.rx_usecs": "1500 ns"}, "ena takes whole microseconds"),
        ({f"ethtool -C {PORT} rx-frames": "10"}, "the driver ena has no such knob"),
        ({f"ethtool -C {PORT} adaptive-tx": "on"}, "the driver ena has no such knob"),
        ({f"ethtool -N {PORT}": "flow-type tcp4 src-port 1 action 0"}, "the driver ena"),
        ({"system.kernel": "linux-5.4", ADAPTIVE: "on"}, "adapts without DIM"),
        ({"system.kernel": "linux-4.18"}, "ena of Linux 4.18 is not modelled: expected Linux 5.4"),
    ],
)
def test_what_the_driver_refuses(scenario: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(str(scenario), settings=settings)
    assert message in str(caught.value)


@pytest.mark.parametrize("ring", ["256", "512", "16384"])
def test_rings_are_powers_of_two(scenario: Path, ring: str) -> None:
    nic: Any = load(str(scenario), settings={f"ethtool -G {PORT} rx": ring}).ports[0].nic
    assert nic.rx_buffers_posted == int(ring)


def test_moderation_saves_interrupts_and_keeps_its_time(scenario: Path) -> None:
    still = ran(scenario)
    assert interrupts(ran(scenario, (ADAPTIVE, "on"))) < 0.8 * interrupts(still)
    fixed = ran(scenario, (USECS, "100"), (f"ethtool -C {PORT} tx-usecs", "100"))
    most = max(rate for line in fixed.interrupts for rate in line.by_cpu.values())
    assert most < 1.01 * 1e6 / 100
    assert fixed.throughput_bps < still.throughput_bps


@pytest.mark.parametrize(
    ("kernel", "mtu", "bytes_", "datagram"),
    [
        # the frame with NET_SKB_PAD and skb_shared_info, in whole lines
        ("linux-6.6", "1500", 1920, 1472),
        ("linux-6.6", "9001", 4096 + 4096 + 1984, 1472),
        ("linux-6.1", "1500", 4096, 4096),
        ("linux-6.1", "9001", 3 * 4096, 4096),
        ("linux-5.4", "1500", 4096, None),
    ],
)
def test_a_frame_lies_in_pages_as_the_kernel_has_it(
    scenario: Path, kernel: str, mtu: str, bytes_: int, datagram: int | None
) -> None:
    mtus = {f"{host}ifconfig {PORT} mtu": mtu for host in ("", "peer:")}
    nic: Any = load(str(scenario), settings={"system.kernel": kernel, **mtus}).ports[0].nic
    assert nic.frame_buffer_bytes == bytes_
    assert type(nic).charges(dict(nic)) is (datagram is not None)
    if datagram is not None:
        assert nic.datagram_truesize(1000, 576) == datagram + 256
        # up to 256 bytes are copied into a head of 1 KiB
        assert nic.datagram_truesize(214, 576) == 1024 + 256
        assert nic.datagram_truesize(215, 576) == (704 if kernel == "linux-6.6" else 4096) + 256


def test_counters_have_the_driver_s_names_and_their_sums_are_the_port_s(scenario: Path) -> None:
    result = ran(scenario)
    text = ethtool(result)
    assert "     queue_7_rx_cnt: " in text
    assert "rx_packets" not in text
    found = sum(one.rx_packets for one in result.queues)
    assert found == pytest.approx(result.ports[0].rx_packets_per_s * result.simulated_s)
    assert len(result.queues) == 8


def test_an_imported_instance_has_the_rules_of_its_driver(tmp_path: Path) -> None:
    found = taken(tmp_path, HOST)
    (port,) = load(tmp_path / "out" / "scenario.toml").host.ports
    nic: Any = port.nic
    assert (nic.driver, nic.rx_queues, nic.lies) == ("ena", 8, "page")
    assert (nic.adaptive_rx, nic.rx_usecs_ps, nic.tx_usecs_ps) == (True, 0, 64 * 10**6)
    assert (nic.rx_ring, nic.rx_buffers_posted) == (8192, 2048)
    link = found.drafts["nic-ens5.toml"].document["link_rate"]
    assert (link["state"], link["low"], link["high"]) == ("assumed", "1 Gbit/s", "100 Gbit/s")
    assert not any("allowances" in one for one in found.notes)


def test_an_import_says_that_the_instance_was_held_back(tmp_path: Path) -> None:
    found = taken(tmp_path, {**HOST, "ethtool-S-ens5.txt": COUNTERS})
    (said,) = (one for one in found.notes if "allowances" in one)
    assert "ens5: ethtool-S-ens5.txt" in said
    assert "(bw_out 530, pps 81,234)" in said


def test_before_linux_5_4_an_import_takes_the_neutral_card(tmp_path: Path) -> None:
    found = taken(tmp_path, {**HOST, "uname.txt": "Linux box 4.14.355-amzn2 #1 SMP x86_64\n"})
    (port,) = load(tmp_path / "out" / "scenario.toml").host.ports
    assert port.nic.driver == "neutral"
    assert "ena of Linux 4.14" in "".join(found.notes)
