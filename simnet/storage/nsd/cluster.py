"""A parallel file system as its clients see it: ask for a block, be called when it is there.

The blocks of a file go round all vdisks of all servers, from one on that differs from file to
file. With the block allocation "cluster" the blocks of a file lie side by side on each vdisk; with
"scatter" anywhere. Where a file begins comes from a hash of its number, so nothing is remembered of
a file, however many there are; files may lie over each other, which changes no time.

A read is a short message to the server, and the data back; a write a short message, one back that
asks for the data, the data, and a short acknowledgement. All messages between a client and a server
share one connection each way, in order. At either end a thread reads it (see `receiver`); a client
that `attach` has not given processors reads in no time.
"""

from typing import Any

import cython

from simnet.host.lpar import LparCpu
from simnet.kernel.simulator import Simulator
from simnet.net.fluid.flow import Flow, Message, new_message
from simnet.net.fluid.flow_fabric import FlowFabric
from simnet.storage.disk.surface import Surface
from simnet.storage.nsd.fabric import NsdFabric
from simnet.storage.nsd.model import ClusterModel
from simnet.storage.nsd.nsd import NsdRequest
from simnet.storage.nsd.receiver import ReceiverThread
from simnet.storage.nsd.server import Frontend, NsdServer
from simnet.storage.raid.rebuild import Rebuild
from simnet.storage.raid.track import mix

_REQUEST: cython.int = 0
_FETCH: cython.int = 1
_DATA: cython.int = 2
_ANSWER: cython.int = 3
_FILE_BITS: cython.int = 38
_BLOCK_BITS: cython.int = 24
_MOST_FILES: cython.longlong = 1 << _FILE_BITS
_MOST_BLOCKS: cython.longlong = 1 << 24


