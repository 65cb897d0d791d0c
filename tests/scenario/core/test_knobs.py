import contextlib
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.errors import InputError
from simnet.host.release import release
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.knob import CpuMask, Knob, cpu_mask_text
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.load import load
from simnet.scenario.core.units import UnitError

SCENARIO = "x460-out-of-box"
PORTS = "eth0, eth1, eth2, eth3, eth4, eth5, eth6, eth7"


def _error(name: str, value: str) -> str:
    with pytest.raises(InputError) as caught:
        load(SCENARIO, settings={name: value})
    assert caught.value.file == "--set"
    assert caught.value.key == name
    return caught.value.message


def test_what_is_modelled() -> None:
    modelled = {knob.name for knob in KNOBS if knob.modelled}
    ignored = {knob.name for knob in KNOBS if not knob.modelled}
    assert {"net.ipv4.tcp_rmem", "/proc/irq/{irq}/smp_affinity", "irqbalance"} <= modelled
    assert {"net.ipv4.tcp_fack", "net.ipv4.tcp_fin_timeout"} <= ignored


def test_a_value_that_nothing_reads_is_reported() -> None:
    name = "nic.tx_wake_threshold"
    assert load(SCENARIO, settings={name: "100"}).remarks == (
        f"{name}: accepted, but not modelled: it changes nothing here",
    )


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("net.core.rmem_default", "media-udp"),
        ("net.ipv4.udp_mem", "media-udp"),
        ("net.core.wmem_default", "netperf-rr"),
    ],
)
def test_what_only_datagrams_read_says_so(name: str, reader: str) -> None:
    value = "512 512 512" if name.endswith("mem") else "512"
    (remark,) = load(SCENARIO, settings={name: value}).remarks
    assert remark.startswith(f"{name}: has no effect with this load, because it is")
    assert "UDP" in remark
    tunings = ("as-datagrams",) if reader == "netperf-rr" else ()
    read = load(reader, settings={name: value}, tunings=tunings)
    assert not any(remark.startswith(name) for remark in read.remarks)


def test_each_name_belongs_to_one_knob() -> None:
    for knob in KNOBS:
        name = knob.name.format(port="eth3", irq=201, queue=0, disk="sdb", drive="nvme0n1")
        assert [other.name for other in KNOBS if other.match(name) is not None] == [knob.name]


def _default(knob: Knob, configuration: Effective) -> Any:
    """Return the value of a knob before anyone touches it."""
    host = configuration.peers[0] if knob.drivers == ("e1000",) else configuration.host
    place: Any = {"kernel": host.kernel, "nic": host.ports[0].nic, "port": host.ports[0]}
    return getattr(place[knob.scope], knob.target)


TARGETED = [
    knob
    for knob in KNOBS
    if knob.scope in {"kernel", "nic", "port"}
    and knob.drivers != ("ib_ipoib",)
    and knob.system == "linux"
    and not knob.feature
    and knob.since not in {"2.6.29", "2.6.36", "3.0", "3.19", "5.8", "5.12"}
    and not {"e1000e", "mlx5", "i40e"}.intersection(knob.drivers)
]


@pytest.mark.parametrize("knob", TARGETED, ids=lambda knob: knob.name)
def test_setting_the_default_as_typed_changes_nothing(knob: Knob) -> None:
    untouched = load(SCENARIO)
    typed = knob.admin_text(_default(knob, untouched))
    prefix = "peer:" if knob.drivers == ("e1000",) else ""
    name = prefix + knob.name.format(port="eth0", irq=177)
    if release(knob.since) > release(untouched.kernel.version):
        assert _error(name, typed) == f"not in Linux 2.6.16: it came with Linux {knob.since}"
        return
    same = load(SCENARIO, settings={name: typed})
    assert same.digest() == untouched.digest()
    applied = next(knob for knob in same.applied if knob.name == name)
    assert applied.value == typed
    assert typed in applied.apply
    if name not in {knob.name for knob in untouched.applied}:
        assert applied.before == typed
        assert applied.apply == applied.undo


