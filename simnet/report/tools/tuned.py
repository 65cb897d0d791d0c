"""A tuning as a profile of tuned: sysctls by name, and a script for all else.

tuned starts the script when the profile is switched on and at each boot, and stops it when another
one is chosen; sysctls it restores by itself. So nothing else has to be kept.

Source: tuned-profiles(7), tuned.conf(5), plugins ``sysctl`` and ``script``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.printable import printable
from simnet.report.tools.parts import parts_of

if TYPE_CHECKING:
    from simnet.scenario.commands.commands import Commands

PROFILE: Final = "tuned.conf"
SCRIPT: Final = "script.sh"


def profile(title: str, commands: Commands) -> dict[str, str]:
    """Return the files of a profile, by name; a script only where something is to be run.

    Args:
        title: what it does.
        commands: of one machine.

    Raises:
        ValueError: a command cuts sessions off, which no profile may do at each boot.
    """
    parts = parts_of(commands)
    if parts.cut_off:
        raise ValueError("a session is cut off by a command of it")
    lines = ["[main]", f"summary={printable(title)}"]
    if parts.sysctls:
        lines += ["", "[sysctl]", *(f"{name}={value}" for name, value in parts.sysctls.items())]
    start, stop = (*parts.apply, *parts.at_start), (*parts.at_stop, *parts.undo)
    files = {}
    if any(not line.startswith("#") for line in (*start, *stop)):
        lines += ["", "[script]", f"script=${{i:PROFILE_DIR}}/{SCRIPT}"]
        cases = ('case "$1" in', "start)", *start, ";;", "stop)", *stop, ";;", "esac")
        script = ("#!/bin/sh", "# tuned calls it with start, stop or verify", *cases)
        files[SCRIPT] = "".join(f"{line}\n" for line in script)
    else:  # what is to be done by hand
        lines += ["", *map(printable, parts.apply)] if parts.apply else []
    files[PROFILE] = "".join(f"{line}\n" for line in lines)
    return files
