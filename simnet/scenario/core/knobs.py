"""The knobs: what an administrator can turn, by the names that the administrator types.

Every knob knows its value's form and legal range, what it changes in the effective configuration,
how to apply it on a real machine, and whether the model implements it. Its default is the value
of the scenario's models; undoing a knob is applying its default.

Sources: Linux 2.6.18 ``net/ipv4/sysctl_net_ipv4.c``, ``net/core/sysctl_net_core.c``,
``Documentation/networking/ip-sysctl.txt``, ``include/net/tcp.h``, ``drivers/net/tg3.c``
(``tg3_set_coalesce``: the legal ranges); ethtool(8), numactl(8); ``net/ipv4/tcp.c``
(``do_tcp_setsockopt``) of Linux 6.18; ip-route(8).
"""

from __future__ import annotations

from typing import Any, Final

from simnet.scenario.core.knob import CpuMask, Knob, ModelName, NodeNumber
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.schema import Kernel, Nic, value_spec
from simnet.scenario.core.specs import Flag, Quantity, count, size, time
from simnet.scenario.parts.aix.knobs import AIX
from simnet.scenario.parts.bonding.knobs import BONDING
from simnet.scenario.parts.infiniband.knobs import IPOIB
from simnet.scenario.parts.partition.knobs import PARTITION
from simnet.scenario.parts.scale.knobs import SCALE
from simnet.scenario.parts.storage.knobs import STORAGE

__all__ = ["KNOBS", "MODELS"]


_OF_A_COMPLETION_QUEUE: Final = ("rx_usecs_ps", "rx_frames")


def _sysctl(name: str, target: str, **more: Any) -> Knob:
    spec = value_spec(Kernel, target)
    unit = "B" if target.endswith("_bytes") else ""
    command = f'sysctl -w {name}="{{value}}"'
    return Knob(name, spec.doc, spec, "kernel", target, command, unit=unit, **more)


def _ignored(name: str, doc: str, spec: Spec, command: str, **more: Any) -> Knob:
    return Knob(name, doc, spec, "none", "", command, **more)


def _ignored_sysctl(name: str, doc: str, spec: Spec, **more: Any) -> Knob:
    return _ignored(name, doc, spec, f'sysctl -w {name}="{{value}}"', **more)


_VM: Final = (
    _sysctl("vm.dirty_ratio", "dirty_ratio"),
    _sysctl("vm.dirty_background_ratio", "dirty_background_ratio"),
)


def _coalesce(field: str) -> Knob:
    target = field.replace("-", "_") + ("_ps" if "usecs" in field else "")
    unit = "us" if "usecs" in field else ""
    doc = value_spec(Nic, target).doc
    spec = time(doc, "0 us", "1023 us") if unit else count(doc, 0, 255)
    name = f"ethtool -C {{port}} {field}"
    drivers: tuple[str, ...] = ("tg3", "bnx2")
    if target in _OF_A_COMPLETION_QUEUE:
        drivers += ("ib_ipoib", "cxgb4")
    return Knob(name, doc, spec, "nic", target, f"{name} {{value}}", unit=unit, drivers=drivers)


def _constant(name: str, target: str, where: str, **more: Any) -> Knob:
    spec = value_spec(Kernel, target)
    command = f"set {name} to {{value}} in {where}, rebuild the kernel, boot it"
    return Knob(name, spec.doc, spec, "kernel", target, command, compile_time=True, **more)


_ON_OFF: Final = Flag("on or off")
_ANY_NUMBER: Final = count("", 0, 2**31 - 1)

