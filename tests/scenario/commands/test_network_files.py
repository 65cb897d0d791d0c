"""What keeps settings of ports over a reboot, by distribution and version."""

from pathlib import Path
from typing import Final

import pytest

from simnet.importing.import_host import import_host
from simnet.scenario.commands.commands import Commands, commands
from simnet.scenario.core.load import load
from tests.importing.trees import folder
from tests.scenario.commands.sandbox import Sandbox

PASTE: Final = (
    "$ uname -a\nLinux h1 {kernel} #1 SMP x86_64\n$ cat /etc/{file}\n{name}\n"
    "$ ethtool -i eth0\ndriver: ice\n$ ethtool -i eth1\ndriver: ice\n"
)
UBUNTU: Final = 'PRETTY_NAME="Ubuntu {}"'
DEBIAN: Final = 'PRETTY_NAME="Debian GNU/Linux {}"'
RINGS: Final = (
    "$ ethtool -g eth0\nRing parameters for eth0:\nPre-set maximums:\nRX: 4096\nTX: 4096\n"
    "Current hardware settings:\nRX: 512\nTX: 512\n"
)
RESTARTS: Final = "# the port may restart for it: a session over it stands still for seconds then"
SETTINGS: Final = {"ifconfig eth0 mtu": "9000", "ethtool -G eth0 rx": "1024"}


def typed(tmp_path: Path, paste: str, settings: dict[str, str]) -> Commands:
    """What is typed on an imported host for some settings: lines that a shell reads."""
    found = import_host(folder(tmp_path / "host", {"p.txt": paste}), workload="stream")
    found.write(tmp_path / "out")
    place = str(tmp_path / "out" / "scenario.toml")
    base = load(place)
    lines = commands(base, load(place, settings=settings))[0]
    sandbox = Sandbox(tmp_path / "sandbox", base.host)
    sandbox.parse((*lines.apply, *lines.keep, *lines.drop, *lines.undo))
    return lines


def on(tmp_path: Path, kernel: str, file: str, name: str) -> Commands:
    """The same of a host with a kernel, and a file that names the distribution."""
    return typed(tmp_path, PASTE.format(kernel=kernel, file=file, name=name) + RINGS, SETTINGS)


def test_a_router_has_scripts_of_its_own_kind(tmp_path: Path) -> None:
    release = 'NAME="OpenWrt"\nVERSION="24.10.0"\nPRETTY_NAME="OpenWrt 24.10.0"'
    settings = {**SETTINGS, "irqbalance": "on", "net.core.rmem_max": "4194304"}
    paste = PASTE.format(kernel="6.6.73", file="os-release", name=release) + RINGS
    found = typed(tmp_path, paste, settings)
    assert "ip link set dev eth0 mtu 9000" in found.apply
    assert "#!/bin/sh /etc/rc.common" in found.keep
    assert "/etc/init.d/simnet-tuning enable" in found.keep
    assert "cat >> /etc/sysctl.conf <<'END'" in found.keep
    assert "/etc/init.d/simnet-tuning disable" in found.drop
    everything = (*found.apply, *found.keep, *found.drop, *found.undo)
    assert not any("systemctl" in line or "chkconfig" in line for line in everything)


def test_machines_without_a_name_are_called_what_they_are(tmp_path: Path) -> None:
    host = folder(tmp_path / "host", {"p.txt": "$ ethtool -i eth0\ndriver: ice\n"})
    import_host(host, workload="stream").write(tmp_path / "out")
    place = str(tmp_path / "out" / "scenario.toml")
    settings = {f"{who}ifconfig eth0 mtu": "9000" for who in ("", "peer:")}
    found = commands(load(place), load(place, settings=settings))
    assert [one.where for one in found] == ["the host", "each peer"]


IFCFG: Final = "/etc/sysconfig/network-scripts/ifcfg-eth0"
CONNECTION: Final = 'nmcli connection modify "$(nmcli -g GENERAL.CONNECTION device show eth0)"'


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("2.6.18-164.el5", "CentOS release 5.4 (Final)"),
        ("2.6.32-642.el6.x86_64", "Red Hat Enterprise Linux Server release 6.8 (Santiago)"),
    ],
)
def test_old_red_hat_has_ifcfg_and_init_scripts(tmp_path: Path, kernel: str, name: str) -> None:
    found = on(tmp_path, kernel, "redhat-release", name)
    assert found.apply[:2] == (RESTARTS, "ifconfig eth0 mtu 9000")
    assert f"echo MTU=9000 >> {IFCFG}" in found.keep
    assert "chkconfig --add simnet-tuning" in found.keep
    assert f"sed -i '/^MTU=9000$/d' {IFCFG}" in found.drop
    assert not any("nmcli" in line or "systemctl" in line for line in found.keep)


