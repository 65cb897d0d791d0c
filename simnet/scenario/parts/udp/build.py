"""Build what receives datagrams: sockets, workers, and the senders behind the port."""

from dataclasses import dataclass
from typing import Any, Final

from simnet.host.costs import cycles_ps, whole_ns
from simnet.kernel.random import stream
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.skb import Endpoint, Header, Station
from simnet.net.remote.hosts import RemoteHosts
from simnet.net.udp.reader import UdpReader
from simnet.net.udp.reuseport import chosen
from simnet.net.udp.reuseport_group import ReuseportGroup
from simnet.net.udp.server import UdpServer
from simnet.net.udp.socket import UdpSocket
from simnet.net.udp.source import DatagramSource
from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.parts.container.build import ContainerBuilt, container_of
from simnet.scenario.parts.network.join import join
from simnet.scenario.parts.network.resources import NetworkPath
from simnet.scenario.parts.nic.schema import UDP_HEADERS_BYTES
from simnet.scenario.parts.steering.build import HostSteering, backlog_drops, steering_of
from simnet.scenario.parts.udp.build_answers import Serving
from simnet.scenario.parts.udp.build_sockets import Sockets
from simnet.scenario.parts.udp.checks import SERVE
from simnet.scenario.parts.udp.columns import ContainerUdpCounts, ServedCounts, UdpCounts
from simnet.scenario.parts.udp.schema import Udp
from simnet.scenario.parts.udp.worker import Worker
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import DropCount, MessageCounts, System
from simnet.time_units import PS_PER_S
from simnet.workload.netperf import Start

_LEAST_RCVBUF: Final = 2304
_OWN: Final = 0x0A000001
_FIRST_SENDER: Final = 0x0A010001
_FIRST_PORT: Final = 5000
_SENDER_PORT: Final = 40000


def rcvbuf_bytes(host: Host, asked: int) -> int:
    """`sk_rcvbuf` of a socket: net.core.rmem_default, or twice what SO_RCVBUF is cut to.

    Source: net/core/sock.c `sock_setsockopt`; never less than SOCK_MIN_RCVBUF.
    """
    default: int = host.kernel.rmem_default_bytes
    most: int = host.kernel.rmem_max_bytes
    return max(2 * min(asked, most), _LEAST_RCVBUF) if asked else default


@dataclass(frozen=True)
class UdpBuilt:
    """What was made, and its counters."""

    # of the workers
    sockets: tuple[UdpSocket, ...]
    readers: tuple[UdpReader | UdpServer, ...]
    sources: tuple[DatagramSource, ...]  # of the flows
    serving: Serving | None  # what answers leave by; None where nobody answers
    nic: Any  # the port
    steering: HostSteering | None
    container: ContainerBuilt | None  # that the workers are in; None in the host's network

    def drops(self) -> tuple[DropCount, ...]:
        """What was dropped outside the rings, on the way from the wire to the workers."""
        wire = sum(source.dropped for source in self.sources)
        sockets = [(one.path.rpartition(".")[2], one) for one in self.sockets]
        return (
            DropCount("wire", self.nic.name, wire),
            *backlog_drops(self.steering),
            *self._veth_drops(),
            *self._qdisc_drops(),
            *(DropCount("socket", name, one.rcvbuf_errors) for name, one in sockets),
            *(DropCount("memory", name, one.mem_errors) for name, one in sockets),
        )

    def _veth_drops(self) -> tuple[DropCount, ...]:
        if self.container is None:
            return ()
        return (DropCount("veth", "veth", self.container.veth.ring_drops),)

    def _qdisc_drops(self) -> tuple[DropCount, ...]:
        if self.serving is None:
            return ()
        return (DropCount("qdisc", self.nic.name, self.serving.refused),)

    def messages(self) -> MessageCounts:
        """Datagrams, or requests that are delivered when they are answered."""
        counts = self.counts()
        done = counts.received if self.serving is None else self.serving.arrived
        return MessageCounts(counts.sent, done, 0)

    def counts(self) -> UdpCounts:
        """All counters."""
        container, serving = self.container, self.serving
        more: dict[str, int] = {}
        form = UdpCounts
        if container is not None:
            form, more = ContainerUdpCounts, {"veth": container.veth.ring_drops}
        elif serving is not None:
            form, more = ServedCounts, {"qdisc": serving.refused, "answers": serving.arrived}
        return form(
            sent=sum(one.sent for one in self.sources),
            sent_bytes=sum(one.sent_bytes for one in self.sources),
            received=sum(one.received for one in self.sockets),
            received_bytes=sum(one.received_bytes for one in self.sockets),
            wire=sum(one.dropped for one in self.sources),
            ring=self.nic.drops,
            backlog=sum(self.steering.drops().values()) if self.steering else 0,
            rcvbuf_errors=sum(one.rcvbuf_errors for one in self.sockets),
            mem_errors=sum(one.mem_errors for one in self.sockets),
            waiting=sum(one.depth for one in self.sockets),
            **more,
        )


