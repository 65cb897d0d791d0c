"""Settings of a host: which knobs they become, with which values, and what is not used."""

from pathlib import Path

import pytest

from simnet.errors import InputError
from simnet.importing.files import live
from simnet.importing.parsers.interrupts import QueueInterrupt
from simnet.importing.source import read_source
from simnet.importing.writing.folder_out import Imported, imported
from simnet.scenario.core.load import load
from tests.importing.trees import folder, port, sysfs

PORT = "/sys/class/net/ens1"
NETWORKING = "sos_commands/networking"
HOST = {
    **sysfs([[0], [1], [2], [3]], [[0, 1], [2, 3]], [[0, 1], [2, 3]]),
    **port("ens1", 2, node=1),
    "proc/cpuinfo": "processor : 0\nmodel name : Intel Xeon @ 2.60GHz\n",
    "proc/version": "Linux version 6.12.1 (builder) #1 SMP\n",
    f"{NETWORKING}/ethtool_-i_ens1": "driver: mlx5_core\nbus-info: 0000:3b:00.0\n",
}
COALESCE = """Coalesce parameters for ens1:
Adaptive RX: off  TX: on
stats-block-usecs: 0
sample-interval: n/a
rx-usecs:       16
rx-frames:      64
rx-usecs-irq:   n/a
CQE mode RX: on  TX: n/a
"""
FEATURES = """Features for ens1:
rx-checksumming: on
tcp-segmentation-offload: off
        tx-tcp-segmentation: off
generic-receive-offload: on
large-receive-offload: off [fixed]
"""
CHANNELS = """Channel parameters for ens1:
Pre-set maximums:
RX:             n/a
Combined:       8
Current hardware settings:
RX:             n/a
Combined:       2
"""
HASH = """RX flow hash indirection table for ens1 with 2 RX ring(s):
    0:      0     1     0     1     0     1     0     1
RSS hash key:
{}
RSS hash function:
    toeplitz: on
"""
KEY = ":".join(["6d", "5a", "56", "da"] * 10)


def read(tmp_path: Path, **files: str) -> Imported:
    """What an import makes of the host with some files more."""
    return imported(read_source(str(folder(tmp_path / "host", {**HOST, **files}))))


def settings(found: Imported) -> dict[str, str]:
    """Values by name, of the host alone."""
    told = (*found.tuning.settings.values(), *found.tuning.placed)
    return {one.name: one.raw for one in told if not one.name.startswith("peer:")}


def why(found: Imported) -> dict[str, str]:
    """Why what was read is not used, by name."""
    return {one["name"]: one["why"] for one in found.unused()}


def test_what_ethtool_printed(tmp_path: Path) -> None:
    found = read(
        tmp_path,
        **{
            f"{NETWORKING}/ethtool_-c_ens1": COALESCE,
            f"{NETWORKING}/ethtool_-k_ens1": FEATURES,
            f"{NETWORKING}/ethtool_-l_ens1": CHANNELS,
            f"{NETWORKING}/ethtool_-x_ens1": HASH.format(KEY),
        },
    )
    chosen = {name: raw for name, raw in settings(found).items() if name.startswith("ethtool")}
    assert chosen == {
        "ethtool -C ens1 adaptive-rx": "off",
        "ethtool -C ens1 adaptive-tx": "on",
        "ethtool -C ens1 cqe-mode-rx": "on",
        "ethtool -C ens1 rx-usecs": "16",
        "ethtool -C ens1 rx-frames": "64",
        "ethtool -K ens1 tso": "off",
        "ethtool -K ens1 gro": "on",
        "ethtool -L ens1 combined": "2",
        "ethtool -X ens1 hkey": KEY,
    }
    assert why(found) == {
        "ethtool -C ens1 stats-block-usecs": "no simulation depends on it",
        "ethtool -K ens1 rx": "no simulation depends on it",
    }
    # more queues can be set than are in use
    assert "rx_queues = {value = 8," in found.drafts["nic-ens1.toml"].text()


