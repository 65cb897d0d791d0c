"""Open-loop load of a relay: messages that are sent whether or not earlier ones have arrived.

Messages come at a total rate, independently of what becomes of them; each belongs to a connection
and a direction, chosen by weight. They come one by one (a Poisson process), or in batches whose
sizes are geometric: then batches are the Poisson process, and the messages of one come at the same
instant on connections chosen anew. A message is `created` by the host at one far end of a
connection, is a number of bytes in that connection's stream, and is `delivered` when its last byte
has been read by the host at the other far end. What TCP's send buffer does not take waits at the
host that created it.

Times are integers; no draw that becomes one uses a platform's mathematical library.
"""

# mypy: no-strict-optional, disable-error-code="no-any-return, redundant-expr"

from __future__ import annotations

from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.prefetch import prefetch, prefetch_item
from simnet.kernel.priority import CPU
from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator
from simnet.net.tcp.endpoint import Application, TcpEndpoint
from simnet.workload.alias import Alias

_PERMILLE: cython.longlong = 1000


@cython.final
@cython.no_gc
@cython.freelist(4096)
@cython.cclass
class Message:
    """One message on its way."""

    end: cython.longlong = 0  # its last byte plus one in the stream
    created_ps: cython.longlong = 0  # when it was created
    following: Message = None


@cython.final
@cython.cclass
class Deliveries:
    """Counters of all connections in one direction."""

    # messages; their bytes are in `offered_bytes` and `delivered_bytes`
    offered: cython.longlong = 0
    delivered: cython.longlong = 0
    offered_bytes: cython.longlong = 0
    delivered_bytes: cython.longlong = 0
    latency: LogHistogram = None  # histogram of the times from creation to delivery, in ps
    latency_ps: cython.longlong = 0  # the sum of these times
    # integral over time of the messages that are not delivered yet, as of `changed_ps`
    population_ps: cython.longlong = 0
    changed_ps: cython.longlong = 0

    def __init__(self) -> None:
        self.latency = LogHistogram()

    def _settle(self, now: cython.longlong) -> cython.int:
        """Add up how many messages were under way, until now."""
        self.population_ps += (self.offered - self.delivered) * (now - self.changed_ps)
        self.changed_ps = now
        return 0

    def offer(self, size_bytes: cython.longlong, now: cython.longlong) -> cython.int:
        """A message has been created."""
        self._settle(now)
        self.offered += 1
        self.offered_bytes += size_bytes
        return 0

    def deliver(self, created_ps: cython.longlong, now: cython.longlong) -> cython.int:
        """A message has arrived."""
        self._settle(now)
        self.delivered += 1
        self.latency_ps += now - created_ps
        self.latency.add(now - created_ps)
        return 0

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the messages' latencies: (upper ps, count)."""
        return self.latency.buckets()


@cython.final
@cython.cclass
class RemoteEnd(Application):
    """What uses a far end of a connection: creates messages, and takes those of the other end."""

    endpoint: Public[TcpEndpoint] = None  # its socket
    other: Public[RemoteEnd] = None  # the far end behind the relay
    sends: Deliveries = None  # counters of what it creates
    gets: Deliveries = None  # counters of what it takes
    first: Message = None
    last: Message = None
    created: cython.longlong = 0  # bytes of all messages that it has created
    written: cython.longlong = 0  # bytes that the send buffer has taken
    got: cython.longlong = 0  # bytes that have been read

    needs = ("endpoint", "other")

    def __init__(self, sends: Deliveries, gets: Deliveries) -> None:
        self.sends = sends
        self.gets = gets

    def create(self, size_bytes: cython.longlong) -> cython.int:
        """Create a message of `size_bytes` and send it, or what fits into the send buffer."""
        message: Message = Message.__new__(Message)
        now: cython.longlong = self.endpoint.sim.now
        waits: cython.bint = self.written < self.created
        self.created += size_bytes
        message.end = self.created
        message.created_ps = now
        message.following = None
        if self.last is None:
            self.first = message
        else:
            self.last.following = message
        self.last = message
        self.sends.offer(size_bytes, now)
        if not waits:
            self.written += self.endpoint.write(size_bytes)
        return 0

    def writable(self, socket: TcpEndpoint) -> cython.int:
        """Send what waits."""
        count: cython.longlong = 1
        while self.written < self.created and count > 0:
            count = socket.write(self.created - self.written)
            self.written += count
        return 0

    def readable(self, socket: TcpEndpoint) -> cython.int:
        """Read everything; messages whose last byte has come are delivered."""
        count: cython.longlong = socket.read(socket.receiver.readable())
        other: RemoteEnd = self.other
        self.got += count
        self.gets.delivered_bytes += count
        while other.first is not None and other.first.end <= self.got:
            self.gets.deliver(other.first.created_ps, socket.sim.now)
            other.first = other.first.following
            if other.first is None:
                other.last = None
        return 0


