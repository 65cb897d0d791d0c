"""A process in recv or send on a TCP socket: `tcp_recvmsg` and `tcp_sendmsg`.

Source: net/ipv4/tcp.c and net/core/sock.c (`release_sock`) of Linux 2.6.18. The order in which
recv takes data is receive queue, prequeue, backlog. Prequeue and backlog are processed
with bottom halves disabled: softirqs of that CPU wait, and tick accounting calls it softirq.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler, Task
from simnet.net.link.skb import Skb, SkbQueue
from simnet.net.tcp.send.sequence import SendSequence
from simnet.net.tcp.socket import TcpSocket

__all__ = ["SocketTask", "TcpReader", "TcpWriter"]

_PROCESS = cython.declare(cython.int, 0)
_SOFT = cython.declare(cython.int, 1)
_SYSTEM = cython.declare(cython.int, 2)
_SOFTIRQ = cython.declare(cython.int, 3)

# states: what the piece of work that has just been executed was
_SCHEDULED_IN = cython.declare(cython.int, 0)
_USER_CODE = cython.declare(cython.int, 1)
_COPIED = cython.declare(cython.int, 3)
_PREQUEUED = cython.declare(cython.int, 4)
_BACKLOG = cython.declare(cython.int, 5)
_BACKLOG_WAIT = cython.declare(cython.int, 6)
_BACKLOG_EXIT = cython.declare(cython.int, 7)
_BEFORE_SLEEP = cython.declare(cython.int, 8)
_WOKEN = cython.declare(cython.int, 9)
# the same in send
_SEND_COPIED = cython.declare(cython.int, 20)
_SEND_BACKLOG = cython.declare(cython.int, 21)
_SEND_BACKLOG_WAIT = cython.declare(cython.int, 22)
_SEND_BEFORE_SLEEP = cython.declare(cython.int, 23)
_SEND_WOKEN = cython.declare(cython.int, 24)


class SocketTask(Task):
    """What readers and writers share: pieces of work, the backlog, and send.

    `left` is what the send under way has not copied yet, in bytes.
    """

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
        self.state = _SCHEDULED_IN
        self.skb: Skb = None
        self.second: Skb = None
        self.debt_ps = 0
        self.direct = False
        self.moved = False
        self.calls = 0
        self.left = 0

    def _take_debt(self) -> cython.longlong:
        """Work that past effects caused and that the next piece of work carries."""
        debt: cython.longlong = self.debt_ps
        self.debt_ps = 0
        return debt

    def _run_system(self, cpu: Cpu, state: cython.int, work_ps: cython.longlong) -> cython.int:
        self.state = state
        cpu.run(_PROCESS, self, work_ps + self._take_debt(), _SYSTEM)
        return 0

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
            and queue.head.end_seq - skb.seq <= socket.reader_room
            and socket.receiver.delack.holds(skb.seq, skb.end_seq)
        ):
            self.second = queue.pop()
            work += socket.process_cost_ps(self.second, cpu, True)
        self.state = state
        cpu.run(_SOFT, self, work, _SOFTIRQ)
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
        if state == _SEND_COPIED:
            self.socket.send_staged()
            self._send(cpu)
        elif state == _SEND_BACKLOG:
            self._processed(cpu)
            if not self._next_backlog(cpu, _SEND_BACKLOG, False):
                cpu.kick()
                self._sent(cpu)
        elif state == _SEND_BACKLOG_WAIT:
            self._processed(cpu)
            if not self._next_backlog(cpu, _SEND_BACKLOG_WAIT, False):
                cpu.kick()
                self._send(cpu)
        elif state == _SEND_WOKEN:
            self.socket.writer_waiting = False
            self.debt_ps += self.socket.lock(cpu)
            self._send(cpu)
        elif state == _SEND_BEFORE_SLEEP:
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
            if not self._next_backlog(cpu, _SEND_BACKLOG, False):
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
            self._copy(cpu, socket.send_copy_cost_ps(cpu, piece) + socket.stage(cpu))
            return 0
        if self._next_backlog(cpu, _SEND_BACKLOG_WAIT, False):
            return 0
        if self.debt_ps > 0:
            self._run_system(cpu, _SEND_BEFORE_SLEEP, 0)
            return 0
        socket.unlock()
        socket.writer_waiting = True
        self.state = _SEND_WOKEN
        self.sleep()
        return 0

    def _to_end_of_segment(self, piece: cython.longlong) -> cython.longlong:
        """`tcp_push_one`: a segment leaves as soon as it is full, before the next is copied."""
        seq: SendSequence = self.socket.seq
        room: cython.longlong = seq.mss - (seq.write_seq - seq.snd_nxt) % seq.mss
        return piece if piece < room else room

    def _copy(self, cpu: Cpu, work_ps: cython.longlong) -> cython.int:
        """Execute what copying a piece and making its segments takes."""
        return self._run_system(cpu, _SEND_COPIED, work_ps)

    def _sent(self, cpu: Cpu) -> cython.int:
        """All has been copied and the backlog is empty: leave send."""
        raise NotImplementedError(self.path)


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
        self.room = 0
        self.got = 0
        self.finishing = False
        socket.reader = self

    def step(self, cpu: Cpu) -> None:  # noqa: C901, PLR0912 - one case a state
        """Go on after a piece of work."""
        state: cython.int = self.state
        if state == _PREQUEUED:
            self._processed(cpu)
            if not self._next_prequeue(cpu):
                cpu.kick()
                self._chunk()
                if self.finishing:
                    self._finish(cpu)
                else:
                    self._loop(cpu)
        elif state == _BACKLOG:
            self._processed(cpu)
            if not self._next_backlog(cpu, _BACKLOG, True):
                cpu.kick()
                self._chunk()
                self._loop(cpu)
        elif state == _COPIED:
            self.room -= self.socket.read_queue(self.got)
            self._loop(cpu)
        elif state == _USER_CODE:
            self.calls += 1
            if self.yield_if_needed(cpu):
                self.state = _SCHEDULED_IN
                return
            self.debt_ps += self.socket.lock(cpu)
            self.room = self.recv_bytes
            self._loop(cpu)
        elif state == _WOKEN:
            self.socket.reader_waiting = False
            self.debt_ps += self.socket.lock(cpu)
            self._chunk()
            self._loop(cpu)
        elif state == _BACKLOG_WAIT:
            self._processed(cpu)
            if not self._next_backlog(cpu, _BACKLOG_WAIT, True):
                cpu.kick()
                self._wait(cpu)
        elif state == _BACKLOG_EXIT:
            self._processed(cpu)
            if not self._next_backlog(cpu, _BACKLOG_EXIT, False):
                cpu.kick()
                self.socket.unlock()
                self._leave(cpu)
        elif state == _BEFORE_SLEEP:
            self._wait(cpu)
        else:
            self._leave(cpu)

    def _leave(self, cpu: Cpu) -> cython.int:
        """Leave recv, run the application's code, enter recv again."""
        self.state = _USER_CODE
        self.costs.ledger.syscall += self.costs.syscall_ps
        self.costs.ledger.application += self.costs.user_recv_ps
        cpu.run_to_user(self, self.costs.syscall_ps + self._take_debt(), self.costs.user_recv_ps)
        return 0

    def _chunk(self) -> cython.int:
        """Account for what TCP has put straight into the buffer."""
        if self.socket.reader_installed:
            self.room = self.socket.reader_room
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
            self._run_system(cpu, _COPIED, socket.queued_copy_cost_ps(cpu, readable))
            return 0
        if copied > 0 and socket.backlog.count == 0:
            self._finish(cpu)
            return 0
        self.debt_ps += socket.after_copy(cpu, copied)
        if not socket.low_latency:
            socket.reader_installed = True
            socket.reader_room = self.room
            if self._next_prequeue(cpu):
                return 0
        if copied > 0:
            # do not sleep, just process the backlog
            self._next_backlog(cpu, _BACKLOG, True)
            return 0
        self.moved = False
        if not self._next_backlog(cpu, _BACKLOG_WAIT, True):
            self._wait(cpu)
        return 0

    def _next_prequeue(self, cpu: Cpu) -> cython.bint:
        """Start on the next prequeued segment (`tcp_prequeue_process`); False if none is left."""
        socket: TcpSocket = self.socket
        if socket.prequeue.count == 0:
            socket.prequeue_memory = 0
            return False
        return self._next_from(cpu, socket.prequeue, _PREQUEUED, True)

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
            self._run_system(cpu, _BEFORE_SLEEP, 0)
            return 0
        if socket.backlog.count > 0:
            self._next_backlog(cpu, _BACKLOG_WAIT, True)
            return 0
        socket.unlock()
        socket.reader_waiting = True
        self.state = _WOKEN
        self.sleep()
        return 0

    def _finish(self, cpu: Cpu) -> cython.int:
        """The end of `tcp_recvmsg` and `release_sock`."""
        socket: TcpSocket = self.socket
        if socket.reader_installed:
            # what was copied from the receive queue has taken room, too
            socket.reader_room = self.room
            self.finishing = True
            if self._next_prequeue(cpu):
                return 0
            self.finishing = False
            socket.reader_installed = False
            socket.reader_room = 0
        self.debt_ps += socket.after_copy(cpu, self.recv_bytes - self.room)
        if not self._next_backlog(cpu, _BACKLOG_EXIT, False):
            socket.unlock()
            self._leave(cpu)
        return 0


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
        self.user_ps = 0
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
        self._send(cpu)
        return 0

    def _copy(self, cpu: Cpu, work_ps: cython.longlong) -> cython.int:
        """After the first piece of a send comes the application's code, seen as one."""
        self.state = _SEND_COPIED
        cpu.run_to_user(self, self._take_debt() + work_ps, self.user_ps)
        self.user_ps = 0
        return 0

    def _sent(self, cpu: Cpu) -> cython.int:
        """Begin the next send."""
        self.socket.unlock()
        if self.yield_if_needed(cpu):
            self.state = _SCHEDULED_IN
            return 0
        self._begin(cpu)
        return 0