def test_queues_and_deferral(tmp_path: Path) -> None:
    queues = "sys/class/net/ens1/queues"
    found = read(
        tmp_path,
        **{
            f"{queues}/rx-0/rps_cpus": "00000000,0000000c\n",
            f"{queues}/rx-1/rps_cpus": "00000000,ffffffff\n",
            f"{queues}/rx-0/rps_flow_cnt": "2048\n",
            f"{queues}/rx-1/rps_flow_cnt": "2048\n",
            f"{queues}/tx-0/xps_cpus": "1\n",
            f"{queues}/tx-1/xps_cpus": "2\n",
            "sys/class/net/ens1/napi_defer_hard_irqs": "2\n",
            "sys/class/net/ens1/gro_flush_timeout": "200000\n",
            "proc/sys/net/core/rps_sock_flow_entries": "32768\n",
        },
    )
    chosen = settings(found)
    assert {name: chosen[name] for name in chosen if "irq/" not in name} == {
        f"{PORT}/queues/rx-0/rps_cpus": "c",
        # CPUs that the host does not have are left out
        f"{PORT}/queues/rx-1/rps_cpus": "f",
        f"{PORT}/queues/rx-*/rps_flow_cnt": "2048",
        f"{PORT}/queues/tx-0/xps_cpus": "1",
        f"{PORT}/queues/tx-1/xps_cpus": "2",
        f"{PORT}/napi_defer_hard_irqs": "2",
        f"{PORT}/gro_flush_timeout": "200000",
        "net.core.rps_sock_flow_entries": "32768",
    }
    # the peer has the host's hardware, and nothing that the host has set
    assert [
        one for one in found.tuning.settings if one.startswith("peer:") and "irq/" not in one
    ] == []
    twin = imported(found.host, peer="same")
    assert twin.tuning.settings[f"peer:{PORT}/napi_defer_hard_irqs"].state == "assumed"
    assert twin.tuning.settings[f"peer:{PORT}/queues/rx-0/rps_cpus"].state == "assumed"


@pytest.mark.parametrize(
    ("state", "tables", "chosen"),
    [
        ("on", "2048", "on"),
        ("off", "2048", "off"),
        ("on", "0", None),
        ("off [fixed]", "2048", None),
    ],
)
def test_ntuple_counts_where_rfs_is_on(
    tmp_path: Path, state: str, tables: str, chosen: str | None
) -> None:
    features = f"Features for ens1:\nntuple-filters: {state}\n"
    found = read(
        tmp_path,
        **{
            f"{NETWORKING}/ethtool_-k_ens1": features,
            "sys/class/net/ens1/queues/rx-0/rps_flow_cnt": f"{tables}\n",
            "sys/class/net/ens1/queues/rx-1/rps_flow_cnt": f"{tables}\n",
            "proc/sys/net/core/rps_sock_flow_entries": "32768\n",
        },
    )
    assert settings(found).get("ethtool -K ens1 ntuple") == chosen


def test_busy_polling_is_read_and_used_by_sockets_that_are_read(tmp_path: Path) -> None:
    pasted = "net.core.busy_poll = 40\nnet.core.busy_read = 50\n"
    found = read(tmp_path, **{"sos_commands/kernel/sysctl_-a": pasted})
    assert settings(found).items() >= {("net.core.busy_read", "50"), ("net.core.busy_poll", "40")}
    scenario = str(tmp_path / "out")
    found.write(tmp_path / "out")
    effective = load(f"{scenario}/scenario.toml")
    assert effective.host.kernel.busy_read_usecs == 50
    # its streams block in recv, and nothing calls poll
    remarks = [one for one in effective.remarks if "busy" in one and not one.startswith("peer:")]
    assert [one.partition(":")[0] for one in remarks] == ["net.core.busy_poll"]


def test_what_controls_congestion_and_who_asks_for_marks_is_simulated(tmp_path: Path) -> None:
    pasted = "net.ipv4.tcp_congestion_control = bbr\nnet.ipv4.tcp_ecn = 1\n"
    found = read(tmp_path, **{"sos_commands/kernel/sysctl_-a": pasted})
    found.write(tmp_path / "out")
    kernel = load(f"{tmp_path / 'out'}/scenario.toml").host.kernel
    assert (kernel.tcp_congestion_control, kernel.tcp_ecn) == ("bbr", 1)


