"""Prompts of all kinds, and hosts of which few outputs say little."""

from pathlib import Path
from typing import Any

import pytest

from simnet.diagnose.page import Page
from simnet.importing.pasted import split
from simnet.scenario.core.load import load
from tests.importing.test_few_outputs import RINGS, taken


@pytest.mark.parametrize(
    ("line", "command"),
    [
        ("deb12:~$ ethtool -k eth0", "ethtool -k eth0"),
        ("gw:/etc# sudo ethtool -k eth0", "ethtool -k eth0"),
        ("~ # cat /proc/interrupts", "cat /proc/interrupts"),
        ("/ # ip link", "ip link"),
        ("bash-5.1# uname -a", "uname -a"),
        ("sh-4.2$ sysctl -a", "sysctl -a"),
        ("Every 1.0s: ethtool -S eth0          db1: Mon Nov  3 10:00:00 2025", "ethtool -S eth0"),
        ("ethtool -S eth0", "ethtool -S eth0"),
        ("  sudo ethtool eth0", "ethtool eth0"),
        ("netstat -su", "netstat -su"),
        ("$ date; ethtool -S eth0", "ethtool -S eth0"),
        ("# sleep 60 && ethtool -S eth0", "ethtool -S eth0"),
    ],
)
def test_a_prompt_without_a_user_or_no_prompt_at_all(line: str, command: str) -> None:
    parts = split(f"{line}\nwhat: it printed\n")
    assert [(one.command, one.lines) for one in parts] == [(command, ("what: it printed",))]


@pytest.mark.parametrize(
    "line",
    [
        "ethtool -G eth0 rx 4096 tx 4096",
        "/usr/lib: $HOME is set",
        "ss -s says that there are many",
        "kernel: ~ # of retries",
        "cat /proc/interrupts shows this",
    ],
)
def test_what_is_no_prompt(line: str) -> None:
    assert [one.command for one in split(f"{line}\nwhat: it printed\n")] == [None]


def test_a_report_knows_the_port_by_the_same_prompts() -> None:
    text = "deb12:~$ ethtool -S eth3\nNIC statistics:\n  rx_dropped: 3\n$ ethtool -S eth4\nx\n"
    page = Page("paste.txt", text)
    assert [page.port_at(line) for line in (2, 3, 5)] == ["eth3", "eth3", "eth4"]
    headed = Page("paste.txt", f"{RINGS}\n{RINGS.replace('eth0', 'eth1')}")
    assert [headed.port_at(line) for line in (2, 10)] == ["eth0", "eth1"]


BANNER = "Linux 5.15.0-119-generic (cache2) \t10/01/2025 \t_x86_64_\t(16 CPU)\n"
UNAME = "$ uname -r\n5.14.0-362.el9\n"


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("[root@nfs2 ~]# nproc\n4\n", "nfs2"),
        ("deb12:~$ nproc\n4\n", "deb12"),
        ("root@localhost:~# nproc\n4\n", ""),
        (BANNER, "cache2"),
        ("$ hostnamectl\n   Static hostname: worker-7\n  Chassis: vm\n", "worker-7"),
        # uname's counts more than a prompt's
        ("me@laptop:~$ uname -a\nLinux db1 5.15.0-91 #1 SMP x86_64\n", "db1"),
    ],
)
def test_a_host_has_its_own_name(tmp_path: Path, text: str, name: str) -> None:
    assert taken(tmp_path, {"p.txt": text}).name == name


@pytest.mark.parametrize("file", ["proc/sys/kernel/hostname", "etc/hostname"])
def test_a_snapshot_has_the_name_that_its_file_says(tmp_path: Path, file: str) -> None:
    files = {file: "web-7\n", "p.txt": "deb12:~$ nproc\n4\n"}
    assert taken(tmp_path, files).name == "web-7"


