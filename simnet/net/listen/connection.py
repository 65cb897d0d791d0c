"""A short connection as its server has it: request, socket, answer, end.

Source: net/ipv4/tcp_ipv4.c (`tcp_v4_rcv`, `tcp_v4_syn_recv_sock`), tcp_minisocks.c
(`tcp_check_req`), inet_connection_sock.c (`reqsk_timer_handler`), tcp.c (`tcp_close`) of Linux 4.10
to 6.18. Who connects sends a SYN, then an ACK and its request; the server answers and closes at
once. An answer is no more than the first ten segments, so that no window holds it back; if it is
not acknowledged, all of it is sent again after `rto_min`, and after twice the time each time. The
ends of a connection are made once and used again.
"""

import cython

from simnet.host.costs import Costs, Spread
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Task, Wakeups
from simnet.kernel.priority import CPU
from simnet.kernel.simulator import Simulator
from simnet.net.link.ethernet import LEAST_WIRE_BYTES
from simnet.net.link.skb import Endpoint, Header, Skb, new_skb
from simnet.net.listen.listener import ABORTED, COMPLETE, DROPPED, HALF_OPEN, Listener
from simnet.net.listen.timer_wheel import runs_ps
from simnet.net.nic.port import Nic
from simnet.net.udp.clients import Client

# what a segment is, in `Skb.ack`, which is no number here
SYN: cython.longlong = 1
SYN_ACK: cython.longlong = 2
ACK: cython.longlong = 3
DATA: cython.longlong = 4
FIN: cython.longlong = 5
RST: cython.longlong = 6

_NONE: cython.int = 0
_REQUEST: cython.int = 1
_COOKIE: cython.int = 2
_OPEN: cython.int = 3
_CLOSED: cython.int = 4

_TIMER: cython.int = 1
# 102 s of 200 ms: TCP_RTO_MAX is 120 s
_MOST_DOUBLED: cython.int = 9


@cython.final
@cython.cclass
class SetupCosts:
    """What connections cost a host, beside what its CPU's costs say."""

    # of the host
    costs: Costs = None
    wakeups: Wakeups = None
    syn_ps: cython.longlong = 0  # a SYN: the request, the route and the SYN-ACK
    open_ps: cython.longlong = 0  # the ACK that completes it: the socket
    accept_ps: cython.longlong = 0  # accept, beside the system call: the file and its number
    close_ps: cython.longlong = 0  # close, beside the system call: FIN, TIME_WAIT, freeing
    overhead_bytes: cython.longlong = 0  # of a frame on the wire beyond its payload
    mss: cython.longlong = 0  # payload of a segment at most
    # payloads
    request_bytes: cython.longlong = 0
    answer_bytes: cython.longlong = 0
    synack_ps: cython.longlong = 0  # until a SYN-ACK is sent again for the first time
    rto_ps: cython.longlong = 0  # until an answer is
    synack_retries: cython.int = 0  # `net.ipv4.tcp_synack_retries`
    jiffy_ps: cython.longlong = 0  # length of a jiffy

    def __init__(
        self,
        costs: Costs,
        wakeups: Wakeups,
        *,
        syn_ps: int,
        open_ps: int,
        accept_ps: int,
        close_ps: int,
        overhead_bytes: int,
        mss: int,
        request_bytes: int,
        answer_bytes: int,
        synack_ps: int,
        rto_ps: int,
        synack_retries: int,
        jiffy_ps: int,
    ) -> None:
        self.costs = costs
        self.wakeups = wakeups
        self.syn_ps = syn_ps
        self.open_ps = open_ps
        self.accept_ps = accept_ps
        self.close_ps = close_ps
        self.overhead_bytes = overhead_bytes
        self.mss = mss
        self.request_bytes = request_bytes
        self.answer_bytes = answer_bytes
        self.synack_ps = synack_ps
        self.rto_ps = rto_ps
        self.synack_retries = synack_retries
        self.jiffy_ps = jiffy_ps

    def wire_bytes(self, payload: cython.longlong) -> cython.int:
        """Length of a segment on the wire."""
        return max(payload + self.overhead_bytes, LEAST_WIRE_BYTES)


