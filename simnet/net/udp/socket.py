"""A UDP socket: where datagrams wait for who reads them, or are dropped.

Source: net/ipv4/udp.c of Linux 4.10, 6.12 and 6.18 (`__udp_queue_rcv_skb`,
`__udp_enqueue_schedule_skb`, `__skb_recv_udp`, `udp_recvmsg`). The softirq charges a datagram and
appends it to the receive queue, whose lines it shares with the reader. Since 4.13 the reader takes
that queue as a whole when its own is empty, before that one datagram a call. Of several readers of
a socket those that sleep are woken one for a datagram, who sleeps longest first
(net/core/datagram.c `__skb_wait_for_more_packets`, `prepare_to_wait_exclusive`). CPUs take turns at
two locks: that of the receive queue, which softirqs hold while they charge and append, and a reader
while it takes the queue; and that of the reader's queue, if several read. A socket that is bound
and not connected records no hash, so that RFS does not follow it.
"""

from typing import Any

import cython

from simnet.host.cache import CacheWays
from simnet.host.costs import Buffers, Costs, Memory, SharedLines, Spread
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.host.scheduler import Task, Wakeups
from simnet.host.softirq.busy_read import BusyRead
from simnet.kernel.compiled import Public
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.simulator import Simulator
from simnet.net.forward.contended_line import ContendedLine
from simnet.net.link.skb import Endpoint, Skb, SkbQueue
from simnet.net.udp.memory import SocketMemory


@cython.final
@cython.cclass
class UdpCosts:
    """What receiving a datagram costs a host, beside what its CPU's costs say.

    Args:
        costs, memory, buffers: of the host.
        rx_ps: in the softirq: the lookup of the socket, the charge, queueing.
        recv_ps: in recvmsg, beside the system call and the copy.
        checksum_by_cpu: the device verifies none.
        page_bytes: of a page of receive buffers, 0 where pages are not told apart from other work.
    """

    costs: Costs = None
    ledger: Ledger = None
    memory: Memory = None
    buffers: Buffers = None
    rx_ps: cython.longlong = 0
    recv_ps: cython.longlong = 0
    checksum_by_cpu: cython.bint = False
    page_bytes: cython.int = 0

    def __init__(
        self,
        costs: Costs,
        memory: Memory,
        buffers: Buffers,
        *,
        rx_ps: int,
        recv_ps: int,
        checksum_by_cpu: bool,
        page_bytes: int,
    ) -> None:
        self.costs = costs
        self.ledger = costs.ledger
        self.memory = memory
        self.buffers = buffers
        self.rx_ps = rx_ps
        self.recv_ps = recv_ps
        self.checksum_by_cpu = checksum_by_cpu
        self.page_bytes = page_bytes

    @cython.cfunc
    def read_ps(self, skb: Skb, cpu: Cpu, waiting: cython.longlong) -> cython.longlong:
        """Copy a datagram to the user and free it; `waiting`: bytes that wait behind it."""
        length: cython.longlong = skb.end_seq - skb.seq
        lines: cython.longlong = self.costs.lines(length)
        work: cython.longlong = self.recv_ps + self.costs.skb_free_ps
        pages: cython.longlong
        pages_ps: cython.longlong
        cache: CacheWays = None
        self.ledger.udp_receive += work
        self.ledger.copy += lines * self.costs.copy_line_ps
        work += lines * self.costs.copy_line_ps
        if len(self.memory.caches) > 0:
            cache = self.memory.caches[skb.writer_node]
            cache.waiting += waiting
        work += self.memory.received_ps(
            cpu, self.costs, cache, length, skb.home_node, skb.writer_node
        )
        if self.checksum_by_cpu:
            work += self.costs.checksum_ps(length)
        if self.page_bytes > 0:
            pages = (skb.wire_bytes + self.page_bytes - 1) // self.page_bytes
            pages_ps = pages * self.costs.rx_page_ps // 2
            if skb.toucher is not cpu:
                pages_ps += pages * self.costs.page_zone_ps
                pages_ps += self.memory.dirty_lines_ps(cpu, skb.toucher, pages)
            self.ledger.pages += pages_ps
            work += pages_ps
        return work + self.buffers.freed_ps(cpu, skb.toucher)