@pytest.mark.parametrize(
    ("text", "kernel", "distribution"),
    [
        (UNAME + "$ cat /etc/redhat-release\nCentOS Stream release 9\n", "5.14.0-362.el9", "CentOS Stream release 9"),  # noqa: E501
        ("$ uname -srm\nLinux 5.15.0-105-generic x86_64\n$ lsb_release -a\nDistributor ID:\tUbuntu\nDescription:\tUbuntu 22.04.4 LTS\n", "5.15.0-105-generic", "Ubuntu 22.04.4 LTS"),  # noqa: E501
        ("$ cat /etc/debian_version\n12.5\n", "", "Debian 12.5"),
        ("$ hostnamectl\n Static hostname: w\n  Operating System: Ubuntu 20.04.6 LTS\n            Kernel: Linux 5.4.0-1101-aws\n", "5.4.0-1101-aws", "Ubuntu 20.04.6 LTS"),  # noqa: E501
        ("$ uname -a\nLinux a 6.1.0-28-amd64 #1 SMP Debian 6.1.119-1 x86_64\n", "6.1.0-28-amd64", "Debian"),  # noqa: E501
    ],
)  # fmt: skip
def test_kernel_and_distribution_as_older_hosts_tell_them(
    tmp_path: Path, text: str, kernel: str, distribution: str
) -> None:
    facts = taken(tmp_path, {"p.txt": text}).host.facts
    assert str(facts["kernel"].value if "kernel" in facts else "") == kernel
    assert facts["distribution"].value == distribution


@pytest.mark.parametrize(
    ("text", "state"),
    [
        ("$ systemctl is-active irqbalance\nactive\n", "on"),
        ("$ systemctl is-active irqbalance\ninactive\n", "off"),
        ("$ service irqbalance status\nirqbalance is stopped\n", "off"),
        ("irqbalance.service - irqbalance daemon\n   Active: active (running) since Mon\n", "on"),
    ],
)
def test_irqbalance_by_its_service(tmp_path: Path, text: str, state: str) -> None:
    assert taken(tmp_path, {"p.txt": text}).host.facts["irqbalance"].value == state


SAR = (
    "Average:        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s\n"
    "Average:  {}  900.0 900.0 90.0 90.0\n"
)
DEV = "Inter-|   Receive\n face |bytes\n{:>6}: 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16\n"


@pytest.mark.parametrize(
    "text",
    [
        SAR.format("eth0"),
        "$ cat /proc/net/dev\n" + DEV.format("eth0"),
        "$ ip -br link\nlo UNKNOWN 00:00:00:00:00:00 <UP>\neth0 UP aa:bb:cc:00:11:22 <UP>\n",
        "eth0      Link encap:Ethernet  HWaddr AA\n",
        "eth0: flags=4163<UP,BROADCAST>  mtu 1500\n",
        # a chip of a board, without a bus
        "$ ethtool -i eth0\ndriver: st_gmac\nbus-info: \n",
    ],
)
def test_a_port_that_a_list_names(tmp_path: Path, text: str) -> None:
    assert [nic.name for nic in taken(tmp_path, {"p.txt": text}).host.nics] == ["eth0"]


@pytest.mark.parametrize("driver", ["bridge", "veth", "wireguard", "vxlan", "ifb"])
def test_what_has_no_card_is_no_port(tmp_path: Path, driver: str) -> None:
    found = taken(tmp_path, {"p.txt": f"$ ethtool -i eth0\ndriver: {driver}\nbus-info: \n"})
    assert found.host.nics == ()


def test_cpus_by_the_rows_of_softnet_stat(tmp_path: Path) -> None:
    row = " ".join(["00000000"] * 11)
    found = taken(tmp_path, {"p.txt": f"$ cat /proc/net/softnet_stat\n{row}\n{row}\n{row}\n"})
    assert found.host.topology.cpus == frozenset(range(3))
    assert "if none was left out" in found.host.topology.guessed["cpus"]


