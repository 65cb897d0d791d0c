"""Kinds of files that `simnet import` reads, gathered from what parsers announce."""

import functools
from dataclasses import dataclass
from typing import Any, Final

from simnet.announced import modules_below

LATER: Final = "later/"
"""What stands before the names of files that were taken a second time."""
NOT_MODELLED: Final = "no simulation depends on it"
"""Why a setting, or a file of settings, is not used."""
HAPPENED: Final = "what happened, and no setting"
"""Why a file that counts events is not used."""
CAPTURED: Final = "packets are captured, and no protocol receives them"
"""Why what a program that captures packets prints is not used."""


@dataclass(frozen=True)
class Kind:
    """A file of /proc or /etc, or the output of a command."""

    name: str  # what it is asked for by: the file's name or the command without its interface
    # what the text begins with, for files of any name; empty if that tells nothing. The group
    # `interface` is the interface that it is of.
    start: str = ""
    # what any line of it begins with, and no line of another, where not `start` is that: for
    # texts whose first lines were left out, or with something before them
    line: str = ""
    files: tuple[str, ...] = ()  # where it is below a host's root, the first that is there
    command: str = ""  # what prints it, with `{port}` for an interface; empty for a file
    folder: str = ""  # of `sos_commands`, where a sosreport has the output
    also: tuple[str, ...] = ()  # other names of the output, below `sos_commands`, with `{port}`
    # `--live` asks this machine for it. What is printed of interfaces is asked for anyway.
    live: bool = False
    # it counts: the script and `--live` take it a second time, into the folder `later`
    twice: bool = False
    many: bool = False  # there may be several files of any name, see `Outputs.every`
    # why a file of this kind may have been read and changed nothing; empty if it is that
    # other files say the same, or that nothing of it is simulated
    idle: str = ""

    @property
    def place(self) -> str:
        """Where a sosreport, and the script, put the output."""
        return f"sos_commands/{self.folder}/{self.command.replace(' ', '_')}"

    @property
    def places(self) -> tuple[str, ...]:
        """All places below a host's root."""
        printed = (self.place, *(f"sos_commands/{name}" for name in self.also))
        return (*self.files, *(printed if self.command else ()))

    @property
    def of_port(self) -> bool:
        """Whether there is one for each interface."""
        return "{port}" in self.command


@dataclass(frozen=True)
class Told:
    """A setting as it was read."""

    name: str  # of the knob, as `--set` takes it; `irq:PORT:QUEUE` for the interrupt of a queue
    raw: str  # its value, as the knob takes it
    source: str  # the file
    state: str = "read"  # `read`, or `assumed`
    why: str = ""  # the scenario cannot have it; empty if it may


@functools.cache
def announced() -> tuple[Any, ...]:
    """Return the `PARSER` of each module below :mod:`simnet.importing.parsers`, by their names."""
    from simnet.importing import parsers as folder

    modules = sorted(modules_below(folder), key=lambda one: one.__name__.rpartition(".")[2])
    return tuple(module.PARSER for module in modules if hasattr(module, "PARSER"))


@functools.cache
def kinds() -> dict[str, Kind]:
    """Return all kinds of files, by name."""
    return {kind.name: kind for parser in announced() for kind in parser.kinds}
