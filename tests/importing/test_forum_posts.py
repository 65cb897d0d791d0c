"""Posts of forums are imported with what they say: each value compared with its text by hand."""

from pathlib import Path
from typing import Final

import pytest

from simnet.importing.import_host import import_host
from simnet.importing.parsers.kernel_log import logged_ports
from simnet.importing.writing.folder_out import Imported

PASTES: Final = Path(__file__).parents[1] / "diagnose" / "pastes"
# host, kernel, distribution, CPUs, and of each port driver, queues and the rate of its link
POSTS: Final[dict[str, tuple[str, str, str, int, dict[str, tuple[str, int, str]]]]] = {
    "proxmox-r8169": (
        "pve",
        "6.8.12-4-pve",
        "Debian (Proxmox)",
        12,
        {"enp4s0": ("r8169", 1, "1000 Mbit/s")},
    ),
    "ixgbe-missed-twice": (
        "ingest01",
        "5.10.0-21-amd64",
        "Debian",
        16,
        {"eno1": ("ixgbe", 16, "10000 Mbit/s")},
    ),
    "ena-packets": (
        "ip-10-0-3-17",
        "5.10.184-175.731.amzn2.x86_64",
        "Amazon Linux 2",
        16,
        {"eth0": ("ena", 8, "10000 Mbit/s")},
    ),
    "conntrack-gateway": (
        "gw2",
        "3.10.0-957.5.1.el7.x86_64",
        "",
        8,
        {"em1": ("", 0, "10 Gbit/s"), "em2": ("", 0, "10 Gbit/s")},
    ),
    "docker-one-core": (
        "dock3",
        "5.15.0-105-generic",
        "Ubuntu",
        8,
        {"ens3f0": ("", 4, "10 Gbit/s")},
    ),
    "nvme-stalls": ("pg1", "5.4.0-150-generic", "Ubuntu", 16, {}),
    "bond-one-port": (
        "nas1",
        "5.14.21-150400.24.63-default",
        "SUSE Linux Enterprise",
        8,
        {"eth2": ("", 0, "10000 Mbit/s"), "eth3": ("", 0, "10000 Mbit/s")},
    ),
    "rhel7-ring": (
        "app12.example.com",
        "3.10.0-1160.el7.x86_64",
        "",
        32,
        {"em1": ("tg3", 0, "1000 Mbit/s")},
    ),
}


def rate_of(found: Imported, port: str) -> str:
    return next(
        row["value"]
        for row in found.values()
        if (row["file"], row["name"]) == (f"models/nic-{port}.toml", "link_rate")
    )


@pytest.mark.parametrize("name", POSTS)
def test_a_post_is_read_as_it_says(name: str) -> None:
    found = import_host(PASTES / f"{name}.txt")
    hostname, kernel, distribution, cpus, ports = POSTS[name]
    facts = {key: str(one.value) for key, one in found.host.facts.items()}
    assert found.name == hostname
    assert facts["kernel"] == kernel
    assert facts.get("distribution", "") == distribution
    assert len(found.host.topology.cpus) == cpus
    told = {
        nic.name: (nic.text("driver"), nic.number("rx_queues", 0), rate_of(found, nic.name))
        for nic in found.host.nics
    }
    assert told == ports


def test_a_link_is_as_fast_as_what_it_carried(tmp_path: Path) -> None:
    text = """$ ip link show eth7
7: eth7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP
$ netperf -H peer
MIGRATED TCP STREAM TEST from 0.0.0.0 () port 0 AF_INET to peer () port 0 AF_INET
Recv   Send    Send
Socket Socket  Message  Elapsed
Size   Size    Size     Time     Throughput
bytes  bytes   bytes    secs.    10^6bits/sec

 87380  16384  16384    10.00    35801.94
"""
    (tmp_path / "paste.txt").write_text(text, encoding="utf-8")
    found = import_host(tmp_path / "paste.txt")
    assert rate_of(found, "eth7") == "40000 Mbit/s"
    assert any("paste.txt:4 shows 35.8 Gbit/s" in note for note in found.notes)


def test_a_log_knows_a_port_by_its_last_name_and_its_last_link() -> None:
    log = """[ 1.1] igb 0000:03:00.0 eth0: igb: eth0 NIC Link is Up 1000 Mbps Full Duplex
[ 1.2] igb 0000:03:00.0 eno1: renamed from eth0
[ 2.2] igb 0000:03:00.0 eno1: igb: eno1 NIC Link is Down
[ 3.1] igb 0000:03:00.0 eno1: igb: eno1 NIC Link is Up 100 Mbps Full Duplex
Nov  6 10:00:00 pve kernel: mtk_soc_eth 1e100000.ethernet lan1: Link is Up - 2.5Gbps/Full
[ 4.0] nvme nvme0: 16/0/0 default/read/poll queues
[ 5.0] ixgbe 0000:01:00.0: Multiqueue Enabled
"""
    found = [(one.name, one.driver, one.slot, one.link_mbps, one.line) for one in logged_ports(log)]
    assert found == [("eno1", "igb", "0000:03:00.0", 100, 4), ("lan1", "mtk_soc_eth", "", 2500, 5)]


