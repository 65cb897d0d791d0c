"""What is typed for a tuning, split into sysctls and the rest: other tools set these by name."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simnet.scenario.commands.distribution import OWN_NAME
from simnet.scenario.commands.together import CUT_OFF

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from simnet.scenario.commands.commands import Commands

_SETS: Final = ("sysctl", "-w")
_HERE: Final = "<<'END'"
_END: Final = "END"


@dataclass(frozen=True)
class Parts:
    """What is typed on one machine."""

    where: str  # the machine
    sysctls: dict[str, str]  # names with values, in their order
    apply: tuple[str, ...]  # all else that is typed
    undo: tuple[str, ...]  # undoes that
    undo_sysctls: tuple[str, ...]  # commands that set sysctls to what they were
    keep: tuple[str, ...]  # makes `apply` survive a reboot
    drop: tuple[str, ...]  # undoes that
    # commands of `keep` that beside a script of one's own are still needed
    at_start: tuple[str, ...]
    at_stop: tuple[str, ...]  # undoes that
    cut_off: bool  # a session may be cut off by it


def parts_of(commands: Commands) -> Parts:
    """Split what is typed on a machine."""
    sysctls = dict(pair for line in commands.apply if (pair := _sysctl(line)))
    keep = [block for block in _blocks(commands.keep) if not _keeps_only(block, sysctls)]
    files = {_file(block) for block in _blocks(commands.keep)} - {_file(block) for block in keep}
    drop = [line for line in commands.drop if line.split()[-1] not in files]
    return Parts(
        where=commands.where,
        sysctls=sysctls,
        apply=tuple(line for line in commands.apply if not _sysctl(line)),
        undo=tuple(line for line in commands.undo if not _sysctl(line)),
        undo_sysctls=tuple(line for line in commands.undo if _sysctl(line)),
        keep=tuple(line for block in keep for line in block),
        drop=tuple(drop),
        at_start=tuple(block[0] for block in keep if len(block) == 1 and OWN_NAME not in block[0]),
        at_stop=tuple(
            line for line in drop if OWN_NAME not in line and not line.startswith("sed ")
        ),
        cut_off=any(CUT_OFF in line for line in (*commands.apply, *commands.undo)),
    )


def _sysctl(line: str) -> tuple[str, str] | None:
    """Name and value that a line sets, if that is all it does."""
    if not line.startswith(" ".join(_SETS)):
        return None
    words = shlex.split(line)
    name, sign, value = words[-1].partition("=")
    return (name, value) if len(words) == len(_SETS) + 1 and sign else None


def _blocks(lines: Iterable[str]) -> Iterator[list[str]]:
    """Yield commands, each with the text that it takes from the lines below it."""
    block: list[str] = []
    for line in lines:
        block.append(line)
        if not block[0].endswith(_HERE) or line == _END:
            yield block
            block = []
    if block:
        yield block


def _keeps_only(block: Sequence[str], sysctls: dict[str, str]) -> bool:
    """Whether a block writes the sysctls to a file, and nothing else."""
    kept = [line for line in block[1:-1] if not line.startswith("#")]
    return bool(kept) and kept == [f"{name} = {value}" for name, value in sysctls.items()]


def _file(block: Sequence[str]) -> str:
    """The file that a block writes to; empty for none."""
    words = block[0].split()
    return words[-2] if block[0].endswith(_HERE) else ""
