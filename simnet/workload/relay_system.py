"""Put a relay together: connections, workers, the hosts at both far ends, the load.

Each connection c has four ends::

    client C_c  <->  socket A_c | worker | socket B_c  <->  server U_c
    behind `front`              machine                 behind `back`

A message that comes on A_c is sent out on B_c and the other way: messages go in both directions
at the same time, `forward_permille` of them from clients to servers. (That is how the document is
read that has 127,000 packets a second on one device and at the same time 128,000 on the other: all
packets received, pure ACKs included.) Connections are established when the simulation begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from simnet.kernel.random import stream
from simnet.kernel.watch import counted
from simnet.net.tcp.epoll import Epoll
from simnet.net.tcp.send.sender import sent_again
from simnet.workload.netperf import Start
from simnet.workload.relay import RelaySide, RelayWorker
from simnet.workload.relay_load import Deliveries, RelayLoad, RemoteEnd
from simnet.workload.relay_master import assign_connections, lognormal_weights

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.host.machine import Machine
    from simnet.kernel.simulator import Simulator
    from simnet.net.tcp.send.sender import TcpSender
    from simnet.workload.far_side import FarSide

# whose weights are at hand
_POPULATIONS: Final = 16


@dataclass(frozen=True)
class Workers:
    """The worker processes."""

    # for each worker the CPUs that it may run on, None for all
    allowed: Sequence[frozenset[int] | None]
    # how connections are given to them, see `relay_master.HAND_OUT`
    assign_connections: str = "balanced"
    buffer_bytes: int = 16_384  # of one recv
    max_events: int = 512  # of one epoll_wait
    epoll_lines: int = 0  # cache lines that linking an item to the ready list writes
    runqueue_lines: int = 0  # cache lines that waking a process on another CPU writes


@dataclass(frozen=True)
class Load:
    """What the far hosts send."""

    rate_mhz: int  # messages a second in all, times 1000
    sizes: Sequence[tuple[int, int]]  # (bytes, weight) of the sizes of clients' messages
    upstream_sizes: Sequence[tuple[int, int]] = ()  # of servers' messages; empty: as clients'
    forward_permille: int = 500  # share of the messages that go from clients to servers, in 1/1000
    sigma: float = 0.0  # of the lognormal distribution of the connections' rates; 0: all equal
    batch_permille: int = 1000  # mean number of messages that come at once, in 1/1000
    nodelay: bool = True  # all four ends of a connection set TCP_NODELAY
    start_ps: int = 0  # when the load begins
    # seed of the connections' rates and of who gets which worker; 0: that of the run
    population: int = 0


@dataclass
class Relay:
    """What `connect_relay` has made."""

    # counters and latencies of the messages from clients to servers, and back
    forward: Deliveries
    backward: Deliveries
    workers: list[RelayWorker]  # the processes
    handed: list[int]  # the worker of each connection
    weights: list[int]  # of the connections' rates
    # the machine's sides, by connection
    fronts: list[RelaySide] = field(default_factory=list)
    backs: list[RelaySide] = field(default_factory=list)
    # the far ends, by connection
    clients: list[RemoteEnd] = field(default_factory=list)
    servers: list[RemoteEnd] = field(default_factory=list)
    load: RelayLoad | None = None  # what creates messages
    senders: list[TcpSender] = field(default_factory=list)  # of all four ends of every connection

    def counters(self) -> dict[str, int]:
        """Messages of both directions, what workers did, and segments that were sent again."""
        retransmissions, timeouts = sent_again(self.senders)
        counts = {
            "offered": self.forward.offered + self.backward.offered,
            "delivered": self.forward.delivered + self.backward.delivered,
            "offered_bytes": self.forward.offered_bytes + self.backward.offered_bytes,
            "delivered_bytes": self.forward.delivered_bytes + self.backward.delivered_bytes,
            "retransmissions": retransmissions,
            "timeouts": timeouts,
        }
        for worker in self.workers:
            for name, count in worker.counters().items():
                counts[name] = counts.get(name, 0) + count
        return counts


def connect_relay(
    sim: Simulator,
    machine: Machine,
    *,
    front: FarSide,
    back: FarSide,
    connections: int,
    workers: Workers,
    load: Load,
    seed: int,
    path: str = "relay",
) -> Relay:
    """Make the connections of a relay, its workers, and the load.

    Args:
        sim: the simulation.
        machine: that the workers run on.
        front: the device on the clients' side.
        back: the device on the servers' side.
        connections: how many there are.
        workers: the processes.
        load: what the far hosts send.
        seed: of all random streams.
        path: component path.

    Raises:
        ValueError: no connection, no worker, or a load that cannot be.
    """
    if connections < 1 or not 0 <= load.forward_permille <= 1000:  # noqa: PLR2004 - permille
        raise ValueError(f"{path}: expected a connection, and a share from 0 to 1000")
    clients = load.population or seed
    weights = list(_weights(connections, load.sigma, clients, path))
    handed = assign_connections(
        workers.assign_connections, weights, len(workers.allowed), stream(clients, f"{path}.master")
    )
    relay = Relay(
        Deliveries(), Deliveries(), _make_workers(machine, workers, path), handed, weights
    )
    forward_bytes = _mean_bytes(load.sizes)
    backward_bytes = _mean_bytes(load.upstream_sizes or load.sizes)
    for number in counted(f"{path}.connections", connections):
        epoll = relay.workers[handed[number]].epoll
        client = RemoteEnd(relay.forward, relay.backward)
        server = RemoteEnd(relay.backward, relay.forward)
        client.other, server.other = server, client
        side = RelaySide(epoll, front.connect(sim, number, client, f"{path}.front{number}"))
        partner = RelaySide(epoll, back.connect(sim, number, server, f"{path}.back{number}"))
        side.partner, partner.partner = partner, side
        side.message_bytes = forward_bytes
        partner.message_bytes = backward_bytes
        for end in (side.socket, partner.socket, client.endpoint, server.endpoint):
            end.sender.output.nodelay = load.nodelay
            relay.senders.append(end.sender)
        relay.fronts.append(side)
        relay.backs.append(partner)
        relay.clients.append(client)
        relay.servers.append(server)
    relay.load = RelayLoad(
        sim,
        f"{path}.load",
        seed=seed,
        clients=relay.clients,
        servers=relay.servers,
        weights=[weight * load.forward_permille for weight in weights]
        + [weight * (1000 - load.forward_permille) for weight in weights],
        rate_mhz=load.rate_mhz,
        sizes=list(load.sizes),
        upstream_sizes=list(load.upstream_sizes or load.sizes),
        batch_permille=load.batch_permille,
    )
    relay.load.start(load.start_ps)
    return relay


@lru_cache(maxsize=_POPULATIONS)
def _weights(connections: int, sigma: float, seed: int, path: str) -> tuple[int, ...]:
    """Weights of the connections' rates, the same in all runs with one population."""
    return tuple(lognormal_weights(connections, sigma, stream(seed, f"{path}.weights")))


def _mean_bytes(sizes: Sequence[tuple[int, int]]) -> int:
    """Mean of (bytes, weight): the application does a message's work each time so much has come."""
    total = sum(weight for _, weight in sizes)
    return round(sum(size * weight for size, weight in sizes) / total) if total else 0


def _make_workers(machine: Machine, workers: Workers, path: str) -> list[RelayWorker]:
    made = []
    for number, allowed in enumerate(workers.allowed):
        name = f"{path}.worker{number}"
        worker = RelayWorker(
            machine.scheduler,
            name,
            machine.cpus[min(allowed) if allowed else 0],
            Epoll(machine.costs, machine.memory, workers.epoll_lines, workers.runqueue_lines),
            buffer_bytes=workers.buffer_bytes,
            max_events=workers.max_events,
            allowed=allowed,
        )
        Start(machine.sim, f"{name}.start", worker, 0)
        made.append(worker)
    return made
