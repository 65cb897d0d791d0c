"""A worker process of a relay: what comes in on one connection goes out on its partner.

As nginx's event loop with its stream proxy does it (src/event/modules/ngx_epoll_module.c,
src/stream/ngx_stream_proxy_module.c): epoll_wait for up to `max_events` events, then for each
socket that has something recv into a buffer, the application's code on each message that is
complete, and send on the partner,
again and again until recv returns less than the buffer takes. What the partner's send buffer does
not take is kept, and its source is not read until it has gone. The calls: `EpollWorker`.
"""

# mypy: no-strict-optional, disable-error-code="no-any-return, redundant-expr"

from __future__ import annotations

import cython

from simnet.host.accounting import SOFTIRQ
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.kernel.compiled import Public
from simnet.kernel.prefetch import prefetch
from simnet.net.tcp.epoll import Epoll, EpollItem
from simnet.net.tcp.socket import TcpSocket
from simnet.workload.epoll_worker import EpollWorker

# states beside those of EpollWorker
_SCHEDULED_IN: cython.int = 0
_APPLIED: cython.int = 4
_BEFORE_SEND: cython.int = 8


@cython.final
@cython.cclass
class RelaySide(EpollItem):
    """One of the two sockets of a relayed connection.

    Args:
        epoll: the worker's instance.
        socket: the machine's end.
    """

    socket: TcpSocket = None
    partner: Public[RelaySide] = None  # the other side
    # of one message that comes on the socket; 0 if each recv is one to the application
    message_bytes: Public[cython.longlong] = 0
    got: cython.longlong = 0  # bytes that have been received
    # bytes from the partner's socket that this side's send buffer has not taken yet
    left: cython.longlong = 0
    unread: cython.bint = False  # the socket may have more to read

    needs = ("partner",)

    def __init__(self, epoll: Epoll, socket: TcpSocket) -> None:
        EpollItem.__init__(self, epoll)
        self.socket = socket
        socket.poll = self

    @cython.cfunc
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
            prefetch(cython.cast(cython.p_void, self.partner), cython.sizeof(RelaySide))
        return self.epoll.ready(self, cpu)

    def has_events(self) -> cython.bint:
        """`tcp_poll`: there are bytes to read, or room for those that wait."""
        return self.socket.receiver.readable() > 0 or (
            self.left > 0 and not self.socket.writer_waiting
        )


@cython.final
@cython.cclass
class RelayWorker(EpollWorker):
    """One worker.

    Args:
        cpu: where it was last.
        epoll: its instance.
        buffer_bytes: of one recv.
        max_events: of one epoll_wait.
        allowed: CPUs that it may run on.

    Attributes:
        receives, sends: calls; `received` and `sent` are their bytes.
        empty_receives: calls of recv that found nothing.
        full_sends: calls of send that took less than they were given.
    """

    side: RelaySide = None
    source: RelaySide = None
    sink: RelaySide = None
    receives: cython.longlong = 0
    received: cython.longlong = 0
    empty_receives: cython.longlong = 0
    sends: cython.longlong = 0
    sent: cython.longlong = 0
    full_sends: cython.longlong = 0

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
        super().__init__(
            scheduler,
            path,
            cpu,
            epoll,
            buffer_bytes=buffer_bytes,
            max_events=max_events,
            backlog_mode=SOFTIRQ,
            allowed=allowed,
        )

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
        if self.state == _BEFORE_SEND:
            self._send(cpu)
        elif self.state == _APPLIED and self.yield_if_needed(cpu):
            self.state = _BEFORE_SEND
        elif self.state != _SCHEDULED_IN or not self.yield_if_needed(cpu):
            EpollWorker.step(self, cpu)

    def _serve(self, cpu: Cpu, item: EpollItem) -> cython.int:
        """Turn to the side of an event."""
        self.side = item  # type: ignore[assignment]  # Cython checks it
        self.side.unread = True
        return self._go_on(cpu)

    def _go_on(self, cpu: Cpu) -> cython.int:
        """What the event allows: send what was left, then read until there is no more."""
        side: RelaySide = self.side
        partner: RelaySide = side.partner
        if side.left > 0 and not side.socket.writer_waiting:
            self.sink = side
            return self._send(cpu)
        if side.left == 0 and partner.unread:
            return self._receive_from(cpu, partner)
        if side.unread and partner.left == 0:
            return self._receive_from(cpu, side)
        return self._next(cpu)

    def _receive_from(self, cpu: Cpu, source: RelaySide) -> cython.int:
        """Receive from one side for the other."""
        self.source = source
        self.sink = source.partner
        if cython.compiled:
            prefetch(cython.cast(cython.p_void, self.sink.socket), cython.sizeof(TcpSocket))
        self.receives += 1
        return self._receive(cpu, source.socket)

    def _has_received(self, cpu: Cpu) -> cython.int:
        """Let the application have what has come."""
        self.sink.socket.fetch_to_send()
        self.received += self.piece
        self.source.unread = self.piece == self.buffer_bytes
        if self.piece == 0:
            self.empty_receives += 1
            return self._go_on(cpu)
        self.sink.left += self.piece
        return self._run_application(
            cpu, self.costs.user_relay_ps * self.source.messages(self.piece)
        )

    def _send(self, cpu: Cpu) -> cython.int:
        """Send what the buffer takes."""
        sink: RelaySide = self.sink
        socket: TcpSocket = sink.socket
        self.sends += 1
        self._enter(cpu, socket)
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
        return self._copy_from_user(cpu)

    def _has_sent(self, cpu: Cpu) -> cython.int:
        """See what else the event allows."""
        return self._go_on(cpu)
