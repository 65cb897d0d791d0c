"""A process that sends a message, waits for the answer, and begins again; and its partner.

Source: the calls of netperf 2.4.5's TCP_RR (src/nettest_bsd.c, `send_tcp_rr` and
`recv_tcp_rr`): one send for the whole message, then recv for what is missing of the other's,
until nothing is. A message may also be sent in parts, one after the other, as programs do that
write a header and then a body. Both ends are the same process; one of them begins. Inside the
calls: `tcp_sendmsg` and `tcp_recvmsg`, see `simnet.net.tcp.process` and `process`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import cython

from simnet.host.cpu import Cpu, Occupation
from simnet.host.scheduler import Scheduler
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.priority import NIC
from simnet.kernel.random import RandomStream
from simnet.net.tcp.process import SCHEDULED_IN, USER_CODE, TcpReader
from simnet.net.tcp.socket import TcpSocket


@cython.cclass
class TcpTransactor(TcpReader):
    """One end.

    Args:
        scheduler: of the machine.
        path: component path.
        cpu: where it was last.
        socket: connected socket.
        sends_bytes: of each send that its message is made of, one after the other.
        expects_bytes: of the message that it waits for.
        begins: it sends first.
        allowed: CPUs it may run on.
        service_ps: what the application does with a whole message before it answers.
        think: mean time that it sleeps before it begins again, and what that is drawn from;
            None: it does not sleep.

    Attributes:
        transactions: that are over, counted where they begin.
        round_trips: histogram of their durations in ps: from a send to having the whole answer.
        delivered: bytes that it has got.
    """

    latency_kind = "round trip"

    sends_bytes: tuple[Any, ...] = None
    unsent: cython.Py_ssize_t = 0
    expects_bytes: cython.longlong = 0
    begins: cython.bint = False
    missing: cython.longlong = 0
    started_ps: cython.longlong = 0
    transactions: cython.longlong = 0
    round_trips: LogHistogram = None
    service_ps: cython.longlong = 0
    think_ps: cython.longlong = 0
    thinks: RandomStream = None
    thought: cython.bint = False
    timer: Occupation = None

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        socket: TcpSocket,
        sends_bytes: Sequence[int],
        expects_bytes: int,
        *,
        begins: bool,
        allowed: frozenset[int] | None = None,
        service_ps: int = 0,
        think: tuple[int, RandomStream] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, socket, expects_bytes, allowed)
        self.service_ps = service_ps
        self.think_ps, self.thinks = think or (0, None)
        self.timer = Occupation(self.sim, f"{path}.timer")
        self.sends_bytes = tuple(sends_bytes)
        self.expects_bytes = expects_bytes
        self.begins = begins
        self.missing = 0 if begins else expects_bytes
        self.started_ps = -1
        self.round_trips = LogHistogram()
        socket.writer = self

    @property
    def delivered(self) -> int:
        """Bytes that it has got."""
        return self.socket.delivered

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the transactions' durations: (upper ps, count)."""
        return self.round_trips.buckets()

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        state: cython.int = self.state
        if self.loop is not None and self.loop.resumed(cpu):
            return
        if state == USER_CODE:
            self.calls += 1
            if self.yield_if_needed(cpu):
                self.state = SCHEDULED_IN
            else:
                self._next_call(cpu)
        elif state == SCHEDULED_IN:
            self._next_call(cpu)
        elif not self._continue_send(cpu):
            TcpReader.step(self, cpu)

    def _next_call(self, cpu: Cpu) -> cython.int:
        """In user mode: receive what is missing, or send."""
        if self.missing == 0 and self._ends_or_thinks():
            return 0
        if self.missing > 0 and self.unsent == 0:
            return self._recv(cpu, self.missing)
        self.debt_ps += self.socket.lock(cpu)
        if self.unsent == 0:
            self.unsent = len(self.sends_bytes)
            self.missing = self.expects_bytes
            if self.begins:
                self.started_ps = self.sim.now
        self.left = self.sends_bytes[len(self.sends_bytes) - self.unsent]
        self.unsent -= 1
        self.socket.sender.check_application()
        self._send(cpu)
        return 0

    def _ends_or_thinks(self) -> cython.bint:
        """Count a transaction that has ended; sleep before the next one (`clock_nanosleep`)."""
        if self.started_ps >= 0:
            self.transactions += 1
            self.round_trips.add(self.sim.now - self.started_ps)
            self.started_ps = -1
        if self.think_ps == 0 or self.thought:
            self.thought = False
            return False
        self.thought = True
        self.costs.ledger.syscall += self.costs.syscall_ps
        self.debt_ps += self.costs.syscall_ps
        self.sim.after(self.thinks.exponential_ps(self.think_ps), self, 0, 0, NIC)
        self.state = SCHEDULED_IN
        self.sleep()
        return True

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """The timer of its sleep interrupts the CPU where it fell asleep."""
        self.costs.ledger.hardirq += self.costs.hardirq_ps
        self.cpu.raise_irq(self.timer, self.costs.hardirq_ps)
        self.wake_on(self.cpu)

    def _leave(self, cpu: Cpu) -> cython.int:
        """Leave recv with what has come."""
        user: cython.longlong = self.costs.user_recv_ps
        self.missing -= self.recv_bytes - self.room
        if self.missing == 0:
            user += self.service_ps
        return self._to_user(cpu, user)

    def _sent(self, cpu: Cpu) -> cython.int:
        """Leave send."""
        self.debt_ps += self.socket.unlock(cpu)
        return self._to_user(cpu, self.costs.user_send_ps)
