"""A file of sysctls, as ``sysctl -p FILE`` loads it, read as settings. Nothing is executed.

Sources: sysctl(8), sysctl.conf(5), sysctl.d(5).
"""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from simnet.errors import InputError
from simnet.files import read_text
from simnet.scenario.core.knobs import KNOBS, knob_of
from simnet.scenario.core.units import UnitError
from simnet.spelling import closest

_LOADS: Final = frozenset({"-p", "--load"})
_SETS: Final = "sysctl "
_DEFAULT: Final = "/etc/sysctl.conf"
_COMMENT: Final = ("#", ";")


@dataclass(frozen=True)
class SysctlFile:
    """What files set."""

    settings: dict[str, str]  # knobs with their values; the last of several counts
    # names that are no knobs of simnet, each with the one that may have been meant
    others: tuple[str, ...]


def files_loaded(text: str) -> list[str] | None:
    """The files of ``sysctl -p FILE...``; None where a text is something else."""
    try:
        words = shlex.split(text)
    except ValueError:
        return None
    if words[:1] == ["sudo"]:
        del words[0]
    if words[:1] != ["sysctl"] or not _LOADS & set(words[1:2]):
        return None
    return words[2:] or [_DEFAULT]


def read_sysctl_files(files: list[str]) -> SysctlFile:
    """Return what files set, one after the other.

    Raises:
        InputError: a file cannot be read, a line of it is no setting, or its value is not legal.
    """
    settings: dict[str, str] = {}
    others: dict[str, None] = {}
    for file in files:
        text = read_text(Path(file), kind="file of sysctls")
        for number, line in enumerate(text.splitlines(), start=1):
            words = line.strip()
            if not words or words.startswith(_COMMENT):
                continue
            name, sign, value = words.partition("=")
            if not sign and words.startswith("-"):
                continue  # sysctl.d(5): a pattern after this one leaves the name alone
            if not sign or not name.strip():
                raise InputError("expected NAME = VALUE", file=file, line=number)
            name = _dotted(name.strip().removeprefix("-"))
            found = knob_of(name)
            if found is None or not found[0].command.startswith(_SETS):
                others[_meant(name)] = None
                continue
            settings.pop(name, None)
            settings[name] = " ".join(value.split())
            try:
                found[0].parse(settings[name])
            except UnitError as error:
                raise InputError(str(error), file=file, line=number, key=name) from None
    return SysctlFile(settings, tuple(others))


def _meant(name: str) -> str:
    """A name that is no sysctl of simnet's, with the one that may have been meant."""
    known = (knob.name for knob in KNOBS if knob.command.startswith(_SETS))
    near = closest(name, known)
    return f"{name} (did you mean {near}?)" if near else name


def _dotted(name: str) -> str:
    """A name as sysctl(8) has it; where a slash comes first, the two stand for each other."""
    first = next((c for c in name if c in "./"), ".")
    return name.translate(str.maketrans("./", "/.")) if first == "/" else name
