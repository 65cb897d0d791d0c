"""When something that acts only now and then acts for the first time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DelayedAction:
    """What a measurement has to wait for, or has to be long enough for.

    Attributes:
        name: of what acts.
        does: what it does then, as in "first acts".
        after_ps: how long that takes.
        by: what has to come later than that, counted from the start of the simulation: the
            measurement's start, or its end; or the length that a measurement needs.
    """

    name: str
    does: str
    after_ps: int
    by: Literal["start", "end", "length"] = "start"
