"""Hosts that are no end of TCP's streams: what they are called, and which load they get."""

from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.importing.import_host import import_host
from simnet.importing.writing.folder_out import Imported
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.load import load
from tests.importing.loads.test_workload import derivation
from tests.importing.trees import folder

UNAME = "$ uname -a\nLinux gw1 6.1.0-28-amd64 #1 SMP x86_64\n$ nproc\n4\n"
CARD = "$ ethtool -i {port}\ndriver: {driver}\n$ ethtool {port}\nSettings for {port}:\n\tSpeed: 25000Mb/s\n"  # noqa: E501
SAR = "$ sar -n DEV 1 1\nAverage:        IFACE   rxpck/s   txpck/s    rxkB/s    txkB/s\n"
ROW = "Average:  {}  {:.2f} {:.2f} {:.2f} {:.2f}\n"
FORWARDS = "$ sysctl net.ipv4.ip_forward net.netfilter.nf_conntrack_count\nnet.ipv4.ip_forward = 1\nnet.netfilter.nf_conntrack_count = 48213\n"  # noqa: E501
BOTH_WAYS = ROW.format("eth0", 81000, 40000, 110000, 4300) + ROW.format(
    "eth1", 40010, 81010, 4301, 109900
)
NAT = "$ nft list ruleset\ntable ip nat {\n\tchain postrouting {\n\t\tmasquerade\n\t}\n}\n"
ANY = "*"
SOCKETS = "$ ss -uan\nState  Recv-Q Send-Q Local Address:Port Peer Address:Port\n"
UNCONN = "UNCONN {} 0 {}:{} 0.0.0.0:*\n"
COUNTERS = "$ netstat -s\nTcp:\n    {} segments received\nUdp:\n    {} packets received\n    9 packets sent\n"  # noqa: E501
OF_UDP = "$ sar -n UDP 1 1\nAverage:        idgm/s    odgm/s  noport/s idgmerr/s\nAverage:     {:.2f} {:.2f} 0.00 {:.2f}\n"  # noqa: E501
LINKS = "$ ip link\n1: lo: <LOOPBACK,UP> mtu 65536 state UNKNOWN\n2: eth0: <UP> mtu 1500 state UP\n"


def ports(*drivers: str) -> str:
    """Ports of some drivers."""
    return "".join(CARD.format(port=f"eth{n}", driver=one) for n, one in enumerate(drivers))


def taken(tmp_path: Path, *texts: str, **options: Any) -> tuple[Imported, Effective]:
    """What an import makes of a paste; and its scenario."""
    found = import_host(folder(tmp_path / "host", {"p.txt": UNAME + "".join(texts)}), **options)
    found.write(tmp_path / "out")
    return found, load(str(tmp_path / "out" / "scenario.toml"))


# -- routers -----------------------------------------------------------------------------------


def test_a_router_forwards_what_it_is_seen_to_carry(tmp_path: Path) -> None:
    found, effective = taken(
        tmp_path, FORWARDS, ports("mlx5_core", "mlx5_core"), SAR, BOTH_WAYS, NAT
    )
    given = effective.forward
    assert given is not None
    assert (effective.workload.test, given.rate, given.flows) == ("forward", 81000, 48213)
    # of 110,000 KiB a second without headers of Ethernet, IP and UDP
    assert given.size_bytes == round(110000 * 1024 / 81000) - 14 - 28
    assert (given.conntrack, given.nat_rules) == (True, 1)
    assert [port.name for port in effective.host.ports] == ["eth0", "eth1"]
    assert found.role == "a router"
    assert (given.answers, given.answer_size_bytes) == (40010, round(4301 * 1024 / 40010) - 14 - 28)
    assert "40,010 packets/s go the other way" in derivation(found)
    run: Any = simnet.run(tmp_path / "out" / "scenario.toml", warm_up="2 ms", duration="20 ms")
    assert run.forward.packets_per_s == pytest.approx(81000 + 40010, rel=0.1)


def test_a_flow_table_of_a_router_is_one_here(tmp_path: Path) -> None:
    table = NAT.replace("\t}\n}", "\t}\n\tchain forward {\n\t\t{}flow add @ft\n\t}\n}")
    drivers, rows = ports("ice", "ice"), SAR + BOTH_WAYS
    for comment, has in (("", True), ("# ", False)):
        texts = (FORWARDS, drivers, rows, table.replace("{}", comment))
        found, effective = taken(tmp_path / f"{has}", *texts)
        assert effective.forward is not None
        assert effective.forward.flow_offload is has
        assert ("until a flow table has their connection" in derivation(found)) is has