def test_an_ignored_knob_says_so_and_changes_nothing() -> None:
    configuration = load(SCENARIO, settings={"net.ipv4.tcp_fack": "0"})
    assert configuration.digest() == load(SCENARIO).digest()
    assert configuration.remarks == (
        "net.ipv4.tcp_fack: accepted, but not modelled: it changes nothing here",
    )
    assert not configuration.applied[-1].modelled


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("net.ipv4.tcp_rmme", "1", "unknown knob; did you mean net.ipv4.tcp_rmem?"),
        ("mesage", "1 B", "unknown knob; did you mean message?"),
        ("TCP_NODELAY", "on", "unknown knob; did you mean iperf -N?"),
        ("ethtool -C eth0 rx-usec", "5", "unknown knob; did you mean ethtool -C eth0 rx-usecs?"),
        ("/proc/irq/177/smp_afinity", "1",
         "unknown knob; did you mean /proc/irq/177/smp_affinity?"),
        ("cpu.costs.hardirg", "3 cycles", "unknown knob; did you mean cpu.costs.hardirq?"),
        ("zzz", "1", "unknown knob"),
        ("message", "64", "missing unit in '64': expected a size such as '256 KiB'"),
        ("message", "64 us", "wrong kind of unit in '64 us': expected a size such as '256 KiB'"),
        ("message", "0 B", "0 B is outside the legal range 1 B to 16 MiB"),
        ("nodes", "0", "0 is outside the legal range 1 to 64"),
        ("nodes", "5", "5 nodes: ibm-x460 has 4"),
        ("/proc/irq/177/smp_affinity", "1,00000000,00000000",
         "CPU 64 is beyond the machine: ibm-x460 has CPUs 0 to 63"),
        ("/proc/irq/177/smp_affinity", "0",
         "the mask is empty: at least one CPU has to take the interrupt"),
        ("/proc/irq/177/smp_affinity", "cpu0",
         "expected a hexadecimal CPU mask such as '4' or 'ff', got 'cpu0'"),
        ("/proc/irq/178/smp_affinity", "1",
         "ibm-x460 has no interrupt 178: expected one of 177, 185, 193, 201, 209, 217, 225, 233"),
        ("numactl --cpubind", "4", "NUMA node 4 does not exist: ibm-x460 has nodes 0 to 3"),
        ("numactl --preferred", "-1", "expected a node number, nic or any, got '-1'"),
        ("ethtool -C eth9 rx-usecs", "1",
         f"ibm-x460 has no port eth9: expected one of {PORTS}"),
        ("ethtool -C eth0 rx-usecs", "1024", "tg3 takes at most 1023 us"),
        ("ethtool -C eth0 rx-usecs", "-1", "-1 us is outside the legal range 0 us to 8160 us"),
        ("ethtool -C eth0 rx-usecs", "20.5us", "expected a whole number of us, got '20.5us'"),
        ("ethtool -C eth0 tx-usecs", "0.5", "expected a whole number of us, got '0.5'"),
        ("modprobe bonding miimon", "100us", "expected a whole number of ms, got '100us'"),
        ("modprobe bonding updelay", "2.5", "expected a whole number of ms, got '2.5'"),
        ("net.ipv4.tcp_rmem", "4096 87380.5 174760", "'87380.5 B' is not a whole number of bytes"),
        ("ethtool -C eth0 rx-frames", "256", "256 is outside the legal range 0 to 255"),
        ("ethtool -G eth0 rx", "513", "at most 512 buffers in a ring of 512"),
        ("peer:ethtool -C eth0 rx-usecs", "50",
         ("the driver e1000 has no such knob;"
          " it belongs to bnx2, cxgb4, ena, i40e, ib_ipoib, ice, igb, igc, ixgbe, mlx5, tg3")),
        ("modprobe e1000 InterruptThrottleRate", "0",
         "the driver tg3 has no such knob; it belongs to e1000"),
        ("peer:irqbalance", "on", "only for the system under test, not for its peers"),
        ("net.core.rps_sock_flow_entries", "32768",
         "not in this kernel, Linux 2.6.16: it has no RPS"),
        ("/sys/class/net/eth0/queues/rx-0/rps_cpus", "ff",
         "not in this kernel, Linux 2.6.16: it has no RPS"),
        ("/sys/class/net/eth0/queues/tx-*/xps_cpus", "ff",
         "not in this kernel, Linux 2.6.16: it has no XPS"),
        ("/sys/class/net/eth0/queues/rx-0/rps_cpu", "ff",
         "unknown knob; did you mean /sys/class/net/eth0/queues/rx-*/rps_cpus?"),
        ("ethtool -L eth0 rx", "4", "not in Linux 2.6.16: it came with Linux 3.0"),
        ("system.kernel", "linux-2.6.9-rhel",
         "unknown kernel model 'linux-2.6.9-rhel'; did you mean linux-2.6.9-rhel4?"),
        ("net.ipv4.tcp_rmem", "4096 87380", "expected 3 values, got 2"),
        ("net.ipv4.tcp_rmem", "4096 87380 x", "expected a size such as '256 KiB', got 'x'"),
        ("net.ipv4.tcp_timestamps", "2", "expected on or off, got '2'"),
        ("net.ipv4.tcp_congestion_control", "vegas",
         "expected one of bbr, bic, cubic, dctcp, reno, got 'vegas'"),
        ("irqbalance", "maybe", "expected on or off, got 'maybe'"),
        ("irqbalance.map", "x",
         ("unknown map 'x': expected one of listing-1, listing-2, first-fit, one-core, daemon,"
          " none")),
    ],
)  # fmt: skip
def test_a_bad_setting_is_refused_in_one_line(name: str, value: str, message: str) -> None:
    assert _error(name, value) == message


