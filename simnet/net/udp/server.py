"""A worker that answers: it receives datagrams, works on each, and sends an answer to each.

Source: net/socket.c (`do_recvmmsg`, `__sys_sendmmsg`) of Linux 6.12. With `batch` above one a call
of recvmmsg with MSG_WAITFORONE waits for a datagram, and takes as many more as are there; sendmmsg
sends the answers. Both save system calls and nothing else: inside, each datagram has its own
recvmsg or sendmsg.
"""

from typing import Any

import cython

from simnet.host.costs import SharedLines
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.udp.clients import Client
from simnet.net.udp.output import UdpOutput
from simnet.net.udp.reader import COPIED, ENTERED, SCHEDULED_IN, USER_CODE, DatagramReader
from simnet.net.udp.socket import UdpSocket

_ANSWERING: cython.int = 20
_NO_ROOM_YET: cython.int = 21


@cython.final
@cython.cclass
class UdpServer(DatagramReader):
    """One worker.

    Args:
        cpu: where it was last.
        socket: that it reads.
        output: by which it answers.
        clients: who asks, by number, which requests have in `Skb.ack`.
        sent_lines: cache lines of the socket that each sendmsg writes (`sk_wmem_alloc`).
        service_ps: of its own work on a request.
        batch: datagrams that a call receives or sends at most.
        allowed: CPUs that it may run on.
    """

    output: UdpOutput = None
    clients: list[Any] = None
    sent_lines: SharedLines = None
    service_ps: cython.longlong = 0
    batch: cython.int = 1
    kept: SkbQueue = None
    sent: cython.longlong = 0
    answered: cython.longlong = 0  # requests whose answers it has sent
    batches: cython.longlong = 0  # how often it went to work on what it had received

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        socket: UdpSocket,
        output: UdpOutput,
        clients: list[Client],
        *,
        sent_lines: SharedLines,
        service_ps: int,
        batch: int,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, socket, allowed)
        self.output = output
        self.clients = clients
        self.sent_lines = sent_lines
        self.service_ps = service_ps
        self.batch = batch
        self.kept = SkbQueue()
        output.writer = self

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        if self.loop is not None and self.loop.resumed(cpu):
            return
        if self.state == COPIED:
            self._keep(cpu)
        elif self.state == _ANSWERING:
            self._sent(cpu)
        elif self.state == ENTERED:
            self._look(cpu)
        elif self.state == _NO_ROOM_YET:
            self._answer(cpu, 0)
        elif self.state == USER_CODE and self.yield_if_needed(cpu):
            self.state = SCHEDULED_IN
        elif self.kept.count > 0:
            self.sent = 0
            self.costs.ledger.syscall += self.costs.syscall_ps
            self._answer(cpu, self.costs.syscall_ps)
        else:
            self._enter(cpu, 0)

    def _keep(self, cpu: Cpu) -> cython.int:
        """A datagram has been copied: take another in the same call, or begin to work."""
        socket: UdpSocket = self.socket
        self.kept.append(self.skb)
        self._copied()
        if self.kept.count < self.batch and socket.reader_queue.count + socket.queue.count > 0:
            return self._receive(cpu, 0)
        self.batches += 1
        return self._to_user(cpu, self.kept.count * (self.costs.user_recv_ps + self.service_ps))

    def _to_user(self, cpu: Cpu, user_ps: cython.longlong) -> cython.int:
        """Leave the system call, and run the application's code."""
        self.state = USER_CODE
        self.costs.ledger.application += user_ps
        return cpu.run_to_user(self, 0, user_ps)

    def _answer(self, cpu: Cpu, work: cython.longlong) -> cython.int:
        """Make an answer to the oldest request, or wait for memory; `work` is due before."""
        output: UdpOutput = self.output
        client: Client
        lines_ps: cython.longlong
        self.state = _NO_ROOM_YET
        if output.room():
            client = self.clients[self.kept.head.ack]
            output.header = client.header
            output.nic = client.queue(cpu)
            self.state = _ANSWERING
            lines_ps = self.sent_lines.touch(cpu)
            self.socket.costs.ledger.socket_lines += lines_ps
            work += lines_ps
        return output.sendmsg(cpu, work)

    def _sent(self, cpu: Cpu) -> cython.int:
        """An answer is made: hand it over, and go on with the next."""
        request: Skb = self.kept.pop()
        self.output.echo_ps = request.tsval
        self.output.send(cpu)
        self.sent += 1
        self.answered += 1
        if self.kept.count > 0:
            return self._answer(cpu, 0)
        return self._to_user(cpu, self.sent * self.costs.user_send_ps)
