"""Build the parts of one host: machine, ports, sockets."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Any

from simnet.host.buffers import Buffers
from simnet.host.cache import CacheWays
from simnet.host.costs import COST_NAMES, Costs, Spread, whole_ns
from simnet.host.idle import IdleStates
from simnet.host.interconnect import Bandwidths, Included, Interconnect
from simnet.host.machine import Layout, Machine, Place
from simnet.host.memory import Memory, distances
from simnet.host.softirq.version import SoftirqRules, softirq_rules
from simnet.kernel.random import stream
from simnet.net.link.wire import Port as PeerPort
from simnet.net.link.wire import SwitchedPath
from simnet.net.tcp.congestion.cubic import make_congestion
from simnet.net.tcp.receive.receiver import TcpReceiver
from simnet.net.tcp.receive.timing import AckTiming
from simnet.net.tcp.rules.aix import aix_receiver, aix_sender
from simnet.net.tcp.rules.receiver_version import ReceiverRules, receiver_rules
from simnet.net.tcp.rules.sender_version import sender_rules
from simnet.net.tcp.send.sender import TcpSender
from simnet.net.tcp.socket import TcpSocket
from simnet.scenario.parts.aix.build import aix_tcp
from simnet.scenario.parts.interrupts.build import make_apic

if TYPE_CHECKING:
    from simnet.kernel.histogram import LogHistogram
    from simnet.kernel.simulator import Simulator
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic
    from simnet.scenario.core.effective import Host, Port
    from simnet.scenario.parts.host.schema import Cpu, Kernel
    from simnet.scenario.parts.host.schema import Machine as MachineModel
    from simnet.scenario.parts.network.schema import Switch

__all__ = [
    "PS",
    "frame_overhead_bytes",
    "make_buffers",
    "make_costs",
    "make_machine",
    "make_receiver",
    "make_sender",
    "make_socket",
    "make_spread",
]

PS = 10**12
_ETHERNET_OVERHEAD_BYTES = 38
_IP_TCP_BYTES = 40
_TIMESTAMP_BYTES = 12
_MAX_TCP_HEADER_BYTES = 192
# GSO_MAX_SIZE
_LARGE_BYTES = 65536
# of level 2 in Skylake's server cores; others have 8 to 20, which changes the curve little
_PRIVATE_WAYS = 16
# segments that one large frame holds in the mean
_TSO_SEGMENTS = 8
_ETHERNET_MSS = 1460


def make_costs(host: Host) -> Costs:
    """What steps cost on a host's CPUs."""
    cycles = {name: getattr(host.cpu.costs, f"{name}_cycles") for name in COST_NAMES}
    return Costs(cycles, host.cpu.clock_hz, host.cpu.cache_line_bytes, host.cpu.copy_overlap)


def make_spread(host: Host, path: str, seed: int) -> Spread:
    """The component's luck with caches and buses."""
    return Spread(stream(seed, path).below(1 << 31), host.cpu.work_spread_permille)


def make_buffers(host: Host, machine: Machine) -> Buffers:
    """What an `sk_buff` costs that changes hands."""
    kernel = host.kernel
    return Buffers(machine.memory, machine.costs.ledger, kernel.skb_lines, kernel.slab_lines)


