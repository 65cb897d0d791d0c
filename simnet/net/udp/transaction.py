"""A process that sends a datagram, waits for the answer, and begins again; and its partner.

Source: the calls of netperf's UDP_RR (src/nettest_bsd.c, `send_udp_rr` and `recv_udp_rr`): one send
and one recv for each transaction, one of which is outstanding. Both ends are the same process; one
of them begins. Nothing is sent again: a datagram that is lost ends it.
"""

import cython

from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.kernel.histogram import LogHistogram
from simnet.net.udp.output import UdpOutput
from simnet.net.udp.reader import COPIED, ENTERED, SCHEDULED_IN, USER_CODE, DatagramReader
from simnet.net.udp.socket import UdpSocket

_SENDING: cython.int = 10
_NO_ROOM: cython.int = 11


@cython.cclass
class UdpTransactor(DatagramReader):
    """One end.

    Args:
        cpu: where it was last.
        socket: that it reads.
        output: by which it sends.
        begins: it sends first.
        allowed: CPUs that it may run on.
        service_ps: what the application does with a datagram before it answers.

    Attributes:
        transactions: that are over, counted where they begin.
        round_trips: histogram of their durations in ps: from a send to having the answer.
        delivered: bytes that it has got.
    """

    latency_kind = "round trip"

    output: UdpOutput = None
    begins: cython.bint = False
    sends_next: cython.bint = False
    service_ps: cython.longlong = 0
    started_ps: cython.longlong = 0
    transactions: cython.longlong = 0
    round_trips: LogHistogram = None

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        socket: UdpSocket,
        output: UdpOutput,
        *,
        begins: bool,
        allowed: frozenset[int] | None = None,
        service_ps: int = 0,
    ) -> None:
        super().__init__(scheduler, path, cpu, socket, allowed)
        self.output = output
        self.begins = begins
        self.sends_next = begins
        self.service_ps = service_ps
        self.started_ps = -1
        self.round_trips = LogHistogram()
        output.writer = self

    @property
    def delivered(self) -> int:
        """Bytes that it has got."""
        return self.socket.received_bytes

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the transactions' durations: (upper ps, count)."""
        return self.round_trips.buckets()

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        if self.loop is not None and self.loop.resumed(cpu):
            return
        if self.state == COPIED:
            self._copied()
            self.sends_next = True
            self._to_user(cpu, self.costs.user_recv_ps + self.service_ps)
        elif self.state == _SENDING:
            self.output.send(cpu)
            self.sends_next = False
            self._to_user(cpu, self.costs.user_send_ps)
        elif self.state == ENTERED:
            self._look(cpu)
        elif self.state == _NO_ROOM:
            self._send(cpu, 0)
        elif self.state == USER_CODE and self.yield_if_needed(cpu):
            self.state = SCHEDULED_IN
        else:
            self._next_call(cpu)

    def _to_user(self, cpu: Cpu, user_ps: cython.longlong) -> cython.int:
        """Leave the system call, and run the application's code."""
        self.state = USER_CODE
        self.costs.ledger.application += user_ps
        return cpu.run_to_user(self, 0, user_ps)

    def _next_call(self, cpu: Cpu) -> cython.int:
        """In user mode: send, or receive."""
        if not self.sends_next:
            return self._enter(cpu, 0)
        if self.begins:
            if self.started_ps >= 0:
                self.transactions += 1
                self.round_trips.add(self.sim.now - self.started_ps)
            self.started_ps = self.sim.now
        self.costs.ledger.syscall += self.costs.syscall_ps
        return self._send(cpu, self.costs.syscall_ps)

    def _send(self, cpu: Cpu, work: cython.longlong) -> cython.int:
        """Make a datagram, or wait for memory; `work` is of entering the call."""
        self.state = _SENDING if self.output.room() else _NO_ROOM
        return self.output.sendmsg(cpu, work)
