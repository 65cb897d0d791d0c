"""epoll: which of thousands of sockets a process should look at.

Source: fs/eventpoll.c of Linux 2.6.18 to 2.6.38 (`ep_poll_callback`, `ep_poll`,
`ep_send_events`). A socket that becomes readable, or writable after it was full, is linked to the
ready list once, and the process that sleeps in epoll_wait is woken. epoll_wait takes items off the
head, asks each what it has, and hands over those that have something: edge triggered (EPOLLET, as
nginx asks for it), so none goes back to the list by itself. The list and its lock are written by
every CPU that receives, and by the process.
"""

from __future__ import annotations

import cython

from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.memory import Memory, SharedLines
from simnet.host.scheduler import Task

__all__ = ["Epoll", "EpollItem"]


class EpollItem:
    """What an epoll instance knows of one socket (`struct epitem`).

    Args:
        epoll: the instance.

    Attributes:
        listed: it is on the ready list.
    """

    def __init__(self, epoll: Epoll) -> None:
        self.epoll = epoll
        self.following: EpollItem = None
        self.listed = False

    def callback(self, cpu: Cpu) -> cython.longlong:
        """`ep_poll_callback`: the socket has something; return the work caused on `cpu`."""
        return self.epoll.ready(self, cpu)

    def has_events(self) -> cython.bint:
        """`tcp_poll`: whether there is anything to hand over now. Subclasses know the socket."""
        raise NotImplementedError


@cython.final
@cython.cclass
class Epoll:
    """One instance, waited for by one process.

    Args:
        costs, memory: of the host.
        lines: cache lines that linking or taking off an item writes.
        runqueue_lines: cache lines that waking a process on another CPU writes.

    Attributes:
        worker: the process.
        waiting: it sleeps in epoll_wait.
        length: items on the ready list.
        callbacks: how often a socket had something.
    """

    def __init__(
        self, costs: Costs, memory: Memory, lines: int = 0, runqueue_lines: int = 0
    ) -> None:
        self.costs = costs
        self.memory = memory
        self.lines = SharedLines(memory, lines)
        self.runqueue_lines = runqueue_lines
        self.worker: Task = None
        self.waiting = False
        self.first: EpollItem = None
        self.last: EpollItem = None
        self.length = 0
        self.callbacks = 0

    def ready(self, item: EpollItem, cpu: Cpu) -> cython.longlong:
        """Link an item unless it is linked, and wake the process; return the work on `cpu`."""
        work: cython.longlong = self.touch(cpu)
        wakeup: cython.longlong
        self.callbacks += 1
        if not item.listed:
            item.listed = True
            if self.last is None:
                self.first = item
            else:
                self.last.following = item
            self.last = item
            self.length += 1
        if self.waiting and self.worker.wake_on(cpu):
            self.waiting = False
            wakeup = self.costs.wakeup_ps
            if self.worker.cpu is not cpu:
                wakeup += self.memory.dirty_lines_ps(cpu, self.worker.cpu, self.runqueue_lines)
            self.costs.ledger.wakeup += wakeup
            work += wakeup
        return work

    def touch(self, cpu: Cpu) -> cython.longlong:
        """Cost of bringing the list and its lock to `cpu`."""
        work: cython.longlong = self.lines.touch(cpu)
        self.costs.ledger.socket_lines += work
        return work

    def take(self) -> EpollItem:
        """Take the first item that has something off the list; None if there is none."""
        item: EpollItem
        while self.first is not None:
            item = self.first
            self.first = item.following
            if self.first is None:
                self.last = None
            item.following = None
            item.listed = False
            self.length -= 1
            if item.has_events():
                return item
        return None