@cython.final
@cython.cclass
class NsdCluster(Frontend):
    """Fabric and servers.

    Args:
        model: what they are.
        seed: of what is left to chance: the TCP ports of the clients.

    Attributes:
        fabric, servers: what it consists of.
        reads, writes, read_bytes, written_bytes: answered.
        under_way: submitted and not answered.
    """

    model: Any = None
    fabric: Any = None
    flows: FlowFabric = None
    to_servers: list[Any] = None
    to_clients: list[Any] = None
    balanced: cython.bint = False
    rebalance_ps: cython.longlong = 0
    rebalanced_ps: cython.longlong = 0
    servers: list[Any] = None
    count: cython.longlong = 0
    nsds: cython.longlong = 0
    tracks: cython.longlong = 0
    scatter: cython.bint = False
    block_bytes: cython.longlong = 0
    clients: cython.int = 0
    message_bytes: cython.longlong = 0
    inline_bytes: cython.longlong = 0
    server_threads: list[Any] = None
    client_threads: list[Any] = None
    rebuilds: list[Any] = None
    reads: cython.longlong = 0
    writes: cython.longlong = 0
    read_bytes: cython.longlong = 0
    written_bytes: cython.longlong = 0
    under_way: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, model: ClusterModel, seed: int = 1) -> None:
        super().__init__(sim, path)
        self.model = model
        self.fabric = NsdFabric(sim, f"{path}.fabric", model.fabric, seed)
        self.flows = self.fabric.flows
        # by client, then by server
        self.to_servers = self.fabric.connections(to_client=False)
        self.to_clients = self.fabric.connections(to_client=True)
        self.balanced = model.fabric.lag_mode == "balance-alb"
        self.rebalance_ps = model.fabric.rebalance_ps
        surface = Surface(model.disk)
        self.servers = [
            NsdServer(sim, f"{path}.server{n}", model, surface, self)
            for n in range(model.fabric.servers)
        ]
        self.count = model.fabric.servers
        self.nsds = model.nsds * model.fabric.servers
        self.tracks = self.servers[0].raid.layout.tracks
        self.scatter = model.allocation == "scatter"
        self.block_bytes = model.block_bytes
        self.clients = model.fabric.clients
        self.message_bytes = model.fabric.message_bytes
        self.inline_bytes = model.server.inline_write_bytes
        # the threads that read the connections, in the order of these
        self.server_threads = [
            self._thread(flow, f"server{n % self.count}.reader{n // self.count}", n % self.count)
            for n, flow in enumerate(self.to_servers)
        ]
        self.client_threads = [None] * len(self.to_clients)
        self.rebuilds = []

    def _thread(self, flow: Flow, name: str, server: int) -> ReceiverThread:
        """A server's thread that reads a connection."""
        return ReceiverThread(
            self.sim,
            f"{self.path}.{name}",
            self.flows,
            flow,
            self,
            self.model.server.net_ps_kib,
            pool=self.servers[server].cpus,
        )

    def attach(self, client: int, cpu: LparCpu, ps_kib: int) -> None:
        """Let the threads that read a client's connections run on its processors.

        Args:
            client: its number.
            cpu: its processors.
            ps_kib: time that a thread has to work for a KiB.
        """
        for server in range(len(self.servers)):
            number = client * len(self.servers) + server
            self.client_threads[number] = ReceiverThread(
                self.sim,
                f"{self.path}.client{client}.reader{server}",
                self.flows,
                self.to_clients[number],
                self,
                ps_kib,
                lpar=cpu,
            )

    def counters(self) -> dict[str, int]:
        """Requests and bytes."""
        names = ("reads", "writes", "read_bytes", "written_bytes", "under_way")
        return {name: getattr(self, name) for name in names}

    def waiting_for(self) -> str | None:
        """Answers, if there are requests."""
        return "answers" if self.under_way else None

    def submit(self, request: NsdRequest) -> cython.int:
        """Send a request; its owner's `request_done` follows.

        Raises:
            ValueError: no such client, file or block, or a range that is not in a block.
        """
        size: cython.longlong = request.size_bytes
        if (
            request.client < 0
            or request.client >= self.clients
            or request.file < 0
            or request.file >= _MOST_FILES
            or request.block < 0
            or request.block >= _MOST_BLOCKS
            or request.offset_bytes < 0
            or size < 1
            or request.offset_bytes + size > self.block_bytes
        ):
            raise ValueError(f"{self.path}: {request!r}: no such client, file, block or range")
        self._place(request)
        request.submitted_ps = self.sim.now
        self.under_way += 1
        if request.write and size <= self.inline_bytes:
            size += self.message_bytes
        else:
            size = self.message_bytes
        self.flows.send(
            self.to_servers[request.client * self.count + request.server],
            new_message(size, self, _REQUEST, request),
        )
        return 0

    def _place(self, request: NsdRequest) -> cython.int:
        """Find the server, the vdisk and the track of a block."""
        first: cython.ulonglong = mix(request.file)
        number: cython.longlong = (first % self.nsds + request.block) % self.nsds
        request.key = (request.file << _BLOCK_BITS) + request.block
        request.server = number % self.count
        request.nsd = number // self.count
        if self.scatter:
            request.track = mix(request.key) % self.tracks
        else:
            first = mix(first)
            request.track = (first % self.tracks + request.block // self.nsds) % self.tracks
        return 0

    # -- messages -------------------------------------------------------------------------

    def _to_client(self, request: NsdRequest) -> Flow:
        """The flow to a client; balance-alb may have assigned it another port meanwhile."""
        if self.balanced and self.sim.now - self.rebalanced_ps > self.rebalance_ps:
            self.rebalanced_ps = self.sim.now
            self.fabric.rebalance()
        flow: Flow = self.to_clients[request.client * self.count + request.server]
        return flow

    def fetch(self, request: NsdRequest) -> cython.int:
        """Ask the client for a write's data."""
        return self.flows.send(
            self._to_client(request), new_message(self.message_bytes, self, _FETCH, request)
        )

    def answer(self, request: NsdRequest) -> cython.int:
        """Send data or acknowledgement to the client."""
        size: cython.longlong = self.message_bytes
        if not request.write:
            size = request.size_bytes
        return self.flows.send(self._to_client(request), new_message(size, self, _ANSWER, request))

    def message_arrived(self, message: Message) -> cython.int:
        """A message has come, to a server or to a client: its thread works on data."""
        request: NsdRequest = message.tag
        number: cython.int = request.client * self.count + request.server
        server: NsdServer
        thread: ReceiverThread
        if message.kind == _REQUEST:
            server = self.servers[request.server]
            return server.arrive(request)
        thread = self.server_threads[number]
        if message.kind != _DATA:
            thread = self.client_threads[number]
        if thread is None or (message.kind == _ANSWER and request.write):
            return self._take(message)
        return thread.work(message, request.size_bytes)

    def message_read(self, message: Message) -> cython.int:
        """A thread is done with data; if it has to send them, it goes on when they are sent."""
        request: NsdRequest = message.tag
        number: cython.int = request.client * self.count + request.server
        thread: ReceiverThread = self.server_threads[number]
        self._take(message)
        if message.kind == _FETCH:
            return 0
        if message.kind == _ANSWER:
            thread = self.client_threads[number]
        return thread.go_on()

    def message_sent(self, message: Message) -> cython.int:
        """The client's thread that has sent a write's data goes on."""
        request: NsdRequest = message.tag
        thread: ReceiverThread
        if message.kind == _DATA:
            thread = self.client_threads[request.client * self.count + request.server]
            if thread is not None:
                return thread.go_on()
        return 0

    def _take(self, message: Message) -> cython.int:
        """Do what a message is for."""
        request: NsdRequest = message.tag
        server: NsdServer = self.servers[request.server]
        if message.kind == _FETCH:
            return self.flows.send(
                self.to_servers[request.client * self.count + request.server],
                new_message(request.size_bytes, self, _DATA, request),
            )
        if message.kind == _DATA:
            return server.take(request)
        server.answered(request)
        self.under_way -= 1
        if request.write:
            self.writes += 1
            self.written_bytes += request.size_bytes
        else:
            self.reads += 1
            self.read_bytes += request.size_bytes
        request.done_ps = self.sim.now
        return request.owner.request_done(request)

    # -- failures -------------------------------------------------------------------------

    def fail_disk(self, server: int, array: int, disk: int, *, rebuild: int = 0) -> None:
        """Let a disk fail.

        Args:
            server: whose disk.
            array: of that server.
            disk: of that array.
            rebuild: tracks that are rebuilt at a time; 0 for no rebuilding.

        Raises:
            ValueError: no such disk, it has failed before, or another one of the array is being
                rebuilt.
        """
        if not 0 <= server < len(self.servers):
            raise ValueError(f"{self.path}: no server {server}")
        target: NsdServer = self.servers[server]
        target.raid.fail_disk(array, disk)
        if rebuild:
            path = f"{target.raid.path}.rebuild{len(self.rebuilds)}"
            self.rebuilds.append(
                Rebuild(self.sim, path, target.raid, array, disk, self.model.nsds, rebuild)
            )
