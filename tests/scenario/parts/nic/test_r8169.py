"""Ports with r8169: what the driver has by kernel, what it refuses, and imports of such hosts."""

import re
from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.core.load import load
from tests.scenario.parts.nic.test_igb import taken
from tests.scenario.parts.nic.test_intel_nics import written

PORT = "ens1f0np0"
DEFER = f"/sys/class/net/{PORT}/napi_defer_hard_irqs"
TIMEOUT = f"/sys/class/net/{PORT}/gro_flush_timeout"


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Requests over a port of an RTL8168."""
    path = written(tmp_path_factory.mktemp("r8169"), "realtek-8168")
    text = path.read_text("utf-8")
    path.write_text(re.sub(r'"/proc/irq/8[1-7]/.*\n', "", text), "utf-8")
    return path


@pytest.fixture
def files() -> dict[str, str]:
    return {
        "lscpu.txt": "Architecture: x86_64\nCPU(s): 8\n",
        "uname.txt": "Linux desk 5.15.0-91-generic #101 SMP x86_64\n",
        "ethtool-i-eth0.txt": "driver: r8169\nbus-info: 0000:03:00.0\n",
        "ethtool-g-eth0.txt": (
            "Ring parameters for eth0:\nPre-set maximums:\nRX: 256\nTX: 256\n"
            "Current hardware settings:\nRX: 256\nTX: 256\n"
        ),
    }


@pytest.mark.parametrize(
    ("settings", "deferred"),
    [
        ({}, (1, 20)),
        ({"system.kernel": "linux-5.4"}, (0, 0)),
        ({DEFER: "0"}, (0, 0)),
        ({TIMEOUT: "50000"}, (0, 50)),
        ({DEFER: "2", TIMEOUT: "10000"}, (2, 10)),
    ],
)
def test_interrupts_are_deferred_since_6_2_unless_it_is_set(
    scenario: Path, settings: dict[str, str], deferred: tuple[int, int]
) -> None:
    effective = load(str(scenario), settings=settings)
    nic: Any = effective.ports[0].nic
    assert (nic.napi_defer_hard_irqs, nic.gro_flush_timeout_ps // 10**6) == deferred
    said = effective.provenance["host.ports[0].nic.napi_defer_hard_irqs"]
    if not settings:
        assert (said.state, said.text) == ("datasheet", "1")
        assert "netdev_sw_irq_coalesce_default_on" in said.source


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"system.kernel": "linux-4.18"}, "r8169 of Linux 4.18 has the chip wait"),
        ({f"ethtool -G {PORT} rx": "128"}, "r8169 has 256 descriptors, and no way to change it"),
        ({f"ethtool -L {PORT} combined": "2"}, "the driver r8169 has no such knob"),
    ],
)
def test_what_the_driver_refuses(scenario: Path, settings: dict[str, str], message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(str(scenario), settings=settings)
    assert message in str(caught.value)


def test_without_deferral_there_are_more_interrupts(scenario: Path) -> None:
    rates = []
    for settings in ({}, {DEFER: "0"}):
        few = {"connections": "2", **settings}
        run = simnet.run(str(scenario), settings=few, warm_up="2 ms", duration="5 ms")
        rates.append(sum(sum(line.by_cpu.values()) for line in run.interrupts))
    assert rates[1] > 1.2 * rates[0]


def test_moderation_cannot_be_told(scenario: Path) -> None:
    found = simnet.whatif(
        str(scenario),
        [f"ethtool -C {PORT} rx-usecs=20"],
        seeds=1,
        members=0,
        duration="2 ms",
        warm_up="1 ms",
    )
    (one,) = found.tunings
    assert one.verdict == "cannot tell"
    assert "moderation of the driver r8169 is not modelled" in one.reason


@pytest.mark.parametrize(
    ("called", "mbps", "base"),
    [
        ("RTL8111/8168/8411 PCI Express Gigabit Ethernet Controller", 1000, "realtek-8168"),
        ("RTL8125 2.5GbE Controller", 2500, "realtek-rtl8125"),
        ("", 1000, "realtek-8168"),
    ],
)
def test_an_imported_port_is_of_its_chip(
    tmp_path: Path, files: dict[str, str], called: str, mbps: int, base: str
) -> None:
    if called:
        files["lspci.txt"] = f"03:00.0 Ethernet controller: Realtek Co., Ltd. {called} (rev 05)\n"
    found = taken(tmp_path, files)
    assert f"as in {base}: " in found.drafts["nic-eth0.toml"].text()
    effective = load(tmp_path / "out" / "scenario.toml")
    nic: Any = effective.host.ports[0].nic
    assert (nic.driver, nic.link_rate_bps) == ("r8169", mbps * 10**6)
    far: Any = effective.peers[0].ports[0].nic
    assert (far.driver, far.rx_queues, far.link_rate_bps) == ("neutral", 8, mbps * 10**6)


def test_on_a_kernel_before_5_1_it_is_a_neutral_card(tmp_path: Path, files: dict[str, str]) -> None:
    files["uname.txt"] = "Linux desk 4.18.0-80.el8.x86_64 #1 SMP x86_64\n"
    taken(tmp_path, files)
    nic: Any = load(tmp_path / "out" / "scenario.toml").host.ports[0].nic
    assert (nic.driver, nic.stands_in_for, nic.link_rate_bps) == (
        "neutral",
        "r8169 of Linux 4.18.0",
        10**9,
    )
