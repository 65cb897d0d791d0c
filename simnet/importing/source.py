"""Opens what a user calls a host: an archive, a folder, or this machine."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

from simnet.errors import InputError
from simnet.importing.files.archive import ArchiveFiles
from simnet.importing.files.folder import FolderFiles
from simnet.importing.files.live import LiveFiles
from simnet.importing.host import ReadHost, read_host

if TYPE_CHECKING:
    from simnet.importing.files.files import Files

__all__ = ["opened", "read_live", "read_source"]

# what shows that a folder stands for a host's root
_ROOTED: Final = ("proc/cpuinfo", "sys/devices/system/cpu", "sos_commands", "proc/interrupts")
_DEEPEST: Final = 3


def read_live() -> ReadHost:
    """Read this machine: /proc, /sys, and what ethtool and lspci print, where they are."""
    return read_host(LiveFiles())


def read_source(name: str) -> ReadHost:
    """Read a host's files.

    Args:
        name: path of a tar archive or of a folder: a sosreport, a snapshot of /proc and /sys, or
            outputs of commands.

    Raises:
        InputError: it cannot be read, or says nothing of a host's CPUs.
    """
    return read_host(*opened(name))


def opened(name: str) -> tuple[Files, list[str]]:
    """Return the files of what a path names, and the names of those that may be any output.

    That are all files of a folder of outputs, and what lies beside /proc and /sys.

    Raises:
        InputError: it cannot be read.
    """
    path = Path(name)
    files: Files
    if path.is_dir():
        files = FolderFiles(path, name)
        root = _root(files)
        rooted: Files = FolderFiles(path / root, name) if root else files
    elif path.is_file():
        archive = ArchiveFiles(path, name)
        root = _root(archive)
        rooted = archive.rooted(root or "")
    else:
        raise InputError("expected a folder or a tar archive: no such file", file=name)
    return rooted, rooted.walk() if root is None else rooted.names("")


def _root(files: Files) -> str | None:
    """Return the folder that stands for the root; None if there are only outputs."""
    level = [""]
    for _ in range(_DEEPEST):
        for folder in level:
            if any(_there(files, f"{folder}/{name}".strip("/")) for name in _ROOTED):
                return folder
        level = [
            f"{folder}/{name}".strip("/")
            for folder in level
            for name in files.names(folder)[:_MOST]
            if files.names(f"{folder}/{name}".strip("/"))
        ]
    return None


_MOST: Final = 100


def _there(files: Files, name: str) -> bool:
    return bool(files.names(name)) or files.data(name) is not None
