"""Worker processes: each has one piece of work in hand, and its end costs no other.

A worker can be killed, most often for want of memory. Its piece is done again: after the others, so
that they are not lost with it, and at last while no other runs, which leaves it all the memory. A
piece that has ended its worker each time is at fault itself.

Workers stay for what comes next, because starting one takes longer than many a simulation, and end
with this process.
"""

from __future__ import annotations

import atexit
import json
import os
import signal
import socket
import subprocess
import sys
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any, Final, TypeVar, cast

from simnet.errors import LostRunError
from simnet.study.work.worker import NO_MEMORY

__all__ = ["cpus", "deaf_children", "done_by_workers"]

ATTEMPTS: Final = 3
_PATIENCE_S: Final = 5
_QUOTA: Final = Path("/sys/fs/cgroup/cpu.max")
_SERVE: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from simnet.study.work.worker import serve; serve(int(sys.argv[2]))"
)
_Work = TypeVar("_Work")
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


def done_by_workers(
    function: Callable[[_Work], _Answer],
    pieces: Iterable[_Work],
    count: int,
    *,
    name: Callable[[_Work], str],
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
    crew = _Crew(function, iter(pieces), count, name)
    try:
        crew.give()
        while crew.busy:
            for ready in cast("list[Connection]", wait(list(crew.busy))):
                answers = crew.take(ready)
                crew.give()
                yield from answers
    finally:
        for job in crew.busy.values():
            job.worker.end()


@dataclass
class _Job:
    """A piece of work in a worker's hand, and how many had it in all."""

    worker: _Worker
    piece: Any
    attempt: int


class _Crew:
    """Workers and what each has in hand, by connection; and who gets what next."""

    def __init__(
        self,
        function: Callable[[Any], Any],
        pieces: Iterator[Any],
        count: int,
        name: Callable[[Any], str],
    ) -> None:
        self.busy: dict[Connection, _Job] = {}
        self._function = function
        self._count = count
        self._name = name
        self._fresh = ((piece, 1) for piece in pieces)
        self._again: deque[tuple[Any, int]] = deque()
        self._last: deque[tuple[Any, int]] = deque()

    def give(self) -> None:
        """Give the workers something to do, as far as there is."""
        while len(self.busy) < self._count:
            if any(job.attempt == ATTEMPTS for job in self.busy.values()):
                return
            found = self._next()
            if found is None:
                return
            try:
                worker = _free()
                while not worker.ask((self._function, found[0])):
                    worker = _free()
            except OSError as error:
                if not self.busy:
                    why = f"no process can be started for it: {error.strerror}"
                    raise LostRunError(f"{self._name(found[0])}: {why}") from error
                self._again.append(found)  # fewer will do
                return
            self.busy[worker.connection] = _Job(worker, *found)

    def _next(self) -> tuple[Any, int] | None:
        """What has not ended a worker yet comes first, unless as many have as there are workers."""
        if len(self._last) < self._count:
            fresh = None if len(self._again) >= self._count else next(self._fresh, None)
            if fresh is not None:
                return fresh
            if self._again:
                return self._again.popleft()
        return self._last.popleft() if self._last and not self.busy else None

    def take(self, ready: Connection) -> list[Any]:
        """The answer that a worker has sent; none if it has ended instead."""
        job = self.busy.pop(ready)
        try:
            answer = ready.recv()
        except (EOFError, OSError):
            self._lost(job)
            return []
        _IDLE.append(job.worker)
        if isinstance(answer, BaseException):
            raise answer
        return [answer]

    def _lost(self, job: _Job) -> None:
        how = job.worker.leave()
        if job.attempt == ATTEMPTS:
            message = f"each of {ATTEMPTS} processes that simulated it {how}"
            raise LostRunError(f"{self._name(job.piece)}: {message}")
        waiting = self._last if job.attempt == ATTEMPTS - 1 else self._again
        waiting.append((job.piece, job.attempt + 1))


class _Worker:
    """A process that works, and the way to it."""

    def __init__(self) -> None:
        mine, other = socket.socketpair()
        command = [sys.executable, "-P", *(f"-W{option}" for option in sys.warnoptions), "-c"]
        command += [_SERVE, json.dumps(sys.path), str(other.fileno())]
        with mine, other, deaf_children():
            self._process = subprocess.Popen(  # noqa: S603 (this interpreter)
                command,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[other.fileno()],
            )
            self.connection = Connection(mine.detach())

    def ask(self, work: object) -> bool:
        """Send it work; False if it has ended before it could get all of it."""
        try:
            self.connection.send(work)
        except OSError:
            self.end()
            return False
        return True

    def end(self) -> None:
        """End it, whatever it does."""
        self.connection.close()
        self._process.kill()
        self._process.wait()

    def leave(self) -> str:
        """Wait until it has ended, because it is about to, and say how it has."""
        self.connection.close()
        try:
            status = self._process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.end()
            return "broke off"
        if status == -signal.SIGKILL:
            return "was killed, as systems do when memory runs out"
        if status < 0:
            return f"was ended by {signal.Signals(-status).name}"
        return "ran out of memory" if status == NO_MEMORY else f"ended with status {status}"


_IDLE: Final[list[_Worker]] = []


def _free() -> _Worker:
    """A worker that waits for work, or a new one."""
    return _IDLE.pop() if _IDLE else _Worker()


@atexit.register
def _leave_all() -> None:
    while _IDLE:
        _IDLE.pop().leave()


@contextmanager
def deaf_children() -> Iterator[None]:
    """Processes that are started inside the block get no interrupts; the own one gets them later.

    They inherit what is held back here, for good. To ignore an interrupt here would lose it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
