"""What a subject has typed for several of its settings at once."""

from dataclasses import dataclass
from typing import Final

CUT_OFF: Final = "is cut off, so type this at the console"
"""What is said, of a session, before a command that takes ports down."""


@dataclass(frozen=True)
class Together:
    """Shell lines of the system under test, beside those of single knobs.

    Attributes:
        first: before everything else.
        first_undo: undoes that, after everything else.
        last: after everything else.
        last_undo: undoes that, before everything else.
        options: lines of the file with modules' options.
        keep: what else makes it survive a reboot.
        drop: undoes that.
    """

    first: tuple[str, ...] = ()
    first_undo: tuple[str, ...] = ()
    last: tuple[str, ...] = ()
    last_undo: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
