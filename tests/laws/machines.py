"""Random small machines: what they consist of as plain data, and how they are put together.

A `Plan` is turned into an effective configuration and built by `simnet.scenario.system.build`, so
the laws hold for what users run; the values go far beyond what a scenario file may contain.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field, replace
from functools import cache
from typing import Any
from unittest import mock

from simnet.host.costs import COST_NAMES
from simnet.net.link.skb import SwitchedPath
from simnet.net.tcp.process import TcpWriter
from simnet.scenario.core.effective import Effective, Flow, Host, Port
from simnet.scenario.core.load import load
from simnet.scenario.parts.network import join as joining
from simnet.scenario.parts.network import streams
from simnet.scenario.system import build as building
from simnet.scenario.system.system import System
from simnet.workload.netperf import Netperf

US = 10**6
MS = 10**9


BANDWIDTHS = ("bus_bandwidth_bps", "memory_bandwidth_bps", "link_bandwidth_bps")


@dataclass(frozen=True)
class NicPlan:
    """One NIC with its driver's settings; times in whole microseconds."""

    throttle: bool = False
    rx_frames: int = 5
    rx_usecs: int = 20
    rx_frames_irq: int = 5
    rx_usecs_irq: int = 20
    tx_frames: int = 53
    tx_usecs: int = 72
    tx_frames_irq: int = 5
    tx_usecs_irq: int = 20
    throttle_rate: int = 8000
    shared_update: bool = False
    rx_buffers: int = 200
    tx_ring: int = 511
    weight: int = 64
    mtu: int = 1500
    tso: bool = False


@dataclass(frozen=True)
class HostPlan:
    """One kind of machine and its kernel."""

    nodes: int = 1
    sockets: int = 1
    buses: int = 1
    cores: int = 2
    threads: int = 1
    smt_permille: int = 1230
    stall_permille: int = 500
    limited: bool = True  # whether buses, memory and links carry no more than the model's
    spread_permille: int = 0
    cost_permille: int = 1000
    dear_cost: str = "hardirq"
    dear_permille: int = 1000
    hz: int = 250
    budget: int = 300
    max_restart: int = 10
    time_limit: int = 1
    txqueuelen: int = 1000
    timeslice_ms: int = 100
    rcvbuf: int = 87380
    rcvbuf_max: int = 174760
    sndbuf: int = 16384
    sndbuf_max: int = 131072
    low_latency: bool = False
    timestamps: bool = True
    moderate_rcvbuf: bool = True
    window_scaling: bool = True
    congestion: str = "bic"
    initial_cwnd: str = "rfc3390"
    ato_min_ms: int = 40
    delack_max_ms: int = 200
    rto_min_ms: int = 200
    rto_init_ms: int = 3000
    tso_win_divisor: int = 3
    reordering: int = 3


@dataclass(frozen=True)
class StreamPlan:
    """One port of the system, the peer's port at the other end, and the stream between them.

    The system receives; it sends instead if `sends`, and does both at once if `both`.
    """

    node: int = 0
    irq_cpu: int = 0
    peer_irq_cpu: int = 0
    nic: NicPlan = field(default_factory=NicPlan)
    peer_nic: NicPlan = field(default_factory=NicPlan)
    message: int = 8192
    recv: int = 87380
    bound: bool = False
    idle: bool = False
    sends: bool = False
    both: bool = False

    @property
    def directions(self) -> tuple[bool, ...]:
        """For each stream, whether the system receives it."""
        if self.idle:
            return ()
        return (True, False) if self.both else (not self.sends,)