_SYSCTLS: Final = (
    _sysctl("net.core.netdev_budget", "netdev_budget", since="2.6.12"),
    _sysctl("net.core.dev_weight", "dev_weight"),
    _sysctl("net.core.netdev_max_backlog", "netdev_max_backlog"),
    _sysctl(
        "net.core.rmem_default",
        "rmem_default_bytes",
        note="a TCP socket begins with the second value of net.ipv4.tcp_rmem",
    ),
    _sysctl(
        "net.core.rmem_max",
        "rmem_max_bytes",
        note="it limits SO_RCVBUF, which iperf -w sets; net.ipv4.tcp_rmem limits the rest",
    ),
    _sysctl(
        "net.core.wmem_default",
        "wmem_default_bytes",
        note="a TCP socket begins with the second value of net.ipv4.tcp_wmem",
    ),
    _sysctl(
        "net.core.wmem_max",
        "wmem_max_bytes",
        note="it limits SO_SNDBUF, which iperf -w sets; net.ipv4.tcp_wmem limits the rest",
    ),
    _sysctl("net.ipv4.tcp_rmem", "tcp_rmem_bytes"),
    _sysctl("net.ipv4.tcp_wmem", "tcp_wmem_bytes"),
    _sysctl("net.ipv4.tcp_low_latency", "tcp_low_latency"),
    _sysctl("net.ipv4.tcp_timestamps", "tcp_timestamps"),
    _sysctl("net.ipv4.tcp_sack", "tcp_sack"),
    _sysctl("net.ipv4.tcp_window_scaling", "tcp_window_scaling"),
    _sysctl("net.ipv4.tcp_moderate_rcvbuf", "tcp_moderate_rcvbuf"),
    _sysctl("net.ipv4.tcp_adv_win_scale", "tcp_adv_win_scale"),
    _sysctl("net.ipv4.tcp_app_win", "tcp_app_win"),
    _sysctl("net.ipv4.tcp_reordering", "tcp_reordering"),
    _sysctl("net.ipv4.tcp_tso_win_divisor", "tcp_tso_win_divisor"),
    _sysctl("net.ipv4.tcp_abc", "tcp_abc", since="2.6.15"),
    _sysctl("net.ipv4.tcp_congestion_control", "tcp_congestion_control", since="2.6.13"),
    _sysctl(
        "net.ipv4.tcp_slow_start_after_idle",
        "tcp_slow_start_after_idle",
        since="2.6.18",
    ),
    _ignored_sysctl(
        "net.ipv4.tcp_mem", "pages for all sockets", Quantity("", "count", "0", "1000000000", 3)
    ),
    _ignored_sysctl("net.ipv4.tcp_fack", "forward acknowledgement", _ON_OFF),
    _ignored_sysctl("net.ipv4.tcp_dsack", "duplicate SACK", _ON_OFF),
    _ignored_sysctl("net.ipv4.tcp_ecn", "explicit congestion notification", _ON_OFF),
    _ignored_sysctl("net.ipv4.tcp_no_metrics_save", "forget a route's metrics", _ON_OFF),
    _ignored_sysctl("net.ipv4.tcp_fin_timeout", "seconds in FIN-WAIT-2", _ANY_NUMBER),
    _ignored_sysctl("net.ipv4.tcp_tw_reuse", "reuse of TIME-WAIT sockets", _ON_OFF),
    _ignored_sysctl("net.ipv4.tcp_max_syn_backlog", "half-open connections", _ANY_NUMBER),
    _ignored_sysctl("net.core.optmem_max", "ancillary buffer of a socket", _ANY_NUMBER),
    _ignored_sysctl("net.core.somaxconn", "listen queue", _ANY_NUMBER),
    _ignored_sysctl(
        "net.ipv4.ip_local_port_range",
        "ports of connections that the host opens",
        Quantity("", "count", "1", "131072", 2),
    ),
)

_COALESCE: Final = tuple(
    _coalesce(f"{direction}-{what}{suffix}")
    for direction in ("rx", "tx")
    for what in ("usecs", "frames")
    for suffix in ("", "-irq")
)

