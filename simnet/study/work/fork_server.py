"""The process that workers are forked from, once it has imported what they need.

Importing takes longer than many a simulation. Here it is done once for all workers, on another CPU
while the caller still imports its own part if `prepare` is called early. The fork server has one
thread of Python's and does nothing but fork: what makes it unsafe to fork a caller is not there.

Why not the fork server of multiprocessing: each of its processes imports the caller's main module
again, so a script that simulates outside of `if __name__ == "__main__"` would start itself anew.

A question has five bytes, what is asked for and a number, and an answer four. The fork server ends
when its caller does, however that ends. Workers are its children, so it is asked how one ended.
"""

import atexit
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Final

from simnet.printable import lines

BROKE_OFF: Final = 1 << 16
"""Stands for the exit status of a worker that is ended, or about which nobody can be asked."""

# by name, because they import this module
_FOR_WORKERS: Final = (
    "simnet.scenario.system.ground",
    "simnet.study.work.cases",
    "simnet.study.work.store",
    "simnet.study.work.task",
)
_ATTEMPTS: Final = 3
_PATIENCE_S: Final = 5
_POLL_S: Final = 0.001
_QUESTION: Final = struct.Struct("=ci")
_ANSWER: Final = struct.Struct("=i")
_FORK, _ENDED = b"f", b"e"
_SERVE: Final = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[1]);"
    " from simnet.study.work.fork_server import serve; serve(int(sys.argv[2]))"
)


class ForkServer:
    """The fork server as its caller sees it."""

    def __init__(self) -> None:
        mine, other = socket.socketpair()
        command = [sys.executable, "-P", *(f"-W{option}" for option in sys.warnoptions), "-c"]
        command += [_SERVE, json.dumps(sys.path), str(other.fileno())]
        try:
            with other, interrupts_blocked():
                self._process = subprocess.Popen(  # noqa: S603 (this interpreter)
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    pass_fds=[other.fileno()],
                )
        except OSError:
            mine.close()
            raise
        self._channel = mine
        self._asking = threading.Lock()

    def fork(self, descriptor: int) -> int:
        """Start a worker that does what comes over this socket; its process number.

        Raises:
            OSError: no process can be started.
            EOFError: the fork server has ended.
        """
        number = self._asked(_FORK, 0, descriptor)
        if number < 0:
            raise OSError(-number, os.strerror(-number))
        return number

    def ended(self, worker: int) -> int:
        """The exit status of a worker whose connection is closed; minus the signal that ended it.

        One that does not end by itself is ended.
        """
        try:
            return self._asked(_ENDED, worker)
        except EOFError:
            return BROKE_OFF

    def kill(self, worker: int) -> None:
        """End a worker, whatever it does."""
        if self._process.poll() is None:  # else its number may be another process's
            os.kill(worker, signal.SIGKILL)
            self.ended(worker)

    def close(self) -> None:
        """End the fork server; workers end with their connections."""
        self._channel.close()
        self._process.kill()
        self._process.wait()

    def _asked(self, what: bytes, number: int, *descriptors: int) -> int:
        with self._asking:
            try:
                socket.send_fds(self._channel, [_QUESTION.pack(what, number)], descriptors)
                answer = self._channel.recv(_ANSWER.size)
            except OSError:
                answer = b""
            except BaseException:  # an interrupt: its answer must not be taken for that of another
                self._channel.close()
                raise
        if not answer:
            raise EOFError
        return int(_ANSWER.unpack(answer)[0])


_STARTING: Final = threading.Lock()
_STARTED: Final[list[ForkServer]] = []


def prepare() -> ForkServer:
    """Start the fork server now, because workers will be needed; one that runs is taken."""
    with _STARTING:
        if not _STARTED:
            _STARTED.append(ForkServer())
        return _STARTED[0]


def forked(descriptor: int) -> tuple[ForkServer, int]:
    """Start a worker that does what comes over a socket.

    Returns:
        The fork server, started if there is none, and the worker's process number.

    Raises:
        OSError: no process can be started.
    """
    for _ in range(_ATTEMPTS):
        server = prepare()
        try:
            return server, server.fork(descriptor)
        except EOFError:
            with _STARTING:
                if server in _STARTED:
                    _STARTED.remove(server)
                    server.close()
    message = "the one that starts them was ended each time"
    raise ChildProcessError(0, message)


@atexit.register
def _close() -> None:
    while _STARTED:
        _STARTED.pop().close()


@contextmanager
def interrupts_blocked() -> Iterator[None]:
    """Processes that are started inside the block get no interrupts; the own one gets them later.

    They inherit the blocked signal, permanently. To ignore an interrupt here would lose it.
    """
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def serve(descriptor: int) -> None:
    """Be the fork server: answer what comes over this socket, until it ends.

    What workers need is imported before on Linux only: elsewhere libraries may not bear to be
    forked once they are loaded.
    """
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # a fork has one thread anyway
    from simnet.study.work.worker import serve as work

    channel = socket.socket(fileno=descriptor)
    if sys.platform == "linux":
        for module in _FOR_WORKERS:
            import_module(module)
        _import_builders(channel)
    while True:
        question, descriptors, *_ = socket.recv_fds(channel, _QUESTION.size, 1)
        if not question:
            os._exit(0)
        what, number = _QUESTION.unpack(question)
        answer = _fork(channel, descriptors[0], work) if what == _FORK else _ended(number)
        try:
            channel.send(_ANSWER.pack(answer))
        except OSError:
            os._exit(0)


def _import_builders(channel: socket.socket) -> None:
    """Import what the first simulation of a worker would, until there is a question."""
    from simnet.scenario.core.subject import builders

    for module in builders():
        if select.select([channel], [], [], 0)[0]:
            return
        import_module(module)


def _fork(channel: socket.socket, descriptor: int, work: Callable[[int], None]) -> int:
    """The number of a new worker; minus the error if there is none."""
    try:
        number = os.fork()
    except OSError as error:
        os.close(descriptor)
        return -(error.errno or 1)
    if number:
        os.close(descriptor)
        return number
    try:
        channel.close()
        work(descriptor)
    except BaseException:  # noqa: BLE001 (of a worker, which must not go on as a fork server)
        sys.stderr.write(lines(traceback.format_exc()))
    finally:
        os._exit(1)


def _ended(worker: int) -> int:
    """Wait for the end of a worker and return how it was."""
    patient_until_s = time.monotonic() + _PATIENCE_S
    while time.monotonic() < patient_until_s:
        number, status = os.waitpid(worker, os.WNOHANG)
        if number:
            return os.waitstatus_to_exitcode(status)
        time.sleep(_POLL_S)
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)
    return BROKE_OFF
