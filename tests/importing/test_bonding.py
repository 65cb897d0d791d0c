"""A host whose ports are in a bond: what is read of it, and when it is simulated."""

from pathlib import Path
from typing import Any

import pytest

import simnet
from simnet.importing.import_host import import_host
from simnet.importing.writing.folder_out import Imported
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from tests.importing.loads.test_workload import loaded, read
from tests.importing.test_settings import HOST
from tests.importing.trees import folder, port

TWO = {
    **{name: text for name, text in HOST.items() if "ens1" not in name},
    **port("ens1", 2, node=1),
    **port("ens2", 2, node=1),
    "sos_commands/networking/ethtool_-i_ens1": "driver: mlx5_core\nbus-info: 0000:3b:00.0\n",
    "sos_commands/networking/ethtool_-i_ens2": "driver: mlx5_core\nbus-info: 0000:3b:00.1\n",
}
# of bond_info_show_master
BOND = """Ethernet Channel Bonding Driver: v6.12

Bonding Mode: {mode}
Transmit Hash Policy: {policy} (1)
MII Status: up
MII Polling Interval (ms): 100
Up Delay (ms): 200
Down Delay (ms): 0
Peer Notification Delay (ms): 0

Slave Interface: ens1
MII Status: up
Speed: 25000 Mbps

Slave Interface: {other}
MII Status: up
Speed: 25000 Mbps
"""
LACP = "IEEE 802.3ad Dynamic link aggregation"


def bond(mode: str = LACP, policy: str = "layer3+4", other: str = "ens2") -> dict[str, str]:
    text = BOND.format(mode=mode, policy=policy, other=other)
    return {**TWO, "proc/net/bonding/bond0": text}


@pytest.mark.parametrize(
    ("mode", "name"),
    [
        (LACP, "802.3ad"),
        ("load balancing (xor)", "balance-xor"),
        ("fault-tolerance (active-backup)", "active-backup"),
    ],
)
def test_a_bond_has_the_hosts_mode_and_slaves(tmp_path: Path, mode: str, name: str) -> None:
    found = read(tmp_path, bond(mode))
    effective: Any = loaded(tmp_path, found)
    assert effective.host.bonding.mode == name
    assert effective.host.bonding.xmit_hash_policy == "layer3+4"
    assert effective.host.bonding.miimon_ps == 10**11
    assert effective.host.bonding.updelay_ps == 2 * 10**11
    assert [one.enslaved for one in effective.ports] == [True, True]
    assert any("simulated as bond0" in note for note in found.notes)


def test_streams_use_all_ports_by_their_ports_and_one_by_addresses_of_ethernet(
    tmp_path: Path,
) -> None:
    loaded(tmp_path, read(tmp_path, bond()))
    scenario = tmp_path / "out" / "scenario.toml"
    used = {}
    for policy in ("layer3+4", "layer2"):
        settings = {
            "test": "netperf",
            "connections": "8",
            "modprobe bonding xmit_hash_policy": policy,
        }
        run = simnet.run(scenario, settings=settings, warm_up="20 ms", duration="20 ms")
        used[policy] = sorted(one.tx_bps / 1e9 for one in run.ports)
    # jumbo frames over two ports of 25 Gbit/s
    assert used["layer3+4"][0] > 20
    assert used["layer2"][0] < 1
    assert used["layer2"][1] > 20


def test_connections_send_by_all_queues_of_a_slave(tmp_path: Path) -> None:
    loaded(tmp_path, read(tmp_path, bond()))
    settings = {"test": "netperf", "connections": "8"}
    effective = load(str(tmp_path / "out" / "scenario.toml"), settings=settings)
    system = build(effective, seed=1)
    system.run(10**10)
    nics: Any = system.nics
    for nic in nics:
        assert [queue.tx_packets > 100 for queue in nic.queues] == [True, True]


@pytest.mark.parametrize(
    ("files", "workload", "why"),
    [
        (bond(), "rr", "tcp_rr is not simulated over a bond"),
        (bond(), "memcached", "memcached is not simulated over a bond"),
        (bond(other="ens9"), None, "ens9 is not in the model"),
    ],
)
def test_a_bond_that_is_not_simulated_says_why(
    tmp_path: Path, files: dict[str, str], workload: str | None, why: str
) -> None:
    found = read(tmp_path, files, workload)
    effective: Any = loaded(tmp_path, found)
    assert not any(one.enslaved for one in effective.ports)
    assert any(why in note for note in found.notes)
    assert any("ifenslave bond0 ens1" in one["name"] for one in found.unused())


def test_of_several_bonds_none_is_simulated(tmp_path: Path) -> None:
    files = bond()
    found = read(tmp_path, {**files, "proc/net/bonding/bond1": files["proc/net/bonding/bond0"]})
    effective: Any = loaded(tmp_path, found)
    assert not any(one.enslaved for one in effective.ports)
    assert sum("of several bonds" in note for note in found.notes) == 2


