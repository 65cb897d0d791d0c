"""A setting meets the checks that files meet, and the error names it."""

import re
from typing import Any

import pytest

from simnet.errors import InputError
from simnet.scenario.core import library
from simnet.scenario.core.load import load
from simnet.scenario.core.specs import Feature
from simnet.scenario.system.build import build
from tests.scenario.conftest import Workspace

MS = 10**9
LATENCY = "cpu.memory.local_latency"


def _error(scenario: str, settings: dict[str, str], **options: Any) -> InputError:
    with pytest.raises(InputError) as caught:
        load(scenario, settings=settings, **options)
    return caught.value


@pytest.mark.parametrize(
    ("scenario", "settings", "name", "message"),
    [
        ("x460-out-of-box", {"machine.nodes": "1", "nodes": "1"}, "machine.nodes",
         "eth2 is at NUMA node 1: the machine has nodes 0 to 0"),
        ("x460-out-of-box", {"machine.nodes": "64"}, "machine.nodes",
         "some of 64 nodes cannot be reached from others"),
        ("x460-out-of-box", {"machine.buses_per_node": "3"}, "machine.buses_per_node",
         "the sockets of a node must fill its buses: 4 sockets, 3 buses"),
        ("x460-out-of-box",
         {"peer:machine.sockets_per_node": "1", "peer:machine.buses_per_node": "2"},
         "peer:machine.buses_per_node",
         "the sockets of a node must fill its buses: 1 sockets, 2 buses"),
        ("x460-bonding-pair", {LATENCY: "1 us"}, LATENCY,
         ("local_latency (1 us) is more than remote_latency (371 ns):"
          " what is farther costs no less")),
        ("x460-bonding-pair", {"cpu.memory.remote_dirty": "1 ns"}, "cpu.memory.remote_dirty",
         ("same_node_dirty (175 ns) is more than remote_dirty (1 ns):"
          " what is farther costs no less")),
        ("relay-tuned", {"kernel.rps_index_shift": "1"}, "kernel.rps_index_shift",
         ("a hash of 16 bits shifted by 1 is no place in a map:"
          " expected a shift of 16 to 32")),
        ("relay-tuned", {"kernel.rps_index_shift": "16", "kernel.rxhash_bits": "32"},
         "kernel.rps_index_shift",
         ("a hash of 32 bits shifted by 16 is no place in a map:"
          " expected a shift of 32 to 32")),
        ("relay-tuned", {"kernel.rxhash_bits": "0"}, "kernel.rxhash_bits",
         "Linux 2.6.32 has no hash of its own: RPS needs 1 to 32 bits"),
        ("relay-untuned",
         {"system.kernel": "linux-6.18", "ethtool -L eth0 rx": "4",
          "/proc/irq/84/smp_affinity": "2"}, "/proc/irq/84/smp_affinity",
         "dell-r410 has no interrupt 84: expected one of 80-83, 90-98"),
        ("relay-tuned", {"kernel.tcp_autocorking": "off"}, "kernel.tcp_autocorking",
         "of Linux 2.6.32 it is not modelled: expected 5.0 or later"),
        ("vlan-half-cpu", {"peer:nic.rx_usecs": "5 us"}, "peer:nic.rx_usecs",
         ("the driver ibmveth has no such knob;"
          " it belongs to bnx2, cxgb4, ena, i40e, ib_ipoib, ice, igb, igc, ixgbe, mlx5, tg3")),
        ("vlan-half-cpu", {"nic.tso": "on"}, "nic.tso",
         ("the driver ibmveth has no such knob;"
          " it belongs to bnx2, cxgb4, e1000, e1000e, ena, i40e, ice, igb, igc, ixgbe, mlx5,"
          " neutral, r8169, tg3, virtio_net")),
        ("x460-bonding-pair", {"peer:nic.rx_pool_buffers": "1 1 1 1 1"}, "peer:nic.rx_pool_buffers",
         "the driver e1000 and tg3 has no such knob; it belongs to ibmveth"),
        ("vlan-half-cpu", {"nic.mtus": "1 KiB"}, "nic.mtus",
         "unknown knob; did you mean nic.mtu?"),
        ("vscsi-parallel", {"ib_ipoib poll weight": "64"}, "ib_ipoib poll weight",
         "ibm-p5-partition has no ports here"),
        ("vscsi-parallel", {"port-channel load-balance": "src-ip"}, "port-channel load-balance",
         "nothing here is on a switch"),
        ("relay-tuned", {"kernel.scheduler": "fair"}, "kernel.scheduler",
         "of Linux 2.6.32 it is not modelled: expected 5.4 or later"),
        ("web-25g", {"/sys/class/net/eth0/threaded": "1"}, "/sys/class/net/eth0/threaded",
         "threads that poll share CPUs with others fairly: kernel.scheduler=fair, too"),
        ("web-25g", {"system.kernel": "linux-5.4", "nic.threaded": "on"}, "nic.threaded",
         "Linux 5.4 has no threaded NAPI: it came with Linux 5.12"),
        ("web-25g", {"system.kernel": "linux-5.4", "/sys/class/net/eth0/threaded": "1"},
         "/sys/class/net/eth0/threaded", "not in Linux 5.4: it came with Linux 5.12"),
        ("web-25g", {"taskset --pid napi/eth0/rx-3": "99"}, "taskset --pid napi/eth0/rx-3",
         "CPU 99 is beyond the machine: xeon-ice-lake-e810 has CPUs 0 to 31"),
        ("vscsi-parallel", {"kernel.dirty_writeback": "1 ps"}, "kernel.dirty_writeback",
         "1 ps is less than a jiffy, 4 ms at HZ 250"),
        ("ipoib-sunway", {"HZ": "24"}, "HZ",
         "40 ms is less than a jiffy, 41666666.666 ns at HZ 24"),
        ("vlan-half-cpu", {"peers_simulated": "ends"}, "peers_simulated",
         'the ends are partitions of one machine: expected peers_simulated = "machines"'),
        ("sw1621-t520", {"kernel.gro": "off"}, "kernel.gro",
         "GRO is on, Linux 3.8 has none: nic.gro=off"),
        ("sw1621-t520", {"system.kernel": "linux-2.6.9-rhel4"}, "system.kernel",
         "GRO is on, Linux 2.6.9 has none: nic.gro=off"),
    ],
)  # fmt: skip
def test_what_no_file_may_say_no_setting_may(
    scenario: str, settings: dict[str, str], name: str, message: str
) -> None:
    error = _error(scenario, settings)
    assert (error.file, error.key, error.message) == ("--set", name, message)


