"""Opens what a user calls a host: archives, folders, files, standard input, or this machine."""

from __future__ import annotations

import os
import re
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final, TypeAlias

from simnet.errors import InputError
from simnet.files import open_to_read
from simnet.importing.files.archive import ArchiveFiles
from simnet.importing.files.files import MOST_BYTES, UTF_16, Files
from simnet.importing.files.folder import FolderFiles
from simnet.importing.files.live import LiveFiles
from simnet.importing.files.together import ListedFiles, TogetherFiles
from simnet.importing.host import ReadHost, read_host

if TYPE_CHECKING:
    from collections.abc import Sequence

_STANDARD_INPUT: Final = "-"
# what a shell puts in place of `<(command)`
_OF_A_COMMAND: Final = re.compile(r"/(?:dev|proc/self)/fd/\d+")
# what shows that a folder stands for a host's root
_ROOTED: Final = ("proc/cpuinfo", "sys/devices/system/cpu", "sos_commands", "proc/interrupts")
_DEEPEST: Final = 3
_MOST: Final = 100
_MOST_SOURCES: Final = 1000
_PASTED: Final = "standard-input.txt"
_PRINTED: Final = "output.txt"
_ARCHIVES: Final = (".tar", ".tgz", ".tbz2", ".txz", ".gz", ".bz2", ".xz")
# in which a terminal may have left anything
_TEXTS: Final = frozenset({".txt", ".log", ".out"})
_PACKED: Final = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ")
_HEAD: Final = 4096
_UNPRINTED: Final = b"\0"


class Sources:
    """What a user names of one host, opened once, when it is first read, whoever reads it.

    An archive takes a minute to unpack, and standard input can be read once.

    Args:
        names: see `read_source`.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self.names = tuple(names)

    @classmethod
    def of(cls, named: Named) -> Sources:
        """Return sources that are named, or that are open already."""
        return named if isinstance(named, Sources) else cls(named)

    @cached_property
    def each(self) -> tuple[tuple[Files, list[str]], ...]:
        """Of each its files, and the names of those that may be any output.

        Raises:
            InputError: one cannot be read, or there are too many.
        """
        if len(self.names) > _MOST_SOURCES:
            message = f"expected at most {_MOST_SOURCES} sources"
            raise InputError(message, file=self.names[0])
        return tuple(opened(name) for name in self.names)


Named: TypeAlias = "Sequence[str] | Sources"
"""Sources by name, or opened."""


def read_live() -> ReadHost:
    """Read this machine: /proc, /sys, and what ethtool and lspci print, where they are."""
    return read_host(LiveFiles())


def read_source(name: str) -> ReadHost:
    """Read a host's files.

    Args:
        name: path of a tar archive or of a folder: a sosreport, a snapshot of /proc and /sys, or
            outputs of commands; or of one file with outputs; `-` for standard input.

    Raises:
        InputError: it cannot be read.
    """
    return read_sources((name,))


def read_sources(named: Named, cpus: int | None = None) -> ReadHost:
    """Read the files of one host.

    Args:
        named: what the user calls them.
        cpus: how many the host has, where nothing else says it.

    Raises:
        InputError: they cannot be read, or nothing in them is understood.
    """
    sources = Sources.of(named)
    names, every = sources.names, sources.each
    if len(every) == 1:
        return read_host(*every[0], cpus=cpus)
    label = ", ".join(names[:3]) + (" and others" if len(names) > 3 else "")  # noqa: PLR2004 - of a message
    files = TogetherFiles(every, label)
    return read_host(files, files.outputs, cpus=cpus)


def is_piped(name: str) -> bool:
    """Whether it is standard input, or what a command prints: nothing that has a name."""
    return name == _STANDARD_INPUT or _OF_A_COMMAND.fullmatch(name) is not None


def opened(name: str) -> tuple[Files, list[str]]:
    """Return the files of what a path names, and the names of those that may be any output.

    That are all files of a folder of outputs, and what lies beside /proc and /sys.

    Raises:
        InputError: it cannot be read.
    """
    if name == _STANDARD_INPUT:
        return _listed("standard input", _PASTED, sys.stdin.buffer.read(MOST_BYTES + 1))
    if is_piped(name):
        with open_to_read(Path(name), waits=True) as output:
            return _listed(name, _PRINTED, output.read(MOST_BYTES + 1))
    if not name:
        # an empty path is the current folder; a variable without a value is a slip
        raise InputError("expected a folder, a tar archive or a file, got ''")
    path = Path(name)
    files: Files
    if os.path.isdir(path):  # noqa: PTH112 (no error for a long name)
        files = FolderFiles(path, name)
        root = _root(files)
        rooted: Files = FolderFiles(path / root, name) if root else files
    elif (data := _text(path, name)) is not None:
        return _listed(name, path.name, data)
    else:
        archive = ArchiveFiles(path, name)
        root = _root(archive)
        rooted = archive.rooted(root or "")
    return rooted, rooted.walk() if root is None else rooted.names("")


def _text(path: Path, shown: str) -> bytes | None:
    """Return a file's content if it is a text, and no archive."""
    if path.name.endswith(_ARCHIVES):
        return None
    with open_to_read(path, shown=shown) as file:
        head = file.read(_HEAD)
        called_text = path.suffix.lower() in _TEXTS or head.startswith(UTF_16)
        if head.startswith(_PACKED) or (_UNPRINTED in head and not called_text):
            return None
        return head + file.read(MOST_BYTES)


def _listed(label: str, name: str, data: bytes) -> tuple[Files, list[str]]:
    if len(data) > MOST_BYTES:
        raise InputError(f"expected at most {MOST_BYTES >> 20} MiB of text", file=label)
    return ListedFiles(label, {name: data}), [name]


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


def _there(files: Files, name: str) -> bool:
    return bool(files.names(name)) or files.data(name) is not None
