"""What a subject has typed for several of its settings at once."""

from dataclasses import dataclass
from typing import Final

CUT_OFF: Final = "is cut off, so type this at the console"
"""What is said, of a session, before a command that takes ports down."""


@dataclass(frozen=True)
class Together:
    """Shell lines of the system under test, beside those of single knobs."""

    first: tuple[str, ...] = ()  # before everything else
    first_undo: tuple[str, ...] = ()  # undoes that, after everything else
    last: tuple[str, ...] = ()  # after everything else
    last_undo: tuple[str, ...] = ()  # undoes that, before everything else
    options: tuple[str, ...] = ()  # lines of the file with modules' options
    keep: tuple[str, ...] = ()  # what else makes it survive a reboot
    drop: tuple[str, ...] = ()  # undoes that
