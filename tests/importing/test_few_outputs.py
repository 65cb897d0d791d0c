"""Hosts of which there are one to four outputs, as people paste them."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.importing.import_host import import_host
from simnet.importing.lookup import nearest_kernel
from simnet.importing.source import read_source
from simnet.importing.writing.folder_out import Imported
from simnet.scenario.core.load import load
from tests.importing.trees import folder

RINGS = """Ring parameters for eth0:
Pre-set maximums:
RX:\t\t4096
TX:\t\t4096
Current hardware settings:
RX:\t\t512
TX:\t\t512
"""
CHANNELS = """Channel parameters for eth0:
Pre-set maximums:
RX:\t\t0
TX:\t\t288
Combined:\t288
Current hardware settings:
RX:\t\t0
TX:\t\t32
Combined:\t256
"""
INTERRUPTS = """           CPU0       CPU1       CPU2       CPU3
 128:          0          0          0         10  IR-PCI-MSI 1-edge  enp1s0
 129:         20          0          0          0  IR-PCI-MSI 2-edge  enp1s0
 130:          0          0          0         30  IR-PCI-MSI 3-edge  enp1s0
 131:          0         40          0          0  IR-PCI-MSI 4-edge  enp1s0
 132:          0          1          0          0  IR-PCI-MSI 5-edge  enp1s0
"""
HASH = """RX flow hash indirection table for eth2 with 12 RX ring(s):
    0:      0     1     2     3     4     5     6     7
    8:      8     9    10    11     0     1     2     3
...
  504:      0     1     2     3     4     5     6     7
