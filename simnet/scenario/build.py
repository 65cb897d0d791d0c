"""Build the system that an effective configuration describes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.host.costs import COST_NAMES, Costs, Spread, whole_ns
from simnet.host.interrupt import IrqLine
from simnet.host.irqbalance import irqbalance
from simnet.host.machine import Layout, Machine
from simnet.host.memory import Memory, distances
from simnet.kernel.environment import Environment
from simnet.kernel.random import stream
from simnet.net.congestion import make_congestion
from simnet.net.e1000 import E1000
from simnet.net.nic import Nic
from simnet.net.remote_sender import RemoteSender
from simnet.net.tcp_receiver import TcpReceiver
from simnet.net.tcp_sender import TcpSender
from simnet.net.tcp_socket import TcpSocket
from simnet.net.tg3 import Tg3
from simnet.net.wire import SwitchedPath
from simnet.scenario.build_bond import BondedFlow, connect
from simnet.scenario.system import System
from simnet.workload.netperf import Netperf, Netserver, Start

if TYPE_CHECKING:
    from simnet.kernel.simulator import Simulator
    from simnet.scenario.effective import Effective, Flow, Host
    from simnet.scenario.effective import Port as EffectivePort

__all__ = ["build"]

_PS = 10**12
_ETHERNET_OVERHEAD_BYTES = 38
_IP_TCP_BYTES = 40
_TIMESTAMP_BYTES = 12
_MAX_TCP_HEADER_BYTES = 192
# segments that one large frame holds in the mean
_TSO_SEGMENTS = 8
# a flow starts within this time of the others, as one shell loop starts them
_START_SPREAD_PS = 10 * 10**9
# CPUs that serve timer, disk and USB: in Listing 1 no port's interrupt is on them
_OTHER_SOURCES = frozenset({3, 7})


def build(
    effective: Effective, *, seed: int, per_frame: bool = False, tracer: Any = None
) -> System:
    """Put the machines, the network and the workload together.

    Args:
        effective: the configuration.
        seed: of all random streams.
        per_frame: one event per frame (the reference) instead of batches.
        tracer: receives spans and counters, or None.
    """
    env = Environment()
    sim = env.sim
    sim.tracer = tracer
    system = _machine(sim, effective.host, "sut")
    whole = effective.workload.peers_simulated == "machines"
    peers = [
        _machine(sim, host, f"peer{number}") for number, host in enumerate(effective.peers) if whole
    ]
    nics = [
        _nic(sim, system, effective.host, port, seed=seed, per_frame=per_frame)
        for port in effective.host.ports
    ]
    if effective.irqbalance == "daemon":
        env.process(irqbalance(env, [nic.line for nic in nics], _OTHER_SOURCES))
    flows = []
    bonded: list[BondedFlow] = []
    parts: dict[str, Any] = {"peers": peers, "senders": [], "readers": [], "peer_nics": []}
    for flow in effective.flows:
        nic = nics[flow.port]
        socket, reader = _netserver(sim, effective, flow, system, nic, seed)
        begin = 1 + stream(seed, f"flow.{flow.name}.start").below(_START_SPREAD_PS)
        if whole:
            peer = peers[flow.peer]
            remote: Nic | RemoteSender
            remote, sender = _netperf(
                sim, effective, flow, peer, socket, begin, seed=seed, per_frame=per_frame
            )
            parts["senders"].append(sender)
        else:
            remote = _remote_sender(sim, effective, flow, socket, begin)
            parts["senders"].append(remote)
        parts["readers"].append(reader)
        parts["peer_nics"].append(remote)
        if effective.ports[flow.port].enslaved:
            peer_end = (parts["senders"][-1], peers[flow.peer]) if whole else ()
            bonded.append(BondedFlow(flow, socket, remote, *peer_end))
            flows.append((flow.name, "bond0", socket))
            continue
        _connect(sim, effective, nic, remote, per_frame=per_frame)
        flows.append((flow.name, nic.name, socket))
    if bonded:
        parts |= connect(sim, effective, system, nics, bonded, seed=seed, per_frame=per_frame)
    return System(env, system, nics, flows, parts)


def _costs(host: Host) -> Costs:
    cycles = {name: getattr(host.cpu.costs, f"{name}_cycles") for name in COST_NAMES}
    return Costs(cycles, host.cpu.clock_hz, host.cpu.cache_line_bytes, host.cpu.copy_overlap)


def _spread(host: Host, path: str, seed: int) -> Spread:
    """The component's luck with caches and buses."""
    return Spread(stream(seed, path).below(1 << 31), host.cpu.work_spread_permille)