def test_moderation_without_any_interrupt_is_refused_as_the_driver_does() -> None:
    settings = {"ethtool -C eth0 rx-usecs": "0", "ethtool -C eth0 rx-frames": "0"}
    with pytest.raises(InputError, match="there would be no interrupt at all"):
        load(SCENARIO, settings=settings)


def test_a_knob_says_how_to_apply_and_to_undo_it() -> None:
    settings = {
        "net.ipv4.tcp_rmem": "4096 87380 4194304",
        "ethtool -C eth2 rx-usecs": "50",
        "/proc/irq/177/smp_affinity": "4",
        "irqbalance": "off",
        "peer:ethtool -K eth1 tso": "off",
    }
    applied = load(SCENARIO, settings=settings).applied
    commands = {knob.name: (knob.apply, knob.undo) for knob in applied if knob.name in settings}
    assert commands == {
        "net.ipv4.tcp_rmem": (
            'sysctl -w net.ipv4.tcp_rmem="4096 87380 4194304"',
            'sysctl -w net.ipv4.tcp_rmem="4096 87380 174760"',
        ),
        "ethtool -C eth2 rx-usecs": ("ethtool -C eth2 rx-usecs 50", "ethtool -C eth2 rx-usecs 20"),
        "/proc/irq/177/smp_affinity": (
            "echo 4 > /proc/irq/177/smp_affinity",
            "echo 1 > /proc/irq/177/smp_affinity",
        ),
        "irqbalance": (
            "service irqbalance stop  # SLES 10: irq_balancer",
            "service irqbalance start  # SLES 10: irq_balancer",
        ),
        "peer:ethtool -K eth1 tso": (
            "on each peer: ethtool -K eth1 tso off",
            "on each peer: ethtool -K eth1 tso on",
        ),
    }


def test_a_compile_time_constant_says_to_rebuild_and_names_the_newer_option() -> None:
    configuration = load(SCENARIO, settings={"TCP_RTO_MIN": "100 ms"})
    assert configuration.kernel.rto_min_ps == 100 * 10**9
    assert configuration.remarks == (
        (
            "TCP_RTO_MIN: compile-time constant: set TCP_RTO_MIN to 100 ms in include/net/tcp.h,"
            " rebuild the kernel, boot it; from Linux 2.6.23 on: ip route change ROUTE rto_min TIME"
        ),
    )


def test_a_bare_number_is_in_the_knobs_own_unit() -> None:
    bare = load(SCENARIO, settings={"ethtool -C eth0 rx-usecs": "50"})
    with_unit = load(SCENARIO, settings={"ethtool -C eth0 rx-usecs": "50 us"})
    assert vars(bare.ports[0].nic)["rx_usecs_ps"] == 50_000_000
    assert bare.digest() == with_unit.digest()


UNITS = [knob for knob in KNOBS if knob.unit and not getattr(knob.spec, "length", 0)]


