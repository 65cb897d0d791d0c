"""A listening socket: half-open connections, those that wait to be accepted, and what is dropped.

Source: net/ipv4/tcp_input.c (`tcp_conn_request`, `tcp_syn_flood_action`), tcp_minisocks.c
(`tcp_check_req`), tcp_ipv4.c (`tcp_v4_syn_recv_sock`), inet_connection_sock.c (`inet_csk_accept`,
`inet_csk_wait_for_connect`, `reqsk_timer_handler`) and include/net/sock.h (`sk_acceptq_is_full`) of
Linux 4.10 to 6.18. Both queues are limited by the smaller of listen's backlog and
`net.core.somaxconn`; the accept queue holds one more than that. Without cookies a quarter of
`net.ipv4.tcp_max_syn_backlog` is kept for peers that are known, which none is here. Who sleeps in
accept is woken one for a connection, who sleeps longest first. CPUs take turns at the lock of the
accept queue.
"""

from typing import Any

import cython

from simnet.host.costs import SharedLines
from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.host.scheduler import Task, Wakeups
from simnet.kernel.simulator import Simulator
from simnet.net.forward.contended_line import ContendedLine

# what becomes of a SYN
DROPPED: cython.int = 0
HALF_OPEN: cython.int = 1
COOKIE: cython.int = 2
# what becomes of the ACK that completes a connection
OVERFLOWED: cython.int = 0
COMPLETE: cython.int = 1
ABORTED: cython.int = 2

_ALWAYS: cython.int = 2
_FEWEST: cython.longlong = 8
_LEAST_RETRIES: cython.int = 2