def _machine(sim: Simulator, host: Host, path: str) -> Machine:
    machine, cpu, kernel = host.machine, host.cpu, host.kernel
    memory = cpu.memory
    return Machine(
        sim,
        path,
        Layout(
            nodes=machine.nodes,
            sockets_per_node=machine.sockets_per_node,
            buses_per_node=machine.buses_per_node,
            cores_per_socket=cpu.cores_per_socket,
            threads_per_core=cpu.threads_per_core,
            smt_slowdown_permille=cpu.smt_slowdown_permille,
            tick_ps=_PS // kernel.hz,
            timeslice_ps=kernel.timeslice_ps,
            netdev_budget=kernel.netdev_budget,
            max_softirq_restart=kernel.max_softirq_restart,
            net_rx_time_limit_jiffies=kernel.net_rx_time_limit_jiffies,
        ),
        _costs(host),
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
        ),
    )


def _nic(
    sim: Simulator,
    machine: Machine,
    machine_host: Host,
    port: EffectivePort,
    *,
    seed: int,
    per_frame: bool,
) -> Nic:
    model = port.nic
    common = (
        sim,
        f"{machine.path}.{port.name}",
        port.name,
        port.node,
        machine.costs,
        machine.memory,
        model.link_rate_bps,
        model.napi_weight,
        model.rx_buffers_posted,
        model.tx_ring,
        model.descriptor_bytes,
        machine_host.kernel.txqueuelen,
    )
    nic: Nic
    if model.moderation == "coalesce":
        nic = Tg3(
            *common,
            rx_usecs_ps=model.rx_usecs_ps,
            rx_frames=model.rx_frames,
            rx_usecs_irq_ps=model.rx_usecs_irq_ps,
            rx_frames_irq=model.rx_frames_irq,
            tx_usecs_ps=model.tx_usecs_ps,
            tx_frames=model.tx_frames,
            tx_usecs_irq_ps=model.tx_usecs_irq_ps,
            tx_frames_irq=model.tx_frames_irq,
            shared_update=model.shared_status_update,
        )
    else:
        rate = model.interrupt_throttle_rate
        nic = E1000(
            *common,
            throttle_ps=_PS // rate if rate else 0,
            tx_delay_ps=model.tx_usecs_ps,
        )
    nic.per_frame = per_frame
    nic.spread = _spread(machine_host, nic.path, seed)
    mask = sum(1 << cpu for cpu in port.smp_affinity)
    nic.line = IrqLine(port.irq, port.name, machine.cpus, mask)
    return nic


def _connect(
    sim: Simulator, effective: Effective, nic: Nic, remote: Nic | RemoteSender, *, per_frame: bool
) -> None:
    """Link both ports through the switch."""
    for source, destination in ((nic, remote), (remote, nic)):
        source.path_out = SwitchedPath(
            sim,
            f"{source.path}.to.{destination.path}",
            destination,
            effective.switch.link_rate_bps,
            effective.switch.cable_delay_ps,
            effective.switch.latency_ps,
            per_frame,
        )


def _netserver(
    sim: Simulator, effective: Effective, flow: Flow, system: Machine, nic: Nic, seed: int
) -> tuple[TcpSocket, Netserver]:
    """The receiving process and its socket."""
    host = effective.host
    path = f"flow.{flow.name}.netserver"
    socket = _socket(sim, host, host.ports[flow.port], system, nic, f"{path}.socket")
    socket.spread = _spread(host, socket.path, seed)
    start_cpu = nic.node * host.cpus_per_node
    allowed = None
    if flow.cpubind_node is not None:
        start_cpu = flow.cpubind_node * host.cpus_per_node
        allowed = frozenset(range(start_cpu, start_cpu + host.cpus_per_node))
    reader = Netserver(
        system.scheduler, path, system.cpus[start_cpu], socket, flow.recv_bytes, allowed
    )
    Start(sim, f"{path}.start", reader, 0)
    return socket, reader


def _netperf(
    sim: Simulator,
    effective: Effective,
    flow: Flow,
    peer: Machine,
    receiving: TcpSocket,
    begin_ps: int,
    *,
    seed: int,
    per_frame: bool,
) -> tuple[Nic, TcpSocket]:
    """The sending process on a whole machine: its port and its socket."""
    host = effective.peers[flow.peer]
    port = host.ports[flow.peer_port]
    path = f"flow.{flow.name}.netperf"
    nic = _nic(sim, peer, host, port, seed=seed, per_frame=per_frame)
    socket = _socket(sim, host, port, peer, nic, f"{path}.socket")
    socket.spread = _spread(host, socket.path, seed)
    receiving.remote = socket
    socket.remote = receiving
    socket.sender.open_window(receiving.receiver.rcv_wnd)
    writer = Netperf(peer.scheduler, path, nic.line.current_target(), socket, flow.message_bytes)
    Start(sim, f"{path}.start", writer, begin_ps)
    return nic, socket


