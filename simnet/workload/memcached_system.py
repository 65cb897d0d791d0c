"""Put a key-value server together: connections, workers, and the clients at the far ends.

A connection goes to the worker of the queue that receives its frames (memcached's `-N`, by
`SO_INCOMING_NAPI_ID`). Connections are established when the simulation begins.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from simnet.host.machine import Machine
from simnet.host.softirq.napi_instance import NapiInstance
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.kernel.watch import counted
from simnet.net.tcp.epoll import Epoll
from simnet.workload.far_side import FarSide
from simnet.workload.memcached import MemcachedConnection, MemcachedWorker
from simnet.workload.mutilate import Gaps, MutilateConnection, MutilateThread, Requests
from simnet.workload.netperf import Start


@dataclass(frozen=True)
class KeyValuePort:
    """The server's device."""

    side: FarSide  # the device, and the clients' hosts behind it
    # (number of the connection) gives the queue that receives its frames
    queue: Callable[[int], int]
    # (queue) gives the instance that polls it; None where there is none
    napi: Callable[[int], NapiInstance | None]


@dataclass(frozen=True)
class Server:
    """The worker threads."""

    cpus: Sequence[int]  # on which each begins
    allowed: Sequence[frozenset[int] | None]  # CPUs that each may run on; None for all
    by_queue: bool  # a connection goes to the worker of its queue; else to one after the other
    max_events: int  # of one epoll_wait
    epoll_lines: int = 0  # cache lines that linking an item to the ready list writes
    runqueue_lines: int = 0  # cache lines that waking a process on another CPU writes
    # of each epoll instance
    busy_poll_usecs: int = 0
    busy_poll_budget: int = 8
    prefer_busy_poll: bool = False


@dataclass(frozen=True)
class Clients:
    """What asks."""

    threads: int  # of all hosts together
    connections: int  # of each thread
    rate_mhz: int  # requests a second of all, times 1000; 0: as fast as they are answered
    arrivals: str  # distribution of the gaps, one of `ARRIVALS`
    records: int  # that the server holds
    # of each request; 0: drawn
    key_bytes: int
    value_bytes: int
    update_permille: int  # share of the requests that are `set`
    # see `MutilateThread`
    wake_ps: int
    read_ps: int
    write_ps: int
    start_ps: int = 0  # when the load begins


@dataclass
class KeyValue:
    """What `connect_memcached` has made."""

    requests: Requests  # counters and latencies
    workers: list[MemcachedWorker]  # the threads of the server
    threads: list[MutilateThread] = field(default_factory=list)  # those of the clients
    connections: list[MemcachedConnection] = field(default_factory=list)  # the server's ends

    def retransmitted(self) -> int:
        """Segments that were sent again, by any end."""
        ends = [one.socket.sender for one in self.connections]
        ends += [one.client.endpoint.sender for one in self.connections]
        return sum(sender.output.retransmissions for sender in ends)

    def counters(self) -> dict[str, int]:
        """What the workers did."""
        counts: dict[str, int] = {}
        for worker in self.workers:
            for name, count in worker.counters().items():
                counts[name] = counts.get(name, 0) + count
        return counts


def connect_memcached(
    sim: Simulator,
    machine: Machine,
    *,
    port: KeyValuePort,
    server: Server,
    clients: Clients,
    seed: int,
    path: str = "memcached",
) -> KeyValue:
    """Make the workers, the clients and their connections.

    Args:
        sim: the simulation.
        machine: that the workers run on.
        port: the device of the server.
        server: its workers.
        clients: what asks.
        seed: of all random streams.
        path: component path.
    """
    requests = Requests(
        clients.records,
        clients.update_permille,
        stream(seed, f"{path}.requests"),
        key_bytes=clients.key_bytes,
        value_bytes=clients.value_bytes,
    )
    made = KeyValue(requests, _make_workers(machine, server, path))
    count = clients.threads * clients.connections
    mean_ps = 10**15 * count // clients.rate_mhz if clients.rate_mhz else 0
    for number in counted(f"{path}.threads", clients.threads):
        name = f"{path}.thread{number}"
        thread = MutilateThread(
            sim,
            name,
            requests=requests,
            gaps=Gaps(clients.arrivals, mean_ps, stream(seed, name)),
            wake_ps=clients.wake_ps,
            read_ps=clients.read_ps,
            write_ps=clients.write_ps,
        )
        made.threads.append(thread)
        for place in range(clients.connections):
            connection = number * clients.connections + place
            worker = port.queue(connection) if server.by_queue else connection
            epoll = made.workers[worker % len(made.workers)].epoll
            client = MutilateConnection(thread)
            made.connections.append(
                _connect(sim, port, connection, epoll, client, f"{path}.connection{connection}")
            )
            thread.start(client, clients.start_ps)
    return made


def _make_workers(machine: Machine, server: Server, path: str) -> list[MemcachedWorker]:
    made = []
    for number, cpu in enumerate(server.cpus):
        name = f"{path}.worker{number}"
        epoll = Epoll(
            machine.costs,
            machine.memory,
            server.epoll_lines,
            server.runqueue_lines,
            edge_triggered=False,
        )
        epoll.busy_poll_usecs = server.busy_poll_usecs
        epoll.busy_poll_budget = server.busy_poll_budget
        epoll.prefer_busy_poll = server.prefer_busy_poll
        worker = MemcachedWorker(
            machine.scheduler,
            name,
            machine.cpus[cpu],
            epoll,
            max_events=server.max_events,
            allowed=server.allowed[number],
        )
        Start(machine.sim, f"{name}.start", worker, 0)
        made.append(worker)
    return made


def _connect(
    sim: Simulator,
    port: KeyValuePort,
    number: int,
    epoll: Epoll,
    client: MutilateConnection,
    path: str,
) -> MemcachedConnection:
    """Make both ends of a connection."""
    socket = port.side.connect(sim, number, client, path)
    for one in (client.endpoint.sender, socket.sender):
        one.output.nodelay = True
    made = MemcachedConnection(epoll, socket, client)
    napi = port.napi(port.queue(number))
    if napi is not None:
        made.napi = napi
    return made
