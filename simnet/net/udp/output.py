"""What a socket sends: `sendmsg` down to the device, and the memory that is on its way.

Source: net/ipv4/udp.c (`udp_sendmsg`, `udp_send_skb`), net/ipv4/ip_output.c (`ip_make_skb`,
`__ip_append_data`, `ip_send_skb`), net/core/sock.c (`sock_alloc_send_pskb`, `sock_wfree`,
`sock_def_write_space`) and net/core/dev.c (`dev_queue_xmit`) of Linux 4.10. A datagram is charged
to its sender with its `truesize` until the device has sent it and the driver has freed it. With
`sk_sndbuf` or more on its way a sender waits; it is woken when half of that is free. What the
queueing discipline refuses is lost: the call succeeds, unless the program has asked for errors
(IP_RECVERR).
"""

import cython

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Task, Wakeups
from simnet.kernel.compiled import Public
from simnet.kernel.simulator import Simulator
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.skb import Endpoint, Header, Skb, new_skb
from simnet.net.nic.port import Nic
from simnet.net.udp.socket import UdpCosts

_SK_BUFF_BYTES = 256
_SHARED_INFO_BYTES = 320
# fragheaderlen, transhdrlen, LL_RESERVED_SPACE of Ethernet, and what __ip_append_data adds
_AROUND_BYTES = 20 + 8 + 16 + 15
_LINE_BYTES = 64
_LEAST_SLAB = 512


def sent_truesize(length: int) -> int:
    """What a sender is charged with for a datagram of one packet (`truesize`), bytes.

    `__alloc_skb`: data and `skb_shared_info` take a power of two of kmalloc, beside the `sk_buff`.

    Args:
        length: payload, bytes.
    """
    data = -(-(length + _AROUND_BYTES) // _LINE_BYTES) * _LINE_BYTES + _SHARED_INFO_BYTES
    slab = _LEAST_SLAB
    while slab < data:
        slab *= 2
    return slab + _SK_BUFF_BYTES


@cython.final
@cython.cclass
class UdpOutput(Endpoint):
    """The sending half of a socket whose datagrams are all of one size.

    Args:
        nic: ring of the device that it sends by.
        remote: who receives.
        header: of what it sends.
        costs: of the host.
        tx_ps: sendmsg down to the driver, beside the system call, the copy and the device's lines.
        length: payload, bytes.
        overhead_bytes: of a frame on the wire beyond that.
        sndbuf: `sk_sndbuf`, bytes: net.core.wmem_default, or twice SO_SNDBUF.
        wakeups: what waking its writer costs.
    """

    nic: Nic = None
    remote: Endpoint = None
    header: Header = None
    costs: UdpCosts = None
    wakeups: Wakeups = None
    tx_ps: cython.longlong = 0
    length: cython.longlong = 0
    truesize: cython.longlong = 0
    wire_bytes: cython.int = 0
    sndbuf: cython.longlong = 0
    writer: Public[Task] = None  # the process that sends
    waiting: Public[cython.bint] = False  # it sleeps in sendmsg
    wmem_alloc: cython.longlong = 0  # charged, bytes
    out_datagrams: cython.longlong = 0  # that the device or its queue has taken (`OutDatagrams`)
    sndbuf_errors: cython.longlong = 0  # that the queue has refused (`SndbufErrors`)
    waits: cython.longlong = 0  # how often the writer found no room
    # when the request was sent that is answered, -1 of what answers none; the answer has it
    # as `tsecr`
    echo_ps: cython.longlong = -1

    needs = ("writer",)

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        nic: Nic,
        remote: Endpoint,
        header: Header,
        costs: UdpCosts,
        tx_ps: int,
        length: int,
        overhead_bytes: int,
        sndbuf: int,
        wakeups: Wakeups,
    ) -> None:
        super().__init__(sim, path)
        self.nic = nic
        self.remote = remote
        self.header = header
        self.costs = costs
        self.tx_ps = tx_ps
        self.length = length
        self.truesize = sent_truesize(length)
        self.wire_bytes = max(length + overhead_bytes, LEAST_WIRE_BYTES)
        self.sndbuf = sndbuf
        self.wakeups = wakeups

    def room(self) -> cython.bint:
        """Whether a datagram may be made now (`sock_alloc_send_pskb`)."""
        return self.wmem_alloc < self.sndbuf

    def wait(self) -> cython.int:
        """`sock_wait_for_wmem`: the writer sleeps until there is room."""
        self.waiting = True
        self.waits += 1
        return 0

    def sendmsg(self, cpu: Cpu, work: cython.longlong) -> cython.int:
        """`udp_sendmsg` by the writer on `cpu`, after `work` that is due.

        With room that makes a datagram, which `send` hands over afterwards; without, the writer
        looks again after the work, and with no more work sleeps.
        """
        if self.room():
            work += self.send_ps(cpu)
        elif work == 0:
            self.wait()
            self.writer.sleep()
            return 0
        cpu.run(PROCESS_LEVEL, self.writer, work, SYSTEM)
        return 0

    def send_ps(self, cpu: Cpu) -> cython.longlong:
        """Work of sendmsg on `cpu`, until the driver has the datagram."""
        costs: UdpCosts = self.costs
        lines: cython.longlong = costs.costs.lines(self.length)
        work: cython.longlong = self.tx_ps + costs.costs.skb_alloc_ps
        costs.ledger.udp_send += work
        costs.ledger.copy += lines * costs.costs.copy_line_ps
        work += lines * costs.costs.copy_line_ps
        if costs.checksum_by_cpu:
            work += costs.costs.checksum_ps(self.length)
        return work + self.nic.transmit_cost_ps(cpu)

    def send(self, cpu: Cpu) -> cython.int:
        """The work is done: charge the datagram, and let the device's queue have it."""
        drops: cython.longlong = self.nic.qdisc_drops
        skb: Skb = new_skb(self.remote, 0, self.length, 0, 0, self.wire_bytes, True)
        skb.header = self.header
        skb.toucher = cpu
        skb.tsval = self.sim.now
        skb.tsecr = self.echo_ps
        skb.owner = self
        self.wmem_alloc += self.truesize
        self.nic.transmit(skb)
        self.nic.flush()
        if self.nic.qdisc_drops > drops:
            self.sndbuf_errors += 1
            if self.nic.egress is None:
                # a plain queue frees what it refuses
                self.wmem_alloc -= self.truesize
        else:
            self.out_datagrams += 1
        return 0

    def wfree(self, length: cython.longlong, cpu: Cpu) -> cython.longlong:
        """`sock_wfree`: give memory back, and wake the writer if enough is free."""
        self.wmem_alloc -= self.truesize
        if self.waiting and 2 * self.wmem_alloc <= self.sndbuf and self.writer.wake_on(cpu):
            self.waiting = False
            return self.wakeups.woken_ps(cpu, self.writer)
        return 0
