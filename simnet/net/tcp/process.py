"""A process that uses a TCP socket: its pieces of work, the socket's backlog, send, recv.

Source: net/ipv4/tcp.c (`tcp_sendmsg`, `tcp_recvmsg`) and net/core/sock.c (`release_sock`) of Linux
2.6.18 and 4.10. Prequeue and backlog are processed with bottom halves disabled: softirqs of that
CPU wait, and tick accounting calls it softirq.

The order in which recv takes data is receive queue, prequeue, backlog. With nothing in the receive
queue it polls the device first, if it may; the socket is not owned meanwhile, so that TCP runs in
the poll.
"""

from __future__ import annotations

import cython

from simnet.host.accounting import PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, SYSTEM
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.host.softirq.busy_poll import BusyPoller
from simnet.host.softirq.busy_read import BUSY_POLL_BUDGET, BusyRead
from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.tcp.receive.queue import Ucopy
from simnet.net.tcp.send.sequence import SendSequence
from simnet.net.tcp.socket import TcpSocket

# what the piece of work that has just been executed was
SCHEDULED_IN: cython.int = 0
USER_CODE: cython.int = 1
COPIED: cython.int = 3
PREQUEUED: cython.int = 4
BACKLOG: cython.int = 5
BACKLOG_WAIT: cython.int = 6
BACKLOG_EXIT: cython.int = 7
BEFORE_SLEEP: cython.int = 8
WOKEN: cython.int = 9
SEND_COPIED: cython.int = 20
SEND_BACKLOG: cython.int = 21
SEND_BACKLOG_WAIT: cython.int = 22
SEND_BEFORE_SLEEP: cython.int = 23
SEND_WOKEN: cython.int = 24


