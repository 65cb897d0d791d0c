"""A worker thread of memcached: an event loop that answers one request of a connection at a time.

As memcached 1.6 and libevent have it (`drive_machine`, `try_read_network`, `transmit` in
memcached.c; `epoll_dispatch` in libevent's epoll.c): epoll_wait, then for each connection that has
something one read of at most its buffer, the command, one sendmsg of the response, and back to the
loop. A read that returns less than the buffer takes is not tried again. What has not come
completely waits for the connection's next event.

Each system call and the application's code is a piece of work of its own, see
`simnet.workload.epoll_worker`; what the loop itself costs in user mode comes once an epoll_wait. A
call on a socket ends with bottom halves enabled, which executes softirqs that were left to
ksoftirqd (kernel/softirq.c `__local_bh_enable_ip`).
"""

# mypy: no-strict-optional, disable-error-code="no-any-return, redundant-expr"

import cython

from simnet.host.accounting import SYSTEM
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.net.tcp.epoll import Epoll, EpollItem
from simnet.net.tcp.socket import TcpSocket
from simnet.workload.epoll_worker import EpollWorker
from simnet.workload.mutilate import MutilateConnection

_WAITED: cython.int = 1
# kernels since 2.6.37 count work on a backlog as time of the process (in_serving_softirq)


@cython.final
@cython.cclass
class MemcachedConnection(EpollItem):
    """A connection of the server.

    Args:
        epoll: of its worker.
        socket: the machine's end.
        client: what uses the other end.
    """

    socket: TcpSocket = None
    client: MutilateConnection = None
    got: cython.longlong = 0  # bytes that have been read

    def __init__(self, epoll: Epoll, socket: TcpSocket, client: MutilateConnection) -> None:
        super().__init__(epoll)
        self.socket = socket
        self.client = client
        socket.poll = self

    def has_events(self) -> cython.bint:
        """`tcp_poll`: there are bytes to read."""
        return self.socket.receiver.readable() > 0


@cython.final
@cython.cclass
class MemcachedWorker(EpollWorker):
    """One worker.

    Args:
        cpu: where it was last.
        epoll: its instance.
        max_events: of one epoll_wait.
        allowed: CPUs that it may run on.
    """

    connection: MemcachedConnection = None
    requests: cython.longlong = 0  # that were answered

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        epoll: Epoll,
        *,
        max_events: int = 4096,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(
            scheduler,
            path,
            cpu,
            epoll,
            buffer_bytes=16_384,
            max_events=max_events,
            backlog_mode=SYSTEM,
            allowed=allowed,
        )

    def counters(self) -> dict[str, int]:
        """System calls and requests."""
        return {
            "waits": self.waits,
            "events": self.events,
            "sleeps": self.sleeps,
            "requests": self.requests,
        }

    def _take_events(self, cpu: Cpu) -> cython.int:
        """Libevent makes the events active."""
        self.costs.ledger.application += self.costs.user_loop_ps
        self.state = _WAITED
        cpu.run_to_user(self, self.costs.syscall_ps + self.debt_ps, self.costs.user_loop_ps)
        self.debt_ps = 0
        return 0

    def _serve(self, cpu: Cpu, item: EpollItem) -> cython.int:
        """Read of a connection."""
        self.connection = item  # type: ignore[assignment]  # Cython checks it
        self.connection.socket.fetch_to_send()
        return self._receive(cpu, self.connection.socket)

    def _has_received(self, cpu: Cpu) -> cython.int:
        """Bottom halves are enabled (`release_sock`); if the request is complete, execute it."""
        cpu.kick()
        self.connection.got += self.piece
        if self.connection.got < self.connection.client.asked:
            return self._next(cpu)
        self.requests += 1
        return self._run_application(cpu, self.costs.user_request_ps)

    def _send(self, cpu: Cpu) -> cython.int:
        """Send the response, which the send buffer always has room for."""
        self._enter(cpu, self.connection.socket)
        self.piece = self.connection.client.response_bytes
        return self._copy_from_user(cpu)

    def _has_sent(self, cpu: Cpu) -> cython.int:
        """Bottom halves are enabled; turn to the next event."""
        cpu.kick()
        return self._next(cpu)