@dataclass(frozen=True)
class Plan:
    """A system under test, a peer, and streams between them."""

    host: HostPlan = field(default_factory=HostPlan)
    peer: HostPlan = field(default_factory=HostPlan)
    streams: tuple[StreamPlan, ...] = (StreamPlan(),)
    rate_mbps: int = 1000
    switch_us: int = 4
    cable_ns: int = 50
    seed: int = 1
    # the peer as a whole machine, or as senders with one CPU each
    whole_peer: bool = True
    # affinity changes while running: (after us, port, CPU)
    moves: tuple[tuple[int, int, int], ...] = ()

    def dumps(self) -> str:
        """Write as JSON."""
        return json.dumps(asdict(self))

    @staticmethod
    def loads(text: str) -> Plan:
        """Read what `dumps` has written."""
        raw = json.loads(text)
        streams = tuple(
            StreamPlan(**(s | {"nic": NicPlan(**s["nic"]), "peer_nic": NicPlan(**s["peer_nic"])}))
            for s in raw["streams"]
        )
        return Plan(
            **(
                raw
                | {
                    "host": HostPlan(**raw["host"]),
                    "peer": HostPlan(**raw["peer"]),
                    "streams": streams,
                    "moves": tuple(tuple(move) for move in raw["moves"]),
                }
            )
        )


# -- from a plan to a system ------------------------------------------------------------------


@cache
def _base() -> Effective:
    return load("x460-out-of-box")


def _nic(plan: NicPlan, rate_bps: int) -> Any:
    alike = {
        "link_rate_bps": rate_bps,
        "mtu_bytes": plan.mtu,
        "rx_buffers_posted": plan.rx_buffers,
        "tx_ring": plan.tx_ring,
        "napi_weight": plan.weight,
        "tso": plan.tso,
        "rx_buffer_bytes": plan.mtu + 118,
    }
    if plan.throttle:
        throttled = {
            "descriptor_bytes": _base().host.ports[0].nic.descriptor_bytes,
            "interrupt_throttle_rate": plan.throttle_rate,
            "tx_int_delay_ps": plan.tx_usecs * US,
        }
        return _base().peers[0].ports[0].nic.model_copy(update=alike | throttled)
    coalescing = {
        "rx_usecs_ps": plan.rx_usecs * US,
        "rx_frames": plan.rx_frames,
        "rx_usecs_irq_ps": plan.rx_usecs_irq * US,
        "rx_frames_irq": plan.rx_frames_irq,
        "tx_usecs_ps": plan.tx_usecs * US,
        "tx_frames": plan.tx_frames,
        "tx_usecs_irq_ps": plan.tx_usecs_irq * US,
        "tx_frames_irq": plan.tx_frames_irq,
        "shared_status_update": plan.shared_update,
    }
    return _base().host.ports[0].nic.model_copy(update=alike | coalescing)


