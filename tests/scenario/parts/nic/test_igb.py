"""Ports with igb: its modes of `rx-usecs`, its queues, and imports of hosts that have it."""

from functools import cache
from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.importing.import_host import import_host
from simnet.net.link.skb import Header, Station
from simnet.net.nic.rss import block_table
from simnet.scenario.core.load import load
from simnet.scenario.parts.nic.build import _rss
from simnet.scenario.scenarios import find_scenario
from simnet.study.run.result import Result
from tests.scenario.parts.nic.test_intel_nics import written

PORT = "ens1f0np0"
USECS = f"ethtool -C {PORT} rx-usecs"
RUN = '[irqbalance]\nmap = "none"\n[run]\nwarm_up = "5 ms"\nduration = "20 ms"\n'
HOST = {
    "lscpu.txt": "Architecture: x86_64\nCPU(s): 4\n",
    "uname.txt": "Linux box 5.15.0-91-generic #101 SMP x86_64\n",
    "ethtool-i-eth0.txt": "driver: igb\nbus-info: 0000:03:00.0\n",
    "ethtool-c-eth0.txt": "Coalesce parameters for eth0:\nrx-usecs: 3\nrx-frames: 0\ntx-usecs: 0\n",
}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Requests over a port of an I350."""
    return written(tmp_path_factory.mktemp("igb"), "intel-i350")


@cache
def ran(scenario: Path, *settings: tuple[str, str]) -> Result:
    return simnet.run(str(scenario), settings=dict(settings), duration="10 ms")


def interrupts(result: Result) -> float:
    return sum(sum(line.by_cpu.values()) for line in result.interrupts)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({USECS: "2"}, "igb takes 0, 1, 3, or whole microseconds from 10 on"),
        ({USECS: "9"}, "igb takes 0, 1, 3, or whole microseconds from 10 on"),
        ({"nic.rx_usecs": "10500 ns"}, "igb takes 0, 1, 3, or whole microseconds from 10 on"),
        ({"nic.rx_usecs": "9000 us"}, "igb takes at most 8191 us"),
        ({f"ethtool -G {PORT} tx": "5000"}, "a ring of igb has at most 4096 descriptors"),
        ({"nic.msix": "off"}, "without MSI-X igb has one queue"),
        ({f"ethtool -L {PORT} rx": "2"}, "igb has channels of both, not 2 receive and 8 transmit"),
        ({f"ethtool -L {PORT} combined": "9"}, "expected 1 to 8"),
        ({f"ethtool -C {PORT} tx-usecs": "10"}, "the driver igb has no such knob"),
    ],
)
def test_what_the_driver_refuses(scenario: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(str(scenario), settings=settings)
    assert message in str(caught.value)


def test_three_is_a_mode_and_no_time(scenario: Path) -> None:
    """Requests of one byte: 49 us between two interrupts of a vector, not 3 us."""
    adapts = ran(scenario, (USECS, "3"))
    assert adapts.interrupts == ran(scenario).interrupts
    # each CPU serves one vector
    most = max(rate for line in adapts.interrupts for rate in line.by_cpu.values())
    assert 0.95 * 1e6 / 49 < most < 1.02 * 1e6 / 49
    assert interrupts(ran(scenario, (USECS, "1"))) > 1.5 * interrupts(adapts)
    assert interrupts(ran(scenario, (USECS, "250"))) < 0.5 * interrupts(adapts)


def test_each_queue_has_neighbouring_entries_of_the_table(scenario: Path) -> None:
    assert block_table(128, 8) == [queue for queue in range(8) for _ in range(16)]
    assert block_table(128, 3).count(0) == 43
    whole: Any = load(str(scenario)).ports[0].nic
    equal: Any = load(str(scenario), settings={f"ethtool -X {PORT} equal": "3"}).ports[0].nic
    for port in range(40_000, 40_060):
        header = Header(Station(1), Station(2), 0x0A000001, 0x0A000002, port, 80)
        place = _rss(whole).hash_of(header) & 127
        assert (_rss(whole).queue(header), _rss(equal).queue(header)) == (place // 16, place % 3)


@pytest.mark.parametrize(
    ("kernel", "mtu", "bytes_"),
    [
        ("linux-6.1", "1500", 2048),
        # half a page has no room for skb_shared_info, too
        ("linux-6.1", "1627", 4096),
        ("linux-6.1", "9000", 3 * 4096),
        ("linux-4.10", "1627", 2048),
        ("linux-4.10", "9000", 5 * 2048),
    ],
)
def test_a_frame_lies_in_pages_as_the_kernel_has_it(
    scenario: Path, kernel: str, mtu: str, bytes_: int
) -> None:
    mtus = {f"{host}ifconfig {PORT} mtu": mtu for host in ("", "peer:")}
    nic = load(str(scenario), settings={"system.kernel": kernel, **mtus}).ports[0].nic
    assert nic.frame_buffer_bytes == bytes_


def test_datagrams_need_a_kernel_of_which_their_charge_is_known(scenario: Path) -> None:
    text = find_scenario("media-udp").read_text("utf-8")
    text = text[: text.index("[tuning]")].replace("xeon-ice-lake-e810", "server.toml")
    udp = scenario.with_name("udp.toml")
    for kernel in ("linux-4.18", "linux-4.10"):
        udp.write_text(text.replace("linux-6.6", kernel) + RUN, "utf-8")
        if kernel == "linux-4.18":
            result: Any = simnet.run(str(udp), settings={"udp.rate": "1000"})
            assert result.udp.delivered_percent > 99.0
            continue
        with pytest.raises(InputError, match="igb has a datagram charged with is not known"):
            load(str(udp))


def taken(folder: Path, files: dict[str, str]) -> Any:
    (folder / "in").mkdir()
    for name, text in files.items():
        (folder / "in" / name).write_text(text, "utf-8")
    found = import_host(folder / "in")
    found.write(folder / "out")
    return found


@pytest.mark.parametrize(
    ("chip", "queues"), [("I350 Gigabit", 4), ("I210 Gigabit", 4), ("I211 Gigabit", 2), ("", 4)]
)
def test_an_imported_port_has_as_many_queues_as_its_chip(
    tmp_path: Path, chip: str, queues: int
) -> None:
    pci = f"03:00.0 Ethernet controller: Intel Corporation {chip} Network Connection (rev 03)\n"
    found = taken(tmp_path, {**HOST, "lspci.txt": pci} if chip else HOST)
    (port,) = load(tmp_path / "out" / "scenario.toml").host.ports
    nic: Any = port.nic
    assert (nic.driver, nic.rx_queues, nic.tx_queues) == ("igb", queues, queues)
    assert (nic.rx_usecs_ps, nic.link_rate_bps) == (3 * 10**6, 10**9)
    assert f"eth0: {queues} queues are assumed: no file says it: one a CPU" in "".join(found.notes)
    read = {one["name"] for one in found.values() if one["state"] == "read"}
    assert "ethtool -C eth0 rx-usecs" in read
    unused = {one["name"]: one["why"] for one in found.unused()}
    assert "no such knob" in unused["ethtool -C eth0 tx-usecs"]


def test_the_table_that_the_driver_makes_is_no_setting(tmp_path: Path) -> None:
    rows = "\n".join(f"{8 * n:5}:" + f"{n * 4 // 16:6}" * 8 for n in range(16))
    text = f"RX flow hash indirection table for eth0 with 4 RX ring(s):\n{rows}\n"
    found = taken(tmp_path, {**HOST, "ethtool-x-eth0.txt": text})
    assert not [one for one in found.unused() if "-X" in one["name"]]
