"""Commands read as settings: what a knob has typed is read back as that knob with that value."""

import pytest

from simnet.scenario.commands.typed import is_command, knob_named, settings_of_commands
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.load import load

MASK = "/sys/class/net/eth0/queues/rx-{}/rps_cpus"


@pytest.mark.parametrize(
    ("typed", "settings"),
    [
        ("ethtool -G eth0 rx 4096", {"ethtool -G eth0 rx": "4096"}),
        ("sudo ethtool -K eth0 gro off tso off",
         {"ethtool -K eth0 gro": "off", "ethtool -K eth0 tso": "off"}),
        ("ip link set dev eth0 mtu 9000", {"ifconfig eth0 mtu": "9000"}),
        ("ip link set {port} mtu 9000", {"ifconfig {port} mtu": "9000"}),
        ('sysctl -w net.ipv4.tcp_rmem="4096 87380 6291456" net.core.rmem_max=1',
         {"net.ipv4.tcp_rmem": "4096 87380 6291456", "net.core.rmem_max": "1"}),
        (f"echo ff > {MASK.format(3)}", {MASK.format(3): "ff"}),
        (f"for file in {MASK.format('*')}; do echo ff > $file; done", {MASK.format("*"): "ff"}),
        ("systemctl stop irqbalance && echo 2 > /proc/irq/64/smp_affinity_list",
         {"irqbalance": "off", "/proc/irq/64/smp_affinity_list": "2"}),
        ("service irqbalance start; ifconfig eth0 mtu 1500",
         {"irqbalance": "on", "ifconfig eth0 mtu": "1500"}),
    ],
)  # fmt: skip
def test_what_an_administrator_types_is_a_setting(typed: str, settings: dict[str, str]) -> None:
    assert is_command(typed)
    assert dict(settings_of_commands(typed) or ()) == settings


@pytest.mark.parametrize(
    "typed",
    ["ethtool -K eth0 lro on", "rm -rf /", "sysctl -w kernel.sysrq=1", "echo 1 > /etc/passwd", "'"],
)
def test_another_command_sets_nothing(typed: str) -> None:
    assert settings_of_commands(typed) is None


def test_what_a_knob_has_typed_is_read_back() -> None:
    places = {"port": "eth0", "irq": "64", "queue": "3", "disk": "sda", "drive": "nvme0n1"}
    lines = {
        knob.typed("7", places, today=today): knob.name.format(**places)
        for knob in KNOBS
        for today in (False, True)
        if knob.command.startswith(("ethtool", "sysctl", "ifconfig", "echo {value} > /proc"))
    }
    assert len(lines) > 60
    for line, name in lines.items():
        if name.startswith("ethtool -N "):
            continue
        assert settings_of_commands(line) == ((name, "7"),), line


def test_a_name_as_typed_today_is_the_knob_everywhere() -> None:
    assert knob_named("peer:ip link set dev eth0 mtu") == "peer:ifconfig eth0 mtu"
    assert knob_named("no such thing") == "no such thing"
    set_ = load("web-25g", settings={"ip link set dev eth0 mtu": "4000"})
    assert set_.ports[0].nic.mtu_bytes == 4000