@pytest.mark.parametrize(
    ("files", "name", "expected"),
    [
        (
            {
                "sos_commands/kernel/sysctl_-a": "net.ipv4.tcp_congestion_control = bbr\n",
                "proc/version": "Linux version 4.12\n",
            },
            "net.ipv4.tcp_congestion_control",
            "bbr is not in Linux 4.12",
        ),
        (
            {
                "sos_commands/kernel/sysctl_-a": "net.ipv4.tcp_ecn = 1\n",
                "proc/version": "Linux version 4.12\n",
            },
            "net.ipv4.tcp_ecn",
            "of Linux 4.12 it is not modelled",
        ),
        (
            {"sos_commands/kernel/sysctl_-a": "net.ipv4.tcp_ecn = 3\n"},
            "net.ipv4.tcp_ecn",
            "3 is outside the legal range",
        ),
        (
            {"sos_commands/kernel/sysctl_-a": "net.ipv4.tcp_congestion_control = hybla\n"},
            "net.ipv4.tcp_congestion_control",
            "expected one of bbr, bic, cubic, dctcp, reno, got 'hybla'",
        ),
        (
            {"proc/sys/net/core/netdev_budget": "-3\n"},
            "net.core.netdev_budget",
            "-3 is outside the legal range 1 to",
        ),
        (
            {
                "sys/class/net/ens1/napi_defer_hard_irqs": "2\n",
                "proc/version": "Linux version 5.4\n",
            },
            f"{PORT}/napi_defer_hard_irqs",
            "not in Linux 5.4: it came with Linux 5.8",
        ),
        (
            {f"{NETWORKING}/ethtool_-x_ens1": HASH.format(KEY[:-3])},
            "ethtool -X ens1 hkey",
            "expected microsoft or 40 bytes",
        ),
        (
            {f"{NETWORKING}/ethtool_-k_ens1": "Features for ens1:\nlarge-receive-offload: on\n"},
            "ethtool -K ens1 lro",
            "simnet has no such knob",
        ),
        (
            {f"{NETWORKING}/ethtool_-g_ens1": (
                "Ring parameters for ens1:\nCurrent hardware settings:\nRX: 99999999\n"
            )},
            "models/nic-ens1.toml rx_ring",
            "99999999 is outside the legal range",
        ),
    ],
)  # fmt: skip
def test_what_no_model_takes_is_said(
    tmp_path: Path, files: dict[str, str], name: str, expected: str
) -> None:
    found = read(tmp_path, **files)
    assert why(found)[name].startswith(expected)
    assert name not in settings(found)
    assert f"| {name} |" in found.report().partition("## Read, and not used")[2]


INTERRUPTS = """            CPU0       CPU1       CPU2       CPU3
   1:          0          0          0          0  IR-IO-APIC  1-edge      i8042
{}
 NMI:          0          0          0          0   Non-maskable interrupts
"""


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (("ens1-TxRx-0", "ens1-TxRx-1"), [40, 41]),
        (("ens1", "ens1-TxRx-0", "ens1-TxRx-1"), [41, 42]),
        (("ens1-tx-0", "ens1-rx-1", "ens1-rx-2"), [41, 42]),
        (("i40e-0000:3b:00.0:misc", "i40e-ens1-TxRx-0", "i40e-ens1-TxRx-1"), [41, 42]),
        (
            ("mlx5_async0@pci:0000:3b:00.0", "mlx5_comp0@pci:0000:3b:00.0",
             "mlx5_comp0@pci:0000:3b:00.1", "mlx5_comp1@pci:0000:3b:00.0"),
            [41, 43],
        ),
        (("ens1 (queue 0)", "ens1 (queue 1)"), [40, 41]),
        (("ens10-Tx-Rx-0", "ens1-Tx-Rx-0", "ens1-Tx-Rx-1"), [41, 42]),
        (("ehci_hcd:usb1, ens1",), [40]),
    ],
)  # fmt: skip
def test_interrupts_of_queues(tmp_path: Path, names: tuple[str, ...], expected: list[int]) -> None:
    rows = [
        f"{40 + n:4}:  0  9  9  0  IR-PCI-MSI 5{n}-edge  {name}" for n, name in enumerate(names)
    ]
    found = lines(tmp_path, rows, {})
    assert [found[queue].irq for queue in sorted(found)] == expected


