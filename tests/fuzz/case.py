"""One input of the fuzzer, and how it ended."""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Mapping

ALLOWED: Final = frozenset({0, 1, 2, 3, 74, 130})
"""What a command may end with: done, no, bad input, cannot tell, output not written, interrupted.

Never 70: that is a defect, or a simulation that an input could break.
"""

_NUMBERS: Final = re.compile(r"0x[0-9a-f]+|\d[\d_.,]*(e[+-]?\d+)?")


@dataclass(frozen=True)
class Case:
    """What is run, complete: with it alone the end can be seen again."""

    kind: str  # which generator made it
    arguments: tuple[str, ...] = ()  # the command line after ``simnet``; for the API empty
    # keyword arguments of :func:`simnet.run`, for the API
    call: Mapping[str, Any] = field(default_factory=dict)
    # what lies in the working directory, as Latin-1 text of the bytes
    files: Mapping[str, str] = field(default_factory=dict)
    seed: int = -1  # it was made from; with the generator as it was then, it is made again

    def dumps(self) -> str:
        """Return it as one line of JSON."""
        return json.dumps(asdict(self), sort_keys=True)

    @classmethod
    def loads(cls, text: str) -> Case:
        """Return what `dumps` wrote."""
        found = json.loads(text)
        return replace(cls(**found), arguments=tuple(found["arguments"]))


@dataclass(frozen=True)
class End:
    """How a case ended."""

    status: int  # exit status; minus the number of the signal that ended it
    problem: str  # what is wrong with that; empty if nothing is
    said: str  # the last of stderr
    milliseconds: int  # wall time

    @property
    def signature(self) -> str:
        """What findings of one cause have in common: the problem without its numbers."""
        return _NUMBERS.sub("N", self.problem)