@given(knob=st.sampled_from(UNITS), value=st.fractions(0, 2000, max_denominator=1000))
def test_what_is_accepted_is_a_whole_number_of_the_knobs_unit(knob: Knob, value: Fraction) -> None:
    with contextlib.suppress(UnitError):
        accepted = knob.parse(f"{float(value):.4f} {knob.unit}")
        assert value.denominator == 1
        assert knob.admin_text(accepted) == str(value)


def test_one_port_is_tuned_alone() -> None:
    configuration = load(SCENARIO, settings={"ethtool  -C eth2  rx-frames": "10"})
    assert [vars(port.nic)["rx_frames"] for port in configuration.ports] == [
        5,
        5,
        10,
        5,
        5,
        5,
        5,
        5,
    ]


def test_a_peers_knob_leaves_the_system_alone() -> None:
    configuration = load(SCENARIO, settings={"peer:net.ipv4.tcp_wmem": "4096 16384 4194304"})
    assert {peer.kernel.tcp_wmem_bytes[2] for peer in configuration.peers} == {4194304}
    assert configuration.kernel.tcp_wmem_bytes == (4096, 16384, 131072)


def test_moving_an_interrupt_under_a_running_irqbalance_is_warned_about() -> None:
    alone = load(SCENARIO, settings={"/proc/irq/177/smp_affinity": "4"})
    assert alone.remarks == (
        (
            "/proc/irq/177/smp_affinity: irqbalance is on and would move this again within 10 s;"
            " set irqbalance=off too"
        ),
    )
    settings = {"/proc/irq/177/smp_affinity": "4", "irqbalance": "off"}
    assert load(SCENARIO, settings=settings).remarks == ()


def test_stopping_irqbalance_leaves_the_interrupts_where_they_are() -> None:
    stopped = load(SCENARIO, settings={"irqbalance": "off"})
    assert stopped.irqbalance == "off"
    assert [port.smp_affinity for port in stopped.ports] == [
        port.smp_affinity for port in load(SCENARIO).ports
    ]


@pytest.mark.parametrize(
    ("text", "cpus"),
    [
        ("1", (0,)),
        ("ff", tuple(range(8))),
        ("0x10", (4,)),
        ("00000002,00000001", (0, 33)),
        ("80000000,00000000", (63,)),
        ("8000000000000000", (63,)),
        ("1,1", (0, 32)),
    ],
)
def test_masks_are_read_as_the_kernel_reads_them(text: str, cpus: tuple[int, ...]) -> None:
    assert CpuMask("").parse(text) == cpus


@given(cpus=st.sets(st.integers(0, 255), min_size=1))
def test_a_written_mask_reads_back(cpus: set[int]) -> None:
    assert CpuMask("").parse(cpu_mask_text(tuple(sorted(cpus)))) == tuple(sorted(cpus))


@given(text=st.text(alphabet="0123456789abcdefgxX,- ", max_size=12))
def test_any_text_is_a_mask_or_an_error(text: str) -> None:
    with contextlib.suppress(UnitError):
        assert CpuMask("").parse(text)


def test_port_in_braces_is_every_port_and_one_of_them_may_be_set_after_it() -> None:
    given = {"ethtool -C {port} rx-usecs": "40 us", "ethtool -C eth3 rx-usecs": "10 us"}
    each = {f"ethtool -C eth{number} rx-usecs": "40 us" for number in range(8)}
    every = load("x460-out-of-box", settings=dict(list(given.items())[:1]))
    assert every.digest() == load("x460-out-of-box", settings=each).digest()
    assert set(each) <= {one.name for one in every.applied}
    but_one = load("x460-out-of-box", settings=given)
    each |= {"ethtool -C eth3 rx-usecs": "10 us"}
    assert but_one.digest() == load("x460-out-of-box", settings=each).digest()
    assert but_one.digest() != every.digest()
    last = load("x460-out-of-box", settings=dict(reversed(given.items())))
    assert last.digest() == every.digest()
    peers = load("x460-out-of-box", settings={"peer:ifconfig {port} mtu": "1400"})
    wanted = {f"peer:ifconfig {port.name} mtu" for one in peers.peers for port in one.ports}
    assert wanted <= {one.name for one in peers.applied}


def test_every_port_of_a_system_without_ports_is_refused() -> None:
    with pytest.raises(InputError, match="there are no ports"):
        load("nvme-local", settings={"ethtool -C {port} rx-usecs": "40 us"})
