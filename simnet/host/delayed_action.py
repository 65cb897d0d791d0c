"""When something that acts only now and then acts for the first time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class DelayedAction:
    """What a measurement has to wait for, or has to be long enough for."""

    name: str  # of what acts
    does: str  # what it does then, as in "first acts"
    after_ps: int  # how long that takes
    # what has to come later than that, counted from the start of the simulation: the
    # measurement's start, or its end; or the length that a measurement needs
    by: Literal["start", "end", "length"] = "start"