_ETHTOOL: Final = (
    *_COALESCE,
    _ignored(
        "ethtool -C {port} stats-block-usecs",
        "statistics update interval",
        _ANY_NUMBER,
        "ethtool -C {port} stats-block-usecs {value}",
    ),
    Knob(
        "ethtool -G {port} rx",
        "receive buffers kept posted",
        value_spec(Nic, "rx_buffers_posted"),
        "nic",
        "rx_buffers_posted",
        "ethtool -G {port} rx {value}",
    ),
    Knob(
        "ethtool -G {port} tx",
        "usable transmit descriptors",
        value_spec(Nic, "tx_ring"),
        "nic",
        "tx_ring",
        "ethtool -G {port} tx {value}",
    ),
    Knob(
        "ethtool -K {port} tso",
        "segmentation offload",
        value_spec(Nic, "tso"),
        "nic",
        "tso",
        "ethtool -K {port} tso {value}",
    ),
    _ignored("ethtool -K {port} rx", "receive checksums", _ON_OFF, "ethtool -K {port} rx {value}"),
    _ignored("ethtool -K {port} tx", "send checksums", _ON_OFF, "ethtool -K {port} tx {value}"),
    _ignored("ethtool -K {port} sg", "scatter-gather", _ON_OFF, "ethtool -K {port} sg {value}"),
    *(
        _ignored(
            f"ethtool -A {{port}} {field}",
            "pause frames",
            _ON_OFF,
            f"ethtool -A {{port}} {field} {{value}}",
        )
        for field in ("autoneg", "rx", "tx")
    ),
    *(
        Knob(
            f"ethtool -L {{port}} {way}",
            doc,
            value_spec(Nic, f"{way}_queues"),
            "nic",
            f"{way}_queues",
            f"ethtool -L {{port}} {way} {{value}}",
            since="3.0",
        )
        for way, doc in (("rx", "receive queues"), ("tx", "transmit queues"))
    ),
    Knob(
        "ifconfig {port} mtu",
        "largest IP packet",
        value_spec(Nic, "mtu_bytes"),
        "nic",
        "mtu_bytes",
        "ifconfig {port} mtu {value}",
        unit="B",
    ),
    Knob(
        "/sys/class/net/{port}/weight",
        "packets of one poll",
        value_spec(Nic, "napi_weight"),
        "nic",
        "napi_weight",
        "echo {value} > /sys/class/net/{port}/weight",
        note="up to Linux 2.6.23",
    ),
    _ignored(
        "ifconfig {port} txqueuelen",
        "packets queued for sending",
        _ANY_NUMBER,
        "ifconfig {port} txqueuelen {value}",
    ),
    Knob(
        "modprobe e1000 InterruptThrottleRate",
        "interrupts per second at most, all ports of the driver",
        value_spec(Nic, "interrupt_throttle_rate"),
        "nic",
        "interrupt_throttle_rate",
        "modprobe -r e1000; modprobe e1000 InterruptThrottleRate={value}",
        drivers=("e1000",),
    ),
    Knob(
        "modprobe e1000e InterruptThrottleRate",
        "interrupts per second at most; 0: no limit, 1 and 3: by the load",
        value_spec(Nic, "interrupt_throttle_rate"),
        "nic",
        "interrupt_throttle_rate",
        "modprobe -r e1000e; modprobe e1000e InterruptThrottleRate={value}",
        drivers=("e1000e",),
    ),
    Knob(
        "ethtool -X {port} equal",
        "receive queues that the indirection table sorts to, from the first",
        value_spec(Nic, "rss_equal"),
        "nic",
        "rss_equal",
        "ethtool -X {port} equal {value}",
        since="2.6.36",
        drivers=("ixgbe", "igb", "mlx4_en"),
        note="bnx2 programs its table itself",
    ),
)

_PLACEMENT: Final = (
    Knob(
        "/proc/irq/{irq}/smp_affinity",
        "CPUs that may take the interrupt",
        CpuMask("CPU mask"),
        "port",
        "smp_affinity",
        "echo {value} > /proc/irq/{irq}/smp_affinity",
    ),
    Knob(
        "irqbalance",
        "daemon that places interrupts",
        _ON_OFF,
        "irqbalance",
        "irqbalance",
        "service irqbalance {start_stop}  # SLES 10: irq_balancer",
        note="off leaves every interrupt where the daemon put it",
    ),
    Knob(
        "numactl --cpubind",
        "node whose CPUs the processes may use",
        NodeNumber("node number, nic or any"),
        "flows",
        "cpubind_node",
        "start each process under: numactl --cpubind={value}",
    ),
    Knob(
        "numactl --preferred",
        "node from which the processes' memory comes first",
        NodeNumber("node number, nic or any"),
        "flows",
        "preferred_node",
        "start each process under: numactl --preferred={value}",
    ),
)

