"""The clients of a key-value server: threads of mutilate, each with some connections.

As mutilate has it (Connection.cc, mutilate.cc): a thread goes round libevent's loop without
blocking, so it sees what has come when it is done with what it does. On a connection one request
is outstanding. The next is issued at its time, gaps being drawn independently of responses, or when
the response has been read if that comes later; at a target rate of 0, then and at once. Latency
counts from issuing a request to having read its response.

A thread has a CPU to itself and takes a fixed time for each response and each request. What comes
before is a fixed delay of each segment in its host's kernel (`TcpEndpoint.service_ps`), and a
random one, exponentially distributed, until the thread sees a response: moderated interrupts, idle
states and the scheduler of a host of which no more is simulated. Times are integers; no draw that
becomes one uses a platform's mathematical library.
"""

# mypy: no-strict-optional, disable-error-code="no-any-return, redundant-expr"

from __future__ import annotations

from array import array

import cython

from simnet.kernel.compiled import Array, Public
from simnet.kernel.component import Component
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.priority import CPU
from simnet.kernel.random import RandomStream, high_product
from simnet.kernel.simulator import Simulator
from simnet.net.tcp.endpoint import Application, TcpEndpoint
from simnet.workload.mutilate_sizes import fb_sizes, gap_shape, power_table

_PERMILLE: cython.longlong = 1000
# events of a thread
_TIMER: cython.int = 0
_DONE: cython.int = 1
_WOKEN: cython.int = 2
# states of a connection
_WAITING: cython.int = 0
_ISSUING: cython.int = 1
_OUTSTANDING: cython.int = 2
_READING: cython.int = 3

_PART_BITS: cython.int = 10
_FRACTION_BITS: cython.int = 20
_POWER_BITS: cython.int = 24


@cython.final
@cython.cclass
class Gaps:
    """Times between the requests of a connection.

    Args:
        arrivals: one of `ARRIVALS`.
        mean_ps: their mean; 0 for none: a closed loop.
        stream: random numbers.
    """

    stream: RandomStream = None
    mean_ps: cython.longlong = 0
    fixed: cython.bint = False
    ratio: cython.longlong = 0
    tail: cython.longlong = 0
    powers: Array[cython.longlong] = None

    def __init__(self, arrivals: str, mean_ps: int, stream: RandomStream) -> None:
        self.stream = stream
        self.mean_ps = mean_ps
        self.fixed = arrivals == "fixed"
        self.ratio, self.tail = gap_shape(arrivals)
        self.powers = array("q", power_table() if self.ratio else [0])

    def draw_ps(self) -> cython.longlong:
        """The time from a request to the next."""
        bits: cython.longlong
        part: cython.longlong
        fraction: cython.longlong
        power: cython.longlong = 1 << _POWER_BITS
        low: cython.longlong
        if self.mean_ps == 0 or self.fixed:
            return self.mean_ps
        if self.ratio == 0:
            return self.stream.exponential_ps(self.mean_ps)
        while True:
            bits = self.stream.below(1 << (_PART_BITS + _FRACTION_BITS))
            part = bits >> _FRACTION_BITS
            fraction = bits & ((1 << _FRACTION_BITS) - 1)
            if part > 0:
                break
            power = power * self.tail >> _POWER_BITS
        low = self.powers[part]
        low -= (low - self.powers[part + 1]) * fraction >> _FRACTION_BITS
        power = power * low >> _POWER_BITS
        power = (power - (1 << _POWER_BITS)) * self.ratio >> _POWER_BITS
        return high_product(self.mean_ps << 10, power << (54 - _POWER_BITS))


@cython.final
@cython.cclass
class Requests:
    """Which request comes next, and what has become of all.

    Args:
        records: that the server holds.
        update_permille: share of the requests that are `set`.
        stream: random numbers.
        key_bytes, value_bytes: of each request; 0: drawn, see `fb_sizes`.
    """

    stream: RandomStream = None
    update_permille: cython.longlong = 0
    keys: Array[cython.longlong] = None
    values: Array[cython.longlong] = None
    # requests issued, and responses read
    offered: cython.longlong = 0
    delivered: cython.longlong = 0
    delivered_bytes: cython.longlong = 0  # of the responses
    latency: LogHistogram = None  # histogram of the times from a request to its response, in ps

    def __init__(
        self,
        records: int,
        update_permille: int,
        stream: RandomStream,
        *,
        key_bytes: int = 0,
        value_bytes: int = 0,
    ) -> None:
        keys, values = fb_sizes(records)
        keys = (key_bytes,) * len(keys) if key_bytes else keys
        values = (value_bytes,) * len(values) if value_bytes else values
        self.stream = stream
        self.update_permille = update_permille
        self.keys = array("q", keys)
        # a value, and the number that says how long it is
        self.values = array("q", [size + len(str(size)) for size in values])
        self.latency = LogHistogram()

    def draw(self, connection: MutilateConnection) -> cython.int:
        """Say how long a connection's next request and its response are, in the text protocol."""
        key: cython.longlong = self.keys[self.stream.below(1 << _PART_BITS)]
        value: cython.longlong = self.values[self.stream.below(1 << _PART_BITS)]
        if self.stream.below(_PERMILLE) < self.update_permille:
            # set K 0 0 N, V; STORED
            connection.request_bytes = 13 + key + value
            connection.response_bytes = 8
        else:
            # get K; VALUE K 0 N, V, END
            connection.request_bytes = 6 + key
            connection.response_bytes = 18 + key + value
        self.offered += 1
        return 0

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the requests' latencies: (upper ps, count)."""
        return self.latency.buckets()