def test_of_two_values_that_do_not_fit_the_option_is_at_fault() -> None:
    # the scenario's own tunings set the frames
    error = _error("relay-tuned", {"ethtool -C eth0 rx-usecs": "0", "nic.rx_frames": "0"})
    assert error.file == "--set"
    assert error.message == "rx usecs and frames are 0: there would be no interrupt at all"


def test_a_sysctl_without_effect_needs_no_ports() -> None:
    name = "peer:net.ipv4.tcp_fin_timeout"
    loaded = load("vscsi-parallel", settings={name: "0"})
    assert f"{name}: accepted, but not modelled: it changes nothing here" in loaded.remarks


def test_the_fault_of_a_model_is_in_its_file(workspace: Workspace) -> None:
    nic = library.find_model("nic", "broadcom-bcm5716").read_text("utf-8")
    for key, value in {"tx_usecs": '"0 us"', "tx_frames": "0"}.items():
        before = rf"^{key} = {{value = [^,]*"
        nic = re.sub(before, f"{key} = {{value = {value}", nic, flags=re.MULTILINE)
    (workspace.folder / "nic.toml").write_text(nic, "utf-8")
    server = workspace.folder / "server.toml"
    text = re.sub(r'nic = "[^"]*"', 'nic = "nic.toml"', server.read_text("utf-8"))
    server.write_text(text, "utf-8")
    error = _error(str(workspace.scenario), {"nic.rx_queues": "1", "nic.tx_queues": "1"})
    line = next(n for n, text in enumerate(nic.splitlines(), 1) if text.startswith("tx_usecs ="))
    assert (error.file, error.line, error.key) == ("nic.toml", line, "tx_usecs")
    assert error.message == "tx usecs and frames are 0: there would be no interrupt at all"