_QUEUES: Final = "/sys/class/net/{port}/queues"
_STEERING: Final = (
    Knob(
        f"{_QUEUES}/rx-{{queue}}/rps_cpus",
        "CPUs that a receive queue's packets are spread over; 0: none",
        CpuMask("CPU mask", none_allowed=True),
        "rx-queue",
        "rps_cpus",
        f"echo {{value}} > {_QUEUES}/rx-{{queue}}/rps_cpus",
        feature="rps",
    ),
    Knob(
        f"{_QUEUES}/rx-{{queue}}/rps_flow_cnt",
        "entries of a receive queue's flow table, rounded up to a power of two; 0: none",
        count("", 0, 2**22),
        "rx-queue",
        "rps_flow_cnt",
        f"echo {{value}} > {_QUEUES}/rx-{{queue}}/rps_flow_cnt",
        feature="rps",
    ),
    Knob(
        "net.core.rps_sock_flow_entries",
        "entries of the machine's table of sockets' CPUs, rounded up to a power of two; 0: none",
        value_spec(Kernel, "rps_sock_flow_entries"),
        "kernel",
        "rps_sock_flow_entries",
        "sysctl -w net.core.rps_sock_flow_entries={value}",
        feature="rps",
    ),
    Knob(
        f"{_QUEUES}/tx-{{queue}}/xps_cpus",
        "CPUs that send by a transmit queue; 0: no map",
        CpuMask("CPU mask", none_allowed=True),
        "tx-queue",
        "xps_cpus",
        f"echo {{value}} > {_QUEUES}/tx-{{queue}}/xps_cpus",
        feature="xps",
    ),
)

_TCP_H: Final = "include/net/tcp.h"
_REAL_TIME: Final = "at run time in Red Hat's real-time kernels: sysctl -w net.ipv4.tcp_{}_min=MS"
_CONSTANTS: Final = (
    _constant("HZ", "hz", "the configuration (CONFIG_HZ)"),
    _constant("TCP_DELACK_MIN", "delack_min_ps", _TCP_H, note=_REAL_TIME.format("delack")),
    _constant("TCP_DELACK_MAX", "delack_max_ps", _TCP_H),
    _constant("TCP_ATO_MIN", "ato_min_ps", _TCP_H, note=_REAL_TIME.format("ato")),
    _constant(
        "TCP_RTO_MIN",
        "rto_min_ps",
        _TCP_H,
        note="from Linux 2.6.23 on: ip route change ROUTE rto_min TIME",
    ),
    _constant("TCP_MAX_QUICKACKS", "max_quickacks", _TCP_H),
    _constant("MAX_SOFTIRQ_RESTART", "max_softirq_restart", "kernel/softirq.c"),
    _constant("DEF_TIMESLICE", "timeslice_ps", "kernel/sched.c"),
)

_ROUTES: Final = (
    Knob(
        "ip route change dev {port} quickack",
        "each segment that comes by this route is acknowledged at once",
        _ON_OFF,
        "interface",
        "quickack",
        "ip route show dev {port} scope link | sed 's/ quickack [01]//' | while read -r route;"
        " do ip route change $route dev {port} quickack {value}; done",
        since="3.11",
    ),
)

_SOCKETS: Final = (
    Knob(
        "setsockopt TCP_DELACK_MAX_US",
        "longest delay of an acknowledgement, for the sockets of the test's processes; 0: not set",
        time("", "0 us", "200 ms"),
        "application",
        "delack_max_ps",
        "in the program, for each socket: setsockopt TCP_DELACK_MAX_US {value}",
        unit="us",
        since="6.15",
        unset="in the program: no setsockopt of TCP_DELACK_MAX_US",
    ),
    Knob(
        "iperf -w",
        "socket buffer: SO_SNDBUF of the client, SO_RCVBUF of the server; 0: not set",
        size("", "0 B", "1 GiB"),
        "application",
        "socket_buffer_bytes",
        "start iperf with -w {value}",
        unit="B",
        note="net.core.wmem_max and rmem_max limit it, and Linux then doubles it",
        unset="start iperf without -w",
    ),
    Knob(
        "iperf -N",
        "TCP_NODELAY of the client",
        _ON_OFF,
        "application",
        "nodelay",
        "start iperf with -N: {value}",
    ),
)

MODELS: Final = (
    Knob(
        "system.server",
        "server model of the system under test",
        ModelName("server model"),
        "model",
        "server",
        "use the machine {value}",
    ),
    Knob(
        "system.kernel",
        "kernel model of the system under test",
        ModelName("kernel model"),
        "model",
        "kernel",
        "install and boot the kernel of {value}",
    ),
)
"""Exchange a model: they apply before all others."""

KNOBS: Final[tuple[Knob, ...]] = (
    *MODELS,
    *_PLACEMENT,
    *_ETHTOOL,
    *BONDING,
    *IPOIB,
    *STORAGE,
    *_VM,
    *AIX,
    *PARTITION,
    *SCALE,
    *_SYSCTLS,
    *_STEERING,
    *_ROUTES,
    *_SOCKETS,
    *_CONSTANTS,
)
