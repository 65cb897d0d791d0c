"""The files of this machine, and what commands print of it that no file tells.

The commands only read, and are those that parsers announce; one that is not installed, fails, or
takes too long has printed nothing.
"""

import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from simnet.importing.files.folder import FolderFiles
from simnet.importing.kind import LATER, kinds

_CLASS: Final = "sys/class/net"
# between two looks at counters
_BETWEEN_SECONDS: Final = 1.0
_MOST_SECONDS: Final = 10
# where an administrator's commands are, whatever PATH a user has
_PATH: Final = f"{os.defpath}:/usr/local/sbin:/usr/sbin:/sbin"


class LiveFiles(FolderFiles):
    """Files of this machine; outputs are where a sosreport would have them."""

    def __init__(self) -> None:
        super().__init__(Path("/"), "this machine")
        self._printed = dict(self._outputs())
        time.sleep(_BETWEEN_SECONDS)
        self._printed |= {LATER + name: data for name, data in self._again()}

    def data(self, name: str) -> bytes | None:
        """See `Files.data`."""
        return self._printed.get(name) or super().data(name)

    def names(self, folder: str) -> list[str]:
        """See `Files.names`."""
        printed = (name.removeprefix(f"{folder}/") for name in self._printed)
        found = {name for name in printed if "/" not in name}
        return sorted({*super().names(folder), *found})

    def _again(self) -> Iterator[tuple[str, bytes]]:
        """Yield what counts, as it is by now."""
        yield from self._outputs(twice=True)
        for kind in kinds().values():
            for name in kind.files if kind.twice else ():
                yield name, super().data(name) or b""

    def _outputs(self, *, twice: bool = False) -> Iterator[tuple[str, bytes]]:
        """Yield place and output of each command that printed something."""
        ports = [
            name
            for name in super().names(_CLASS)
            if super(LiveFiles, self).names(f"{_CLASS}/{name}/device")
        ]
        for kind in kinds().values():
            if (kind.of_port or kind.live) and kind.twice >= twice:
                program, *arguments = kind.command.split()
                found = shutil.which(program, path=_PATH)
                for port in ports if kind.of_port else ("",):
                    typed = [port if word == "{port}" else word for word in arguments]
                    if found and (printed := _printed([found, *typed])):
                        yield kind.place.replace("{port}", port), printed


def _printed(command: list[str]) -> bytes:
    try:
        done = subprocess.run(  # noqa: S603 - commands of our own, on this machine
            command, capture_output=True, check=True, timeout=_MOST_SECONDS, env={"LC_ALL": "C"}
        )
    except (OSError, subprocess.SubprocessError):
        return b""
    return done.stdout