def _host(plan: HostPlan, name: str, ports: tuple[Port, ...]) -> Host:
    base = _base().host
    cycles = {f"{c}_cycles": getattr(base.cpu.costs, f"{c}_cycles") for c in COST_NAMES}
    cycles = {key: value * plan.cost_permille // 1000 for key, value in cycles.items()}
    cycles[f"{plan.dear_cost}_cycles"] = (
        cycles[f"{plan.dear_cost}_cycles"] * plan.dear_permille // 1000
    )
    return base.model_copy(
        update={
            "name": name,
            "machine": base.machine.model_copy(
                update={
                    "nodes": plan.nodes,
                    "sockets_per_node": plan.sockets,
                    "buses_per_node": plan.buses,
                    "links": tuple((n, n + 1) for n in range(plan.nodes - 1)),
                }
                | ({} if plan.limited else dict.fromkeys(BANDWIDTHS, 0))
            ),
            "cpu": base.cpu.model_copy(
                update={
                    "threads_per_core": plan.threads,
                    "cores_per_socket": plan.cores,
                    "smt_slowdown_permille": plan.smt_permille,
                    "stall_permille": plan.stall_permille,
                    "work_spread_permille": plan.spread_permille,
                    "costs": base.cpu.costs.model_copy(update=cycles),
                }
            ),
            "kernel": base.kernel.model_copy(
                update={
                    "hz": plan.hz,
                    "netdev_budget": plan.budget,
                    "max_softirq_restart": plan.max_restart,
                    "net_rx_time_limit_jiffies": plan.time_limit,
                    "txqueuelen": plan.txqueuelen,
                    "timeslice_ps": plan.timeslice_ms * MS,
                    "tcp_rmem_bytes": (4096, plan.rcvbuf, plan.rcvbuf_max),
                    "tcp_wmem_bytes": (4096, plan.sndbuf, plan.sndbuf_max),
                    "tcp_low_latency": plan.low_latency,
                    "tcp_timestamps": plan.timestamps,
                    "tcp_moderate_rcvbuf": plan.moderate_rcvbuf,
                    "tcp_window_scaling": plan.window_scaling,
                    "tcp_congestion_control": plan.congestion,
                    "initial_cwnd": plan.initial_cwnd,
                    "ato_min_ps": plan.ato_min_ms * MS,
                    "delack_max_ps": plan.delack_max_ms * MS,
                    "rto_min_ps": plan.rto_min_ms * MS,
                    "rto_init_ps": plan.rto_init_ms * MS,
                    "tcp_tso_win_divisor": plan.tso_win_divisor,
                    "tcp_reordering": plan.reordering,
                }
            ),
            "ports": ports,
        }
    )


def _port(number: int, node: int, cpu: int, nic: Any) -> Port:
    return Port.model_construct(
        name=f"eth{number}", node=node, irq=177 + 8 * number, smp_affinity=(cpu,), nic=nic
    )


def _flow_name(number: int, stream: StreamPlan, *, receives: bool) -> str:
    """As `simnet.scenario.core.load` names them."""
    role = "netserver" if receives else "netperf"
    return f"eth{number}.{role}" if stream.both else f"eth{number}"


def cpu_count(plan: HostPlan) -> int:
    """Logical CPUs."""
    return plan.nodes * plan.sockets * plan.cores * plan.threads


def effective(plan: Plan) -> Effective:
    """Return the configuration that `plan` describes."""
    rate = plan.rate_mbps * 10**6
    host_cpus, peer_cpus = cpu_count(plan.host), cpu_count(plan.peer)
    ports, peers, flows = [], [], []
    for number, stream in enumerate(plan.streams):
        node = stream.node % plan.host.nodes
        ports.append(_port(number, node, stream.irq_cpu % host_cpus, _nic(stream.nic, rate)))
        # A peer for each stream, and no two with ticks at the same instants: what comes first
        # among things that happen in one picosecond is nobody's business.
        peer = replace(plan.peer, hz=plan.peer.hz + 3 * number + 1)
        port = _port(number, 0, stream.peer_irq_cpu % peer_cpus, _nic(stream.peer_nic, rate))
        peers.append(_host(peer, f"peer{number}", (port,)))
        flows += [
            Flow(
                name=_flow_name(number, stream, receives=receives),
                port=number,
                peer=number,
                peer_port=0,
                receives=receives,
                message_bytes=stream.message,
                recv_bytes=stream.recv,
                cpubind_node=node if stream.bound else None,
            )
            for receives in stream.directions
        ]
    return _base().model_copy(
        update={
            "host": _host(plan.host, "sut", tuple(ports)),
            "peers": tuple(peers),
            "flows": tuple(flows),
            "workload": _base().workload.model_copy(
                update={"peers_simulated": "machines" if plan.whole_peer else "ends"}
            ),
            "irqbalance": "off",
            "switch": _base().lan.model_copy(
                update={
                    "link_rate_bps": rate,
                    "latency_ps": plan.switch_us * US,
                    "cable_delay_ps": plan.cable_ns * 1000,
                }
            ),
        }
    )


class FiniteWriter(TcpWriter):
    """A sender that stops after a number of bytes."""

    total_bytes = 0

    def yield_if_needed(self, cpu: Any) -> bool:
        """Leave for good where a process between two sends may leave the CPU."""
        if self.socket.sender.seq.write_seq < self.total_bytes:
            return bool(super().yield_if_needed(cpu))
        self.sleep()
        return True


class _Cables:
    """Makes paths, no two of which have cables of the same length.

    Which of two things comes first that happen in one picosecond depends on the order in which
    they were asked for, and one event a frame asks in another order than arithmetic does. Where
    everything takes whole nanoseconds, streams do meet in one picosecond.
    """

    def __init__(self) -> None:
        self.paths = 0

    def __call__(self, *arguments: Any, **options: Any) -> SwitchedPath:
        self.paths += 1
        sim, path, destination, rate_bps, cable_ps, latency_ps, *rest = arguments
        cable_ps += 7 * self.paths
        return SwitchedPath(
            sim, path, destination, rate_bps, cable_ps, latency_ps, *rest, **options
        )


@dataclass(frozen=True)
class Wire:
    """A port of the system and what is at the other end of its link.

    Attributes:
        plan: of the port.
        nic: of the system.
        ends: on the system: the sockets.
        peer: the peer's device; None where the peer is two ends of streams.
        far: at the other end: sockets of the peer's machine, or its ends.
        out, back: from the system, and to it.
    """

    plan: StreamPlan
    nic: Any
    ends: tuple[Any, ...]
    peer: Any
    far: tuple[Any, ...]
    out: SwitchedPath
    back: SwitchedPath


class Lab:
    """A built plan, with names for its parts.

    `receivers` and `senders` (TCP's part of them) are in the order of the streams.
    """

    def __init__(
        self, plan: Plan, *, per_frame: bool = False, stop_after: int = 0, tracer: Any = None
    ) -> None:
        self.plan = plan
        writer: type = Netperf
        if stop_after:
            writer = type("Finite", (FiniteWriter,), {"total_bytes": stop_after})
        with (
            mock.patch.object(streams, "Netperf", writer),
            # streams start within 1 ms of each other, so that short runs have something to show
            mock.patch.object(streams, "_START_SPREAD_PS", MS),
            mock.patch.object(joining, "SwitchedPath", _Cables()),
        ):
            self.system: System = building.build(
                effective(plan), seed=plan.seed, per_frame=per_frame, tracer=tracer
            )
        self.sim = self.system.env.sim
        parts = self.sim.components
        self.wires: list[Wire] = []
        self.receivers: list[Any] = []
        self.senders: list[Any] = []
        for number, stream in enumerate(plan.streams):
            if not stream.idle:
                self._find(number, stream, parts)
        self.cpus = [part for path, part in parts.items() if _is_cpu(path)]
        self.softirqs = [part for path, part in parts.items() if path.endswith(".softirq")]
        self._moves = sorted(plan.moves)

    def _find(self, number: int, stream: StreamPlan, parts: dict[str, Any]) -> None:
        """Find the parts of a port and its streams."""
        nic = parts[f"sut.eth{number}"]
        peer = parts[f"peer{number}.eth{number}"]
        ends, far = [], []
        for receives in stream.directions:
            flow = _flow_name(number, stream, receives=receives)
            roles = ("netserver", "netperf") if receives else ("netperf", "netserver")
            mine, theirs = (f"flow.{flow}.{role}.socket" for role in roles)
            ends.append(parts[mine])
            if self.plan.whole_peer:
                far.append(parts[theirs])
            else:
                far.append(parts[f"peer{number}.eth{number}.{flow}"] if stream.both else peer)
            receiver, sender = (ends[-1], far[-1]) if receives else (far[-1], ends[-1])
            self.receivers.append(receiver)
            self.senders.append(sender.sender)
        self.wires.append(
            Wire(
                stream,
                nic,
                tuple(ends),
                peer if self.plan.whole_peer else None,
                tuple(far),
                nic.path_out,
                peer.path_out if self.plan.whole_peer else far[0].link.path_out,
            )
        )

    def run(self, duration_ps: int) -> Lab:
        """Simulate, moving interrupts when the plan says so."""
        end = self.sim.now + duration_ps
        while self._moves and self._moves[0][0] * US < end:
            after_us, number, cpu = self._moves.pop(0)
            if after_us * US > self.sim.now:
                self.system.run(after_us * US - self.sim.now)
            nic = self.system.nics[number % len(self.system.nics)]
            line = nic.lines[0]
            line.smp_affinity = 1 << cpu % len(line.cpus)
        self.system.run(end - self.sim.now)
        return self


def _is_cpu(path: str) -> bool:
    host, _, last = path.partition(".")
    return (host == "sut" or host.startswith("peer")) and last[:3] == "cpu" and last[3:].isdigit()