@cython.final
@cython.cclass
class RelayLoad(Component):
    """Creates the messages.

    Args:
        path: component path; random numbers are those of this path.
        seed: the scenario's.
        clients, servers: where messages are created.
        weights: of the clients and then the servers: what share of the messages each creates.
        rate_mhz: messages a second in all, times 1000.
        sizes: (bytes, weight) of the sizes of clients' messages.
        upstream_sizes: of servers' messages.
        batch_permille: mean number of messages that come at once, in 1/1000; 1000 for a Poisson
            process of messages.
    """

    ends: list[Any] = None
    clients: cython.longlong = 0
    chosen: Alias = None
    first: cython.longlong = 0
    second: cython.longlong = 0
    third: cython.longlong = 0
    size: Alias = None
    sizes: list[Any] = None
    upstream_size: Alias = None
    upstream_sizes: list[Any] = None
    gaps: RandomStream = None
    mean_ps: cython.longlong = 0
    batch_permille: cython.longlong = 0
    batches: cython.longlong = 0  # that have come
    running: cython.bint = False

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        seed: int,
        clients: list[RemoteEnd],
        servers: list[RemoteEnd],
        weights: list[int],
        rate_mhz: int,
        sizes: list[tuple[int, int]],
        upstream_sizes: list[tuple[int, int]],
        batch_permille: int = 1000,
    ) -> None:
        super().__init__(sim, path)
        ends = clients + servers
        if rate_mhz < 1 or batch_permille < _PERMILLE or len(ends) != len(weights):
            raise ValueError(
                f"{path}: expected a rate above 0, batches of at least 1, a weight for each end"
            )
        self.ends = ends
        self.clients = len(clients)
        self.chosen = Alias(weights, RandomStream(seed, f"{path}.connections"))
        # who creates the next messages is known ahead, to have them in the cache by then
        self.first = self.chosen.pick()
        self.second = self.chosen.pick()
        self.third = self.chosen.pick()
        self.size = Alias([weight for _, weight in sizes], RandomStream(seed, f"{path}.sizes"))
        self.sizes = [size for size, _ in sizes]
        self.upstream_size = Alias(
            [weight for _, weight in upstream_sizes], RandomStream(seed, f"{path}.upstream_sizes")
        )
        self.upstream_sizes = [size for size, _ in upstream_sizes]
        self.gaps = RandomStream(seed, path)
        self.mean_ps = 10**12 * batch_permille // rate_mhz
        self.batch_permille = batch_permille

    def start(self, time_ps: int) -> None:
        """Have the first batch come some time after `time_ps`."""
        self.running = True
        self.sim.at(time_ps + self.gaps.exponential_ps(self.mean_ps), self, 0, 0, CPU)

    def stop(self) -> None:
        """Create no more."""
        self.running = False

    def _choose(self) -> cython.longlong:
        """Position of who creates a message now; ask for the cache lines of the next ones."""
        at: cython.longlong = self.first
        end: RemoteEnd
        self.first = self.second
        self.second = self.third
        self.third = self.chosen.pick()
        if cython.compiled:
            end = self.ends[self.first]
            end.endpoint.fetch_to_send()
            end = self.ends[self.second]
            prefetch(cython.cast(cython.p_void, end.endpoint), cython.sizeof(TcpEndpoint))
            prefetch_item(self.ends, self.third, cython.sizeof(RemoteEnd))
        return at

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A batch has come: its size is geometric, so another message follows at even odds."""
        end: RemoteEnd
        at: cython.longlong
        if not self.running:
            return
        self.batches += 1
        while True:
            at = self._choose()
            end = self.ends[at]
            if at < self.clients:
                end.create(self.sizes[self.size.pick()])
            else:
                end.create(self.upstream_sizes[self.upstream_size.pick()])
            if self.batch_permille == _PERMILLE or (
                self.gaps.below(self.batch_permille) < _PERMILLE
            ):
                break
        self.sim.after(self.gaps.exponential_ps(self.mean_ps), self, 0, 0, CPU)
