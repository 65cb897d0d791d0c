"""The files of a host in a folder; with the root folder they are those of this machine."""

import os
import stat
from pathlib import Path

from simnet.importing.files.files import MOST_BYTES, MOST_NAMES, Files


class FolderFiles(Files):
    """Files below a folder.

    Args:
        root: the folder that stands for the host's root.
        label: what the user called it.
    """

    def __init__(self, root: Path, label: str) -> None:
        self.root = root
        self.label = label
        self._targets: dict[str, str | None] = {}

    def data(self, name: str) -> bytes | None:
        """See `Files.data`; neither a link nor a pipe nor a device is opened."""
        path = self.root / name
        try:
            # the files of /proc and /sys call themselves empty
            if not stat.S_ISREG(path.lstat().st_mode):
                return None
            descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except (OSError, ValueError):
            return None
        try:
            return _bounded(descriptor)
        except OSError:
            return None
        finally:
            os.close(descriptor)

    def target(self, name: str) -> str | None:
        """See `Files.target`."""
        if name not in self._targets:
            try:
                self._targets[name] = str((self.root / name).readlink())
            except (OSError, ValueError):
                self._targets[name] = None
        return self._targets[name]

    def names(self, folder: str) -> list[str]:
        """See `Files.names`."""
        real = self.real(folder)
        if real is None:
            return []
        try:
            with os.scandir(self.root / real) as entries:
                return sorted(entry.name for entry, _ in zip(entries, range(MOST_NAMES)))  # noqa: B905 - the bound is longer
        except (OSError, ValueError):
            return []

    def walk(self) -> list[str]:
        """See `Files.walk`."""
        found: list[str] = []
        for folder, folders, files in os.walk(self.root):
            folders.sort()
            place = os.path.relpath(folder, self.root)
            found += [name if place == "." else f"{place}/{name}" for name in sorted(files)]
            if len(found) >= MOST_NAMES:
                break
        return found[:MOST_NAMES]


def _bounded(descriptor: int) -> bytes | None:
    found = bytearray()
    while data := os.read(descriptor, 1 << 20):
        found += data
        if len(found) > MOST_BYTES:
            return None
    return bytes(found)
