"""A process that serves many sockets by epoll: its system calls.

Sockets do not block. epoll_wait, then for each socket that has something one recv into a buffer,
the application's code, and one send; what comes next is the application's, a subclass. Inside the
calls: `ep_poll`, `tcp_recvmsg`, `tcp_sendmsg` and `release_sock`, see `simnet.net.tcp.epoll`,
`reader` and `process`.

Each call and the application's code is a piece of work of its own: a socket is owned only while
the process is in a call on it, and what comes meanwhile waits in its backlog.
"""

# mypy: no-strict-optional, disable-error-code="no-any-return, redundant-expr"

from typing import Any

import cython

from simnet.host.accounting import PROCESS_LEVEL, SOFT_LEVEL, SYSTEM
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.host.softirq.busy_poll import BusyPoller
from simnet.net.link.skb import Skb
from simnet.net.tcp.epoll import Epoll, EpollItem
from simnet.net.tcp.socket import TcpSocket

# states: what the piece of work that has just been executed was
_SCHEDULED_IN: cython.int = 0
_WAITED: cython.int = 1
_RECEIVED: cython.int = 2
_RECEIVED_BACKLOG: cython.int = 3
_APPLIED: cython.int = 4
_SENT: cython.int = 5
_SENT_BACKLOG: cython.int = 6
_BEFORE_SLEEP: cython.int = 7