def test_packets_come_by_the_port_that_receives_more(tmp_path: Path) -> None:
    rows = ROW.format("eth0", 400, 800, 43, 1090) + ROW.format("eth1", 800, 400, 1090, 43)
    rows = rows.replace("00.00", "000.00")
    _, effective = taken(tmp_path, FORWARDS, ports("ice", "ice"), SAR, rows)
    assert [port.name for port in effective.host.ports] == ["eth1", "eth0"]


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        # whose transmit path nobody has described
        ((FORWARDS, ports("e1000e", "e1000e"), SAR, BOTH_WAYS), "e1000e is not modelled"),
        ((FORWARDS, ports("ice", "ice")), "how many packets of which size it forwards"),
        ((ports("igb"), FORWARDS, NAT), "how many packets of which size it forwards"),
        ((ports("ice", "ice"), SAR, BOTH_WAYS), "the files do not say which of the two it is"),
    ],
)
def test_a_router_is_not_an_end_of_streams(
    tmp_path: Path, texts: tuple[str, ...], said: str
) -> None:
    found, effective = taken(tmp_path, *texts)
    assert effective.workload.test == "unsimulated"
    assert found.role.startswith("a router")
    assert said in derivation(found)
    assert "cannot be simulated" in derivation(found)
    assert found.load == ""
    scenario = tmp_path / "out" / "scenario.toml"
    with pytest.raises(InputError, match="this load cannot be simulated: a router") as refused:
        simnet.run(scenario)
    assert str(refused.value).startswith(f"{scenario}:")


def test_what_ports_carry_counts_more_than_that_a_host_may_forward(tmp_path: Path) -> None:
    rows = ROW.format("eth0", 81000, 40000, 110000, 4300) + ROW.format("eth1", 900, 900, 90, 90)
    found, effective = taken(tmp_path, FORWARDS, ports("ice", "ice"), SAR, rows)
    assert (found.role, effective.workload.test) == ("", "netserver")


def test_a_user_may_name_another_load(tmp_path: Path) -> None:
    found, effective = taken(tmp_path, FORWARDS, ports("ice", "ice"), NAT, workload="stream")
    assert (found.role, effective.workload.test) == ("", "netserver")


# -- datagrams ---------------------------------------------------------------------------------

ONE_WAY = ROW.format("eth0", 412311.2, 12.1, 563218.4, 1.2)
ANSWERS = ROW.format("eth0", 181000, 180000, 15200, 38100)
SHARED = SOCKETS + 2 * UNCONN.format(0, ANY, 6343) + UNCONN.format(0, "127.0.0.1", 323)


@pytest.mark.parametrize(
    ("shown", "workers"),
    [
        (OF_UDP.format(398211, 2, 14100), 1),
        (OF_UDP.format(398211, 2, 14100) + SHARED, 2),
        (COUNTERS.format(1000, 88239182), 1),
        (SHARED, 2),
        (SOCKETS + UNCONN.format(212992, ANY, 514), 1),
    ],
)
def test_a_receiver_of_datagrams(tmp_path: Path, shown: str, workers: int) -> None:
    found, effective = taken(tmp_path, ports("ice"), SAR, ONE_WAY, shown)
    given = effective.udp
    assert given is not None
    assert (effective.workload.test, given.workers) == ("udp_stream", workers)
    assert given.flows * given.rate == pytest.approx(412311, rel=0.001)
    assert given.size_bytes == round(563218.4 * 1024 / 412311.2) - 14 - 28
    assert given.reuseport == (workers > 1)
    assert found.role == "a receiver of UDP"
    assert "64 flows are assumed" in derivation(found)
    service = next(
        v for v in (tmp_path / "out/scenario.toml").read_text().splitlines() if "service" in v
    )
    assert 'low = "0 us"' in service
    run: Any = simnet.run(tmp_path / "out" / "scenario.toml", warm_up="5 ms", duration="20 ms")
    assert run.messages.offered_per_s == pytest.approx(412311, rel=0.05)