def test_a_machine_of_one_node_has_no_remote_memory() -> None:
    settings = {"cpu.memory.local_latency": "300 ns", "cpu.memory.remote_latency": "1 ns"}
    assert load("sw1621-t520", settings=settings).cpu.memory.local_latency_ps == 300_000


@pytest.mark.parametrize("kernel", sorted(library.model_names("kernel")))
def test_every_kernel_of_linux_says_what_it_has(kernel: str) -> None:
    form, document = library.read_model("kernel", library.find_model("kernel", kernel))
    if document.data.get("system") == "aix":
        return
    features = {"rps", "xps", "gro"}
    assert features <= document.data.keys()
    values, _ = library.flat(form)
    assert all(isinstance(values[name].value, bool) for name in features)


def test_a_kernel_of_today_steers_packets() -> None:
    steered = load("tcp-rr-one-queue", settings={"system.kernel": "linux-6.18"}, tunings=["rps-ff"])
    assert steered.kernel.rps
    assert steered.ports[0].rps_cpus == (tuple(range(8)),)


def test_absent_and_unknown_are_told_apart(workspace: Workspace) -> None:
    name = "/sys/class/net/eth0/queues/rx-0/rps_cpus"
    absent = _error(str(workspace.scenario), {name: "ff"})
    assert absent.message == "not in this kernel, Linux 2.6.16: it has no RPS"
    workspace.edit("kernel.toml", "rps = {", "# rps = {")
    unknown = _error(str(workspace.scenario), {name: "ff"})
    assert unknown.message == (
        "the model of this kernel, Linux 2.6.16, does not say whether it has RPS:"
        " kernel.rps=on does; Linux has it since 2.6.35"
    )
    told = {name: "ff", "kernel.rps": "on", "kernel.rxhash_bits": "32"}
    assert load(workspace.scenario, settings=told).ports[0].rps_cpus == (tuple(range(8)),)
    provenance = load(workspace.scenario).provenance["host.kernel.rps"]
    assert (provenance.source, provenance.text) == ("default", Feature("").when_missing)


def test_what_is_set_of_a_queue_goes_with_it() -> None:
    loaded = load("relay-tuned", settings={"nic.rx_queues": "3", "nic.tx_queues": "2"})
    port = loaded.ports[0]
    assert [len(port.rps_cpus), len(port.queue_affinity), len(port.xps_cpus)] == [3, 3, 2]
    assert port.queue_affinity == ((0,), (0,), (1,))
    assert "/proc/irq/{83-88,93-98}/smp_affinity: gone with nic.rx_queues" in loaded.remarks
    after = _error("relay-tuned", {"nic.rx_queues": "3", "/proc/irq/83/smp_affinity": "1"})
    assert after.message == "dell-r410 has no interrupt 83: expected one of 80-82, 90-92"
    more = load("relay-tuned", settings={"nic.rx_queues": "9"})
    assert len(more.ports[0].queue_affinity) == 9


def test_a_mask_of_a_disk_or_queue_is_of_the_machine_as_set() -> None:
    # with one socket less there are fewer CPUs
    error = _error(
        "x460-out-of-box",
        {"machine.sockets_per_node": "2", "/proc/irq/193/smp_affinity": "4000000000000000",
         "irqbalance.map": "none"},
    )  # fmt: skip
    assert error.key == "/proc/irq/193/smp_affinity"
    assert error.message == "CPU 62 is beyond the machine: ibm-x460 has CPUs 0 to 31"


def test_several_connections_share_a_ports_way_through_the_switch() -> None:
    system = build(load("x460-bonding-pair", settings={"connections": "2"}), seed=1)
    system.run(10 * MS)
    received = [flow.bytes for flow in system.snapshot().flows]
    assert len(received) == 16
    assert sum(count > 0 for count in received) > 12
