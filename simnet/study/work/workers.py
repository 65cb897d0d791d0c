"""Worker processes: each has one piece of work in hand, and its end costs no other.

A worker can be killed, most often for want of memory. Its piece is done again after the others, so
that they are not lost with it, and while no other runs, which leaves it all the memory. A piece
that has ended its worker each time is at fault itself.

Workers stay for what comes next, because starting one takes longer than many a simulation, and end
with this process.

Why not loky, the executor of joblib: when one worker dies, it drops the work of all others. If a
worker is killed while it sends an answer, loky waits for the rest for ever. And its workers outlive
a caller that was killed.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from multiprocessing.connection import Connection, wait
from multiprocessing.reduction import ForkingPickler
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from simnet.errors import LostRunError
from simnet.study.work.fork_server import BROKE_OFF, forked, prepare
from simnet.study.work.worker import NO_MEMORY

ATTEMPTS: Final = 3
_QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")
_Piece = TypeVar("_Piece")
_Answer = TypeVar("_Answer")


def cpus() -> int:
    """How many processes can run at a time: CPUs of this process, fewer where a quota says so."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not Linux
        count = os.cpu_count() or 1
    try:
        quota, period = _QUOTA.read_text(encoding="ascii").split()
        return max(min(count, -(-int(quota) // int(period))), 1)
    except (OSError, ValueError):
        return count


def expected(jobs: int | None = None) -> None:
    """Workers will be needed soon, that many or one a CPU: they start while the caller imports."""
    if (jobs or cpus()) > 1:
        with suppress(OSError):  # said when they are needed
            prepare()


def done_by_workers(
    function: Callable[[_Piece], _Answer],
    pieces: Iterable[_Piece],
    count: int,
    *,
    name: Callable[[_Piece], str],
) -> Generator[_Answer]:
    """What a function returns of each piece, as it is done, in no order.

    When the generator ends early, so does the work in hand.

    Args:
        function: one that can be imported, returning what can be pickled.
        pieces: of work, to be pickled; taken one by one.
        count: of processes.
        name: says of a piece what it is, for people.

    Raises:
        LostRunError: a piece has ended its worker each time.
        Exception: what the function raised.
    """
    pool = _Pool(function, iter(pieces), count, name)
    try:
        pool.assign()
        while pool.busy:
            pool.prepare()
            for ready in cast("list[Connection]", wait(list(pool.busy))):
                answers = pool.collect(ready)
                pool.assign()
                yield from answers
    finally:
        for job in pool.busy.values():
            job.worker.kill()


@dataclass(frozen=True)
class _Work:
    """A piece of work, what to send of it, and how many have had it with this attempt."""

    piece: Any
    message: Any
    attempt: int


@dataclass(frozen=True)
class _Job:
    """Work in a worker's hand."""

    worker: _Worker
    work: _Work


class _Pool:
    """Workers and what each has in hand, by connection; and what they get next."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        pieces: Iterator[Any],
        count: int,
        name: Callable[[Any], str],
    ) -> None:
        self.busy: dict[Connection, _Job] = {}
        self._count = count
        self._name = name
        self._pieces = (
            _Work(piece, ForkingPickler.dumps((function, piece)), 1) for piece in pieces
        )
        self._prepared: _Work | None = None
        self._retries: deque[_Work] = deque()

    def assign(self) -> None:
        """Give the workers something to do, as far as there is."""
        while len(self.busy) < self._count:
            work = self._next()
            if work is None:
                return
            try:
                worker = _idle_or_started()
                while not worker.send(work.message):
                    worker = _idle_or_started()
            except OSError as error:
                if not self.busy:
                    why = f"no process can be started for it: {error.strerror}"
                    raise LostRunError(f"{self._name(work.piece)}: {why}") from error
                self._prepared = work  # fewer will do
                return
            self.busy[worker.connection] = _Job(worker, work)

    def prepare(self) -> None:
        """Have the next piece ready to be sent: no worker waits while it is made."""
        if self._prepared is None:
            self._prepared = next(self._pieces, None)

    def _next(self) -> _Work | None:
        """What comes next; nothing beside a piece that has ended a worker before.

        Those come last, unless there are as many as workers: then maybe every piece is such a one.
        """
        if any(job.work.attempt > 1 for job in self.busy.values()):
            return None
        if len(self._retries) < self._count:
            self.prepare()
            if self._prepared is not None:
                work, self._prepared = self._prepared, None
                return work
        return self._retries.popleft() if self._retries and not self.busy else None

    def collect(self, ready: Connection) -> list[Any]:
        """The answer that a worker has sent; none if it has ended instead."""
        job = self.busy.pop(ready)
        try:
            answer = ready.recv()
        except (EOFError, OSError):
            how = job.worker.how_it_ended()
            if job.work.attempt == ATTEMPTS:
                message = f"each of {ATTEMPTS} processes that simulated it {how}"
                raise LostRunError(f"{self._name(job.work.piece)}: {message}") from None
            self._retries.append(replace(job.work, attempt=job.work.attempt + 1))
            return []
        _IDLE.append(job.worker)
        if isinstance(answer, BaseException):
            raise answer
        return [answer]


class _Worker:
    """A process that works, and the way to it."""

    def __init__(self) -> None:
        mine, other = socket.socketpair()
        with mine, other:
            self._server, self._number = forked(other.fileno())
            self.connection = Connection(mine.detach())

    def send(self, message: Any) -> bool:
        """Send it work; False if it has ended before it could get all of it."""
        try:
            self.connection.send_bytes(message)
        except OSError:
            self.kill()
            return False
        return True

    def kill(self) -> None:
        """End it, whatever it does."""
        self.connection.close()
        self._server.kill(self._number)

    def how_it_ended(self) -> str:
        """How it has ended, or does when its connection closes; waits for that."""
        self.connection.close()
        status = self._server.ended(self._number)
        if status == BROKE_OFF:
            return "broke off"
        if status == -signal.SIGKILL:
            return "was killed, as systems do when memory runs out"
        if status < 0:
            return f"was ended by {signal.Signals(-status).name}"
        return "ran out of memory" if status == NO_MEMORY else f"ended with status {status}"


_IDLE: Final[list[_Worker]] = []


def _idle_or_started() -> _Worker:
    """A worker that waits for work, or one that is started."""
    return _IDLE.pop() if _IDLE else _Worker()


@atexit.register
def _end_idle() -> None:
    while _IDLE:
        _IDLE.pop().how_it_ended()