@cython.final
@cython.cclass
class UdpSocket(Endpoint):
    """A socket that is bound to a port."""

    costs: UdpCosts = None  # of the host
    memory: SocketMemory = None  # of the socket
    truesize: cython.longlong = 0  # what a datagram is charged with, bytes
    # cache lines of the socket that the softirq writes for a datagram, and the reader when it
    # takes the queue or gives memory back
    lines: SharedLines = None
    wakeups: Wakeups = None  # what waking its reader costs
    spread: Spread = None  # of the softirq's work on a datagram
    reader: Public[Task] = None  # a process that receives
    waiters: list[Any] = None  # those of its readers that sleep in recvmsg, who came first is first
    # of the receive queue; None where waiting for it is not told apart
    queue_lock: Public[ContendedLine | None] = None
    # of the reader's queue, if there are several readers; else None
    reader_lock: Public[ContendedLine | None] = None
    # how long a CPU has one of them for a datagram, lines that move apart
    locked_ps: Public[cython.longlong] = 0
    busy: Public[BusyRead] = None  # how its reader polls before it sleeps; None if it does not
    queue: SkbQueue = None
    reader_queue: SkbQueue = None
    queue_bytes: cython.longlong = 0
    counted_bytes: cython.longlong = 0
    enqueued: cython.longlong = 0  # datagrams that came into the queue
    # dropped for want of room, or of the host's pages; their sum is `sk_drops`
    rcvbuf_errors: cython.longlong = 0
    mem_errors: cython.longlong = 0
    # datagrams that have been read (`InDatagrams`), of `received_bytes`
    received: cython.longlong = 0
    received_bytes: cython.longlong = 0
    latency: LogHistogram = None  # histogram of the time from being sent to being read, in ps

    needs = ("reader",)

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        costs: UdpCosts,
        memory: SocketMemory,
        truesize: int,
        lines: SharedLines,
        wakeups: Wakeups,
        spread: Spread,
    ) -> None:
        super().__init__(sim, path)
        self.costs = costs
        self.memory = memory
        self.truesize = truesize
        self.lines = lines
        self.wakeups = wakeups
        self.spread = spread
        self.waiters = []
        self.queue = SkbQueue()
        self.reader_queue = SkbQueue()
        self.latency = LogHistogram()

    @property
    def depth(self) -> int:
        """Datagrams that wait."""
        return int(self.queue.count + self.reader_queue.count)

    # -- softirq --------------------------------------------------------------------------

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`udp_queue_rcv_skb`: queue a datagram or drop it; return the work caused on `cpu`."""
        costs: UdpCosts = self.costs
        work: cython.longlong = self.spread.vary(costs.rx_ps)
        lines_ps: cython.longlong
        reader: Task
        costs.ledger.udp_receive += work
        if self.busy is not None:
            self.busy.mark(cpu)
        if skb.toucher is not cpu:
            work += costs.buffers.freed_ps(cpu, skb.toucher)
            skb.toucher = cpu
        lines_ps = self.lines.touch(cpu)
        costs.ledger.socket_lines += lines_ps
        work += lines_ps + self._locked(self.queue_lock, cpu, lines_ps)
        if self.memory.full(self.truesize):
            self.rcvbuf_errors += 1
            return work + self._dropped_ps(cpu)
        if not self.memory.charge(self.truesize):
            self.mem_errors += 1
            return work + self._dropped_ps(cpu)
        self.queue.append(skb)
        self.queue_bytes += skb.end_seq - skb.seq
        self.enqueued += 1
        if self.sim.tracer is not None:
            self._trace()
        if len(self.waiters) > 0:
            reader = self.waiters.pop(0)
            reader.wake_on(cpu)
            work += self.wakeups.woken_ps(cpu, reader)
        return work

    def _dropped_ps(self, cpu: Cpu) -> cython.longlong:
        """`kfree_skb` on the CPU that has allocated it."""
        self.freer = cpu
        self.costs.ledger.udp_receive += self.costs.costs.skb_free_ps
        return self.costs.costs.skb_free_ps

    # -- the reader -----------------------------------------------------------------------

    def _locked(
        self, lock: ContendedLine | None, cpu: Cpu, lines_ps: cython.longlong
    ) -> cython.longlong:
        """What `cpu` waits for a lock; it has it while `lines_ps` brings what the lock guards."""
        work: cython.longlong
        if lock is None:
            return 0
        work = lock.change(cpu, self.sim.now, self.locked_ps + lines_ps)
        self.costs.ledger.socket_lines += work
        return work

    def begin(self, cpu: Cpu) -> cython.longlong:
        """A reader on `cpu` looks at its queue: what it waits for the others of its socket."""
        return self._locked(self.reader_lock, cpu, 0)

    def touch(self, cpu: Cpu) -> cython.longlong:
        """Cost of bringing what the softirq has written to `cpu`."""
        work: cython.longlong = self.lines.touch(cpu)
        self.costs.ledger.socket_lines += work
        return work + self._locked(self.queue_lock, cpu, work)

    def refill(self) -> cython.bint:
        """The reader's queue is empty: take what has come; False if that is nothing."""
        emptied: SkbQueue = self.reader_queue
        if self.queue.count == 0:
            return False
        if not self.memory.reader_queue:
            emptied.append(self.queue.pop())
            return True
        self.reader_queue = self.queue
        self.queue = emptied
        return True

    def take(self) -> Skb:
        """Take the next datagram out of the reader's queue, which has one."""
        skb: Skb = self.reader_queue.pop()
        self.queue_bytes -= skb.end_seq - skb.seq
        return skb

    def release(self) -> cython.bint:
        """What was taken need not be charged; whether the reader gives memory back now."""
        return self.memory.release(self.truesize, self.reader_queue.count > 0)

    def read_ps(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """Work of recvmsg on a datagram."""
        more: cython.longlong = self.queue_bytes - self.counted_bytes
        self.counted_bytes = self.queue_bytes
        self.freer = cpu
        return self.costs.read_ps(skb, cpu, more)

    def read(self, skb: Skb) -> cython.int:
        """Recvmsg has returned with a datagram."""
        self.received += 1
        self.received_bytes += skb.end_seq - skb.seq
        self.latency.add(self.sim.now - skb.tsval)
        return 0

    def _trace(self) -> None:
        """Report to the tracer how many datagrams wait."""
        self.sim.tracer.counter(self.path, "datagrams in socket", self.sim.now, self.depth)