@cython.final
@cython.cclass
class Connection(Endpoint):
    """The server's end."""

    setup: SetupCosts = None  # what it costs
    spread: Spread = None  # of the softirq's work
    remote: Endpoint = None  # the other end
    listener: Listener = None  # that it came to
    client: Client = None
    header: Header = None
    state: cython.int = 0
    young: cython.bint = False
    timeouts: cython.int = 0
    timer: cython.longlong = 0
    has_request: cython.bint = False  # the request has come and was not read
    reader: Task | None = None  # the process that waits for the request; None if none does
    worker: cython.int = 0  # number of who accepted it

    needs = ("remote",)

    def __init__(self, sim: Simulator, path: str, setup: SetupCosts, spread: Spread) -> None:
        super().__init__(sim, path)
        self.setup = setup
        self.spread = spread

    def begin(self, listener: Listener, client: Client, header: Header) -> cython.int:
        """Be the end of another connection, of which nothing has come.

        `client`: how it is answered; `header`: of what comes.
        """
        self.abandon()
        self.header = header
        self.listener = listener
        self.client = client
        self.state = _NONE
        self.has_request = False
        self.reader = None
        return 0

    # -- softirq --------------------------------------------------------------------------

    def receive(self, skb: Skb, cpu: Cpu) -> cython.longlong:
        """`tcp_v4_rcv`: take a segment; return the work caused on `cpu`."""
        kind: cython.longlong = skb.ack
        work: cython.longlong = 0
        own: cython.longlong
        costs: Costs = self.setup.costs
        self.freer = cpu
        if skb.header is not self.header:
            # of a connection that is no more
            costs.ledger.tcp_ack += costs.ack_rx_ps
            return costs.ack_rx_ps
        if kind == SYN:
            return self._syn(cpu)
        if kind in (DATA, ACK):
            if self.state in (_REQUEST, _COOKIE):
                work = self._complete(cpu)
            elif self.state == _NONE:
                return self._answer(RST, cpu)
            if kind == DATA and self.state == _OPEN and not self.has_request:
                work += self._has_come(cpu)
        if kind == FIN:
            # `tcp_fin` in FIN_WAIT_2, and TIME_WAIT from here
            self._disarm()
            work = self._answer(ACK, cpu)
        own = self.spread.vary(costs.tcp_rx_ps if kind == DATA else costs.ack_rx_ps)
        costs.ledger.tcp_receive += own
        return work + own

    def _syn(self, cpu: Cpu) -> cython.longlong:
        work: cython.longlong = self.spread.vary(self.setup.syn_ps)
        found: cython.int
        self.setup.costs.ledger.tcp_receive += work
        if self.state in (_NONE, _COOKIE):
            found = self.listener.syn()
            if found == DROPPED:
                return work
            self.state = _REQUEST if found == HALF_OPEN else _COOKIE
            if found == HALF_OPEN:
                self.young = True
                self.timeouts = 0
                self._arm(self.setup.synack_ps)
        elif self.state != _REQUEST:
            return work
        return work + self._answer(SYN_ACK, cpu)

    def _complete(self, cpu: Cpu) -> cython.longlong:
        """An ACK has come to a request or to a cookie."""
        work: cython.longlong = 0
        found: cython.int = self.listener.completes(self.state == _REQUEST, self.young)
        if found == ABORTED:
            self._disarm()
            self.state = _NONE
            return self._answer(RST, cpu)
        if found == COMPLETE:
            self._disarm()
            self.state = _OPEN
            work = self.spread.vary(self.setup.open_ps)
            self.setup.costs.ledger.tcp_receive += work
            work += self.listener.add(self, cpu)
        return work

    def _has_come(self, cpu: Cpu) -> cython.longlong:
        """The request is there: wake who waits for it."""
        task: Task
        self.has_request = True
        if self.reader is None:
            return 0
        task = self.reader
        self.reader = None
        task.wake_on(cpu)
        return self.setup.wakeups.woken_ps(cpu, task)

    def _answer(self, kind: cython.longlong, cpu: Cpu) -> cython.longlong:
        """Send a segment without data from the softirq; return the work."""
        nic: Nic = self.client.queue(cpu)
        costs: Costs = self.setup.costs
        work: cython.longlong = costs.ack_tx_ps + nic.transmit_cost_ps(cpu)
        costs.ledger.tcp_ack += costs.ack_tx_ps
        self._send(nic, kind, 0, 0)
        nic.flush()
        return work

    def _send(
        self, nic: Nic, kind: cython.longlong, seq: cython.longlong, length: cython.longlong
    ) -> cython.int:
        skb: Skb = new_skb(
            self.remote, seq, seq + length, kind, 1, self.setup.wire_bytes(length), True
        )
        skb.header = self.client.header
        nic.transmit(skb)
        return 0

    # -- timer ------------------------------------------------------------------------------

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """`reqsk_timer_handler`: send the SYN-ACK again, or give the request up.

        Of a connection that is closed `tcp_retransmit_timer`: send all of the answer again.
        """
        nic: Nic = self.client.nic
        self.timer = 0
        if self.state == _CLOSED:
            self.timeouts = min(self.timeouts + 1, _MOST_DOUBLED)
            self._send_answer(nic)
            self._send(nic, FIN, 0, 0)
            nic.flush()
            self._arm(self.setup.rto_ps << self.timeouts)
            return
        if self.timeouts >= self.listener.retries(self.setup.synack_retries):
            self.listener.forget(self.young)
            self.state = _NONE
            return
        self._send(nic, SYN_ACK, 0, 0)
        nic.flush()
        if self.young:
            self.young = False
            self.listener.grows_old()
        self.timeouts += 1
        self._arm(self.setup.synack_ps << self.timeouts)

    def _arm(self, after_ps: cython.longlong) -> cython.int:
        when: cython.longlong = runs_ps(self.sim.now, after_ps, self.setup.jiffy_ps)
        self.timer = self.sim.at(when, self, _TIMER, 0, CPU)
        return 0

    def is_open(self) -> cython.bint:
        """It is complete."""
        return self.state == _OPEN

    def abandon(self) -> cython.int:
        """Who began it has gone: a request that is left ends with it."""
        if self.state == _REQUEST:
            self.listener.forget(self.young)
        self._disarm()
        self.state = _NONE
        return 0

    def _disarm(self) -> cython.int:
        if self.timer != 0:
            self.sim.cancel(self.timer)
            self.timer = 0
        return 0

    # -- the process that has accepted it ---------------------------------------------------

    def read_ps(self) -> cython.longlong:
        """Work of reading the request."""
        costs: Costs = self.setup.costs
        lines: cython.longlong = costs.lines(self.setup.request_bytes)
        self.has_request = False
        costs.ledger.copy += lines * costs.copy_line_ps
        costs.ledger.tcp_receive += costs.skb_free_ps
        return lines * costs.copy_line_ps + costs.skb_free_ps

    def write_ps(self, cpu: Cpu) -> cython.longlong:
        """Work of writing the answer, which `answer` hands over."""
        costs: Costs = self.setup.costs
        lines: cython.longlong = costs.lines(self.setup.answer_bytes)
        work: cython.longlong = costs.tcp_tx_ps + costs.skb_alloc_ps
        costs.ledger.tcp_send += work
        costs.ledger.copy += lines * costs.copy_line_ps
        work += lines * costs.copy_line_ps
        return work + self.client.queue(cpu).transmit_cost_ps(cpu)

    def answer(self, cpu: Cpu) -> cython.int:
        """Hand the answer to the device."""
        nic: Nic = self.client.queue(cpu)
        self._send_answer(nic)
        return nic.flush()

    def _send_answer(self, nic: Nic) -> cython.int:
        sent: cython.longlong = 0
        length: cython.longlong
        while sent < self.setup.answer_bytes:
            length = min(self.setup.mss, self.setup.answer_bytes - sent)
            self._send(nic, DATA, sent, length)
            sent += length
        return 0

    def close_ps(self, cpu: Cpu) -> cython.longlong:
        """Work of closing it, whose FIN `finish` hands over."""
        costs: Costs = self.setup.costs
        costs.ledger.tcp_send += self.setup.close_ps
        return self.setup.close_ps + self.client.queue(cpu).transmit_cost_ps(cpu)

    def finish(self, cpu: Cpu) -> cython.int:
        """Hand the FIN to the device."""
        nic: Nic = self.client.queue(cpu)
        self.state = _CLOSED
        self.timeouts = 0
        self._arm(self.setup.rto_ps)
        self._send(nic, FIN, 0, 0)
        return nic.flush()