def test_interrupts_of_virtio(tmp_path: Path) -> None:
    names = ["virtio0-config", "virtio3-input.0", "virtio3-output.0", "virtio3-input.1"]
    rows = [f"{26 + n:4}:  0  0  0  0  PCI-MSI 5{n}-edge  {name}" for n, name in enumerate(names)]
    driver = "driver: virtio_net\nbus-info: 0000:00:03.0\n"
    files = {f"{NETWORKING}/ethtool_-i_ens1": driver}
    assert [one.irq for one in lines(tmp_path, rows, files).values()] == [27, 29]


def test_where_an_interrupt_goes(tmp_path: Path) -> None:
    rows = [
        "  40:   0  9  9  0  IR-PCI-MSI 50-edge  ens1-TxRx-0",
        "  41:   2  0  0 99  IR-PCI-MSI 51-edge  ens1-TxRx-1",
        "  42:   2  2  0  2  IR-PCI-MSI 52-edge  ens1-TxRx-2",
    ]
    files = {f"proc/irq/{irq}/smp_affinity": "f\n" for irq in (40, 41, 42)}
    found = lines(tmp_path, rows, files | {"proc/irq/40/effective_affinity_list": "2\n"})
    assert [(sorted(at.cpus), at.source) for at in found.values()] == [
        ([2], "proc/irq/40/effective_affinity_list"),
        # three of four interrupts and more
        ([3], "proc/interrupts"),
        ([0, 1, 2, 3], "proc/irq/42/smp_affinity"),
    ]


def lines(tmp_path: Path, rows: list[str], files: dict[str, str]) -> dict[int, QueueInterrupt]:
    """The interrupts of the port's queues."""
    listing = INTERRUPTS.format("\n".join(rows))
    made = folder(tmp_path / "host", {**HOST, **files, "proc/interrupts": listing})
    return read_source(str(made)).interrupts["ens1"]


@pytest.mark.parametrize("irqs", [(120, 121), (120, 124), (124, 120), (9000, 7)])
def test_interrupts_keep_their_numbers(tmp_path: Path, irqs: tuple[int, int]) -> None:
    rows = [f"  {irq}:  0  9  9  0  IR-PCI-MSI 5-edge  ens1-TxRx-{q}" for q, irq in enumerate(irqs)]
    found = read(tmp_path, **{"proc/interrupts": INTERRUPTS.format("\n".join(rows))})
    found.write(tmp_path / "out")
    scenario = str(tmp_path / "out" / "scenario.toml")
    (port,) = load(scenario).host.ports
    assert tuple(port.irq_of(queue) for queue in range(2)) == irqs
    # what is listed follows a number only where it has to be said
    assert bool(port.next_irqs) == (irqs != (120, 121))
    name = f"/proc/irq/{irqs[1]}/smp_affinity"
    moved = load(scenario, settings={name: "1", "irqbalance": "off"}).host.ports[0]
    assert moved.queue_affinity[1] == (0,)
    assert moved.queue_affinity[0] == port.queue_affinity[0]


def test_queues_without_an_interrupt_get_free_numbers(tmp_path: Path) -> None:
    rows = ["  70:  0  9  9  0  IR-PCI-MSI 5-edge  ens1-TxRx-0"]
    channels = "Pre-set maximums:\nCombined:\t4\nCurrent hardware settings:\nCombined:\t1\n"
    files = {
        "proc/interrupts": INTERRUPTS.format("\n".join(rows)),
        f"{NETWORKING}/ethtool_-l_ens1": channels,
    }
    found = read(tmp_path, **files)
    found.write(tmp_path / "out")
    (port,) = load(str(tmp_path / "out" / "scenario.toml")).host.ports
    assert [port.irq_of(queue) for queue in range(4)] == [70, 71, 72, 73]


