"""The thread at one end of a connection: while it works on a message, it reads no other.

Each pair of nodes has one TCP connection, and each end of it one thread that reads
(`receiverThreadsPerSocket`, 1 unless set). It copies a block's data between socket and memory and
computes their checksum (`nsdClientCksumTypeRemote`), which is over the whole block: it is known
when the last byte is there. A client's thread that is asked for the data of a write sends them,
before it reads on. Meanwhile the socket takes no more than the TCP window (RFC 9293, 3.8.6): what
comes next stops after so many bytes, whatever the line could carry.

So line and thread take turns, block by block, and at a client the two directions of a connection
do, too. That the thread itself sends is assumed: the daemon's threads are not published.
"""

# mypy: no-strict-optional

import cython

from simnet.host.lpar import LparCpu
from simnet.kernel.component import Component
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.net.fluid.flow import Flow, Message, MessageReceiver
from simnet.net.fluid.flow_fabric import FlowFabric
from simnet.storage.raid.cpu_pool import CpuPool

_KIB_BITS: cython.int = 10


@cython.cclass
class MessageReader(MessageReceiver):
    """Who receives messages by threads, a component."""

    def message_read(self, message: Message) -> cython.int:
        """The work on a message is done; `ReceiverThread.go_on` has to follow."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class ReceiverThread(Component):
    """The thread of one end of a connection."""

    flows: FlowFabric = None  # what carries messages
    flow: Flow = None  # the connection's, to this end
    reader: MessageReader = None  # gets what is read
    ps_kib: cython.longlong = 0  # CPU time to copy and check a KiB
    pool: CpuPool = None  # a server's CPUs, or None
    lpar: LparCpu = None  # a partition's processors, or None
    message: Message = None

    def __init__(
        self,
        sim: Simulator,
        path: str,
        flows: FlowFabric,
        flow: Flow,
        reader: MessageReader,
        ps_kib: int,
        *,
        pool: CpuPool | None = None,
        lpar: LparCpu | None = None,
    ) -> None:
        super().__init__(sim, path)
        self.flows = flows
        self.flow = flow
        self.reader = reader
        self.ps_kib = ps_kib
        self.pool = pool
        self.lpar = lpar
        flow.threaded = True

    def work(self, message: Message, size_bytes: cython.longlong) -> cython.int:
        """Copy and check so many bytes for a message; return 1, since that takes time."""
        work_ps: cython.longlong = (size_bytes >> _KIB_BITS) * self.ps_kib
        self.message = message
        if self.lpar is not None:
            self.lpar.run(self, 0, work_ps, work_ps)
        else:
            self.sim.at(self.pool.book(self.sim.now, work_ps), self, 0, 0, CPU)
        return 1

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The work is done."""
        message: Message = self.message
        self.message = None
        self.reader.message_read(message)

    def go_on(self) -> cython.int:
        """Read the next message."""
        return self.flows.read_next(self.flow)