def test_each_part_of_a_post_says_what_became_of_it() -> None:
    found = import_host(PASTES / "proxmox-r8169.txt")
    told = {row["output"]: (row["part"].partition(":")[2], row["state"]) for row in found.parts()}
    assert told == {
        "uname -a": ("5", "read"),
        "lspci -vv": ("7", "read"),
        "ip link": ("12", "read"),
        "ethtool -S of enp4s0": ("19", "read, not used"),
        "dmesg": ("34", "read"),
        "lscpu": ("40", "read"),
        "interrupts": ("59", "read"),
    }
    values = {row["output"]: row["values"] for row in found.parts()}
    assert values["dmesg"] == "link_rate, enp4s0 driver, enp4s0 slot"
    assert values["uname -a"] == "kernel, hostname, distribution"
    assert "| proxmox-r8169.txt:34 | dmesg | read |" in found.report()
    assert found.summary()["parts"] == found.parts()


def test_what_was_understood_and_is_not_used_is_said_value_by_value(tmp_path: Path) -> None:
    text = """$ nproc
4
$ mpstat -P ALL 1 1
10:00:01 AM  CPU    %usr   %nice    %sys %iowait    %irq   %soft  %steal  %guest  %gnice   %idle
10:00:02 AM  all    1.00    0.00    1.00    0.00    0.00    8.00    0.00    0.00    0.00   90.00
10:00:02 AM    0    1.00    0.00    1.00    0.00    0.00   18.00    0.00    0.00    0.00   80.00
$ tuned-adm active
Current active profile: throughput-performance
$ cat /sys/class/net/eth0/queues/rx-0/rps_flow_cnt
0
$ ethtool -g eth1
Ring parameters for eth1:
Current hardware settings:
RX:             512
$ sar -n DEV 1 1
10:00:01 AM     IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s
Average:         eth0  40000.00  30000.00  50000.00   2000.00      0.00      0.00      0.00
"""
    (tmp_path / "paste.txt").write_text(text, encoding="utf-8")
    found = import_host(tmp_path / "paste.txt")
    why = {row["name"]: row["why"] for row in found.unused()}
    assert why["tuned_profile"] == "what the profile has set is read by itself"
    assert why["cpu.all.softirq"].startswith("it was observed, and is no setting")
    assert why["eth1 rx_ring"] == "the port is not in the model"
    assert why["/sys/class/net/eth0/queues/rx-*/rps_flow_cnt"] == "it only says that RFS is off"
    assert not any("rps_flow_cnt" in note for note in found.notes)


TOPS = {
    "top": (
        "%Cpu(s): 31.2 us, 18.1 sy,  0.0 ni, 24.0 id,  0.4 wa,  0.0 hi,  4.2 si, 22.1 st",
        {"cpu.all.busy": 75.6, "cpu.all.softirq": 4.2, "cpu.all.steal": 22.1},
    ),
    "top of BusyBox": (
        "CPU:   0% usr   1% sys   0% nic  72% idle   0% io   0% irq  26% sirq",
        {"cpu.all.busy": 28.0, "cpu.all.softirq": 26.0},
    ),
    "vmstat": (
        (
            "procs -----------memory---------- ---swap-- -----io---- -system-- ------cpu-----\n"
            " r  b   swpd   free   buff  cache   si   so    bi    bo   in   cs us sy id wa st\n"
            " 1  0      0 412344   1234 812344    7    0     1     2  100  200  1  1 98  0  0\n"
            " 9  1      0 412344   1234 812344    7    0     1     2  100  200 60 25 10  2  3"
        ),
        {"cpu.all.busy": 88.0, "cpu.all.steal": 3.0, "runnable_threads": 9.0},
    ),
}


@pytest.mark.parametrize("tool", TOPS)
def test_shares_of_all_cpus_are_read(tool: str, tmp_path: Path) -> None:
    text, expected = TOPS[tool]
    (tmp_path / "paste.txt").write_text(f"$ nproc\n4\n$ {tool}\n{text}\n", encoding="utf-8")
    found = import_host(tmp_path / "paste.txt")
    assert {name: use.value for name, use in found.host.uses.items()} == pytest.approx(expected)


def test_a_port_of_a_home_router_has_a_gigabit() -> None:
    found = import_host(PASTES / "pppoe-one-core.txt")
    assert found.host.facts["distribution"].value == "OpenWrt 23.05.3"
    assert rate_of(found, "eth0") == "1000 Mbit/s"


SHARES = (
    "10:00:01        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s   rxcmp/s   txcmp/s  rxmcst/s"
    "   %ifutil\n10:10:01         eth0  81234,12  41234,23 118123,41  12341,12      0,00      0,00"
    "      2,11     {}\nDurchschn.:      eth0  81787,62  41584,23 118967,91  12426,62      0,00"
    "      0,00      2,10     97,46\n"
)


@pytest.mark.parametrize(("share", "rate"), [("96,77", "1000 Mbit/s"), ("50,00", "10 Gbit/s")])
def test_the_share_of_a_line_tells_its_speed_where_all_rows_agree(
    tmp_path: Path, share: str, rate: str
) -> None:
    paste = tmp_path / "sar.txt"
    paste.write_text(SHARES.format(share), "utf-8")
    found = import_host(paste)
    assert rate_of(found, "eth0") == rate
    # the average alone counts, in any language
    assert any("received 974.6 Mbit/s" in note for note in found.notes)
