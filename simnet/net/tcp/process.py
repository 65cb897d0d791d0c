"""A process that uses a TCP socket: its pieces of work, the socket's backlog, and send.

Source: net/ipv4/tcp.c (`tcp_sendmsg`) and net/core/sock.c (`release_sock`) of Linux 2.6.18.
Prequeue and backlog are processed with bottom halves disabled: softirqs of that CPU wait, and tick
accounting calls it softirq.
"""

from __future__ import annotations

import cython

from simnet.host.accounting import PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, SYSTEM
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.host.softirq.busy_poll import BusyPoller
from simnet.net.link.skb import Skb, SkbQueue
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
