"""Build a relay: the hosts behind two ports, the connections, the workers, the load."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final

from simnet.kernel.random import stream
from simnet.net.link.skb import Header
from simnet.scenario.parts.network.behind import FIRST_LOCAL_PORT, LOCAL_PORTS, HostsBehind
from simnet.scenario.parts.network.resources import NetworkPath
from simnet.scenario.parts.steering.build import backlog_drops, steering_of
from simnet.scenario.system.ground import Ground
from simnet.scenario.system.system import DropCount, MessageCounts, System
from simnet.workload.relay_system import Load, Workers, connect_relay

if TYPE_CHECKING:
    from simnet.net.nic.multiqueue import MultiqueuePort
    from simnet.net.nic.port import Nic
    from simnet.net.remote.hosts import RemoteHosts
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.parts.relay.schema import Relay as GivenRelay
    from simnet.scenario.parts.steering.build import HostSteering
    from simnet.scenario.system.system import Receiver
    from simnet.workload.relay_load import Deliveries
    from simnet.workload.relay_system import Relay

_PERMILLE: Final = 1000
_SERVICE_PORT: Final = 80
_SERVERS: Final = 64
_OWN_ADDRESSES: Final = (0x0A000001, 0x0A010001)
_SERVER_ADDRESSES: Final = 0x0A010100
# whose addresses are at hand
_POPULATIONS: Final = 16


@dataclass(frozen=True)
class Direction:
    """Messages one way, as a flow: what has been delivered, in bytes, and how late it was."""

    latency_kind: ClassVar[str] = "one-way"

    deliveries: Deliveries

    @property
    def delivered(self) -> int:
        """Payload bytes that the far ends have got."""
        return self.deliveries.delivered_bytes

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the times from a message's creation to its delivery: (upper ps, count)."""
        return self.deliveries.latency_buckets()


@dataclass(frozen=True)
class RelayBuilt:
    """A relay in place."""

    relay: Relay  # its parts
    # name, port that receives, and receiver of each direction
    flows: list[tuple[str, str, Receiver]]
    nics: tuple[Nic | MultiqueuePort, ...]  # the machine's ports
    steering: HostSteering | None
    far: tuple[RemoteHosts, ...]  # the hosts behind each port

    def drops(self) -> tuple[DropCount, ...]:
        """What was dropped outside the rings: in CPUs' backlogs, before transmit rings."""
        qdiscs = (DropCount("qdisc", nic.name, nic.qdisc_drops) for nic in self.nics)
        return (*backlog_drops(self.steering), *qdiscs)

    def messages(self) -> MessageCounts:
        """Messages of both directions."""
        counts = self.relay.counters()
        return MessageCounts(
            offered=counts["offered"],
            delivered=counts["delivered"],
            retransmitted=counts["retransmissions"],
        )


def build(effective: Effective, *, seed: int, per_frame: bool, tracer: Any) -> System:
    """Put the relay together; see `build` of the system."""
    ground = Ground(effective, seed=seed, per_frame=per_frame, tracer=tracer)
    built = _build_relay(ground)
    path = NetworkPath(effective, ground.machine, ground.ports)
    for number, far in enumerate(built.far):
        rate = effective.peers[number].ports[0].nic.link_rate_bps
        path.far_links.append((f"peer{number}", far, rate, None))
    return System(
        ground.env,
        ground.machine,
        ground.ports,
        built.flows,
        {"relay": built.relay},
        drops=built.drops,
        messages=built.messages,
        offers=path,
        ground=ground,
    )


def _build_relay(ground: Ground) -> RelayBuilt:
    """Put everything around the machine and its first two ports."""
    effective, machine, nics = ground.effective, ground.machine, ground.ports
    given = effective.relay
    if given is None:
        message = "a configuration without a relay"
        raise ValueError(message)
    steering = steering_of(ground, machine, effective.host)
    sides = [_Side(ground, given, number, steering) for number in range(2)]
    cpus = len(machine.cpus)
    size_bytes = effective.workload.message_bytes
    pinned = given.placement == "pinned"
    allowed: list[frozenset[int] | None] = [
        frozenset({worker % cpus}) if pinned else None for worker in range(given.workers)
    ]
    relay = connect_relay(
        ground.sim,
        machine,
        front=sides[0].side(),
        back=sides[1].side(),
        connections=given.connections,
        workers=Workers(
            allowed=allowed,
            assign_connections=given.balance,
            buffer_bytes=given.recv_bytes,
            max_events=given.max_events,
            epoll_lines=effective.kernel.epoll_lines,
            runqueue_lines=effective.kernel.runqueue_lines,
        ),
        load=Load(
            rate_mhz=given.rate * 1000,
            sizes=[(size_bytes, 1)],
            upstream_sizes=[(given.upstream_message_bytes or size_bytes, 1)],
            forward_permille=_PERMILLE - given.upstream_share_permille,
            sigma=given.rate_spread_permille / _PERMILLE,
            batch_permille=_PERMILLE * (given.burst_messages if given.arrivals == "bursty" else 1),
            population=given.population,
        ),
        seed=ground.seed,
    )
    names = [nic.name for nic in nics]
    flows: list[tuple[str, str, Receiver]] = [
        (f"{names[0]}->{names[1]}", names[0], Direction(relay.forward)),
        (f"{names[1]}->{names[0]}", names[1], Direction(relay.backward)),
    ]
    return RelayBuilt(relay, flows, tuple(nics), steering, tuple(side.far for side in sides))


class _Side(HostsBehind):
    """One port of the machine, and the hosts behind it."""

    def __init__(
        self, ground: Ground, given: GivenRelay, number: int, steering: HostSteering | None
    ) -> None:
        self.number = number
        self.addresses = _addresses(given.connections, given.population or ground.seed, number)
        flows = steering.sockets if steering else None
        super().__init__(ground, number, f"peer{number}", flows)

    def header(self, connection: int) -> Header:
        """Addresses of the frames from there: a client's anywhere, a server's one of a few."""
        local = FIRST_LOCAL_PORT + connection % LOCAL_PORTS
        own = _OWN_ADDRESSES[self.number]
        if self.number == 0:
            address, port = self.addresses[connection]
            return Header(self.there, self.here, address, own, port, _SERVICE_PORT)
        server = _SERVER_ADDRESSES + connection // LOCAL_PORTS % _SERVERS + connection % _SERVERS
        return Header(self.there, self.here, server, own, _SERVICE_PORT, local)


@lru_cache(maxsize=_POPULATIONS)
def _addresses(connections: int, seed: int, number: int) -> list[tuple[int, int]]:
    """Where clients are: address and port, the same in all runs with one population."""
    luck = stream(seed, f"relay.addresses{number}")
    return [
        (0x0B000000 + int(luck.below(1 << 24)), 1024 + int(luck.below(65536 - 1024)))
        for _ in range(connections)
    ]