def make_machine(sim: Simulator, host: Host, path: str, *, seed: int = 0) -> Machine:
    """A host's CPUs, scheduler, memory and interrupt delivery."""
    machine, cpu = host.seen
    kernel = host.kernel
    memory = cpu.memory
    interconnect = Interconnect(
        sim,
        f"{path}.interconnect",
        machine.nodes,
        machine.buses_per_node,
        machine.links,
        cpu.cache_line_bytes,
        Bandwidths(
            bus=machine.bus_bandwidth_bps // 8,
            controller=machine.memory_bandwidth_bps // 8,
            link=machine.link_bandwidth_bps // 8,
        ),
        Included(
            cpu.stall_permille,
            whole_ns(cpu.costs.line_latency_ps),
            whole_ns(memory.local_latency_ps),
        ),
    )
    made = Machine(
        sim,
        path,
        Layout(
            nodes=machine.nodes,
            sockets_per_node=machine.sockets_per_node,
            buses_per_node=machine.buses_per_node,
            cores_per_socket=cpu.cores_per_socket,
            threads_per_core=cpu.threads_per_core,
            smt_slowdown_permille=cpu.smt_slowdown_permille,
            tick_ps=PS // kernel.hz,
            timeslice_ps=kernel.timeslice_ps,
            netdev_budget=kernel.netdev_budget,
            max_softirq_restart=kernel.max_softirq_restart,
            net_rx_time_limit_jiffies=kernel.net_rx_time_limit_jiffies,
            idle_balance=kernel.idle_balance,
            softirq_rules=(
                softirq_rules(kernel.version) if kernel.system == "linux" else SoftirqRules()
            ),
            places=_places(machine),
        ),
        make_costs(host),
        Memory(
            distances(machine.nodes, list(machine.links)),
            local_ps=whole_ns(memory.local_latency_ps),
            same_bus_dirty_ps=whole_ns(memory.same_bus_dirty_ps),
            same_node_dirty_ps=whole_ns(memory.same_node_dirty_ps),
            remote_ps=whole_ns(memory.remote_latency_ps),
            remote_dirty_ps=whole_ns(memory.remote_dirty_ps),
            hop_ps=whole_ns(memory.hop_ps),
            mmio_write_ps=whole_ns(memory.mmio_write_ps),
            mmio_hop_ps=whole_ns(memory.mmio_hop_ps),
            included_ps=whole_ns(cpu.costs.line_latency_ps),
            interconnect=interconnect,
            caches=[_cache(cpu) for _ in range(machine.nodes if cpu.llc_bytes else 0)],
            core_cache=_private_cache(cpu) if cpu.llc_bytes else None,
        ),
    )
    interconnect.watch(made.cpus)
    if cpu.idle_exit_ps > 0:
        for one in made.cpus:
            one.idle_states = IdleStates(
                cpu.idle_enter_ps,
                cpu.idle_exit_ps,
                cpu.deep_idle_exit_ps,
                cpu.deep_idle_residency_ps,
            )
    made.apic = make_apic(made, machine, cpu, kernel, seed=seed)
    return made


def _cache(cpu: Cpu) -> CacheWays:
    """The last-level cache of a node, as devices use it."""
    return CacheWays(
        cpu.llc_bytes * cpu.ddio_ways // cpu.llc_ways,
        cpu.ddio_ways,
        whole_ns(cpu.memory.local_latency_ps - cpu.memory.llc_latency_ps),
    )


def _private_cache(cpu: Cpu) -> CacheWays:
    """The last private cache of a core."""
    return CacheWays(cpu.cache_bytes, _PRIVATE_WAYS, whole_ns(cpu.memory.llc_latency_ps))


def _places(machine: MachineModel) -> tuple[Place, ...]:
    """Where each logical CPU is, if the model lists them."""
    found: dict[int, list[int]] = {}
    for sets in (machine.node_cpus, machine.package_cpus, machine.core_cpus):
        for number, cpus in enumerate(sets):
            for cpu in cpus:
                found.setdefault(cpu, []).append(number)
    return tuple(Place(*found.get(cpu, ())) for cpu in range(max(found, default=-1) + 1))


def _options(host: Host) -> int:
    return _TIMESTAMP_BYTES if host.kernel.tcp_timestamps else 0


def _mss(host: Host, *ports: Port) -> int:
    """The payload of a full segment, that the smallest of the ports' MTU leaves."""
    return min(port.nic.mtu_bytes for port in ports) - _IP_TCP_BYTES - _options(host)