@pytest.mark.parametrize(
    ("shown", "role", "workers"),
    [
        (SOCKETS + UNCONN.format(0, "10.1.1.53", 53), "a DNS server", 1),
        (SOCKETS + 3 * UNCONN.format(0, ANY, 53), "a DNS server", 3),
        (COUNTERS.format(1000, 88239182), "a receiver of UDP", 1),
    ],
)
def test_who_sends_as_many_datagrams_as_come_answers_them(
    tmp_path: Path, shown: str, role: str, workers: int
) -> None:
    found, effective = taken(tmp_path, ports("ice"), SAR, ANSWERS, shown)
    given = effective.udp
    assert given is not None
    assert (found.role, effective.workload.test, given.workers) == (role, "udp_serve", workers)
    assert given.flows * given.rate == pytest.approx(181000, rel=0.001)
    assert given.size_bytes == round(15200 * 1024 / 181000) - 14 - 28
    assert given.answer_bytes == round(38100 * 1024 / 180000) - 14 - 28
    assert "each is answered by one of 175 B" in derivation(found)
    run: Any = simnet.run(tmp_path / "out" / "scenario.toml", warm_up="5 ms", duration="20 ms")
    assert run.udp.answers > 0.9 * run.udp.sent * run.udp.delivered_percent / 100


def test_the_buffer_of_the_socket(tmp_path: Path) -> None:
    sockets = SOCKETS + UNCONN.format(9000, ANY, 514) + "\t skmem:(r9000,rb425984,t0)\n"
    _, effective = taken(tmp_path, ports("ice"), SAR, ONE_WAY, sockets)
    assert effective.udp is not None
    assert effective.udp.rcvbuf_bytes == 212992


@pytest.mark.parametrize(
    ("texts", "role", "said"),
    [
        (
            (ports("ice"), SOCKETS + UNCONN.format(0, "10.1.1.53", 53)),
            "a DNS server",
            "how many datagrams of which size",
        ),
        (
            (ports("ice"), SAR, ROW.format("eth0", 90000, 180000, 15200, 38100), SHARED),
            "a receiver of UDP",
            "sends more than an answer to each",
        ),
        ((ports("enic"), SAR, ONE_WAY, SHARED), "a receiver of UDP", "what enic has a datagram"),
        ((ports("ice"), SHARED), "a receiver of UDP", "how many datagrams of which size"),
        (
            (ports("ice"), SAR, ONE_WAY, OF_UDP.format(4000, 2, 0)),
            "a receiver of UDP",
            "UDP has 4,000 of 412,311 packets/s",
        ),
    ],
)
def test_datagrams_that_cannot_be_simulated(
    tmp_path: Path, texts: tuple[str, ...], role: str, said: str
) -> None:
    found, effective = taken(tmp_path, *texts)
    assert (found.role, effective.workload.test) == (role, "unsimulated")
    assert said in derivation(found)


@pytest.mark.parametrize(
    "shown",
    [
        COUNTERS.format(88239182, 100),
        SOCKETS + UNCONN.format(0, ANY, 68) + UNCONN.format(0, "127.0.0.53%lo", 53),
        SOCKETS + UNCONN.format(0, ANY, 9000),
    ],
)
def test_what_every_host_has_is_no_receiver(tmp_path: Path, shown: str) -> None:
    found, effective = taken(tmp_path, ports("ice"), shown)
    assert (found.role, effective.workload.test) == ("", "netserver")


# a server's text, whose rows tell what was lost
IPERF3 = """$ iperf3 -s
Accepted connection from 10.0.0.2, port 40000
[  5] local 10.0.0.1 port 5201 connected to 10.0.0.2 port 33333
[ ID] Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams
[  5]   0.00-10.00  sec  1.10 GBytes   943 Mbits/sec  0.012 ms  1000/815000 (0.12%)  receiver
"""


def test_a_test_of_udp_by_iperf3_is_repeated(tmp_path: Path) -> None:
    found, effective = taken(tmp_path, ports("ice"), IPERF3)
    given = effective.udp
    assert given is not None
    assert (given.flows, given.rate, given.workers) == (1, 81500, 1)
    assert given.size_bytes == round(943e6 * 10 / 8 / 814000)
    assert found.load == "p.txt:11"