RSS hash key:
{}
"""


SADF = """{"sysstat": {
\t"hosts": [
\t\t{
\t\t\t"nodename": "db1", "sysname": "Linux", "release": "4.19.0", "number-of-cpus": 24,
\t\t\t"statistics": [
\t\t\t\t{
\t\t\t\t\t"timestamp": {"date": "2025-02-11", "time": "10:00:01", "utc": 1, "interval": 10},
\t\t\t\t\t"network": {"net-dev": [
\t\t\t\t\t\t{"iface": "lo", "rxpck": 1.0, "txpck": 1.0, "rxkB": 0.1, "txkB": 0.1},
\t\t\t\t\t\t{"iface": "eth0", "rxpck": 81234.0, "txpck": 9.0, "rxkB": 116000.0, "txkB": 1.0}
\t\t\t\t\t]}
\t\t\t\t}
\t\t\t]
\t\t}
\t]
}}
"""


def taken(tmp_path: Path, files: Mapping[str, str], **options: int | str) -> Imported:
    """What an import makes of some files; it can be loaded."""
    asked: dict[str, int | str] = dict(options)
    found = import_host(folder(tmp_path / "host", files), **asked)  # type: ignore[arg-type]
    found.write(tmp_path / "out")
    load(str(tmp_path / "out" / "scenario.toml"))
    return found


def states(found: Imported) -> dict[str, tuple[str, str]]:
    """Value and state of each value of the host, by its name."""
    own = (one for one in found.values() if not one["file"].startswith("models/peer"))
    return {one["name"]: (one["value"], one["state"]) for one in own}


def told(found: Imported, file: str) -> str:
    """What became of a file."""
    return next(one["state"] for one in found.files() if one["file"] == file)


# -- CPUs --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("files", "cpus", "said"),
    [
        ({"proc-interrupts.txt": INTERRUPTS}, 4, True),
        ({"sar.txt": "Linux 4.19.0 (db1) \t11/27/26 \t_x86_64_\t(24 CPU)\n"}, 24, True),
        ({"sadf.json": SADF}, 24, True),
        ({"p": "$ nproc\n6\n"}, 6, True),
        ({"rps.txt": "/sys/class/net/eth1/queues/rx-0/rps_cpus:000\n"}, 12, False),
        ({"s.txt": "net.core.somaxconn = 8192\n"}, 8, False),
        ({"ethtool-x.txt": HASH.format("00")}, 12, False),
    ],
)
def test_cpus_from_what_there_is(
    tmp_path: Path, files: dict[str, str], cpus: int, said: int
) -> None:
    found = taken(tmp_path, files)
    topology = found.host.topology
    assert topology.cpus == frozenset(range(cpus))
    assert ("cpus" not in topology.guessed) == bool(said)
    assert any("CPUs are assumed" in note for note in found.notes) == (not said)
    assert ("is **assumed**" in found.report()) == (not said)
    assert states(found)["nodes"] == ("1", "assumed")


def test_sadf_alone_names_host_and_ports(tmp_path: Path) -> None:
    found = taken(tmp_path, {"sadf.json": SADF})
    facts = {key: read.value for key, read in found.host.facts.items()}
    assert (facts["hostname"], facts["kernel"]) == ("db1", "4.19.0")
    assert [nic.name for nic in found.host.nics] == ["eth0"]
    assert [rate.rx_packets for rate in found.host.rates] == [81234]


def test_what_sets_clocks_is_no_driver_of_a_port(tmp_path: Path) -> None:
    text = "analyzing CPU 0:\n  driver: acpi-cpufreq\n"
    found = taken(tmp_path, {"cpupower-frequency-info.txt": text})
    assert found.host.nics == ()
    assert [one["why"].partition(":")[0] for one in found.files()] == ["cpupower"]


def test_cpus_as_the_user_says(tmp_path: Path) -> None:
    found = taken(tmp_path, {"s.txt": "net.core.somaxconn = 8192\n"}, cpus=20)
    assert len(found.host.topology.cpus) == 20
    with pytest.raises(InputError, match="expected 1 to "):
        import_host(tmp_path / "host", cpus=0)


def test_only_what_lscpu_says_is_read(tmp_path: Path) -> None:
    text = "CPU(s): 12\nCore(s) per socket: 6\nSocket(s): 2\nModel name: Intel(R) Xeon(R)\n"
    values = states(taken(tmp_path, {"lscpu.txt": text}))
    assert values["nodes"] == ("2", "assumed")
    assert values["threads_per_core"] == ("1", "assumed")
    assert values["cores_per_socket"] == ("6", "read")
    assert values["package_cpus"] == ("['0-5', '6-11']", "assumed")


def test_what_lscpu_contradicts_is_not_read(tmp_path: Path) -> None:
    text = "CPU(s): 12\nThread(s) per core: 1\nCore(s) per socket: 48\nSocket(s): 1\n"
    assert states(taken(tmp_path, {"lscpu.txt": text}))["cores_per_socket"] == ("12", "assumed")


@pytest.mark.parametrize(
    ("nodes", "cores"),
    [
        (("0-1,4-5", "2-3,6-7"), ["0,4", "1,5", "2,6", "3,7"]),
        (("0,2,4,6", "1,3,5,7"), ["0,4", "1,5", "2,6", "3,7"]),
        (("0-3", "4-7"), ["0-1", "2-3", "4-5", "6-7"]),
        ((), ["0,4", "1,5", "2,6", "3,7"]),
    ],
)
def test_siblings_are_numbered_as_x86_does(
    tmp_path: Path, nodes: tuple[str, ...], cores: list[str]
) -> None:
    lines = "".join(f"NUMA node{n} CPU(s): {cpus}\n" for n, cpus in enumerate(nodes))
    text = f"Architecture: x86_64\nCPU(s): 8\nThread(s) per core: 2\nSocket(s): 2\n{lines}"
    values = states(taken(tmp_path, {"lscpu.txt": text}))
    assert values["core_cpus"] == (str(cores), "assumed")


# -- ports -------------------------------------------------------------------------------------


def test_vectors_of_one_name_are_queues(tmp_path: Path) -> None:
    found = taken(tmp_path, {"proc-interrupts.txt": INTERRUPTS})
    (nic,) = found.host.nics
    assert (nic.name, nic.number("rx_queues", 0)) == ("enp1s0", 4)
    values = states(found)
    assert values["rx_queues"] == ("4", "assumed")
    assert [values[f"/proc/irq/{irq}/smp_affinity"] for irq in range(128, 132)] == [
        ("8", "read"), ("1", "read"), ("8", "read"), ("2", "read"),
    ]  # fmt: skip


def test_vectors_with_queues_in_their_names(tmp_path: Path) -> None:
    text = INTERRUPTS.replace("enp1s0", "ens192-rxtx-{}")
    for queue in range(5):
        text = text.replace("{}", str(queue), 1)
    found = taken(tmp_path, {"proc-interrupts.txt": text})
    assert states(found)["rx_queues"] == ("5", "read")


@pytest.mark.parametrize(
    ("files", "port"),
    [
        ({"ethtool-S-ens34.txt": "NIC statistics:\n     rx_packets: 3\n"}, "ens34"),
        ({"a.txt": "# ethtool -S enp2s0f1\nNIC statistics:\n     rx_packets: 3\n"}, "enp2s0f1"),
        ({"rings": RINGS}, "eth0"),
        ({"ethtool-i-eth7.txt": "driver: bnx2\n"}, "eth7"),
        ({"n": "Kernel Interface table\nIface   MTU Met   RX-OK\neth1  9000 0  80\n"}, "eth1"),
        ({"sar.txt": "Average: IFACE rxpck/s txpck/s\nAverage: wan 900.0 80.0\n"}, "wan"),
        ({"s.pl.txt": " Ethtool(mlx5p1  ) stat:    298929 ( 298,929) <= rx_x /sec\n"}, "mlx5p1"),
    ],
)
def test_a_port_is_what_any_file_names(tmp_path: Path, files: dict[str, str], port: str) -> None:
    assert [nic.name for nic in taken(tmp_path, files).host.nics] == [port]


def test_a_can_bus_is_not_simulated(tmp_path: Path) -> None:
    found = taken(tmp_path, {"ethtool-g-can0.txt": RINGS.replace("eth0", "can0")})
    assert "nic-eth0.toml" in found.drafts
    assert "can0 is left out: a CAN bus carries no packets of IP" in found.notes


def test_the_largest_ring_can_be_asked_for(tmp_path: Path) -> None:
    values = states(taken(tmp_path, {"ethtool-g-eth0.txt": RINGS}))
    assert values["rx_ring"] == ("4096", "read")
    assert values["rx_buffers_posted"] == ("512", "read")
    scenario = str(tmp_path / "out" / "scenario.toml")
    port = load(scenario, settings={"ethtool -G eth0 rx": "4096"}).host.ports[0]
    assert port.nic.rx_buffers_posted == 4096
    with pytest.raises(InputError, match="at most 4096 buffers"):
        load(scenario, settings={"ethtool -G eth0 rx": "4097"})


def test_more_queues_than_a_model_has_are_said(tmp_path: Path) -> None:
    channels = CHANNELS.replace("256", "512")
    files = {"ethtool-l-eth0.txt": channels, "ethtool-i-eth0.txt": "driver: ice\n"}
    found = taken(tmp_path, files)
    said = "eth0 has 512 receive queues: a port of the model has at most 256"
    place = next(n for n, note in enumerate(found.notes) if note.startswith(said))
    # the terminal shows the first three
    assert place < 3
    assert states(found)["rx_queues"] == ("256", "assumed")
    unused = {one["name"]: one["why"] for one in found.unused()}
    assert unused["ethtool -L eth0 combined"] == "a port of the model has at most 256 queues"
    assert "beside combined" in unused["ethtool -L eth0 tx"]


def test_rings_and_a_long_key_of_the_hash(tmp_path: Path) -> None:
    found = taken(tmp_path, {"ethtool-x-eth2.txt": HASH.format(":".join(["02"] * 52))})
    values = states(found)
    assert values["rx_queues"] == ("12", "read")
    assert values["ethtool -X eth2 hkey"] == (":".join(["02"] * 40), "assumed")
    # an even table is the driver's own, and forbids no other number of queues
    assert "ethtool -X eth2 equal" not in values


@pytest.mark.parametrize(
    ("files", "rate"),
    [
        ({"ethtool-i-eth0.txt": "driver: igb\n"}, "1000 Mbit/s"),
        ({"ethtool-i-eth0.txt": "driver: bnx2\n"}, "1000 Mbit/s"),
        ({"ethtool-i-eth0.txt": "driver: r8169\n"}, "1000 Mbit/s"),
        ({"ethtool-i-eth0.txt": "driver: ena\n"}, "10000 Mbit/s"),
        ({"ethtool-i-eth0.txt": "driver: mlx5_core\n"}, "100000 Mbit/s"),
        (
            {
                "ethtool-i-eth0.txt": "driver: ice\nbus-info: 0000:c7:00.0\n",
                "lspci.txt": "c7:00.0 Ethernet controller: Intel E810-XXV for SFP (rev 02)\n",
            },
            "25000 Mbit/s",
        ),
    ],
)
def test_a_link_is_as_fast_as_its_card(tmp_path: Path, files: dict[str, str], rate: str) -> None:
    found = taken(tmp_path, files)
    port = found.drafts["nic-eth0.toml"].document["link_rate"]
    assert (port["value"], port["state"]) == (rate, "assumed")
    assert any(note.startswith("no port says how fast its link is") for note in found.notes)


def test_modes_are_no_microseconds(tmp_path: Path) -> None:
    text = "Coalesce parameters for eth0:\nAdaptive RX: off  TX: off\nrx-usecs: 3\n"
    files = {"ethtool-c-eth0.txt": text, "ethtool-i-eth0.txt": "driver: igbvf\n"}
    unused = {one["name"]: one["why"] for one in taken(tmp_path, files).unused()}
    assert "a rate that adapts" in unused["ethtool -C eth0 rx-usecs"]


# -- files -------------------------------------------------------------------------------------


def test_each_file_is_listed(tmp_path: Path) -> None:
    files = {
        "lscpu.txt": "CPU(s): 4\n",
        "ethtool-S-eth0.txt": "NIC statistics:\n     rx_dropped: 3\n",
        "mail.txt": "Dear all, my network is slow.\n",
        "case.md": "CPU(s): 64\n",
        "empty.txt": "",
        "job.ini": "[global]\nioengine=libaio\n",
    }
    found = taken(tmp_path, files)
    assert {one["file"]: one["state"] for one in found.files()} == {
        "case.md": "not understood",
        "empty.txt": "not understood",
        "ethtool-S-eth0.txt": "read, not used",
        "job.ini": "read, not used",
        "lscpu.txt": "read",
        "mail.txt": "not understood",
    }
    assert found.summary()["files"] == found.files()
    assert "## Files" in found.report()
    assert any("job.ini shows fio" in note for note in found.notes)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (
            '{"sysstat": {"hosts": [{"nodename": "a", "sysdata-version": 2, "statis',
            "JSON that breaks",
        ),
        ('[{"ifindex": 1, "ifname": "eth0", "mtu": 15', "JSON that breaks"),
        (
            '<?xml version="1.0"?>\n<topology version="2.0">\n<object type="Machine"',
            "XML that breaks",
        ),
    ],
)
def test_a_document_that_breaks_off_is_said_to(tmp_path: Path, text: str, why: str) -> None:
    found = taken(tmp_path, {"nproc.txt": "$ nproc\n4\n", "cut.txt": text})
    (cut,) = (one for one in found.files() if one["file"] == "cut.txt")
    assert cut["state"] == "not understood"
    assert why in cut["why"]
    several = taken(tmp_path / "several", {"all.txt": f"$ nproc\n4\n$ cat document\n{text}\n"})
    assert [one["state"] for one in several.parts()] == ["read", "not understood"]


def test_a_part_with_a_file_is_read_as_the_file_is(tmp_path: Path) -> None:
    text = "$ uname -r\n6.1.0\n$ cat /etc/os-release\nPRETTY_NAME=Debian 12\n$ nproc\n4\n"
    found = taken(tmp_path, {"p.txt": text})
    assert {one["output"]: (one["state"], one["values"]) for one in found.parts()} == {
        "uname -r": ("read", "kernel"),
        "os-release": ("read", "distribution"),
        "nproc": ("read", ""),
    }


def test_a_pasted_text_is_all_its_outputs(tmp_path: Path) -> None:
    text = (
        "$ uname -a\nLinux db1 5.15.0-91-generic #101-Ubuntu SMP x86_64\n"
        f"$ ethtool -g eth0\n{RINGS}$ ethtool -i eth0\ndriver: igb\n"
        "# cat /sys/class/net/eth0/mtu\n9000\n$ nproc\n4\n"
    )
    found = taken(tmp_path, {"pasted.txt": text})
    assert found.name == "db1"
    assert found.report().startswith("# db1\n")
    assert len(found.host.topology.cpus) == 4
    assert states(found)["rx_ring"] == ("4096", "read")
    (nic,) = found.host.nics
    assert (nic.name, nic.text("driver")) == ("eth0", "igb")
    assert told(found, "pasted.txt") == "read"


def test_outputs_without_prompts_follow_each_other(tmp_path: Path) -> None:
    text = f"Hello,\n\nCPU(s): 4\nThread(s) per core: 1\n{RINGS}{RINGS.replace('eth0', 'eth1')}"
    found = taken(tmp_path, {"a.txt": text})
    assert [nic.name for nic in found.host.nics] == ["eth0", "eth1"]
    assert len(found.host.topology.cpus) == 4


def test_several_sources_and_single_files(tmp_path: Path) -> None:
    root = folder(tmp_path, {"a.txt": "CPU(s): 4\n", "b/rings": RINGS})
    found = import_host([root / "a.txt", root / "b"])
    assert len(found.host.topology.cpus) == 4
    assert [nic.name for nic in found.host.nics] == ["eth0"]
    assert read_source(str(root / "a.txt")).topology.cpus == frozenset(range(4))


def test_outputs_of_one_name_are_all_read(tmp_path: Path) -> None:
    root = folder(tmp_path, {"a/out.txt": "CPU(s): 4\n", "b/out.txt": RINGS})
    found = import_host([root / "a/out.txt", root / "b/out.txt"])
    assert len(found.host.topology.cpus) == 4
    assert [nic.name for nic in found.host.nics] == ["eth0"]
    assert (told(found, "out.txt"), told(found, "2/out.txt")) == ("read", "read")


def test_the_first_lines_of_netperf_may_be_a_prompt(tmp_path: Path) -> None:
    text = (
        "$ netperf -H 192.0.2.1 -t TCP_STREAM\n"
        "MIGRATED TCP STREAM TEST from 0.0.0.0 port 0\n131072  16384  16384    4.51  35801.94\n"
    )
    assert [one.test for one in taken(tmp_path, {"n.txt": text}).host.tests] == ["netperf"]


# -- kernels -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "distribution", "model"),
    [
        ("2.6.18-164.el5", "", "linux-2.6.18-rhel5"),
        ("2.6.32-754.el6.x86_64", "", "linux-2.6.32-rhel6.1"),
        ("2.6.32-38-server", "Ubuntu 10.04", "linux-2.6.32-rhel6.1"),
        ("3.10.0-1160.el7.x86_64", "", "linux-2.6.38"),
        ("3.10.0", "CentOS Linux 7", "linux-2.6.38"),
        ("3.13.0-24-generic", "Ubuntu 14.04", "linux-2.6.38"),
        ("4.18.0-513.el8.x86_64", "", "linux-4.18"),
        ("4.19.0-6-amd64", "Debian 10", "linux-4.18"),
        ("5.1.5", "", "linux-5.4"),
        ("5.14.0-362.el9", "", "linux-5.14-rhel9"),
        ("5.15.0-91-generic", "Ubuntu 22.04.3 LTS", "linux-6.1"),
        ("6.12.0-55.el10", "", "linux-6.12"),
        ("6.8.0-31-generic", "", "linux-6.6"),
        ("6.18.0-061800-generic", "", "linux-6.18"),
        ("2.6.16.60-0.21-smp", "SUSE Linux Enterprise Server 10", "linux-2.6.16-sles10"),
        ("2.4.21", "", "linux-2.6.9-rhel4"),
    ],
)
def test_a_kernel_is_taken_for_one_of_its_family(
    version: str, distribution: str, model: str
) -> None:
    assert nearest_kernel(version, distribution) == model


# -- the other end -----------------------------------------------------------------------------


def test_the_peer_has_none_of_the_hosts_faults(tmp_path: Path) -> None:
    files = {"proc-interrupts.txt": INTERRUPTS}
    taken(tmp_path, files)
    scenario = load(str(tmp_path / "out" / "scenario.toml"))
    served = [port.queue_affinity for port in scenario.host.ports]
    assert served == [((3,), (0,), (3,), (1,))]
    assert [port.queue_affinity for port in scenario.peers[0].ports] == [((0,), (1,), (2,), (3,))]
    twin = import_host(tmp_path / "host", peer="same")
    twin.write(tmp_path / "twin")
    same = load(str(tmp_path / "twin" / "scenario.toml"))
    assert [port.queue_affinity for port in same.peers[0].ports] == served
    with pytest.raises(InputError, match="unknown peer"):
        import_host(tmp_path / "host", peer="none")


def test_a_guest_without_virtio_is_said_to_be_one(tmp_path: Path) -> None:
    files = {
        "lscpu.txt": "CPU(s): 4\nHypervisor vendor: Xen\n",
        "ethtool-i-eth0.txt": "driver: ena\nbus-info: 0000:00:05.0\n",
    }
    assert any("lscpu.txt: a guest of Xen" in note for note in taken(tmp_path, files).notes)


def test_of_two_ports_the_one_with_more_interrupts_is_in_the_model(tmp_path: Path) -> None:
    """Nothing says how fast their links are, or what they carry."""
    for count, port in ((900_000, "enp2s0"), (1, "enp1s0")):
        row = (
            f" 133:  {count:>9}          0          0          0  IR-PCI-MSI 6-edge  enp2s0-rx-0\n"
        )
        found = taken(tmp_path / port, {"proc-interrupts.txt": INTERRUPTS + row})
        assert any(
            note.startswith(f"no port says how fast its link is: {port} is in the model")
            for note in found.notes
        )
