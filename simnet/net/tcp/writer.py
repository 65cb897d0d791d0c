"""A process that calls send in a loop: `tcp_sendmsg`.

Source: net/ipv4/tcp.c of Linux 2.6.18.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.net.tcp.process import SCHEDULED_IN, SEND_COPIED, SocketTask
from simnet.net.tcp.send.sequence import SendSequence
from simnet.net.tcp.socket import TcpSocket


@cython.cclass
class TcpWriter(SocketTask):
    """A process that calls send in a loop, as netperf does.

    Messages shorter than a segment are taken together up to the next segment boundary: they
    own the socket for that long, which puts an ACK off by at most the time of one segment.

    Args:
        scheduler: of the machine.
        path: component path.
        cpu: where it was last.
        socket: connected socket.
        message_bytes: of one send.
        allowed: CPUs it may run on.
    """

    message_bytes: cython.longlong = 0
    sends: cython.int = 0
    user_ps: cython.longlong = 0

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        socket: TcpSocket,
        message_bytes: int,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, socket, allowed)
        self.message_bytes = message_bytes
        self.sends = 1
        socket.writer = self

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        if not self._continue_send(cpu):
            self._begin(cpu)

    def _begin(self, cpu: Cpu) -> cython.int:
        """Run the application's code and enter send.

        Short messages are taken together, as many as fill the next segment.
        """
        seq: SendSequence = self.socket.seq
        tail: cython.longlong
        self.sends = 1
        if self.message_bytes < seq.mss:
            tail = (seq.write_seq - seq.snd_una) % seq.mss
            self.sends = (seq.mss - tail + self.message_bytes - 1) // self.message_bytes
        self.calls += self.sends
        self.left = self.sends * self.message_bytes
        self.debt_ps += self.costs.syscall_ps * self.sends + self.socket.lock(cpu)
        self.user_ps = self.costs.user_send_ps * self.sends
        self.costs.ledger.syscall += self.costs.syscall_ps * self.sends
        self.costs.ledger.application += self.user_ps
        self.socket.sender.check_application()
        self._send(cpu)
        return 0

    def _copy(self, cpu: Cpu, work_ps: cython.longlong) -> cython.int:
        """After the first piece of a send comes the application's code, seen as one."""
        self.state = SEND_COPIED
        cpu.run_to_user(self, self._take_debt() + work_ps, self.user_ps)
        self.user_ps = 0
        return 0

    def _sent(self, cpu: Cpu) -> cython.int:
        """Begin the next send."""
        self.debt_ps += self.socket.unlock(cpu)
        if self.yield_if_needed(cpu):
            self.state = SCHEDULED_IN
            return 0
        self._begin(cpu)
        return 0