def _remote_sender(
    sim: Simulator, effective: Effective, flow: Flow, receiving: TcpSocket, begin_ps: int
) -> RemoteSender:
    """The sending process on a remote host of which only the sending counts."""
    host = effective.peers[flow.peer]
    port = host.ports[flow.peer_port]
    sender = _tcp_sender(host, port)
    sender.open_window(receiving.receiver.rcv_wnd)
    rate = port.nic.interrupt_throttle_rate
    remote = RemoteSender(
        sim,
        f"peer{flow.peer}.{port.name}",
        sender=sender,
        costs=_costs(host),
        mmio_ps=whole_ns(host.cpu.memory.mmio_write_ps),
        throttle_ps=_PS // rate if rate else 0,
        rate_bps=port.nic.link_rate_bps,
        jiffy_ps=_PS // host.kernel.hz,
        overhead_bytes=_ETHERNET_OVERHEAD_BYTES + _IP_TCP_BYTES + _options(host),
        message_bytes=flow.message_bytes,
        start_ps=begin_ps,
    )
    remote.receiver = receiving
    return remote


def _options(host: Host) -> int:
    return _TIMESTAMP_BYTES if host.kernel.tcp_timestamps else 0


def _mss(host: Host, port: EffectivePort) -> int:
    return port.nic.mtu_bytes - _IP_TCP_BYTES - _options(host)


def _tcp_sender(host: Host, port: EffectivePort) -> TcpSender:
    kernel = host.kernel
    mss = _mss(host, port)
    # with TSO the headers and the sk_buff are shared by the segments of one large frame
    overhead = _MAX_TCP_HEADER_BYTES + kernel.skb_truesize_overhead_bytes
    return TcpSender(
        mss=mss,
        congestion=make_congestion(
            kernel.tcp_congestion_control, _initial_cwnd(kernel.initial_cwnd, mss)
        ),
        wmem_default=kernel.tcp_wmem_bytes[1],
        wmem_max=kernel.tcp_wmem_bytes[2],
        segment_truesize=mss + overhead // (_TSO_SEGMENTS if port.nic.tso else 1),
        jiffy_ps=_PS // kernel.hz,
        rto_min_ps=kernel.rto_min_ps,
        rto_init_ps=kernel.rto_init_ps,
        rto_max_ps=kernel.rto_max_ps,
        tso=port.nic.tso,
        tso_win_divisor=kernel.tcp_tso_win_divisor,
        reordering=kernel.tcp_reordering,
        sack=kernel.tcp_sack,
    )


def _socket(
    sim: Simulator, host: Host, port: EffectivePort, machine: Machine, nic: Nic, path: str
) -> TcpSocket:
    kernel = host.kernel
    mss = _mss(host, port)
    jiffy_ps = _PS // kernel.hz
    return TcpSocket(
        sim,
        path,
        receiver=TcpReceiver(
            advmss=mss,
            rmem_default=kernel.tcp_rmem_bytes[1],
            rmem_max=kernel.tcp_rmem_bytes[2],
            jiffy_ps=jiffy_ps,
            ato_min_ps=kernel.ato_min_ps,
            delack_max_ps=kernel.delack_max_ps,
            rto_ps=kernel.rto_init_ps,
            max_quickacks=kernel.max_quickacks,
            min_rcvmss=kernel.min_rcvmss_bytes,
            truesize_overhead=port.nic.rx_buffer_bytes + kernel.skb_truesize_overhead_bytes - mss,
            moderate_rcvbuf=kernel.tcp_moderate_rcvbuf,
            window_scaling=kernel.tcp_window_scaling,
        ),
        sender=_tcp_sender(host, port),
        nic=nic,
        costs=machine.costs,
        memory=machine.memory,
        shared_lines=kernel.tcp_sock_lines,
        skb_lines=kernel.skb_lines,
        jiffy_ps=jiffy_ps,
        header_bytes=_IP_TCP_BYTES + _options(host),
        wire_overhead=_ETHERNET_OVERHEAD_BYTES,
        low_latency=kernel.tcp_low_latency,
        timer_cpu=nic.line.current_target(),
    )


def _initial_cwnd(rule: str, mss: int) -> int:
    """RFC 3390 or RFC 6928, in segments."""
    if rule == "iw10":
        return 10
    return 2 if mss > 1460 else 3 if mss > 1095 else 4  # noqa: PLR2004 - RFC 3390's limits
