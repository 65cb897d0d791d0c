"""Work for worker processes that ends them, each time or the first time."""

import contextlib
import os
import signal
import stat
import struct
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

_GROWN: list[bytes] = []


@dataclass(frozen=True)
class Piece:
    """A number to be doubled, and what becomes of whoever does it."""

    number: int  # the number
    folder: Path  # each attempt leaves a file in it while it lasts, and one for good
    fault: str = ""  # name of a function of this module, or nothing
    attempts: int = 1  # how many of them meet it
    lasts_s: float = 0.0  # how long it takes

    def tried(self) -> int:
        """How many attempts there were."""
        return len(list(self.folder.glob(f"{self.number}-*")))

    def beside(self) -> list[str]:
        """Which others are being done."""
        return [path.name for path in self.folder.glob("*.now") if path.stem != f"{self.number}"]


def double(piece: Piece) -> Any:
    """Do the work, or fall to the fault."""
    attempt = piece.tried() + 1
    (piece.folder / f"{piece.number}-{attempt}").write_text(" ".join(piece.beside()))
    if piece.fault and attempt <= piece.attempts:
        faults: dict[str, Callable[[], Any]] = {
            "killed": killed,
            "killed_answering": KilledAnswering,
            "killed_within_the_answer": killed_within_the_answer,
            "out_of_memory": out_of_memory,
            "crashed": os.abort,
        }
        return faults[piece.fault]()
    now = piece.folder / f"{piece.number}.now"
    now.touch()
    time.sleep(piece.lasts_s)
    now.unlink()
    return 2 * piece.number


def parent(lasts_s: float) -> int:
    """Say after a while which process this one was forked from."""
    time.sleep(lasts_s)
    return os.getppid()


def killed() -> NoReturn:
    """Be killed, as for want of memory."""
    os.kill(os.getpid(), signal.SIGKILL)
    raise AssertionError


class KilledAnswering:
    """Be killed when the answer is to be sent."""

    def __reduce__(self) -> NoReturn:
        killed()


def _connection() -> int:
    """The only socket of a worker."""
    found = []
    for descriptor in (int(file.name) for file in Path("/proc/self/fd").iterdir()):
        with contextlib.suppress(OSError):
            if descriptor > sys.stderr.fileno() and stat.S_ISSOCK(os.fstat(descriptor).st_mode):
                found.append(descriptor)
    (only,) = found
    return only


def killed_within_the_answer() -> NoReturn:
    """Be killed when half of an answer has been sent."""
    os.write(_connection(), struct.pack("!i", 1000) + b"half")
    killed()


def out_of_memory() -> NoReturn:
    """Ask for more memory than there is."""
    raise MemoryError


def grow(megabytes: int) -> int:
    """Keep as much memory, and say which process has it."""
    _GROWN.append(b"x" * (megabytes << 20))
    return os.getpid()