@cython.cclass
class EpollWorker(BusyPoller):
    """One worker.

    Args:
        cpu: where it was last.
        epoll: its instance.
        buffer_bytes: of one recv.
        max_events: of one epoll_wait.
        backlog_mode: what its kernel counts the work on a socket's backlog as.
        allowed: CPUs that it may run on.
    """

    epoll: Epoll = None
    costs: Costs = None
    buffer_bytes: cython.longlong = 0
    max_events: cython.int = 0
    backlog_mode: cython.int = 0
    state: cython.int = 0
    ready: list[Any] = None
    position: cython.int = 0
    socket: TcpSocket = None
    skb: Skb = None
    piece: cython.longlong = 0
    debt_ps: cython.longlong = 0
    busy_from_ps: cython.longlong = 0
    # calls of epoll_wait that returned events, which are counted in `events`
    waits: cython.longlong = 0
    events: cython.longlong = 0
    sleeps: cython.longlong = 0  # how often it slept there

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        epoll: Epoll,
        *,
        buffer_bytes: int,
        max_events: int,
        backlog_mode: int,
        allowed: frozenset[int] | None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.may_poll()
        self.epoll = epoll
        self.costs = epoll.costs
        self.buffer_bytes = buffer_bytes
        self.max_events = max_events
        self.backlog_mode = backlog_mode
        self.state = _SCHEDULED_IN
        self.ready = []
        epoll.worker = self

    # -- the application: subclasses ------------------------------------------------------

    def _serve(self, cpu: Cpu, item: EpollItem) -> cython.int:
        """Begin with an event."""
        raise NotImplementedError(self.path)

    def _has_received(self, cpu: Cpu) -> cython.int:
        """Recv has returned with `piece` bytes."""
        raise NotImplementedError(self.path)

    def _send(self, cpu: Cpu) -> cython.int:
        """The application's code has run: call send."""
        raise NotImplementedError(self.path)

    def _has_sent(self, cpu: Cpu) -> cython.int:
        """Send has returned."""
        raise NotImplementedError(self.path)

    # -- pieces of work -------------------------------------------------------------------

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        state: cython.int = self.state
        if self.loop.active and self.loop.resumed(cpu):
            return
        if state == _RECEIVED:
            if self.piece > 0:
                self.socket.read_queue(self.piece)
                self.debt_ps += self.socket.after_copy(cpu, self.piece)
            self._leave_receive(cpu)
        elif state == _APPLIED:
            self._send(cpu)
        elif state == _SENT:
            self.socket.send_staged()
            self._leave_send(cpu)
        elif state == _WAITED:
            self._next(cpu)
        elif state == _RECEIVED_BACKLOG:
            self._processed(cpu)
            self._leave_receive(cpu)
        elif state == _SENT_BACKLOG:
            self._processed(cpu)
            self._leave_send(cpu)
        else:
            self._wait(cpu)

    def _run_system(self, cpu: Cpu, state: cython.int, work_ps: cython.longlong) -> cython.int:
        """Execute work in the kernel, what past effects caused included."""
        self.state = state
        work_ps += self.debt_ps
        self.debt_ps = 0
        cpu.run(PROCESS_LEVEL, self, work_ps, SYSTEM)
        return 0

    def _run_application(self, cpu: Cpu, user_ps: cython.longlong) -> cython.int:
        """Execute the application's code on what has been received."""
        self.state = _APPLIED
        self.costs.ledger.application += user_ps
        cpu.run_to_user(self, self.debt_ps, user_ps)
        self.debt_ps = 0
        return 0

    # -- epoll_wait -----------------------------------------------------------------------

    def _wait(self, cpu: Cpu) -> cython.int:
        """`ep_poll`: take what is ready, poll the device, or sleep."""
        epoll: Epoll = self.epoll
        asked: cython.longlong
        work: cython.longlong
        self.debt_ps += epoll.touch(cpu)
        if epoll.length > 0:
            asked = epoll.harvest(self.ready, self.max_events)
            if epoll.edge_triggered:
                # items that are passed over are part of what an event costs
                asked = len(self.ready)
            work = asked * self.costs.epoll_event_ps
            self.costs.ledger.syscall += work
            self.debt_ps += work
            if len(self.ready) > 0:
                epoll.waiting = False
                if epoll.napi is not None and epoll.prefer_busy_poll:
                    epoll.napi.suspend_irqs(cpu)
                self.waits += 1
                self.events += len(self.ready)
                self.position = 0
                self.costs.ledger.syscall += self.costs.syscall_ps
                self._take_events(cpu)
                return 0
        if self.debt_ps > 0:
            # finish what was caused before polling or going to sleep
            self._run_system(cpu, _BEFORE_SLEEP, 0)
        elif epoll.napi is not None:
            self.busy_from_ps = self.sim.now
            self.loop.start(cpu, epoll.napi, epoll.busy_poll_budget, epoll.prefer_busy_poll)
        else:
            epoll.waiting = True
            self.state = _BEFORE_SLEEP
            self.sleeps += 1
            self.sleep()
        return 0

    def busy_loop_end(self) -> cython.bint:
        """`ep_busy_loop_end`."""
        return self.epoll.busy_poll_over(self.busy_from_ps, self.sim.now)

    def busy_loop_done(self, cpu: Cpu) -> cython.int:
        """The end of `ep_busy_loop`: without events the instance is forgotten until there are."""
        epoll: Epoll = self.epoll
        if epoll.length == 0:
            if epoll.prefer_busy_poll:
                epoll.napi.resume_irqs(cpu)
            epoll.napi = None
        self._wait(cpu)
        return 0

    def _take_events(self, cpu: Cpu) -> cython.int:
        """Return from epoll_wait to user mode."""
        return self._run_system(cpu, _WAITED, self.costs.syscall_ps)

    def _next(self, cpu: Cpu) -> cython.int:
        """Turn to the next event, or call epoll_wait again."""
        if self.position < len(self.ready):
            self.position += 1
            return self._serve(cpu, self.ready[self.position - 1])
        self.ready.clear()
        if self.yield_if_needed(cpu):
            self.state = _SCHEDULED_IN
            return 0
        return self._wait(cpu)

    # -- recv and send --------------------------------------------------------------------

    def _enter(self, cpu: Cpu, socket: TcpSocket) -> cython.int:
        """Enter a system call on a socket, and own it."""
        self.socket = socket
        self.costs.ledger.syscall += self.costs.syscall_ps
        self.debt_ps += self.costs.syscall_ps + socket.lock(cpu)
        return 0

    def _receive(self, cpu: Cpu, socket: TcpSocket) -> cython.int:
        """`tcp_recvmsg` with MSG_DONTWAIT."""
        work: cython.longlong = 0
        self._enter(cpu, socket)
        self.piece = socket.receiver.readable()
        if self.piece > self.buffer_bytes:
            self.piece = self.buffer_bytes
        if self.piece > 0:
            work = socket.queued_copy_cost_ps(cpu, self.piece)
        return self._run_system(cpu, _RECEIVED, work)

    def _leave_receive(self, cpu: Cpu) -> cython.int:
        """`release_sock`, then the application."""
        if self._next_backlog(cpu, _RECEIVED_BACKLOG):
            return 0
        self.debt_ps += self.socket.unlock(cpu)
        return self._has_received(cpu)

    def _copy_from_user(self, cpu: Cpu) -> cython.int:
        """`tcp_sendmsg`, entered: copy `piece` bytes, for which the send buffer has room."""
        socket: TcpSocket = self.socket
        work: cython.longlong = 0
        if self.piece > 0:
            # the socket is owned: nothing changes what may be sent while the copy lasts
            socket.seq.write(self.piece, True)
            work = socket.tx_costs.copy_ps(cpu, self.piece) + socket.push(cpu)
        return self._run_system(cpu, _SENT, work)

    def _leave_send(self, cpu: Cpu) -> cython.int:
        """`release_sock`, then the application."""
        if self._next_backlog(cpu, _SENT_BACKLOG):
            return 0
        self.debt_ps += self.socket.unlock(cpu)
        return self._has_sent(cpu)

    def _next_backlog(self, cpu: Cpu, state: cython.int) -> cython.bint:
        """Start on the next backlog segment, bottom halves disabled; False if there is none."""
        work: cython.longlong
        socket: TcpSocket = self.socket
        if socket.backlog.count == 0:
            return False
        self.skb = socket.backlog.pop()
        work = self.debt_ps + socket.process_cost_ps(self.skb, cpu, False)
        self.debt_ps = 0
        self.state = state
        cpu.run(SOFT_LEVEL, self, work, self.backlog_mode)
        return True

    def _processed(self, cpu: Cpu) -> cython.int:
        """The work on a backlog segment is done: let TCP have it, and softirqs run."""
        socket: TcpSocket = self.socket
        self.debt_ps += socket.process(self.skb, cpu, False)
        self.skb = None
        if socket.backlog.count == 0:
            cpu.kick()
        return 0