def build(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Put senders, sockets and workers together; see `build` of the system."""
    ground = Ground(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    given = effective.udp
    if given is None:
        message = "a configuration without datagrams"
        raise ValueError(message)
    far_rate = effective.peers[0].ports[0].nic.link_rate_bps
    far = RemoteHosts(ground.sim, "senders", far_rate)
    join(ground, ground.ports[0], far, far)
    container = container_of(ground, given.flows)
    steering = steering_of(ground, ground.machine, effective.host)
    made = Sockets(host=effective.host, machine=ground.machine, given=given, seed=ground.seed)
    sockets = _sockets(ground, given, made)
    serves = effective.workload.test == SERVE
    headers = _headers(given, 1 if serves or given.reuseport else given.workers)
    serving = Serving(ground, given, made, headers) if serves else None
    built = UdpBuilt(
        sockets,
        _readers(ground, given, sockets, serving),
        _sources(ground, given, headers, _ends(ground, given, headers, sockets), far, container),
        serving,
        ground.ports[0],
        steering,
        container,
    )
    path = NetworkPath(effective, ground.machine, ground.ports)
    path.far_links.append(("senders", far, far_rate, None))
    counter = effective.host.ports[0].nic.ring_counter
    return System(
        ground.env,
        ground.machine,
        ground.ports,
        [(f"worker{k}", built.nic.name, one) for k, one in enumerate(_flows(built))],
        {"udp": built},
        drops=built.drops,
        messages=built.messages,
        offers=path,
        counters={
            "udp": built.counts,
            "udp_ring_counter": lambda: counter,
            **({"veth": container.counts} if container is not None else {}),
        },
        ground=ground,
    )


def _flows(built: UdpBuilt) -> list[Worker]:
    """What each worker has got, or what its answers have brought."""
    if built.serving is None:
        return [Worker(socket) for socket in built.sockets]
    return [Worker(answers, "round trip") for answers in built.serving.answers]


def _sockets(ground: Ground, given: Udp, made: Sockets) -> tuple[UdpSocket, ...]:
    """The sockets: one a worker, or one that all read."""
    host = ground.effective.host
    rcvbuf = rcvbuf_bytes(host, given.rcvbuf_bytes)
    shared = ground.effective.workload.test == SERVE and not given.reuseport
    found = tuple(
        made.make(f"udp.socket{number}", host.ports[0], given.size_bytes, rcvbuf)
        for number in range(1 if shared else given.workers)
    )
    if ground.effective.workload.test == SERVE:
        for socket in found:
            socket.queue_lock = ContendedLine(ground.machine.memory)
            socket.locked_ps = cycles_ps(given.lock_cycles, host.cpu.clock_hz)
    if shared and given.workers > 1:
        found[0].reader_lock = ContendedLine(ground.machine.memory)
    return found


def _readers(
    ground: Ground, given: Udp, sockets: tuple[UdpSocket, ...], serving: Serving | None
) -> tuple[UdpReader | UdpServer, ...]:
    """The workers; each begins where it is pinned, or where the scheduler puts it."""
    cpus, scheduler = ground.machine.cpus, ground.machine.scheduler
    service_ps = whole_ns(given.service_ps)
    found: list[UdpReader | UdpServer] = []
    for number in range(given.workers):
        cpu = (given.first_cpu + number) % len(cpus)
        allowed = frozenset({cpu}) if given.placement == "pinned" else None
        path, socket = f"udp.worker{number}", sockets[number % len(sockets)]
        reader: UdpReader | UdpServer
        if serving is None:
            reader = UdpReader(
                scheduler, path, cpus[cpu], socket, service_ps=service_ps, allowed=allowed
            )
        else:
            reader = serving.worker(path, cpus[cpu], socket, service_ps, allowed)
        Start(ground.sim, f"{path}.start", reader, number * 1000)
        found.append(reader)
    return tuple(found)


def _headers(given: Udp, ports: int) -> list[Header]:
    """Of the flows, to so many ports in turn."""
    here, there = Station(0), Station(1)
    return [
        Header(
            there,
            here,
            _FIRST_SENDER + number,
            _OWN,
            _SENDER_PORT + number % 1000,
            _FIRST_PORT + number % ports,
        )
        for number in range(given.flows)
    ]


def _ends(
    ground: Ground, given: Udp, headers: list[Header], sockets: tuple[UdpSocket, ...]
) -> list[Endpoint]:
    """Where each flow ends: in its worker's socket, or in that which hash or program choose."""
    count = len(sockets)
    if not given.reuseport:
        return [sockets[number % count] for number in range(len(headers))]
    secret = stream(ground.seed, "udp.ehash_secret").below(1 << 32)
    turns = [chosen(header, secret, count) for header in headers]
    if given.reuseport_program == "hash":
        return [sockets[turn] for turn in turns]
    group: list[Endpoint] = [*sockets]
    return [
        ReuseportGroup(ground.sim, f"udp.flow{number}.group", group, turn)
        for number, turn in enumerate(turns)
    ]


def _sources(
    ground: Ground,
    given: Udp,
    headers: list[Header],
    ends: list[Endpoint],
    far: RemoteHosts,
    container: ContainerBuilt | None,
) -> tuple[DatagramSource, ...]:
    """The flows."""
    gap_ps = gap_of(given)
    found = []
    for number, (header, end) in enumerate(zip(headers, ends, strict=True)):
        path = f"udp.flow{number}"
        found.append(
            DatagramSource(
                ground.sim,
                path,
                link=far.uplink.link,
                socket=end if container is None else container.way(end, number),
                number=number,
                header=header,
                size_bytes=given.size_bytes,
                overhead_bytes=ground.effective.host.ports[0].nic.link_overhead_bytes
                + UDP_HEADERS_BYTES,
                least_wire_bytes=LEAST_WIRE_BYTES,
                burst=given.burst,
                gap_ps=gap_ps,
                random=given.arrivals == "poisson",
                buffer_bytes=ground.effective.lan.buffer_per_port_bytes,
                luck=stream(ground.seed, path),
            )
        )
    return tuple(found)


def gap_of(given: Udp) -> int:
    """From burst to burst of a flow, in ps."""
    if given.rate:
        return PS_PER_S * given.burst // given.rate
    return PS_PER_S * 8 * given.size_bytes * given.burst // given.bit_rate_bps
