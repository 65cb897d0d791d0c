"""Ports with igc: what differs from igb, and imports of hosts that have it."""

from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.core.load import load
from tests.scenario.parts.nic.test_igb import interrupts, taken
from tests.scenario.parts.nic.test_intel_nics import written

PORT = "ens1f0np0"
USECS = f"ethtool -C {PORT} rx-usecs"
_GONE = range(84, 88)
HOST = {
    "lscpu.txt": "Architecture: x86_64\nCPU(s): 8\n",
    "uname.txt": "Linux box 6.1.0-18-amd64 #1 SMP x86_64\n",
    "ethtool-i-eth0.txt": "driver: igc\nbus-info: 0000:03:00.0\n",
    "ethtool-c-eth0.txt": "Coalesce parameters for eth0:\nrx-usecs: 3\nrx-frames: 0\ntx-usecs: 0\n",
}


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Requests over a port of an I226."""
    path = written(tmp_path_factory.mktemp("igc"), "intel-i226")
    lines = path.read_text("utf-8").splitlines(keepends=True)
    four = [line for line in lines if not line.startswith(tuple(f'"/proc/irq/{n}' for n in _GONE))]
    path.write_text("".join(four), "utf-8")
    return path


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({USECS: "2"}, "igc takes 0, 1, 3, or whole microseconds from 10 on"),
        ({"nic.rx_usecs": "9 us"}, "igc takes 0, 1, 3, or whole microseconds from 10 on"),
        ({f"ethtool -G {PORT} tx": "5000"}, "a ring of igc has at most 4096 descriptors"),
        ({f"ethtool -L {PORT} combined": "5"}, "expected 1 to 4"),
        ({f"ifconfig {PORT} mtu": "9300"}, "igc takes at most 9216 B"),
        ({f"ethtool -K {PORT} ntuple": "on"}, "the driver igc has no such knob"),
        ({"system.kernel": "linux-5.4"}, "of Linux 5.4 is not modelled: expected Linux 5.10"),
    ],
)
def test_what_the_driver_refuses(scenario: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(str(scenario), settings=settings)
    assert message in str(caught.value)


def test_it_adapts_at_its_own_speed_and_not_below_a_gigabit(scenario: Path) -> None:
    """Requests of one byte: 49 us between two interrupts of a vector; 245 us at 100 Mbit/s."""
    most = {}
    for rate in ("2.5 Gbit/s", "100 Mbit/s"):
        rates = {"nic.link_rate": rate, "peer:nic.link_rate": rate, "switch.link_rate": rate}
        result = simnet.run(str(scenario), settings=rates, duration="10 ms")
        most[rate] = max(one for line in result.interrupts for one in line.by_cpu.values())
    assert 0.9 * 1e6 / 49 < most["2.5 Gbit/s"] < 1.02 * 1e6 / 49
    assert 0.8 * 1e6 / 245 < most["100 Mbit/s"] < 1.1 * 1e6 / 245
    lively = simnet.run(str(scenario), settings={USECS: "1"}, duration="10 ms")
    calm = simnet.run(str(scenario), settings={USECS: "250"}, duration="10 ms")
    assert interrupts(lively) > 4 * interrupts(calm)


def test_a_frame_lies_in_half_a_page_until_a_time_stamp_has_no_room(scenario: Path) -> None:
    parts = {
        mtu: load(
            str(scenario), settings={f"{host}ifconfig {PORT} mtu": mtu for host in ("", "peer:")}
        )
        .ports[0]
        .nic
        for mtu in ("1626", "1627", "9000")
    }
    assert [nic.frame_buffer_bytes for nic in parts.values()] == [2048, 4096, 3 * 4096]
    assert parts["1626"].datagram_truesize(1000, 576) == 2048 + 256


@pytest.mark.parametrize("chip", ["I225-V", "I226-LM"])
def test_an_imported_port_has_the_rules_of_its_chip(tmp_path: Path, chip: str) -> None:
    pci = f"03:00.0 Ethernet controller: Intel Corporation Ethernet Controller {chip} (rev 03)\n"
    found = taken(tmp_path, {**HOST, "lspci.txt": pci})
    (port,) = load(tmp_path / "out" / "scenario.toml").host.ports
    nic: Any = port.nic
    assert (nic.driver, nic.rx_queues, nic.rx_usecs_ps) == ("igc", 4, 3 * 10**6)
    assert nic.link_rate_bps == 2_500_000_000
    assert (
        f"as in intel-{chip[:4].lower()}: "
        in found.drafts["nic-eth0.toml"].document["mtu"]["source"]
    )


def test_a_kernel_whose_driver_has_other_rules_gets_the_neutral_card(tmp_path: Path) -> None:
    found = taken(tmp_path, {**HOST, "uname.txt": "Linux box 5.4.0-150-generic #1 SMP x86_64\n"})
    (port,) = load(tmp_path / "out" / "scenario.toml").host.ports
    assert port.nic.driver == "neutral"
    assert "igc of Linux 5.4" in "".join(found.notes)