@cython.cclass
class SocketTask(BusyPoller):
    """What readers and writers share: pieces of work, the backlog, and send.

    `left` is what the send under way has not copied yet, in bytes.
    """

    socket: TcpSocket = None
    costs: Costs = None
    state: cython.int = 0
    skb: Skb = None
    second: Skb = None
    debt_ps: cython.longlong = 0
    direct: cython.bint = False
    moved: cython.bint = False
    calls: cython.longlong = 0
    left: cython.longlong = 0

    def __init__(
        self,
        scheduler: Scheduler,
        path: str,
        cpu: Cpu,
        socket: TcpSocket,
        allowed: frozenset[int] | None = None,
    ) -> None:
        super().__init__(scheduler, path, cpu, 0, allowed)
        self.socket = socket
        self.costs = socket.costs
        self.state = SCHEDULED_IN
        if socket.busy is not None:
            self.may_poll()

    def _take_debt(self) -> cython.longlong:
        """Work that past effects caused and that the next piece of work carries."""
        debt: cython.longlong = self.debt_ps
        self.debt_ps = 0
        return debt

    def _run_system(self, cpu: Cpu, state: cython.int, work_ps: cython.longlong) -> cython.int:
        """Execute work in the kernel, what past effects caused included."""
        self.state = state
        cpu.run(PROCESS_LEVEL, self, work_ps + self._take_debt(), SYSTEM)
        return 0

    def _to_user(self, cpu: Cpu, user_ps: cython.longlong) -> cython.int:
        """Leave the system call and run the application's code."""
        self.state = USER_CODE
        self.costs.ledger.syscall += self.costs.syscall_ps
        self.costs.ledger.application += user_ps
        return cpu.run_to_user(self, self.costs.syscall_ps + self._take_debt(), user_ps)

    def _next_from(
        self, cpu: Cpu, queue: SkbQueue, state: cython.int, direct: cython.bint
    ) -> cython.bint:
        """Start on the next queued segment; False if there is none.

        A segment whose ACK waits for the following one is one piece of work with it: the socket
        is owned and bottom halves are off, so no other code can see the state in between.
        """
        skb: Skb
        work: cython.longlong
        socket: TcpSocket = self.socket
        if queue.count == 0:
            return False
        skb = queue.pop()
        self.skb = skb
        self.direct = direct and socket.can_copy_directly(skb)
        work = self._take_debt() + socket.process_cost_ps(skb, cpu, self.direct)
        if (
            self.direct
            and queue.count > 0
            and queue.head.seq == skb.end_seq
            and queue.head.end_seq - skb.seq <= socket.ucopy.room
            and (skb.ecn | queue.head.ecn) == 0
            and socket.receiver.delack.holds(skb.seq, skb.end_seq)
        ):
            self.second = queue.pop()
            work += socket.process_cost_ps(self.second, cpu, True)
        self.state = state
        cpu.run(SOFT_LEVEL, self, work, SOFTIRQ)
        return True

    def _next_backlog(self, cpu: Cpu, state: cython.int, direct: cython.bint) -> cython.bint:
        """Start on the next backlog segment; False if there is none."""
        return self._next_from(cpu, self.socket.backlog, state, direct)

    def _processed(self, cpu: Cpu) -> cython.int:
        """The work is done: let TCP have the segment, or both."""
        self.debt_ps += self.socket.process(self.skb, cpu, self.direct)
        self.skb = None
        if self.second is not None:
            self.debt_ps += self.socket.process(self.second, cpu, self.direct)
            self.second = None
        if self.direct:
            self.moved = True
        return 0

    # -- send -------------------------------------------------------------------------------

    def _continue_send(self, cpu: Cpu) -> cython.bint:
        """Go on after a piece of work; False if it was none of send's."""
        state: cython.int = self.state
        if state == SEND_COPIED:
            self.socket.send_staged()
            self._send(cpu)
        elif state == SEND_BACKLOG:
            self._processed(cpu)
            if not self._next_backlog(cpu, SEND_BACKLOG, False):
                cpu.kick()
                self._sent(cpu)
        elif state == SEND_BACKLOG_WAIT:
            self._processed(cpu)
            if not self._next_backlog(cpu, SEND_BACKLOG_WAIT, False):
                cpu.kick()
                self._send(cpu)
        elif state == SEND_WOKEN:
            self.socket.writer_waiting = False
            self.debt_ps += self.socket.lock(cpu)
            self._send(cpu)
        elif state == SEND_BEFORE_SLEEP:
            self._send(cpu)
        else:
            return False
        return True

    def _send(self, cpu: Cpu) -> cython.int:
        """`tcp_sendmsg`: copy and send what buffer and windows take, or wait for memory."""
        socket: TcpSocket = self.socket
        piece: cython.longlong
        if self.left == 0:
            # release_sock
            if not self._next_backlog(cpu, SEND_BACKLOG, False):
                self._sent(cpu)
            return 0
        piece = socket.seq.room()
        if piece > 0:
            if piece > self.left:
                piece = self.left
            if socket.nic.copies:
                piece = self._to_end_of_segment(piece)
            self.left -= piece
            # the socket is owned: nothing changes what may be sent while the copy lasts
            socket.seq.write(piece, self.left == 0)
            self._copy(cpu, socket.tx_costs.copy_ps(cpu, piece) + socket.push(cpu))
            return 0
        if self._next_backlog(cpu, SEND_BACKLOG_WAIT, False):
            return 0
        if self.debt_ps > 0:
            self._run_system(cpu, SEND_BEFORE_SLEEP, 0)
            return 0
        self.debt_ps += socket.unlock(cpu)
        socket.writer_waiting = True
        self.state = SEND_WOKEN
        self.sleep()
        return 0

    def _to_end_of_segment(self, piece: cython.longlong) -> cython.longlong:
        """`tcp_push_one`: a segment leaves as soon as it is full, before the next is copied."""
        seq: SendSequence = self.socket.seq
        room: cython.longlong = seq.mss - (seq.write_seq - seq.snd_nxt) % seq.mss
        return piece if piece < room else room

    def _copy(self, cpu: Cpu, work_ps: cython.longlong) -> cython.int:
        """Execute what copying a piece and making its segments takes."""
        return self._run_system(cpu, SEND_COPIED, work_ps)

    def _sent(self, cpu: Cpu) -> cython.int:
        """All has been copied and the backlog is empty: leave send."""
        raise NotImplementedError(self.path)


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