# -- tunnels, containers, guests ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "role"),
    [
        ((LINKS + "3: wg0: <POINTOPOINT,UP> mtu 1420 state UNKNOWN\n",), "a tunnel end"),
        (("$ wg show\ninterface: wg0\n  public key: x\n",), "a tunnel end"),
        ((SAR, ROW.format("eth0", 21000, 61000, 1900, 88000), ROW.format("wg0", 20900, 60100, 1, 1)), "a tunnel end"),  # noqa: E501
        ((LINKS + "3: veth1@if4: <UP> mtu 1500 master cni0 state UP\n",), "a container node"),
        (("$ ip -br link\neth0 UP aa:bb:cc:00:11:22 <UP>\nvethab@if3 UP aa:bb:cc:00:11:22 <UP>\n",), "a container node"),  # noqa: E501
        (("$ bridge link\n7: veth1@if6: <UP> mtu 1500 master cni0 state forwarding\n",), "a container node"),  # noqa: E501
        ((LINKS + "3: vnet0: <UP> mtu 1500 master br0 state UNKNOWN\n",), "a host of virtual machines"),  # noqa: E501
    ],
)  # fmt: skip
def test_a_host_is_called_what_it_is(tmp_path: Path, texts: tuple[str, ...], role: str) -> None:
    found, effective = taken(tmp_path, ports("ice"), *texts)
    assert (found.role, effective.workload.test) == (role, "unsimulated")
    assert found.summary()["role"] == role


def test_a_tunnel_that_carries_nothing_is_none(tmp_path: Path) -> None:
    rows = ROW.format("eth0", 21000, 61000, 1900, 88000) + ROW.format("wg0", 2, 2, 0, 0)
    links = LINKS + "3: wg0: <POINTOPOINT,UP> mtu 1420 state UNKNOWN\n"
    found, effective = taken(tmp_path, ports("ice"), links, SAR, rows)
    assert (found.role, effective.workload.test) == ("", "netperf")


def test_interfaces_that_are_down_are_no_ends(tmp_path: Path) -> None:
    found, _ = taken(tmp_path, ports("ice"), LINKS + "3: wg0: <NOARP> mtu 1420 state DOWN\n")
    assert found.role == ""


def test_disks_count_where_the_network_is_not_shown(tmp_path: Path) -> None:
    job = "$ cat job.ini\n[global]\nioengine=libaio\n"
    found, effective = taken(tmp_path, ports("ice"), job)
    assert (found.role, effective.workload.test) == ("a host whose disks work", "unsimulated")


def test_all_that_is_offered_is_delivered(tmp_path: Path) -> None:
    rows = ROW.format("eth0", 598120, 601200, 53100, 92300)
    found, effective = taken(tmp_path, ports("ice"), "$ lscpu\nCPU(s): 16\n", SAR, rows)
    assert found.role == ""
    assert effective.memcached is not None
    assert effective.memcached.workers > 1
    run: Any = simnet.run(tmp_path / "out" / "scenario.toml", warm_up="5 ms", duration="20 ms")
    assert run.messages.delivered_per_s == pytest.approx(598120, rel=0.1)


# -- home routers ------------------------------------------------------------------------------

OPENWRT = '$ ubus call system board\n{{\n\t"kernel": "5.10.176",\n\t"board_name": "a,b",\n\t"release": {{\n\t\t"distribution": "OpenWrt",\n\t\t"version": "22.03.5",\n\t\t"target": "{}"\n\t}}\n}}\n'  # noqa: E501
SESSION = "$ ifconfig\npppoe-wan Link encap:Point-to-Point Protocol\n          UP POINTOPOINT RUNNING  MTU:1492\n"  # noqa: E501


CONDUIT = "$ ethtool -i eth0\ndriver: bgmac\n"
UCI = "$ uci show firewall\nfirewall.cfg01e63d=defaults\nfirewall.cfg01e63d.flow_offloading='{}'\n"
HARDWARE = "firewall.cfg01e63d.flow_offloading_hw='1'\n"
MIPS = "$ uname -a\nLinux cpe 4.14.221 #0 Mon Feb 15 15:22:37 2021 mips GNU/Linux\n"
A9 = "".join(
    f"processor\t: {cpu}\nmodel name\t: ARMv7 Processor rev 0 (v7l)\nBogoMIPS\t: {{0}}\n"
    "CPU implementer\t: 0x41\nCPU part\t: 0xc09\n\n"
    for cpu in range(2)
)
MASKS = (
    "$ grep . /sys/class/net/*/queues/rx-0/rps_cpus\n"
    "/sys/class/net/br-lan/queues/rx-0/rps_cpus:{}\n/sys/class/net/eth0/queues/rx-0/rps_cpus:0\n"
)


