"""epoll: which of thousands of sockets a process should look at.

Source: fs/eventpoll.c of Linux 2.6.18 to 2.6.38 and 6.12 (`ep_poll_callback`, `ep_poll`,
`ep_send_events`). A socket that becomes readable, or writable after it was full, is linked to the
ready list once, and the process that sleeps in epoll_wait is woken. epoll_wait takes items off the
head, asks each what it has, and hands over those that have something. Edge triggered (EPOLLET, as
nginx asks for it) none goes back to the list by itself; level triggered, as libevent has it, one
that was handed over goes to the list's end, and the next call asks it again. The list and its lock
are written by every CPU that receives, and by the process.

Since 5.11 (`ep_busy_loop`) epoll_wait polls the device itself for a while before it sleeps, if a
socket has told it which queue serves it; since 6.9 each instance has its own time, budget and
preference (`EPIOCSPARAMS`). A process that prefers busy polling and has got events leaves
interrupts suspended, and resumes them before it sleeps (`ep_suspend_napi_irqs`,
`ep_resume_napi_irqs`, 6.13).
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.host.costs import Costs, Memory, SharedLines
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Task, Wakeups
from simnet.host.softirq.busy_read import busy_loop_over
from simnet.host.softirq.napi_instance import NapiInstance
from simnet.kernel.compiled import Public


@cython.cclass
class EpollItem:
    """What an epoll instance knows of one socket (`struct epitem`)."""

    epoll: Epoll = None  # the instance
    following: EpollItem = None
    listed: cython.bint = False  # it is on the ready list
    # instance that polls its socket's queue (`sk_napi_id`); None if that is not known
    napi: Public[NapiInstance] = None

    needs = ("epoll.worker",)

    def __init__(self, epoll: Epoll) -> None:
        self.epoll = epoll

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
        edge_triggered: sockets are watched so; else level triggered.
    """

    costs: Costs = None
    lines: SharedLines = None
    wakeups: Wakeups = None
    edge_triggered: cython.bint = False
    # of `EPIOCSPARAMS`
    busy_poll_usecs: Public[cython.longlong] = 0
    busy_poll_budget: Public[cython.int] = 0
    prefer_busy_poll: Public[cython.bint] = False
    # instance that it polls; None until a socket with one has had something
    napi: Public[NapiInstance] = None
    worker: Public[Task] = None  # the process
    waiting: Public[cython.bint] = False  # it sleeps in epoll_wait
    first: EpollItem = None
    last: EpollItem = None
    length: cython.longlong = 0  # items on the ready list
    callbacks: cython.longlong = 0  # how often a socket had something

    def __init__(
        self,
        costs: Costs,
        memory: Memory,
        lines: int = 0,
        runqueue_lines: int = 0,
        *,
        edge_triggered: bool = True,
    ) -> None:
        self.costs = costs
        self.lines = SharedLines(memory, lines)
        self.wakeups = Wakeups(costs, memory, runqueue_lines)
        self.edge_triggered = edge_triggered
        self.busy_poll_budget = 8

    def ready(self, item: EpollItem, cpu: Cpu) -> cython.longlong:
        """Link an item unless it is linked, and wake the process; return the work on `cpu`."""
        work: cython.longlong = self.touch(cpu)
        self.callbacks += 1
        if not item.listed:
            self._link(item)
        if item.napi is not None and self.busy_polls():
            self.napi = item.napi
        if self.waiting and self.worker.wake_on(cpu):
            self.waiting = False
            work += self.wakeups.woken_ps(cpu, self.worker)
        return work

    def busy_polls(self) -> cython.bint:
        """`ep_busy_loop_on`: epoll_wait polls before it sleeps."""
        return self.busy_poll_usecs > 0 or self.prefer_busy_poll

    def busy_poll_over(self, from_ps: cython.longlong, now: cython.longlong) -> cython.bint:
        """`ep_busy_loop_end`: there are events, or the time since `from_ps` is over."""
        return self.first is not None or (
            self.busy_poll_usecs == 0 or busy_loop_over(from_ps, now, self.busy_poll_usecs)
        )

    def _link(self, item: EpollItem) -> cython.int:
        """Put an item at the end of the list."""
        item.listed = True
        if self.last is None:
            self.first = item
        else:
            self.last.following = item
        self.last = item
        self.length += 1
        return 0

    def touch(self, cpu: Cpu) -> cython.longlong:
        """Cost of bringing the list and its lock to `cpu`."""
        work: cython.longlong = self.lines.touch(cpu)
        self.costs.ledger.socket_lines += work
        return work

    def harvest(self, ready: list[Any], most: cython.longlong) -> cython.longlong:
        """`ep_send_events`: take up to `most` items that have something; return how many it asked.

        What is at the list when it begins is asked once, in order.
        """
        item: EpollItem
        asked: cython.longlong = 0
        left: cython.longlong = self.length
        while left > 0 and len(ready) < most:
            item = self.first
            self.first = item.following
            if self.first is None:
                self.last = None
            item.following = None
            item.listed = False
            self.length -= 1
            left -= 1
            asked += 1
            if item.has_events():
                ready.append(item)
                if not self.edge_triggered:
                    self._link(item)
        return asked