def test_red_hat_7_keeps_the_mtu_by_nmcli_and_the_ring_by_a_unit(tmp_path: Path) -> None:
    release = "CentOS Linux release 7.9.2009 (Core)"
    found = on(tmp_path, "3.10.0-1160.el7.x86_64", "redhat-release", release)
    assert found.apply[:2] == (RESTARTS, "ip link set dev eth0 mtu 9000")
    assert found.undo[0] == RESTARTS
    assert f"{CONNECTION} 802-3-ethernet.mtu 9000" in found.keep
    assert "systemctl enable simnet-tuning.service" in found.keep
    assert "ethtool -G eth0 rx 1024" in found.keep


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("4.18.0-513.el8.x86_64", "Rocky Linux release 8.9 (Green Obsidian)"),
        ("5.14.0-362.8.1.el9_3.x86_64", "Red Hat Enterprise Linux release 9.3 (Plow)"),
    ],
)
def test_red_hat_since_8_keeps_both_by_nmcli(tmp_path: Path, kernel: str, name: str) -> None:
    found = on(tmp_path, kernel, "redhat-release", name)
    assert found.keep == (f"{CONNECTION} 802-3-ethernet.mtu 9000 ethtool.ring-rx 1024",)
    assert found.drop == (f"{CONNECTION} 802-3-ethernet.mtu 1500 ethtool.ring-rx ''",)


@pytest.mark.parametrize(
    ("kernel", "name", "way"),
    [
        ("5.15.0-105-generic", UBUNTU.format("22.04.4 LTS"), "netplan"),
        ("4.15.0-20-generic", UBUNTU.format("18.04 LTS"), "netplan"),
        # whose kernel is that of 18.04
        ("4.15.0-112-generic", UBUNTU.format("16.04.7 LTS"), "interfaces"),
        ("6.1.0-18-amd64", DEBIAN.format("12 (bookworm)"), "interfaces"),
    ],
)
def test_debian_and_ubuntu(tmp_path: Path, kernel: str, name: str, way: str) -> None:
    found = on(tmp_path, kernel, "os-release", name)
    text = "\n".join(found.keep)
    netplan = "    eth0:\n      mtu: 9000\nEND\nchmod 600 /etc/netplan/90-simnet-tuning.yaml"
    interfaces = r"sed -i '/^iface eth0 inet /a\    mtu 9000' /etc/network/interfaces"
    assert (netplan in text, interfaces in text) == (way == "netplan", way == "interfaces")
    assert "systemctl enable simnet-tuning.service" in found.keep
    assert "nmcli" not in text
    assert "ifcfg" not in text


def test_an_old_driver_does_not_end_an_import(tmp_path: Path) -> None:
    """Its way to adapt to the load is not simulated, so it is a card of unknown moderation."""
    paste = PASTE.format(
        kernel="4.18.0-513.el8", file="redhat-release", name="Rocky Linux release 8.9"
    )
    found = import_host(folder(tmp_path / "host", {"p.txt": paste}))
    said = "eth0: driver ice of Linux 4.18.0: queues, rings and speed as read, moderation unknown"
    assert said in found.notes
    rate = found.drafts["nic-eth0.toml"].document["link_rate"]
    assert (rate["value"], rate["state"]) == ("100000 Mbit/s", "assumed")


def test_debian_before_systemd(tmp_path: Path) -> None:
    found = on(tmp_path, "3.2.0-4-amd64", "os-release", DEBIAN.format("7 (wheezy)"))
    assert "update-rc.d simnet-tuning defaults" in found.keep
    assert found.apply[:2] == (RESTARTS, "ifconfig eth0 mtu 9000")


BOND: Final = (
    "$ cat /proc/net/bonding/bond0\nBonding Mode: IEEE 802.3ad Dynamic link aggregation\n"
    "Transmit Hash Policy: layer2 (0)\nMII Polling Interval (ms): 100\n"
    "\nSlave Interface: eth0\nMII Status: up\nSpeed: 10000 Mbps\n"
    "\nSlave Interface: eth1\nMII Status: up\nSpeed: 10000 Mbps\n"
)
OF_INTERFACES: Final = "# in /etc/network/interfaces, a line each below iface bond0"
OF_WICKED: Final = "# in /etc/sysconfig/network/ifcfg-bond0"
HASH: Final = {"modprobe bonding xmit_hash_policy": "layer2+3"}
ECHO: Final = "echo {} > /sys/class/net/bond0/bonding/xmit_hash_policy"
DOWN: Final = "# bond0 goes down: a session over it is cut off, so type this at the console"


def test_the_hash_of_a_bond_is_one_echo(tmp_path: Path) -> None:
    name = "Red Hat Enterprise Linux release 9.3 (Plow)"
    paste = PASTE.format(kernel="5.14.0-362.el9", file="redhat-release", name=name) + BOND
    found = typed(tmp_path, paste, HASH)
    assert (found.apply, found.undo) == ((ECHO.format("layer2+3"),), (ECHO.format("layer2"),))
    assert found.keep[0].startswith("nmcli connection modify bond0 +bond.options mode=802.3ad,")
    assert found.keep[0].endswith("xmit_hash_policy=layer2+3")
    assert "xmit_hash_policy=layer2," in found.drop[0]


