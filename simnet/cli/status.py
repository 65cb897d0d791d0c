"""The exit statuses of the command, each with what it means."""

from __future__ import annotations

from enum import IntEnum, unique
from typing import Self


@unique
class Status(IntEnum):
    """How a command ends. Where an answer has three outcomes, 0, 1 and 3 tell them apart."""

    meaning: str  # for people

    def __new__(cls, number: int, meaning: str) -> Self:
        """Make a status of a number and what it means."""
        status = int.__new__(cls, number)
        status._value_ = number
        status.meaning = meaning
        return status

    DONE = 0, "done; of a question: yes, or nothing is wrong"
    NO = 1, "done; of a question: no, or something is found, or a prediction is missed"
    BAD_INPUT = 2, "bad input: one line says what, where and what was expected; nothing is written"
    NO_ANSWER = 3, "cannot tell; also where memory ran out, or a process was killed"
    FAILED = 70, "the simulation or simnet itself failed; `SIMNET_DEBUG=1` shows where"
    NOT_WRITTEN = 74, "output could not be written: the old file stays as it was"
    INTERRUPTED = 130, "Ctrl-C: no part of a file stays"
    # what a shell says of a command that SIGPIPE or SIGTERM ended
    LEFT = 141, "whoever read the output has left; nothing is said"
    TERMINATED = 143, "SIGTERM: as Ctrl-C"
