"""A process that receives datagrams in a loop: recvmsg, then its own work on what it got.

Source: net/ipv4/udp.c (`udp_recvmsg`, `__skb_recv_udp`) of Linux 6.12: memory is given back before
the copy. The call blocks: with nothing to read the process sleeps inside.
"""

from __future__ import annotations

import cython

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler, Task
from simnet.net.link.skb import Skb
from simnet.net.udp.socket import UdpSocket

__all__ = ["UdpReader"]

# what the piece of work that has just been executed was
_SCHEDULED_IN: cython.int = 0
_ENTERED: cython.int = 1
_COPIED: cython.int = 2
_USER_CODE: cython.int = 3


@cython.final
@cython.cclass
class UdpReader(Task):
    """One worker with a socket of its own.

    Args:
        scheduler: of the machine.
        path: component path.
        cpu: where it was last.
        socket: that it reads.
        service_ps: of its own work on a datagram.
        allowed: CPUs that it may run on.

    Attributes:
        calls: of recvmsg that have returned.
        sleeps: how often it slept there.
    """

    socket: UdpSocket = None
    costs: Costs = None
    service_ps: cython.longlong = 0
    state: cython.int = 0
    skb: Skb = None
    calls: cython.longlong = 0
    sleeps: cython.longlong = 0

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        socket: UdpSocket,
        *,
        service_ps: int,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.socket = socket
        self.costs = socket.costs.costs
        self.service_ps = service_ps
        self.state = _SCHEDULED_IN
        socket.reader = self

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        if self.state == _COPIED:
            self.calls += 1
            self.socket.read(self.skb)
            self.skb = None
            self.state = _USER_CODE
            self.costs.ledger.application += self.costs.user_recv_ps + self.service_ps
            cpu.run_to_user(self, 0, self.costs.user_recv_ps + self.service_ps)
        elif self.state == _USER_CODE and self.yield_if_needed(cpu):
            self.state = _SCHEDULED_IN
        elif self.state == _ENTERED:
            self._receive(cpu, 0)
        else:
            self.costs.ledger.syscall += self.costs.syscall_ps
            self._receive(cpu, self.costs.syscall_ps)

    def _receive(self, cpu: Cpu, work: cython.longlong) -> cython.int:
        """Take a datagram, or sleep; `work` is what entering the call costs."""
        socket: UdpSocket = self.socket
        if socket.reader_queue.count == 0:
            work += socket.touch(cpu)
            if not socket.refill():
                return self._wait(cpu, work)
        self.skb = socket.take()
        if socket.release():
            work += socket.touch(cpu)
        self.state = _COPIED
        cpu.run(PROCESS_LEVEL, self, work + socket.read_ps(self.skb, cpu), SYSTEM)
        return 0

    def _wait(self, cpu: Cpu, work: cython.longlong) -> cython.int:
        """`__skb_wait_for_more_packets`: sleep, unless something comes before."""
        self.state = _ENTERED
        if work > 0:
            cpu.run(PROCESS_LEVEL, self, work, SYSTEM)
            return 0
        self.socket.waiting = True
        self.sleeps += 1
        self.sleep()
        return 0