@pytest.mark.parametrize(
    ("kernel", "file", "name", "line"),
    [
        (
            "5.15.0-91-generic",
            "os-release",
            UBUNTU.format("22.04.3 LTS"),
            "        transmit-hash-policy: layer2+3",
        ),
        (
            "6.1.0-18-amd64",
            "os-release",
            DEBIAN.format("12 (bookworm)"),
            f"{OF_INTERFACES}: bond-mode 802.3ad, bond-miimon 100, bond-xmit-hash-policy layer2+3",
        ),
        (
            "5.14.21-150500.55.39-default",
            "os-release",
            'PRETTY_NAME="SUSE Linux Enterprise Server 15 SP5"',
            f"{OF_WICKED}: BONDING_MODULE_OPTS='mode=802.3ad miimon=100 xmit_hash_policy=layer2+3'",
        ),
    ],
)
def test_a_bond_is_kept_in_the_words_of_its_distribution(
    tmp_path: Path, kernel: str, file: str, name: str, line: str
) -> None:
    found = typed(tmp_path, PASTE.format(kernel=kernel, file=file, name=name) + BOND, HASH)
    assert line in found.keep
    assert not any("options bonding" in one for one in found.keep)


def test_where_it_needs_the_bond_down_that_is_said_first(tmp_path: Path) -> None:
    name = "CentOS Linux release 7.9.2009 (Core)"
    paste = PASTE.format(kernel="3.10.0-1160.el7", file="redhat-release", name=name) + BOND
    found = typed(tmp_path, paste, HASH)
    up = "ip link set dev bond0 {}"
    assert found.apply == (DOWN, up.format("down"), ECHO.format("layer2+3"), up.format("up"))
    assert not any("modprobe" in line for line in (*found.apply, *found.undo, *found.keep))
    run = load(str(tmp_path / "out" / "scenario.toml"))
    assert [port.nic.link_rate_bps for port in run.host.ports] == [10**10, 10**10]


def test_the_processes_are_the_host_s_own(tmp_path: Path) -> None:
    cpus = "$ lscpu\nCPU(s): 8\nNUMA node(s): 2\nNUMA node0 CPU(s): 0-3\nNUMA node1 CPU(s): 4-7\n"
    name = "Red Hat Enterprise Linux release 9.3 (Plow)"
    paste = PASTE.format(kernel="5.14.0-362.el9", file="redhat-release", name=name) + cpus
    found = typed(tmp_path, paste, {"numactl --cpubind": "1"})
    lines = (*found.apply, *found.undo)
    assert any("start the processes of" in line and "--cpubind=1" in line for line in lines)
    assert not any("netserver" in line.partition(" ")[0] for line in lines)
    assert not any(line.startswith(("killall", "numactl")) for line in lines)


def test_a_driver_that_is_loaded_anew_cuts_sessions_off(tmp_path: Path) -> None:
    paste = PASTE.format(kernel="2.6.32-642.el6", file="redhat-release", name="CentOS release 6.8")
    settings = {"modprobe e1000e InterruptThrottleRate": "3000"}
    found = typed(tmp_path, paste.replace("ice", "e1000e"), settings)
    assert found.apply[0].startswith(
        "# the ports of e1000e go down: a session over them is cut off"
    )
    assert found.undo[0] == found.apply[0]
    assert found.apply[1].startswith("modprobe -r e1000e; ")


SLES: Final = 'PRETTY_NAME="SUSE Linux Enterprise Server {}"'
WICKED: Final = "/etc/sysconfig/network/ifcfg-eth0"


def test_sles_with_wicked_has_its_own_ifcfg(tmp_path: Path) -> None:
    found = on(tmp_path, "5.14.21-150500.55.19-default", "os-release", SLES.format("15 SP5"))
    assert found.apply[:2] == (RESTARTS, "ip link set dev eth0 mtu 9000")
    assert f"echo \"MTU='9000'\" >> {WICKED}" in found.keep
    assert f"sed -i \"/^MTU='9000'$/d\" {WICKED}" in found.drop
    assert any("ethtool -G eth0 rx 1024" in line for line in found.keep)


@pytest.mark.parametrize(
    ("kernel", "name"),
    [
        ("6.12.0-160000.5-default", SLES.format("16.0")),
        ("6.8.5-301.fc40.x86_64", 'PRETTY_NAME="Fedora Linux 40 (Server Edition)"'),
    ],
)
def test_sles_16_and_fedora_have_networkmanager(tmp_path: Path, kernel: str, name: str) -> None:
    found = on(tmp_path, kernel, "os-release", name)
    assert f"{CONNECTION} 802-3-ethernet.mtu 9000 ethtool.ring-rx 1024" in found.keep
