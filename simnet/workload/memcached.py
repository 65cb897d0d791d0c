"""A worker thread of memcached: an event loop that answers one request of a connection at a time.

As memcached 1.6 and libevent have it (`drive_machine`, `try_read_network`, `transmit` in
memcached.c; `epoll_dispatch` in libevent's epoll.c): epoll_wait, then for each connection that has
something one read of at most its buffer, the command, one sendmsg of the response, and back to the
loop. A read that returns less than the buffer takes is not tried again. What has not come
completely waits for the connection's next event.

Each system call and the application's code is a piece of work of its own, see
`simnet.workload.relay`; what the loop itself costs in user mode comes once an epoll_wait.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.host.softirq.busy_poll import BusyPoller
from simnet.net.link.skb import Skb
from simnet.net.tcp.epoll import Epoll, EpollItem
from simnet.net.tcp.socket import TcpSocket
from simnet.workload.mutilate import MutilateConnection

__all__ = ["MemcachedConnection", "MemcachedWorker"]

_PROCESS = cython.declare(cython.int, 0)
_SOFT = cython.declare(cython.int, 1)
_SYSTEM = cython.declare(cython.int, 2)

# states: what the piece of work that has just been executed was
_SCHEDULED_IN = cython.declare(cython.int, 0)
_WAITED = cython.declare(cython.int, 1)
_RECEIVED = cython.declare(cython.int, 2)
_RECEIVED_BACKLOG = cython.declare(cython.int, 3)
_ANSWERED = cython.declare(cython.int, 4)
_SENT = cython.declare(cython.int, 5)
_SENT_BACKLOG = cython.declare(cython.int, 6)
_BEFORE_SLEEP = cython.declare(cython.int, 7)


@cython.final
@cython.cclass
class MemcachedConnection(EpollItem):
    """A connection of the server.

    Args:
        epoll: of its worker.
        socket: the machine's end.
        client: what uses the other end.

    Attributes:
        got: bytes that have been read.
    """

    def __init__(self, epoll: Epoll, socket: TcpSocket, client: MutilateConnection) -> None:
        super().__init__(epoll)
        self.socket = socket
        self.client = client
        self.got = 0
        socket.poll = self

    def has_events(self) -> cython.bint:
        """`tcp_poll`: there are bytes to read."""
        return self.socket.receiver.readable() > 0


@cython.final
@cython.cclass
class MemcachedWorker(BusyPoller):
    """One worker.

    Args:
        scheduler: of the machine.
        path: component path.
        cpu: where it was last.
        epoll: its instance.
        read_bytes: of a connection's read buffer.
        max_events: of one epoll_wait.
        allowed: CPUs that it may run on.

    Attributes:
        waits: calls of epoll_wait that returned events, which are counted in `events`.
        sleeps: how often it slept there.
        requests: that were answered.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        epoll: Epoll,
        *,
        read_bytes: int = 16_384,
        max_events: int = 4096,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.epoll = epoll
        self.costs = epoll.costs
        self.read_bytes = read_bytes
        self.max_events = max_events
        self.state = _SCHEDULED_IN
        self.ready: list[Any] = []
        self.position = 0
        self.connection: MemcachedConnection = None
        self.skb: Skb = None
        self.piece = 0
        self.debt_ps = 0
        self.busy_from_ps = 0
        self.waits = 0
        self.events = 0
        self.sleeps = 0
        self.requests = 0
        epoll.worker = self

    def counters(self) -> dict[str, int]:
        """System calls and requests."""
        return {
            "waits": self.waits,
            "events": self.events,
            "sleeps": self.sleeps,
            "requests": self.requests,
        }

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        state: cython.int = self.state
        if self.loop.active and self.loop.resumed(cpu):
            return
        if state == _RECEIVED:
            self._has_received(cpu)
        elif state == _ANSWERED:
            self._send(cpu)
        elif state == _SENT:
            self.connection.socket.send_staged()
            self._leave_send(cpu)
        elif state == _WAITED:
            self._next(cpu)
        elif state == _RECEIVED_BACKLOG:
            self._processed(cpu)
            self._leave_read(cpu)
        elif state == _SENT_BACKLOG:
            self._processed(cpu)
            self._leave_send(cpu)
        else:
            self._wait(cpu)

    def _run_system(self, cpu: Cpu, state: cython.int, work_ps: cython.longlong) -> cython.int:
        self.state = state
        work_ps += self.debt_ps
        self.debt_ps = 0
        cpu.run(_PROCESS, self, work_ps, _SYSTEM)
        return 0

    # -- epoll_wait -----------------------------------------------------------------------

    def _wait(self, cpu: Cpu) -> cython.int:
        """`ep_poll`: take what is ready, poll the device, or sleep."""
        epoll: Epoll = self.epoll
        work: cython.longlong
        self.debt_ps += epoll.touch(cpu)
        if epoll.length > 0:
            work = epoll.harvest(self.ready, self.max_events) * self.costs.epoll_event_ps
            self.costs.ledger.syscall += work
            self.debt_ps += work
            if len(self.ready) > 0:
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
        """epoll_wait returns events, which libevent makes active."""
        system: cython.longlong = self.costs.syscall_ps
        self.epoll.waiting = False
        if self.epoll.napi is not None and self.epoll.prefer_busy_poll:
            self.epoll.napi.suspend_irqs(cpu)
        self.waits += 1
        self.events += len(self.ready)
        self.position = 0
        self.costs.ledger.syscall += system
        self.costs.ledger.application += self.costs.user_loop_ps
        self.state = _WAITED
        cpu.run_to_user(self, system + self.debt_ps, self.costs.user_loop_ps)
        self.debt_ps = 0
        return 0

    def _next(self, cpu: Cpu) -> cython.int:
        """Turn to the next event, or call epoll_wait again."""
        if self.position == len(self.ready):
            self.ready.clear()
            if self.yield_if_needed(cpu):
                self.state = _SCHEDULED_IN
            else:
                self._wait(cpu)
            return 0
        self.connection = self.ready[self.position]
        self.position += 1
        self._read(cpu)
        return 0

    # -- read -----------------------------------------------------------------------------

    def _read(self, cpu: Cpu) -> cython.int:
        """`tcp_recvmsg` with MSG_DONTWAIT."""
        socket: TcpSocket = self.connection.socket
        work: cython.longlong = self.costs.syscall_ps
        self.costs.ledger.syscall += work
        socket.fetch_to_send()
        self.debt_ps += socket.lock(cpu)
        self.piece = socket.receiver.readable()
        if self.piece > self.read_bytes:
            self.piece = self.read_bytes
        if self.piece > 0:
            work += socket.queued_copy_cost_ps(cpu, self.piece)
        self._run_system(cpu, _RECEIVED, work)
        return 0

    def _has_received(self, cpu: Cpu) -> cython.int:
        """The bytes are in the buffer: `tcp_cleanup_rbuf`, then leave the call."""
        socket: TcpSocket = self.connection.socket
        if self.piece > 0:
            socket.read_queue(self.piece)
            self.connection.got += self.piece
            self.debt_ps += socket.after_copy(cpu, self.piece)
        self._leave_read(cpu)
        return 0

    def _leave_read(self, cpu: Cpu) -> cython.int:
        """`release_sock`; if the request is complete, the application's code."""
        if self._next_backlog(cpu, _RECEIVED_BACKLOG):
            return 0
        self.connection.socket.unlock()
        if self.connection.got < self.connection.client.asked:
            self._next(cpu)
            return 0
        self.requests += 1
        self.state = _ANSWERED
        self.costs.ledger.application += self.costs.user_request_ps
        cpu.run_to_user(self, self.debt_ps, self.costs.user_request_ps)
        self.debt_ps = 0
        return 0

    # -- sendmsg --------------------------------------------------------------------------

    def _send(self, cpu: Cpu) -> cython.int:
        """`tcp_sendmsg` of the response, which the send buffer always has room for."""
        socket: TcpSocket = self.connection.socket
        work: cython.longlong = self.costs.syscall_ps
        size: cython.longlong = self.connection.client.response_bytes
        self.costs.ledger.syscall += work
        self.debt_ps += socket.lock(cpu)
        # the socket is owned: nothing changes what may be sent while the copy lasts
        socket.seq.write(size, True)
        work += socket.send_copy_cost_ps(cpu, size) + socket.stage(cpu)
        self._run_system(cpu, _SENT, work)
        return 0

    def _leave_send(self, cpu: Cpu) -> cython.int:
        """`release_sock`, then the next event."""
        if self._next_backlog(cpu, _SENT_BACKLOG):
            return 0
        self.connection.socket.unlock()
        self._next(cpu)
        return 0

    # -- backlog --------------------------------------------------------------------------

    def _next_backlog(self, cpu: Cpu, state: cython.int) -> cython.bint:
        """Start on the next backlog segment, bottom halves disabled; False if there is none.

        Kernels since 2.6.37 count that as time of the process (`in_serving_softirq`).
        """
        work: cython.longlong
        socket: TcpSocket = self.connection.socket
        if socket.backlog.count == 0:
            return False
        self.skb = socket.backlog.pop()
        work = self.debt_ps + socket.process_cost_ps(self.skb, cpu, False)
        self.debt_ps = 0
        self.state = state
        cpu.run(_SOFT, self, work, _SYSTEM)
        return True

    def _processed(self, cpu: Cpu) -> cython.int:
        """The work on a backlog segment is done: let TCP have it, and softirqs run."""
        socket: TcpSocket = self.connection.socket
        self.debt_ps += socket.process(self.skb, cpu, False)
        self.skb = None
        if socket.backlog.count == 0:
            cpu.kick()
        return 0
