"""Build what receives datagrams: sockets, workers, and the senders behind the port."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simnet.host.costs import whole_ns
from simnet.kernel.random import stream
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.skb import Endpoint, Header, Station
from simnet.net.remote.hosts import RemoteHosts
from simnet.net.udp.reader import UdpReader
from simnet.net.udp.reuseport import chosen
from simnet.net.udp.socket import UdpSocket
from simnet.net.udp.source import DatagramSource
from simnet.scenario.parts.container.build import ContainerBuilt, container_of
from simnet.scenario.parts.host.build import PS
from simnet.scenario.parts.network.join import join
from simnet.scenario.parts.network.resources import NetworkPath
from simnet.scenario.parts.nic.schema import UDP_HEADERS_BYTES
from simnet.scenario.parts.steering.build import backlog_drops, steering_of
from simnet.scenario.parts.udp.build_sockets import Sockets
from simnet.scenario.parts.udp.columns import ContainerUdpCounts, UdpCounts
from simnet.scenario.parts.udp.worker import Worker
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import DropCount, MessageCounts, System
from simnet.workload.netperf import Start

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective, Host
    from simnet.scenario.parts.steering.build import HostSteering
    from simnet.scenario.parts.udp.schema import Udp

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
    """What was made, and its counters.

    Attributes:
        sockets, readers: of the workers.
        sources: of the flows.
        nic: the port.
        steering: of the machine.
        container: that the workers are in; None in the host's network.
    """

    sockets: tuple[UdpSocket, ...]
    readers: tuple[UdpReader, ...]
    sources: tuple[DatagramSource, ...]
    nic: Any
    steering: HostSteering | None
    container: ContainerBuilt | None

    def drops(self) -> tuple[DropCount, ...]:
        """What was dropped outside the rings, on the way from the wire to the workers."""
        wire = sum(source.dropped for source in self.sources)
        sockets = [(one.path.rpartition(".")[2], one) for one in self.sockets]
        return (
            DropCount("wire", self.nic.name, wire),
            *backlog_drops(self.steering),
            *self._veth_drops(),
            *(DropCount("socket", name, one.rcvbuf_errors) for name, one in sockets),
            *(DropCount("memory", name, one.mem_errors) for name, one in sockets),
        )

    def _veth_drops(self) -> tuple[DropCount, ...]:
        if self.container is None:
            return ()
        return (DropCount("veth", "veth", self.container.veth.ring_drops),)

    def messages(self) -> MessageCounts:
        """Datagrams."""
        counts = self.counts()
        return MessageCounts(counts.sent, counts.received, 0)

    def counts(self) -> UdpCounts:
        """All counters."""
        container = self.container
        form = UdpCounts if container is None else ContainerUdpCounts
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
            **({} if container is None else {"veth": container.veth.ring_drops}),
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
    sockets = _sockets(ground, given)
    built = UdpBuilt(
        sockets,
        _readers(ground, given, sockets),
        _sources(ground, given, sockets, far, container),
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
        [(f"worker{k}", built.nic.name, Worker(one)) for k, one in enumerate(sockets)],
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


def _sockets(ground: Ground, given: Udp) -> tuple[UdpSocket, ...]:
    """The sockets, one a worker."""
    host = ground.effective.host
    sockets = Sockets(host=host, machine=ground.machine, given=given, seed=ground.seed)
    rcvbuf = rcvbuf_bytes(host, given.rcvbuf_bytes)
    return tuple(
        sockets.make(f"udp.socket{number}", host.ports[0], given.size_bytes, rcvbuf)
        for number in range(given.workers)
    )


def _readers(ground: Ground, given: Udp, sockets: tuple[UdpSocket, ...]) -> tuple[UdpReader, ...]:
    """The workers; each begins where it is pinned, or where the scheduler puts it."""
    cpus = ground.machine.cpus
    found = []
    for number, socket in enumerate(sockets):
        cpu = (given.first_cpu + number) % len(cpus)
        allowed = frozenset({cpu}) if given.placement == "pinned" else None
        path = f"udp.worker{number}"
        reader = UdpReader(
            ground.machine.scheduler,
            path,
            cpus[cpu],
            socket,
            service_ps=whole_ns(given.service_ps),
            allowed=allowed,
        )
        Start(ground.sim, f"{path}.start", reader, number * 1000)
        found.append(reader)
    return tuple(found)


def _sources(
    ground: Ground,
    given: Udp,
    sockets: tuple[UdpSocket, ...],
    far: RemoteHosts,
    container: ContainerBuilt | None,
) -> tuple[DatagramSource, ...]:
    """The flows: each to the socket that its worker has, or that the hash chooses."""
    here, there = Station(0), Station(1)
    secret = stream(ground.seed, "udp.ehash_secret").below(1 << 32)
    gap_ps = gap_of(given)
    found = []
    for number in range(given.flows):
        path = f"udp.flow{number}"
        turn = number % given.workers
        port = _FIRST_PORT if given.reuseport else _FIRST_PORT + turn
        header = Header(
            there, here, _FIRST_SENDER + number, _OWN, _SENDER_PORT + number % 1000, port
        )
        if given.reuseport:
            turn = chosen(header, secret, given.workers)
        end: Endpoint = sockets[turn]
        if container is not None:
            end = container.way(sockets[turn], number)
        found.append(
            DatagramSource(
                ground.sim,
                path,
                link=far.uplink.link,
                socket=end,
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
        return PS * given.burst // given.rate
    return PS * 8 * given.size_bytes * given.burst // given.bit_rate_bps