@cython.final
@cython.cclass
class Listener:
    """One socket that listens."""

    sim: Simulator = None
    ledger: Ledger = None
    backlog: cython.longlong = 0  # the smaller of listen's and `net.core.somaxconn`
    max_syn_backlog: cython.longlong = 0  # `net.ipv4.tcp_max_syn_backlog`
    # `net.ipv4.tcp_syncookies`: 0 never, 1 if too many are half open, 2 always
    syncookies: cython.int = 0
    abort: cython.bint = False  # `net.ipv4.tcp_abort_on_overflow`
    beyond: cython.bint = False  # half-open ones are too many beyond the backlog, not at it
    lock: ContendedLine = None  # of the accept queue
    locked_ps: cython.longlong = 0  # how long a CPU has it, lines that move apart
    lines: SharedLines = None  # cache lines of the queue that who adds and who takes write
    wakeups: Wakeups = None  # what waking who accepts costs
    queue: list[Any] = None  # connections that wait to be accepted
    # requests, and those of them whose SYN-ACK was sent once
    half_open: cython.longlong = 0
    young: cython.longlong = 0
    waiters: list[Any] = None  # who sleeps in accept, who came first is first
    # `ListenOverflows`, `ListenDrops`
    overflows: cython.longlong = 0
    drops: cython.longlong = 0
    # `TCPReqQFullDoCookies`, `TCPReqQFullDrop`
    full_cookies: cython.longlong = 0
    full_drops: cython.longlong = 0
    # `SyncookiesSent`, `SyncookiesRecv`
    cookies_sent: cython.longlong = 0
    cookies_received: cython.longlong = 0
    resets: cython.longlong = 0  # `EmbryonicRsts`
    opened: cython.longlong = 0  # `PassiveOpens`
    accepted: cython.longlong = 0  # by all who accept
    longest: cython.longlong = 0  # the most that waited at once

    def __init__(
        self,
        sim: Simulator,
        ledger: Ledger,
        *,
        backlog: int,
        max_syn_backlog: int,
        syncookies: int,
        abort: bool,
        beyond: bool,
        lock: ContendedLine,
        locked_ps: int,
        lines: SharedLines,
        wakeups: Wakeups,
    ) -> None:
        self.sim = sim
        self.ledger = ledger
        self.backlog = backlog
        self.max_syn_backlog = max_syn_backlog
        self.syncookies = syncookies
        self.abort = abort
        self.beyond = beyond
        self.lock = lock
        self.locked_ps = locked_ps
        self.lines = lines
        self.wakeups = wakeups
        self.queue = []
        self.waiters = []

    @property
    def waiting(self) -> int:
        """Connections that wait to be accepted (`Recv-Q` of `ss -ltn`)."""
        return len(self.queue)

    def full(self) -> cython.bint:
        """`sk_acceptq_is_full`."""
        return len(self.queue) > self.backlog

    def _half_full(self) -> cython.bint:
        """`inet_csk_reqsk_queue_is_full`."""
        if self.beyond:
            return self.half_open > self.backlog
        return self.half_open >= self.backlog

    def syn(self) -> cython.int:
        """`tcp_conn_request`: whether a SYN is dropped, begins a request, or gets a cookie."""
        cookie: cython.bint = False
        if self.syncookies == _ALWAYS or self._half_full():
            if self.syncookies == 0:
                self.full_drops += 1
                self.drops += 1
                return DROPPED
            self.full_cookies += 1
            cookie = True
        if self.full():
            self.overflows += 1
            self.drops += 1
            return DROPPED
        if cookie:
            self.cookies_sent += 1
            return COOKIE
        if (
            self.syncookies == 0
            and self.max_syn_backlog - self.half_open < self.max_syn_backlog >> 2
        ):
            self.drops += 1
            return DROPPED
        self.half_open += 1
        self.young += 1
        return HALF_OPEN

    def completes(self, requested: cython.bint, young: cython.bint) -> cython.int:
        """`tcp_check_req`, or `cookie_v4_check`: what becomes of the ACK to a SYN-ACK.

        `requested`: there is a request, which may still be young; else a cookie is checked.
        """
        if not requested:
            self.cookies_received += 1
        if self.full():
            self.overflows += 1
            self.drops += 1
            if not requested or not self.abort:
                return OVERFLOWED
            self.resets += 1
            self.forget(young)
            return ABORTED
        if requested:
            self.forget(young)
        self.opened += 1
        return COMPLETE

    def forget(self, young: cython.bint) -> cython.int:
        """`reqsk_queue_removed`: a request is no more."""
        self.half_open -= 1
        if young:
            self.young -= 1
        return 0

    def grows_old(self) -> cython.int:
        """A SYN-ACK is sent again: its request is young no more."""
        self.young -= 1
        return 0

    def retries(self, most: cython.int) -> cython.int:
        """How often a SYN-ACK is sent again before its request is given up."""
        young: cython.longlong = self.young << 1
        if self.half_open << 1 > max(_FEWEST, self.backlog):
            while most > _LEAST_RETRIES:
                if self.half_open < young:
                    break
                most -= 1
                young <<= 1
        return most

    def _turn(self, cpu: Cpu) -> cython.longlong:
        """Take the queue's lock on `cpu`; return the work."""
        lines_ps: cython.longlong = self.lines.touch(cpu)
        work: cython.longlong = lines_ps
        work += self.lock.change(cpu, self.sim.now, self.locked_ps + lines_ps)
        self.ledger.socket_lines += work
        return work

    def add(self, connection: Any, cpu: Cpu) -> cython.longlong:
        """`inet_csk_reqsk_queue_add`, and wake one who accepts; return the work on `cpu`."""
        task: Task
        work: cython.longlong = self._turn(cpu)
        self.queue.append(connection)
        self.longest = max(self.longest, len(self.queue))
        if len(self.waiters) > 0:
            task = self.waiters.pop(0)
            task.wake_on(cpu)
            work += self.wakeups.woken_ps(cpu, task)
        return work

    def look(self, cpu: Cpu) -> cython.longlong:
        """What accept costs until it sees the queue."""
        return self._turn(cpu)

    def take(self) -> Any:
        """`reqsk_queue_remove`: the oldest connection; None if there is none."""
        if len(self.queue) == 0:
            return None
        self.accepted += 1
        return self.queue.pop(0)