@cython.final
@cython.cclass
class MutilateConnection(Application):
    """A connection of a client, with at most one request outstanding."""

    thread: MutilateThread = None  # that serves it
    endpoint: Public[TcpEndpoint] = None  # its socket
    following: MutilateConnection = None
    number: cython.longlong = 0
    state: cython.int = 0
    due_ps: cython.longlong = 0
    issued_ps: cython.longlong = 0
    # of the request that was issued last
    request_bytes: cython.longlong = 0
    response_bytes: cython.longlong = 0
    asked: cython.longlong = 0  # bytes of all requests, that one included
    unread: cython.longlong = 0

    needs = ("endpoint",)

    def __init__(self, thread: MutilateThread) -> None:
        self.thread = thread
        self.number = len(thread.connections)
        self.state = _WAITING
        thread.connections.append(self)

    def readable(self, socket: TcpEndpoint) -> cython.int:
        """Bytes of the response are there: the thread reads them when it comes to it."""
        self.unread = socket.receiver.readable()
        if self.state == _OUTSTANDING and self.unread >= self.response_bytes:
            self.state = _READING
            self.thread.wake(self)
        return 0

    def writable(self, socket: TcpEndpoint) -> cython.int:
        """A request always fits into the send buffer."""
        return 0


@cython.final
@cython.cclass
class MutilateThread(Component):
    """A thread with its connections."""

    requests: Requests = None  # of all threads
    gaps: Gaps = None  # between the requests of each of its connections
    wake_ps: cython.longlong = 0  # mean time until it sees a response that is in the socket
    read_ps: cython.longlong = 0  # from the response in the socket to its having been read
    write_ps: cython.longlong = 0  # from issuing a request to its being sent
    connections: list[MutilateConnection] = None
    first: MutilateConnection = None
    last: MutilateConnection = None
    current: MutilateConnection = None

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        requests: Requests,
        gaps: Gaps,
        wake_ps: int,
        read_ps: int,
        write_ps: int,
    ) -> None:
        super().__init__(sim, path)
        self.requests = requests
        self.gaps = gaps
        self.wake_ps = wake_ps
        self.read_ps = read_ps
        self.write_ps = write_ps
        self.connections = []

    def start(self, connection: MutilateConnection, time_ps: cython.longlong) -> cython.int:
        """Have a connection's first request come some time after `time_ps`."""
        connection.due_ps = time_ps + self.gaps.draw_ps()
        self._await(connection)
        return 0

    def _await(self, connection: MutilateConnection) -> cython.int:
        """Arm the timer of the next request."""
        connection.state = _WAITING
        self.sim.at(connection.due_ps, self, _TIMER, connection.number, CPU)
        return 0

    @cython.cfunc
    def wake(self, connection: MutilateConnection) -> cython.int:
        """A response is there: the thread will see it."""
        self.sim.after(
            self.gaps.stream.exponential_ps(self.wake_ps), self, _WOKEN, connection.number, CPU
        )
        return 0

    @cython.cfunc
    def add(self, connection: MutilateConnection) -> cython.int:
        """A connection needs the thread: it is served in its turn."""
        if self.last is None:
            self.first = connection
        else:
            self.last.following = connection
        self.last = connection
        if self.current is None:
            self._serve_next()
        return 0

    def _serve_next(self) -> cython.int:
        """Go on with the next connection that waits."""
        connection: MutilateConnection = self.first
        self.current = connection
        if connection is None:
            return 0
        self.first = connection.following
        connection.following = None
        if self.first is None:
            self.last = None
        if connection.state == _READING:
            self.sim.after(self.read_ps, self, _DONE, 0, CPU)
        else:
            self._issue(connection)
        return 0

    def _issue(self, connection: MutilateConnection) -> cython.int:
        """The thread makes a request: its latency counts from here."""
        connection.state = _ISSUING
        connection.issued_ps = self.sim.now
        self.requests.draw(connection)
        self.sim.after(self.write_ps, self, _DONE, 0, CPU)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A request is due, or the thread is through with a connection."""
        connection: MutilateConnection
        if kind != _DONE:
            connection = self.connections[arg]
            if kind == _TIMER:
                connection.state = _ISSUING
            self.add(connection)
            return
        connection = self.current
        if connection.state == _READING:
            self._has_read(connection)
            if connection.due_ps <= self.sim.now:
                # drive_write_machine goes on at once
                self._issue(connection)
                return
            self._await(connection)
        else:
            connection.state = _OUTSTANDING
            connection.asked += connection.request_bytes
            connection.due_ps += self.gaps.draw_ps()
            connection.endpoint.write(connection.request_bytes)
        self._serve_next()

    def _has_read(self, connection: MutilateConnection) -> cython.int:
        """Count a response."""
        requests: Requests = self.requests
        requests.delivered += 1
        requests.delivered_bytes += connection.endpoint.read(connection.unread)
        requests.latency.add(self.sim.now - connection.issued_ps)
        return 0