def _first_rto_ps(kernel: Kernel) -> int:
    """The timeout of a connection that is set up: the handshake took less than a jiffy.

    `tcp_rcv_synsent_state_process` and `tcp_rcv_state_process` measure it at both ends.
    """
    if kernel.tcp_timestamps or sender_rules(kernel.version).keeps_handshake:
        return min(kernel.rto_min_ps + PS // kernel.hz, kernel.rto_max_ps)
    return kernel.rto_init_ps


def make_sender(host: Host, port: Port, far: Port | None = None) -> TcpSender:
    """The sending half of a connection; `far` announces its MSS, None the same as `port`'s.

    The lesser MSS counts (RFC 9293, 3.7.1).
    """
    kernel = host.kernel
    mss = _mss(host, port, far or port)
    if kernel.system == "aix":
        return aix_sender(aix_tcp(host, port), mss=mss, tso=port.nic.segments)
    rules = sender_rules(kernel.version)
    large = port.nic.segments or rules.always_gso
    locked = _locked(host.application.socket_buffer_bytes, kernel.wmem_max_bytes)
    # with TSO the headers and the sk_buff are shared by the segments of one large frame
    overhead = _MAX_TCP_HEADER_BYTES + kernel.skb_truesize_overhead_bytes
    sender = TcpSender(
        mss=mss,
        congestion=make_congestion(
            kernel.tcp_congestion_control,
            _initial_cwnd(kernel.initial_cwnd, mss),
            mss=mss,
            abc=kernel.tcp_abc,
            hz=kernel.hz,
            rules=rules,
        ),
        # tcp_fixup_sndbuf: room for three segments
        wmem_default=locked
        or max(kernel.tcp_wmem_bytes[1], min(3 * (mss + overhead), kernel.tcp_wmem_bytes[2])),
        wmem_max=locked or kernel.tcp_wmem_bytes[2],
        segment_truesize=mss + overhead // (_TSO_SEGMENTS if large else 1),
        jiffy_ps=PS // kernel.hz,
        rto_min_ps=kernel.rto_min_ps,
        rto_init_ps=_first_rto_ps(kernel),
        rto_max_ps=kernel.rto_max_ps,
        tso=large,
        tso_win_divisor=kernel.tcp_tso_win_divisor,
        reordering=kernel.tcp_reordering,
        sack=kernel.tcp_sack,
        rules=rules,
        restarts=kernel.tcp_slow_start_after_idle,
        timestamps=kernel.tcp_timestamps,
    )
    sender.output.nodelay = host.application.nodelay
    return sender


def _locked(asked: int, most: int) -> int:
    """What setsockopt of SO_SNDBUF or SO_RCVBUF comes to: limited, doubled; 0 if not set."""
    return 2 * min(asked, most)


def _fixed_up_rcvbuf(host: Host, port: Port) -> int:
    """`tcp_fixup_rcvbuf`: the receive buffer in which a few segments have room.

    Four of Linux 2.6, as many as the first window of 3.x holds; a quarter is not offered.
    """
    mss = _mss(host, port)
    segment = mss + _MAX_TCP_HEADER_BYTES + host.kernel.skb_truesize_overhead_bytes
    while segment - (segment >> 2) < mss:
        segment += 128
    if host.kernel.version.startswith("2."):
        return 4 * segment
    return segment * (10 if mss <= _ETHERNET_MSS else max(10 * _ETHERNET_MSS // mss, 2))


@cache
def _receiver_rules(version: str, adv_win_scale: int) -> ReceiverRules:
    """What all receivers of a host share, and there may be thousands of them."""
    rules = receiver_rules(version)
    return replace(rules, adv_win_scale=adv_win_scale) if rules.adv_win_scale > 0 else rules


@cache
def _ack_timing(jiffy_ps: int, times_ps: tuple[int, int, int, int, int]) -> AckTiming:
    """What all receivers of a host share, too."""
    # the round trip is that of the handshake; the kernel counts what is shorter as a jiffy
    return AckTiming(jiffy_ps, *times_ps, jiffy_ps)


def make_receiver(host: Host, port: Port) -> TcpReceiver:
    """The receiving half of a connection."""
    kernel = host.kernel
    mss = _mss(host, port)
    if kernel.system == "aix":
        return aix_receiver(aix_tcp(host, port), advmss=mss)
    rules = _receiver_rules(kernel.version, kernel.tcp_adv_win_scale)
    locked = _locked(host.application.socket_buffer_bytes, kernel.rmem_max_bytes)
    return TcpReceiver(
        advmss=mss,
        rmem_default=locked
        or max(
            kernel.tcp_rmem_bytes[1], min(_fixed_up_rcvbuf(host, port), kernel.tcp_rmem_bytes[2])
        ),
        rmem_max=kernel.tcp_rmem_bytes[2],
        rcvbuf_locked=locked > 0,
        timing=_ack_timing(
            PS // kernel.hz,
            (
                kernel.ato_min_ps,
                kernel.delack_max_ps,
                _first_rto_ps(kernel),
                kernel.delack_min_ps,
                host.application.delack_max_ps,
            ),
        ),
        max_quickacks=kernel.max_quickacks,
        min_rcvmss=kernel.min_rcvmss_bytes,
        truesize_overhead=port.nic.frame_buffer_bytes + kernel.skb_truesize_overhead_bytes - mss,
        moderate_rcvbuf=kernel.tcp_moderate_rcvbuf and not locked,
        window_scaling=kernel.tcp_window_scaling,
        rules=rules,
        option_bytes=_options(host),
        timestamps=kernel.tcp_timestamps,
        sack=kernel.tcp_sack,
        quickack=port.quickack,
    )


def make_socket(  # noqa: PLR0913 (where it is, by what, and to what)
    sim: Simulator,
    host: Host,
    port: Port,
    machine: Machine,
    nic: Nic | MultiqueuePort,
    *,
    path: str,
    seed: int,
    far: Port | None = None,
    latency: LogHistogram | None = None,
) -> TcpSocket:
    """One end of a connection to a port `far`; `latency` is a histogram that several share."""
    kernel = host.kernel
    socket = TcpSocket(
        sim,
        path,
        receiver=make_receiver(host, port),
        sender=make_sender(host, port, far),
        nic=nic,
        costs=machine.costs,
        memory=machine.memory,
        shared_lines=kernel.tcp_sock_lines,
        buffers=make_buffers(host, machine),
        runqueue_lines=kernel.runqueue_lines,
        jiffy_ps=PS // kernel.hz,
        header_bytes=_IP_TCP_BYTES + _options(host),
        wire_overhead=port.nic.link_overhead_bytes,
        low_latency=kernel.tcp_low_latency,
        timer_cpu=nic.lines[0].current_target(),
        checksum_by_cpu=port.nic.checksum_by_cpu,
        latency=latency,
    )
    if kernel.system == "linux" and sender_rules(kernel.version).always_gso:
        socket.gso = not port.nic.segments
        socket.per_large = _LARGE_BYTES // _mss(host, port)
    socket.page_bytes = port.nic.page_bytes
    socket.spread = make_spread(host, path, seed)
    return socket


def join(
    sim: Simulator, switch: Switch, nic: Any, far: PeerPort, outlet: Any, *, per_frame: bool
) -> None:
    """Link a port and a far one through a switch; `outlet` is what the far one sends by."""
    for source, name, destination in ((nic, nic.path, far), (outlet, far.path, nic)):
        source.path_out = SwitchedPath(
            sim,
            f"{name}.to.{destination.path}",
            destination,
            switch.link_rate_bps,
            switch.cable_delay_ps,
            switch.latency_ps,
            per_frame,
        )


def frame_overhead_bytes(host: Host) -> int:
    """What a full segment takes on the wire beyond its payload."""
    return _ETHERNET_OVERHEAD_BYTES + _IP_TCP_BYTES + _options(host)


def _initial_cwnd(rule: str, mss: int) -> int:
    """RFC 3390 or RFC 6928, in segments."""
    if rule == "iw10":
        return 10
    return 2 if mss > 1460 else 3 if mss > 1095 else 4  # noqa: PLR2004 - RFC 3390's limits