PORTS = "$ ethtool -i ens1\ndriver: mlx5_core\n$ ethtool -i ens2\ndriver: mlx5_core\n"
FORMS = {
    "ip -d link": """$ ip -d link
2: ens1: <BROADCAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT
    bond_slave state ACTIVE mii_status UP link_failure_count 0
3: ens2: <BROADCAST,SLAVE,UP,LOWER_UP> mtu 1500 qdisc mq master bond0 state UP mode DEFAULT
    bond_slave state ACTIVE mii_status UP link_failure_count 0
6: bond0: <BROADCAST,MASTER,UP,LOWER_UP> mtu 1500 qdisc noqueue state UP mode DEFAULT
    bond mode 802.3ad miimon 50 updelay 0 xmit_hash_policy layer3+4 lacp_rate slow
""",
    "ifcfg": """[root@a ~]# cat /etc/sysconfig/network-scripts/ifcfg-bond0
DEVICE=bond0
BONDING_OPTS="mode=4 miimon=50 xmit_hash_policy=1"
[root@a ~]# cat /etc/sysconfig/network-scripts/ifcfg-ens1
DEVICE=ens1
MASTER=bond0
SLAVE=yes
[root@a ~]# cat /etc/sysconfig/network-scripts/ifcfg-ens2
DEVICE=ens2
MASTER=bond0
""",
    "wicked": """$ cat /etc/sysconfig/network/ifcfg-bond0
BONDING_MASTER='yes'
BONDING_MODULE_OPTS='mode=802.3ad miimon=50 xmit_hash_policy=layer3+4'
BONDING_SLAVE_0='ens1'
BONDING_SLAVE_1='ens2'
""",
    "netplan": """$ cat /etc/netplan/50-cloud-init.yaml
network:
  ethernets:
    ens1: {}
  bonds:
    bond0:
      interfaces:
      - ens1
      - ens2
      parameters:
        mode: 802.3ad
        mii-monitor-interval: 50
        transmit-hash-policy: layer3+4
""",
    "interfaces": """$ cat /etc/network/interfaces
iface ens1 inet manual
    bond-master bond0
iface ens2 inet manual
    bond-master bond0
iface bond0 inet dhcp
    bond-slaves none
    bond-mode 4
    bond-miimon 50
    bond-xmit-hash-policy layer3+4
""",
    "NetworkManager": """$ cat /etc/NetworkManager/system-connections/b.nmconnection
[connection]
type=bond
interface-name=bond0
[bond]
mode=802.3ad
miimon=50
xmit_hash_policy=layer3+4
$ cat /etc/NetworkManager/system-connections/1.nmconnection
[connection]
interface-name=ens1
master=bond0
$ cat /etc/NetworkManager/system-connections/2.nmconnection
[connection]
interface-name=ens2
controller=bond0
""",
    "networkd": """$ cat /etc/systemd/network/10-bond0.netdev
[NetDev]
Name=bond0
Kind=bond
[Bond]
Mode=802.3ad
MIIMonitorSec=50ms
TransmitHashPolicy=layer3+4
$ cat /etc/systemd/network/20.network
[Match]
Name=ens1 ens2
[Network]
Bond=bond0
""",
}


def pasted(tmp_path: Path, files: dict[str, str]) -> Imported:
    """What an import makes of some texts alone."""
    return import_host(folder(tmp_path / "host", files), workload="stream")


@pytest.mark.parametrize("form", FORMS)
def test_a_bond_is_read_from_each_file_that_configures_it(tmp_path: Path, form: str) -> None:
    found = pasted(tmp_path, {"paste.txt": FORMS[form] + PORTS})
    effective: Any = loaded(tmp_path, found)
    assert effective.host.bonding.mode == "802.3ad"
    assert effective.host.bonding.xmit_hash_policy == "layer3+4"
    assert effective.host.bonding.miimon_ps == 5 * 10**10
    assert [one.enslaved for one in effective.ports] == [True, True]


def test_what_the_kernel_shows_counts_before_files(tmp_path: Path) -> None:
    shown = BOND.format(mode="load balancing (round-robin)", policy="layer2", other="ens2")
    found = pasted(tmp_path, {"paste.txt": FORMS["netplan"] + PORTS, "bond.txt": shown})
    effective: Any = loaded(tmp_path, found)
    assert effective.host.bonding.mode == "balance-rr"


def test_ports_that_a_bond_does_not_use_are_not_of_it(tmp_path: Path) -> None:
    shown = BOND.format(mode=LACP, policy="layer2", other="ens2")
    one, two = shown.split("Slave Interface: ens2")
    info = "802.3ad info\nActive Aggregator Info:\n\tAggregator ID: 1\n\nSlave Interface: ens1"
    one = one.replace("Slave Interface: ens1", info) + "Aggregator ID: 1\n\n"
    text = f"{one}Slave Interface: ens2{two}Aggregator ID: 2\n"
    found = pasted(tmp_path, {"paste.txt": PORTS, "bond.txt": text})
    effective: Any = loaded(tmp_path, found)
    assert [port.enslaved for port in effective.ports] == [True, False]
    said = "ens2 is in bond0 and carries nothing: it is of aggregator 2, the bond uses 1"
    assert said in found.notes


def test_links_as_json_have_no_bond_and_are_no_fault(tmp_path: Path) -> None:
    links = '[{"ifindex":2,"ifname":"ens1","mtu":1500,"master":"bond0","link_type":"ether"}]'
    found = pasted(tmp_path, {"paste.txt": PORTS, "ip-j-link.txt": links})
    assert not any("bond" in note for note in found.notes)
