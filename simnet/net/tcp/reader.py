"""A process that calls recv in a loop: `tcp_recvmsg`.

Source: net/ipv4/tcp.c of Linux 2.6.18 and 4.10. The order in which recv takes data is receive
queue, prequeue, backlog. With nothing in the receive queue it polls the device first, if it may;
the socket is not owned meanwhile, so that TCP runs in the poll.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.host.softirq.busy_read import BUSY_POLL_BUDGET, BusyRead
from simnet.net.tcp.process import (
    BACKLOG,
    BACKLOG_EXIT,
    BACKLOG_WAIT,
    BEFORE_SLEEP,
    COPIED,
    PREQUEUED,
    SCHEDULED_IN,
    USER_CODE,
    WOKEN,
    SocketTask,
)
from simnet.net.tcp.receive.ucopy import Ucopy
from simnet.net.tcp.socket import TcpSocket


@cython.cclass
class TcpReader(SocketTask):
    """A process that calls recv in a loop, as netserver does.

    Args:
        scheduler: of the machine.
        path: component path.
        cpu: where it was last.
        socket: connected socket.
        recv_bytes: size of its buffer.
        allowed: CPUs it may run on.
    """

    recv_bytes: cython.longlong = 0
    room: cython.longlong = 0
    got: cython.longlong = 0
    finishing: cython.bint = False
    busy_from_ps: cython.longlong = 0

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        socket: TcpSocket,
        recv_bytes: int,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, socket, allowed)
        self.recv_bytes = recv_bytes
        # as sock_def_readable wakes it
        self.sync = True
        socket.reader = self

    def step(self, cpu: Cpu) -> None:  # noqa: C901, PLR0912 - one case a state
        """Go on after a piece of work."""
        state: cython.int = self.state
        if self.loop is not None and self.loop.resumed(cpu):
            return
        if state == PREQUEUED:
            self._processed(cpu)
            if not self._next_prequeue(cpu):
                cpu.kick()
                self._chunk()
                if self.finishing:
                    self._finish(cpu)
                else:
                    self._loop(cpu)
        elif state == BACKLOG:
            self._processed(cpu)
            if not self._next_backlog(cpu, BACKLOG, True):
                cpu.kick()
                self._chunk()
                self._loop(cpu)
        elif state == COPIED:
            self.room -= self.socket.read_queue(self.got)
            self._loop(cpu)
        elif state == USER_CODE:
            self.calls += 1
            if self.yield_if_needed(cpu):
                self.state = SCHEDULED_IN
                return
            self._recv(cpu, self.recv_bytes)
        elif state == WOKEN:
            self.socket.reader_waiting = False
            self.debt_ps += self.socket.lock(cpu)
            self._chunk()
            self._loop(cpu)
        elif state == BACKLOG_WAIT:
            self._processed(cpu)
            if not self._next_backlog(cpu, BACKLOG_WAIT, True):
                cpu.kick()
                self._wait(cpu)
        elif state == BACKLOG_EXIT:
            self._processed(cpu)
            if not self._next_backlog(cpu, BACKLOG_EXIT, False):
                cpu.kick()
                self.debt_ps += self.socket.unlock(cpu)
                self._leave(cpu)
        elif state == BEFORE_SLEEP:
            self._wait(cpu)
        else:
            self._leave(cpu)

    def _recv(self, cpu: Cpu, count: cython.longlong) -> cython.int:
        """Call recv for so many bytes."""
        busy: BusyRead = self.socket.busy
        self.recv_bytes = count
        if busy is not None and busy.napi is not None and self.socket.receiver.readable() == 0:
            self.busy_from_ps = self.sim.now
            return self.loop.start(cpu, busy.napi, BUSY_POLL_BUDGET, False)
        return self.busy_loop_done(cpu)

    def busy_loop_end(self) -> cython.bint:
        """`sk_busy_loop`: data have come, or the time is over."""
        return self.socket.receiver.readable() > 0 or self.socket.busy.over(
            self.busy_from_ps, self.sim.now
        )

    def busy_loop_done(self, cpu: Cpu) -> cython.int:
        """Own the socket, and take what is there or sleep."""
        self.debt_ps += self.socket.lock(cpu)
        self.room = self.recv_bytes
        return self._loop(cpu)

    def _leave(self, cpu: Cpu) -> cython.int:
        """Leave recv, run the application's code, enter recv again."""
        return self._to_user(cpu, self.costs.user_recv_ps)

    def _chunk(self) -> cython.int:
        """Account for what TCP has put straight into the buffer."""
        if self.socket.ucopy.installed:
            self.room = self.socket.ucopy.room
        return 0

    def _loop(self, cpu: Cpu) -> cython.int:
        """One turn of `tcp_recvmsg`'s loop."""
        socket: TcpSocket = self.socket
        readable: cython.longlong = socket.receiver.readable()
        copied: cython.longlong = self.recv_bytes - self.room
        if self.room == 0:
            self._finish(cpu)
            return 0
        if readable > 0:
            if readable > self.room:
                readable = self.room
            self.got = readable
            self._run_system(cpu, COPIED, socket.queued_copy_cost_ps(cpu, readable))
            return 0
        if copied > 0 and socket.backlog.count == 0:
            self._finish(cpu)
            return 0
        self.debt_ps += socket.after_copy(cpu, copied)
        if not socket.low_latency:
            socket.ucopy.install(self.room)
            if self._next_prequeue(cpu):
                return 0
        if copied > 0:
            # do not sleep, just process the backlog
            self._next_backlog(cpu, BACKLOG, True)
            return 0
        self.moved = False
        if not self._next_backlog(cpu, BACKLOG_WAIT, True):
            self._wait(cpu)
        return 0

    def _next_prequeue(self, cpu: Cpu) -> cython.bint:
        """Start on the next prequeued segment (`tcp_prequeue_process`); False if none is left."""
        ucopy: Ucopy = self.socket.ucopy
        if ucopy.prequeue.count == 0:
            ucopy.emptied()
            return False
        return self._next_from(cpu, ucopy.prequeue, PREQUEUED, True)

    def _wait(self, cpu: Cpu) -> cython.int:
        """`sk_wait_data`, the backlog being empty: sleep unless data have come."""
        socket: TcpSocket = self.socket
        if self.moved or socket.receiver.readable() > 0:
            self.moved = False
            self._chunk()
            self._loop(cpu)
            return 0
        if self.debt_ps > 0:
            # finish what was caused before going to sleep
            self._run_system(cpu, BEFORE_SLEEP, 0)
            return 0
        if socket.backlog.count > 0:
            self._next_backlog(cpu, BACKLOG_WAIT, True)
            return 0
        self.debt_ps += socket.unlock(cpu)
        socket.reader_waiting = True
        self.state = WOKEN
        self.sleep()
        return 0

    def _finish(self, cpu: Cpu) -> cython.int:
        """The end of `tcp_recvmsg` and `release_sock`."""
        socket: TcpSocket = self.socket
        if socket.ucopy.installed:
            # what was copied from the receive queue has taken room, too
            socket.ucopy.install(self.room)
            self.finishing = True
            if self._next_prequeue(cpu):
                return 0
            self.finishing = False
            socket.ucopy.remove()
        self.debt_ps += socket.after_copy(cpu, self.recv_bytes - self.room)
        if not self._next_backlog(cpu, BACKLOG_EXIT, False):
            self.debt_ps += socket.unlock(cpu)
            self._leave(cpu)
        return 0