@pytest.mark.parametrize("daemon", ["irqbalance", "chronyd"])
def test_interrupts_in_the_scenario(tmp_path: Path, daemon: str) -> None:
    rows = "\n".join(
        f"  {irq}:  0  0  0  0  IR-PCI-MSI 50-edge  ens1-TxRx-{queue}"
        for queue, irq in enumerate((120, 121))
    )
    files = {
        "proc/interrupts": INTERRUPTS.format(rows),
        "proc/irq/120/effective_affinity": "8\n",
        "sos_commands/process/ps_-eo_comm": f"COMMAND\n{daemon}\n",
    }
    found = read(tmp_path, **files)
    found = imported(found.host, peer="same")
    found.write(tmp_path / "out")
    effective = load(str(tmp_path / "out" / "scenario.toml"))
    assert effective.irqbalance == ("settled" if daemon == "irqbalance" else "off")
    for host in (effective.host, *effective.peers):
        # of the second nothing is said: it is at the port's node
        assert [(port.irq, port.queue_affinity) for port in host.ports] == [(120, ((3,), (3,)))]


def test_this_machine_is_asked_what_no_file_tells(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "lspci"
    program.write_text("#!/bin/sh\necho 00:03.0 Ethernet controller: $1\n", "utf-8")
    program.chmod(0o755)
    monkeypatch.setattr(live, "_PATH", str(tmp_path))
    files = live.LiveFiles()
    assert files.text("sos_commands/pci/lspci_-vv") == "00:03.0 Ethernet controller: -vv"
    assert files.names("sos_commands/pci") == ["lspci_-vv"]


@pytest.mark.parametrize(
    "files",
    [
        {"sys/class/net/ens1/speed": "4294967295\n"},
        {"sys/class/net/ens1/speed": "-1\n"},
        {"sys/class/net/ens1/speed": "-1\n", f"{NETWORKING}/ethtool_ens1": (
            "Settings for ens1:\n\tSpeed: 65535Mb/s\n"
        )},
    ],
)  # fmt: skip
def test_an_unknown_speed_is_none(tmp_path: Path, files: dict[str, str]) -> None:
    found = read(tmp_path, **files)
    assert "link_bps" not in found.host.nics[0].facts
    note = "no port says how fast its link is: ens1 is in the model, with 100 Gbit/s"
    assert any(one.startswith(note) for one in found.notes)


def test_a_host_of_which_no_cpu_is_on_line_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no CPU of this host is on line"):
        read(tmp_path, **{"sys/devices/system/cpu/online": "\n"})


def test_a_job_without_nodes_of_its_own(tmp_path: Path) -> None:
    files = {
        "proc/self/cpuset": "/job\n",
        "proc/mounts": "none /sys/fs/cgroup cgroup2 rw 0 0\n",
        "sys/fs/cgroup/job/cpuset.cpus.effective": "1-2\n",
        "sys/fs/cgroup/job/cpuset.mems.effective": "\n",
    }
    found = read(tmp_path, **files)
    assert (found.summary()["cpus"], found.summary()["nodes"]) == (2, 0)
    found.write(tmp_path / "out")
    assert load(str(tmp_path / "out" / "scenario.toml")).host.online == (1, 2)


LSBLK = """{"blockdevices": [
   {"name": "nvme0n1", "type": "disk", "rota": false, "sched": "none"},
   {"name": "sda", "type": "disk", "rota": "1", "sched": "bfq"},
   {"name": "\\u001b[2J", "type": "disk", "rota": false, "sched": "none"},
   {"name": "sdb", "type": "disk", "rota": null, "sched": ["a"]},
   {"name": "sda1", "type": "part"}, {"name": "zram0", "type": "disk"}, 7
]}"""


@pytest.mark.parametrize(
    ("files", "disks"),
    [
        (
            {"sos_commands/block/lsblk_-J": LSBLK},
            "disks nvme0n1 (flash, none), sda (rotating, bfq), sdb: read, not used",
        ),
        (
            {
                "sys/block/sda/queue/rotational": "1\n",
                "sys/block/sda/queue/scheduler": "none [mq-deadline]\n",
                "sys/block/loop0/queue/rotational": "0\n",
            },
            "disks sda (rotating, mq-deadline): read, not used",
        ),
        ({"sos_commands/block/lsblk_-J": '{"blockdevices": 3}'}, None),
        ({}, None),
    ],
)
def test_disks_are_named(tmp_path: Path, files: dict[str, str], disks: str | None) -> None:
    notes = [note for note in read(tmp_path, **files).notes if note.startswith("disks")]
    assert [note.partition(";")[0] for note in notes] == ([disks] if disks else [])
