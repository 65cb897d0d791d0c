"""A worker process of a relay: what comes in on one connection goes out on its partner.

As nginx's event loop with its stream proxy does it (src/event/modules/ngx_epoll_module.c,
src/stream/ngx_stream_proxy_module.c): epoll_wait for up to `max_events` events, then for each
socket that has something recv into a buffer, the application's code on each message that is
complete, and send on the partner,
again and again until recv returns less than the buffer takes. What the partner's send buffer does
not take is kept, and its source is not read until it has gone. Sockets do not block; inside the
calls: `tcp_recvmsg` and `tcp_sendmsg`, see `simnet.net.tcp.reader` and `process`.

Each call and the application's code is a piece of work of its own: a socket is owned only while
the process is in a call on it, and what comes meanwhile waits in its backlog.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler, Task
from simnet.net.link.skb import Skb
from simnet.net.tcp.epoll import Epoll, EpollItem
from simnet.net.tcp.socket import TcpSocket

if not cython.compiled:
    from simnet.kernel.prefetch import prefetch

__all__ = ["RelaySide", "RelayWorker"]

_PROCESS = cython.declare(cython.int, 0)
_SOFT = cython.declare(cython.int, 1)
_SYSTEM = cython.declare(cython.int, 2)
_SOFTIRQ = cython.declare(cython.int, 3)

# states: what the piece of work that has just been executed was
_SCHEDULED_IN = cython.declare(cython.int, 0)
_WAITED = cython.declare(cython.int, 1)
_RECEIVED = cython.declare(cython.int, 2)
_RECEIVED_BACKLOG = cython.declare(cython.int, 3)
_RELAYED = cython.declare(cython.int, 4)
_SENT = cython.declare(cython.int, 5)
_SENT_BACKLOG = cython.declare(cython.int, 6)
_BEFORE_SLEEP = cython.declare(cython.int, 7)
_BEFORE_SEND = cython.declare(cython.int, 8)


@cython.final
@cython.cclass
class RelaySide(EpollItem):
    """One of the two sockets of a relayed connection.

    Args:
        epoll: the worker's instance.
        socket: the machine's end.

    Attributes:
        partner: the other side.
        message_bytes: of one message that comes on the socket; 0 if each recv is one to the
            application.
        got: bytes that have been received.
        left: bytes from the partner's socket that this side's send buffer has not taken yet.
        unread: the socket may have more to read.
    """

    def __init__(self, epoll: Epoll, socket: TcpSocket) -> None:
        super().__init__(epoll)
        self.socket = socket
        self.partner: RelaySide = None
        self.message_bytes = 0
        self.got = 0
        self.left = 0
        self.unread = False
        socket.poll = self

    def messages(self, count: cython.longlong) -> cython.longlong:
        """`count` more bytes have been received: return how many messages that completes."""
        before: cython.longlong = self.got
        self.got += count
        if self.message_bytes == 0:
            return 1
        return self.got // self.message_bytes - before // self.message_bytes

    def callback(self, cpu: Cpu) -> cython.longlong:
        """See `EpollItem.callback`."""
        if cython.compiled:
            prefetch(cython.cast(cython.p_void, self.partner), 80)
        return self.epoll.ready(self, cpu)

    def has_events(self) -> cython.bint:
        """`tcp_poll`: there are bytes to read, or room for those that wait."""
        return self.socket.receiver.readable() > 0 or (
            self.left > 0 and not self.socket.writer_waiting
        )


@cython.final
@cython.cclass
class RelayWorker(Task):
    """One worker.

    Args:
        scheduler: of the machine.
        path: component path.
        cpu: where it was last.
        epoll: its instance.
        buffer_bytes: of one recv.
        max_events: of one epoll_wait.
        allowed: CPUs that it may run on.

    Attributes:
        waits: calls of epoll_wait that returned events, which are counted in `events`.
        receives, sends: calls; `received` and `sent` are their bytes.
        empty_receives: calls of recv that found nothing.
        full_sends: calls of send that took less than they were given.
    """

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        epoll: Epoll,
        *,
        buffer_bytes: int = 16_384,
        max_events: int = 512,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.epoll = epoll
        self.costs = epoll.costs
        self.buffer_bytes = buffer_bytes
        self.max_events = max_events
        self.state = _SCHEDULED_IN
        self.ready: list[Any] = []
        self.position = 0
        self.side: RelaySide = None
        self.source: RelaySide = None
        self.sink: RelaySide = None
        self.skb: Skb = None
        self.piece = 0
        self.debt_ps = 0
        self.waits = 0
        self.events = 0
        self.receives = 0
        self.received = 0
        self.empty_receives = 0
        self.sends = 0
        self.sent = 0
        self.full_sends = 0
        epoll.worker = self

    def counters(self) -> dict[str, int]:
        """System calls and bytes."""
        return {
            "waits": self.waits,
            "events": self.events,
            "receives": self.receives,
            "received": self.received,
            "empty_receives": self.empty_receives,
            "sends": self.sends,
            "sent": self.sent,
            "full_sends": self.full_sends,
        }

    def step(self, cpu: Cpu) -> None:
        """Go on after a piece of work."""
        state: cython.int = self.state
        if state == _RECEIVED:
            self._has_received(cpu)
        elif state == _RELAYED:
            if self.yield_if_needed(cpu):
                self.state = _BEFORE_SEND
            else:
                self._send(cpu)
        elif state == _SENT:
            self.sink.socket.send_staged()
            self._leave_send(cpu)
        elif state == _RECEIVED_BACKLOG:
            self._processed(cpu, self.source.socket)
            self._leave_recv(cpu)
        elif state == _SENT_BACKLOG:
            self._processed(cpu, self.sink.socket)
            self._leave_send(cpu)
        elif state == _WAITED:
            self._next(cpu)
        elif state == _BEFORE_SEND:
            self._send(cpu)
        elif state == _BEFORE_SLEEP:
            self._wait(cpu)
        elif self.yield_if_needed(cpu):
            self.state = _SCHEDULED_IN
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
        """`ep_poll`: take what is ready, or sleep."""
        item: EpollItem
        count: cython.int = 0
        self.debt_ps += self.epoll.touch(cpu)
        while count < self.max_events:
            item = self.epoll.take()
            if item is None:
                break
            self.ready.append(item)
            count += 1
        if count == 0:
            if self.debt_ps > 0:
                # finish what was caused before going to sleep
                self._run_system(cpu, _BEFORE_SLEEP, 0)
                return 0
            self.epoll.waiting = True
            self.state = _BEFORE_SLEEP
            self.sleep()
            return 0
        self.epoll.waiting = False
        self.waits += 1
        self.events += count
        self.position = 0
        self.costs.ledger.syscall += self.costs.syscall_ps + count * self.costs.epoll_event_ps
        self._run_system(cpu, _WAITED, self.costs.syscall_ps + count * self.costs.epoll_event_ps)
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
        self.side = self.ready[self.position]
        self.position += 1
        self.side.unread = True
        self._serve(cpu)
        return 0

    def _serve(self, cpu: Cpu) -> cython.int:
        """What the event allows: send what was left, then read until there is no more."""
        side: RelaySide = self.side
        partner: RelaySide = side.partner
        if side.left > 0 and not side.socket.writer_waiting:
            self.sink = side
            self._send(cpu)
        elif side.left == 0 and partner.unread:
            self._recv(cpu, partner)
        elif side.unread and partner.left == 0:
            self._recv(cpu, side)
        else:
            self._next(cpu)
        return 0

    # -- recv -----------------------------------------------------------------------------

    def _recv(self, cpu: Cpu, source: RelaySide) -> cython.int:
        """`tcp_recvmsg` with MSG_DONTWAIT."""
        socket: TcpSocket = source.socket
        work: cython.longlong = self.costs.syscall_ps
        self.costs.ledger.syscall += work
        self.source = source
        self.sink = source.partner
        if cython.compiled:
            prefetch(cython.cast(cython.p_void, self.sink.socket), 304)
        self.receives += 1
        self.debt_ps += socket.lock(cpu)
        self.piece = socket.receiver.readable()
        if self.piece > self.buffer_bytes:
            self.piece = self.buffer_bytes
        if self.piece > 0:
            work += socket.queued_copy_cost_ps(cpu, self.piece)
        self._run_system(cpu, _RECEIVED, work)
        return 0

    def _has_received(self, cpu: Cpu) -> cython.int:
        """The bytes are in the buffer: `cleanup_rbuf`, then leave the call."""
        socket: TcpSocket = self.source.socket
        self.sink.socket.fetch_to_send()
        if self.piece > 0:
            socket.read_queue(self.piece)
            self.debt_ps += socket.after_copy(cpu, self.piece)
        else:
            self.empty_receives += 1
        self.received += self.piece
        self.source.unread = self.piece == self.buffer_bytes
        self._leave_recv(cpu)
        return 0

    def _leave_recv(self, cpu: Cpu) -> cython.int:
        """`release_sock`, then the application's code."""
        user_ps: cython.longlong
        if self._next_backlog(cpu, self.source.socket, _RECEIVED_BACKLOG):
            return 0
        self.source.socket.unlock()
        if self.piece == 0:
            self._serve(cpu)
            return 0
        self.sink.left += self.piece
        self.state = _RELAYED
        user_ps = self.costs.user_relay_ps * self.source.messages(self.piece)
        self.costs.ledger.application += user_ps
        cpu.run_to_user(self, self.debt_ps, user_ps)
        self.debt_ps = 0
        return 0

    # -- send -----------------------------------------------------------------------------

    def _send(self, cpu: Cpu) -> cython.int:
        """`tcp_sendmsg` with MSG_DONTWAIT: what the send buffer takes."""
        sink: RelaySide = self.sink
        socket: TcpSocket = sink.socket
        work: cython.longlong = self.costs.syscall_ps
        self.costs.ledger.syscall += work
        self.sends += 1
        self.debt_ps += socket.lock(cpu)
        self.piece = socket.seq.room()
        if self.piece < sink.left:
            # an ACK that frees a third of the buffer makes an event
            self.full_sends += 1
            socket.writer_waiting = True
        else:
            self.piece = sink.left
        if self.piece > 0:
            sink.left -= self.piece
            self.sent += self.piece
            # the socket is owned: nothing changes what may be sent while the copy lasts
            socket.seq.write(self.piece, True)
            work += socket.send_copy_cost_ps(cpu, self.piece) + socket.stage(cpu)
        self._run_system(cpu, _SENT, work)
        return 0

    def _leave_send(self, cpu: Cpu) -> cython.int:
        """`release_sock`, then whatever else the event allows."""
        if self._next_backlog(cpu, self.sink.socket, _SENT_BACKLOG):
            return 0
        self.sink.socket.unlock()
        self._serve(cpu)
        return 0

    # -- backlog --------------------------------------------------------------------------

    def _next_backlog(self, cpu: Cpu, socket: TcpSocket, state: cython.int) -> cython.bint:
        """Start on the next backlog segment, bottom halves disabled; False if there is none."""
        work: cython.longlong
        if socket.backlog.count == 0:
            return False
        self.skb = socket.backlog.pop()
        work = self.debt_ps + socket.process_cost_ps(self.skb, cpu, False)
        self.debt_ps = 0
        self.state = state
        cpu.run(_SOFT, self, work, _SOFTIRQ)
        return True

    def _processed(self, cpu: Cpu, socket: TcpSocket) -> cython.int:
        """The work on a backlog segment is done: let TCP have it, and softirqs run."""
        self.debt_ps += socket.process(self.skb, cpu, False)
        self.skb = None
        if socket.backlog.count == 0:
            cpu.kick()
        return 0
