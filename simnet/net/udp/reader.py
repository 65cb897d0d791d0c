"""A process that receives datagrams in a loop: recvmsg, then its own work on what it got.

Source: net/ipv4/udp.c (`udp_recvmsg`, `__skb_recv_udp`) of Linux 6.12 and net/core/datagram.c
(`__skb_recv_datagram`) of 4.10: memory is given back before the copy. The call blocks: with nothing
to read the process polls the device, if it may, and then sleeps inside.
"""

import cython

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.host.softirq.busy_poll import BusyPoller
from simnet.host.softirq.busy_read import BUSY_POLL_BUDGET, BusyRead
from simnet.net.link.skb import Skb
from simnet.net.udp.socket import UdpSocket

# what the piece of work that has just been executed was
SCHEDULED_IN: cython.int = 0
ENTERED: cython.int = 1
COPIED: cython.int = 2
USER_CODE: cython.int = 3


@cython.cclass
class DatagramReader(BusyPoller):
    """What all readers of a socket share: recvmsg, until the datagram has been copied.

    Args:
        cpu: where it was last.
        socket: that it reads.
        allowed: CPUs that it may run on.
    """

    socket: UdpSocket = None
    costs: Costs = None
    state: cython.int = 0
    skb: Skb = None
    polled: cython.bint = False
    busy_from_ps: cython.longlong = 0
    calls: cython.longlong = 0  # of recvmsg that have returned
    sleeps: cython.longlong = 0  # how often it slept there

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        socket: UdpSocket,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.socket = socket
        self.costs = socket.costs.costs
        self.state = SCHEDULED_IN
        socket.reader = self
        if socket.busy is not None:
            self.may_poll()

    def _enter(self, cpu: Cpu, work: cython.longlong) -> cython.int:
        """Call recvmsg after work in the kernel that is due."""
        self.costs.ledger.syscall += self.costs.syscall_ps
        self.polled = False
        return self._receive(cpu, self.costs.syscall_ps + work)

    def _receive(self, cpu: Cpu, work: cython.longlong) -> cython.int:
        """Take a datagram, or wait; `work` is what entering the call costs."""
        socket: UdpSocket = self.socket
        work += socket.begin(cpu)
        if socket.reader_queue.count == 0:
            work += socket.touch(cpu)
            if not socket.refill():
                return self._wait(cpu, work)
        self.skb = socket.take()
        if socket.release():
            work += socket.touch(cpu)
        self.state = COPIED
        cpu.run(PROCESS_LEVEL, self, work + socket.read_ps(self.skb, cpu), SYSTEM)
        return 0

    def _look(self, cpu: Cpu) -> cython.int:
        """Look again before sleeping (`__skb_wait_for_more_packets`)."""
        if self.socket.reader_queue.count == 0 and self.socket.queue.count == 0:
            return self._wait(cpu, 0)
        return self._receive(cpu, 0)

    def _wait(self, cpu: Cpu, work: cython.longlong) -> cython.int:
        """`__skb_wait_for_more_packets`: poll, then sleep, unless something comes before."""
        busy: BusyRead = self.socket.busy
        self.state = ENTERED
        if work > 0:
            cpu.run(PROCESS_LEVEL, self, work, SYSTEM)
            return 0
        if busy is not None and busy.napi is not None and not self.polled:
            self.polled = True
            self.busy_from_ps = self.sim.now
            return self.loop.start(cpu, busy.napi, BUSY_POLL_BUDGET, False)
        self.polled = False
        self.socket.waiters.append(self)
        self.sleeps += 1
        self.sleep()
        return 0

    def busy_loop_end(self) -> cython.bint:
        """`sk_busy_loop`: something has come, or the time is over."""
        return self.socket.queue.count > 0 or self.socket.busy.over(self.busy_from_ps, self.sim.now)

    def busy_loop_done(self, cpu: Cpu) -> cython.int:
        """Look once more."""
        return self._receive(cpu, 0)

    def _copied(self) -> cython.int:
        """The datagram has been copied: the call returns."""
        self.calls += 1
        self.socket.read(self.skb)
        self.skb = None
        return 0


@cython.final
@cython.cclass
class UdpReader(DatagramReader):
    """One worker with a socket of its own.

    Args:
        cpu: where it was last.
        socket: that it reads.
        service_ps: of its own work on a datagram.
        allowed: CPUs that it may run on.
    """

    service_ps: cython.longlong = 0

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
        super().__init__(scheduler, path, cpu, socket, allowed)
        self.service_ps = service_ps

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        if self.loop is not None and self.loop.resumed(cpu):
            return
        if self.state == COPIED:
            self._copied()
            self.state = USER_CODE
            self.costs.ledger.application += self.costs.user_recv_ps + self.service_ps
            cpu.run_to_user(self, 0, self.costs.user_recv_ps + self.service_ps)
        elif self.state == USER_CODE and self.yield_if_needed(cpu):
            self.state = SCHEDULED_IN
        elif self.state == ENTERED:
            self._look(cpu)
        else:
            self._enter(cpu, 0)