def routed(tmp_path: Path, *texts: str) -> tuple[Imported, float]:
    """What an import makes of a router, and the Mbit/s that pass it."""
    found = import_host(folder(tmp_path / "host", {"p.txt": "".join(texts)}))
    found.write(tmp_path / "out")
    run = simnet.run(tmp_path / "out" / "scenario.toml", duration="100 ms")
    return found, run.throughput_bps / 1e6


def test_a_home_router_with_a_chip_that_is_known_is_simulated(tmp_path: Path) -> None:
    cpuinfo = "$ cat /proc/cpuinfo\n" + A9.format("1599.07") + "Hardware\t: BCM5301X\n"
    old = OPENWRT.format("bcm53xx/generic").replace("22.03.5", "21.02.7")
    base = (old, cpuinfo, CONDUIT, UCI.format(0))
    found, plain = routed(tmp_path / "1", *base, MASKS.format(0))
    assert found.role == "a home router"
    effective = load(str(tmp_path / "1" / "out" / "scenario.toml"))
    assert effective.gateway is not None
    assert effective.gateway.switch_ports == "vlan"
    assert (effective.host.cpu.clock_hz, len(effective.host.ports)) == (799 * 10**6, 1)
    # the same as `home-router`, whose clock is a thousandth more
    assert plain == pytest.approx(399, rel=0.02)
    _, spread = routed(tmp_path / "2", *base, MASKS.format(2))
    assert spread > 1.2 * plain
    _, offloaded = routed(tmp_path / "3", old, cpuinfo, CONDUIT, UCI.format(1))
    assert offloaded > 1.5 * plain


def test_the_chip_is_known_by_its_clock_and_the_router_by_its_name(tmp_path: Path) -> None:
    called = "root@OpenWrt:~# uname -a\nLinux OpenWrt 5.15.137 #0 SMP armv7l GNU/Linux\n"
    cpuinfo = "root@OpenWrt:~# cat /proc/cpuinfo\n" + A9.format("2798.38")
    rows = (
        "root@OpenWrt:~# cat /proc/interrupts\n   CPU0 CPU1\n 31: 9123412 0 GIC-0 179 Level eth0\n"
    )
    found, rate = routed(tmp_path, called, cpuinfo, "Hardware\t: BCM5301X\n", rows)
    assert found.role == "a home router"
    assert str(found.drafts["cpu.toml"].document["description"]).endswith("as in broadcom-bcm47094")
    assert any("the driver bgmac is assumed" in note for note in found.notes)
    assert rate > 500


@pytest.mark.parametrize(
    ("texts", "called", "why"),
    [
        ((OPENWRT.format("mvebu/cortexa9"),), "a home router", "this one's is mvebu/cortexa9"),
        ((OPENWRT.format("bcm53xx/generic"),), "a home router", "no file names the port"),
        (
            (OPENWRT.format("bcm53xx/generic"), CONDUIT, UCI.format(1), HARDWARE),
            "a home router",
            "what the chip forwards by itself",
        ),
        ((MIPS,), "a router or another small device", "no router of MIPS is modelled"),
        ((OPENWRT.format("ramips/mt7621"), SESSION), "a home router with PPPoE", "PPPoE wraps"),
        ((SESSION,), "an end of PPPoE", "what PPPoE wraps is not simulated"),
    ],
)
def test_a_home_router_says_what_is_missing(
    tmp_path: Path, texts: tuple[str, ...], called: str, why: str
) -> None:
    found = import_host(folder(tmp_path / "host", {"p.txt": "".join(texts)}))
    (said,) = [one for one in found.notes if one.startswith("workload: ")]
    assert f"this is {called}, and its load cannot be simulated" in said
    assert why in said
    assert not found.runs


def test_rules_that_name_a_second_port_show_a_router(tmp_path: Path) -> None:
    nat = NAT.replace("\t\tmasquerade", '\t\toifname "eth1" masquerade')
    found = import_host(folder(tmp_path / "host", {"p.txt": ports("ixgbe") + nat}))
    assert found.role == "a router"