def test_connections_of_a_test_are_counted_where_it_connects(tmp_path: Path) -> None:
    text = (
        "$ iperf3 -c 10.0.0.1 -P 2\nConnecting to host 10.0.0.1, port 5201\n"
        "[  5] local 10.0.0.2 port 40000 connected to 10.0.0.1 port 5201\n"
        "[  7] local 10.0.0.2 port 40001 connected to 10.0.0.1 port 5201\n"
        "[ ID] Interval           Transfer     Bitrate         Retr  Cwnd\n"
        "[SUM]   0.00-10.00  sec  1.10 GBytes   940 Mbits/sec    0             sender\n"
    )
    (test,) = taken(tmp_path, {"p.txt": text}).host.tests
    assert (test.test, test.connections) == ("netperf", 2)


def test_connections_that_are_not_simulated_are_said(tmp_path: Path) -> None:
    rows = (
        SAR.format("eth0")
        .replace("90.0 90.0", "12000.0 90.0")
        .replace("900.0 900.0", "9000.0 900.0")
    )
    text = f"$ sar -n DEV 1 1\n{rows}$ ss -s\nTotal: 512\nTCP:   312 (estab 287, closed 3)\n"
    found = taken(tmp_path, {"p.txt": text})
    assert any("32 streams in place of 287 connections" in note for note in found.notes)


CHANNELS = (
    "$ nproc\n8\n$ ethtool -i eth0\ndriver: mlx5_core\n"
    "$ ethtool -l eth0\nChannel parameters for eth0:\n"
    "Pre-set maximums:\nCombined:\t8\nCurrent hardware settings:\nCombined:\t1\n"
)


@pytest.mark.parametrize(("peer", "queues"), [("healthy", 8), ("same", 1)])
def test_the_peer_has_the_queues_that_its_card_can_have(
    tmp_path: Path, peer: str, queues: int
) -> None:
    taken(tmp_path, {"p.txt": CHANNELS}, peer=peer)
    loaded = load(str(tmp_path / "out" / "scenario.toml"))
    counts = [host.ports[0].nic.rx_queues for host in (loaded.host, *loaded.peers)]
    assert counts == [1, queues]


SMALL_RINGS = (
    "$ nproc\n8\n$ ethtool -i eth0\ndriver: {driver}\n$ ethtool -g eth0\n"
    "Ring parameters for eth0:\nPre-set maximums:\nRX:\t2048\nTX:\t2048\n"
    "Current hardware settings:\nRX:\t64\nTX:\t64\n"
)


@pytest.mark.parametrize(
    ("driver", "peer", "rings"),
    [
        ("mlx5_core", "healthy", [(64, 64), (1023, 1023)]),
        ("mlx5_core", "same", [(64, 64), (64, 64)]),
        ("ixgbe", "healthy", [(64, 64), (511, 511)]),
        ("atlantic", "healthy", [(64, 64), (512, 512)]),
    ],
)
def test_the_peer_has_the_rings_of_its_driver(
    tmp_path: Path, driver: str, peer: str, rings: list[tuple[int, int]]
) -> None:
    taken(tmp_path, {"p.txt": SMALL_RINGS.format(driver=driver)}, peer=peer)
    loaded = load(str(tmp_path / "out" / "scenario.toml"))
    nics: Any = [host.ports[0].nic for host in (loaded.host, *loaded.peers)]
    assert [(nic.rx_buffers_posted, nic.tx_ring) for nic in nics] == rings


def test_a_part_that_nobody_knows_is_listed(tmp_path: Path) -> None:
    text = (
        "$ nproc\n4\n$ rpm -qa --last\nkernel-5.14\n$ cat /proc/cmdline\nquiet\n$ lscpu\nCPU(s): 4"
    )
    found = taken(tmp_path, {"p.txt": text})
    listed = {one["file"]: (one["state"], one["why"]) for one in found.files()}
    assert listed["p.txt:4"] == ("not understood", "rpm -qa --last: no format that is known here")
    assert set(listed) == {"p.txt", "p.txt:4"}
    assert "rpm -qa" in found.report()
