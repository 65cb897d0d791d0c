"""The files of a host in a tar archive, plain or packed by gzip, bzip2 or xz.

The archive is read once, from front to end, and never unpacked to disk. What a host's files are
recognised by is kept in memory, everything else is passed over. An archive may be broken or
hostile, so its members, its bytes, packed and unpacked, what is kept, the headers of a member and
the depth of its name are bounded; `simnet.importing.bounded` bounds the time.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import tarfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any, BinaryIO, Final

from simnet.errors import InputError
from simnet.files import open_to_read
from simnet.importing.files.files import MOST_BYTES, MOST_NAMES, Files

_MOST_UNPACKED: Final = 16 << 30
_MOST_KEPT: Final = 512 << 20
# a gigabyte of zeros is packed 1000 to 7000 times; listings 5 to 30 times
_MOST_RATIO: Final = 400
_RATIO_FROM: Final = 64 << 20
# a name may have 4096 bytes, attributes and access lists some more
_MOST_HEADERS: Final = 64 << 10
_MOST_DEPTH: Final = 48
_MOST_NAME: Final = 4096
_SKIP: Final = 1 << 20
_PACKED: Final[tuple[tuple[bytes, Callable[..., Any]], ...]] = (
    (b"\x1f\x8b", gzip.open),
    (b"BZh", bz2.open),
    (b"\xfd7zXZ\x00", lzma.open),
)
_BROKEN: Final = (
    *(tarfile.TarError, EOFError, OSError, lzma.LZMAError, zlib.error, ValueError),
    RecursionError,
)
# what is passed over without being kept: nothing here reads it, and it is most of a sosreport
_PASSED_OVER: Final = re.compile(
    r"(^|/)(var/log|usr(?!/lib/os-release$)|boot|root|home|var/lib|sys/kernel/debug|sys/fs/(?!cgroup)|sys/module"
    r"|proc/\d+/(?!cpuset)|etc/(selinux|pki|ssl|httpd|yum)|sos_commands/(logs|selinux|rpm|systemd))/"
)


class _Bounded(io.RawIOBase):
    """What comes out of the unpacking; only forward, and not more than the bounds allow.

    Attributes:
        left: bytes that may be read before it is said again: of headers, or of a file.
    """

    def __init__(self, unpacked: BinaryIO, packed: BinaryIO) -> None:
        self._unpacked = unpacked
        self._packed = packed
        self._place = 0
        self.left = _MOST_HEADERS

    def read(self, size: int = -1) -> bytes:
        if not 0 <= size <= self.left:
            raise ValueError(f"the headers of a member have more than {_MOST_HEADERS >> 10} KiB")
        self.left -= size
        return self._forward(size)

    def _forward(self, size: int) -> bytes:
        data = self._unpacked.read(size)
        self._place += len(data)
        if self._place > _MOST_UNPACKED:
            raise ValueError(f"more than {_MOST_UNPACKED >> 30} GiB unpacked")
        if self._place > _RATIO_FROM and self._place > _MOST_RATIO * self._packed.tell():
            raise ValueError(f"unpacks to more than {_MOST_RATIO} times its size")
        return data

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        if whence != io.SEEK_SET or offset < self._place:
            raise ValueError("a name stands for a place that has been passed")
        while self._place < offset:
            if not self._forward(min(offset - self._place, _SKIP)):
                break
        return self._place

    def tell(self) -> int:
        return self._place

    def seekable(self) -> bool:
        return True

    def readable(self) -> bool:
        return True


class ArchiveFiles(Files):
    """Files of a tar archive.

    Args:
        path: the archive.
        label: what the user called it.

    Raises:
        InputError: it cannot be read, is no such archive, is broken, or exceeds a bound.
    """

    def __init__(self, path: Path, label: str) -> None:
        self.label = label
        self._data: dict[str, bytes] = {}
        self._links: dict[str, str] = {}
        self._folders: dict[str, set[str]] = {}
        try:
            with open_to_read(path, shown=label) as packed:
                self._read(packed)
        except _BROKEN as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise InputError(f"cannot be read as a tar archive: {reason}", file=label) from error
        self._prefix = ""

    def _read(self, packed: BinaryIO) -> None:
        start = packed.read(8)
        packed.seek(0)
        opened = next((opener for magic, opener in _PACKED if start.startswith(magic)), None)
        unpacked = packed if opened is None else opened(packed)
        stream = _Bounded(unpacked, packed)
        kept = members = 0
        with tarfile.open(fileobj=stream, mode="r:", errorlevel=1) as archive:
            for member in archive:
                members += 1
                if members > MOST_NAMES:
                    raise ValueError(f"more than {MOST_NAMES} members")
                if member.size < 0:
                    raise ValueError("a member has a negative size")
                # the module keeps a list of all, and what headers say of all that follow
                archive.members = []  # type: ignore[attr-defined]
                archive.pax_headers.clear()  # type: ignore[attr-defined]
                stream.left = MOST_BYTES
                kept += self._take(archive, member)
                if kept > _MOST_KEPT:
                    raise ValueError(f"more than {_MOST_KEPT >> 20} MiB of files to read")
                stream.left = _MOST_HEADERS

    def _take(self, archive: tarfile.TarFile, member: tarfile.TarInfo) -> int:
        """Keep what may be of use; return the number of bytes."""
        name = _clean(member.name)
        if name is None or _PASSED_OVER.search(name):
            return 0
        if member.issym():
            self._add_link(name, member.linkname)
        elif member.islnk():
            # a hard link has a name of a member that came before
            data = self._data.get(_clean(member.linkname) or "")
            if data is not None:
                self._data[name] = data
                self._enter(name)
        elif member.isreg() and not member.issparse() and member.size <= MOST_BYTES:
            file = archive.extractfile(member)
            self._data[name] = b"" if file is None else file.read()
            self._enter(name)
            return member.size
        return 0

    def _add_link(self, name: str, target: str) -> None:
        if len(target) <= _MOST_NAME:
            self._links[name] = target
            self._enter(name)

    def _enter(self, name: str) -> None:
        """Note a name in its folder, and that in its own."""
        while name:
            folder, _, last = name.rpartition("/")
            inside = self._folders.setdefault(folder, set())
            if last in inside:
                break
            inside.add(last)
            name = folder

    def rooted(self, prefix: str) -> ArchiveFiles:
        """Return the same files with a folder as the root."""
        other = object.__new__(ArchiveFiles)
        other.__dict__.update(self.__dict__, _prefix=f"{prefix}/" if prefix else "")
        return other

    def data(self, name: str) -> bytes | None:
        """See `Files.data`."""
        return self._data.get(self._prefix + name)

    def target(self, name: str) -> str | None:
        """See `Files.target`."""
        return self._links.get(self._prefix + name)

    def names(self, folder: str) -> list[str]:
        """See `Files.names`."""
        real = self.real(folder)
        return (
            [] if real is None else sorted(self._folders.get((self._prefix + real).rstrip("/"), ()))
        )

    def walk(self) -> list[str]:
        """See `Files.walk`."""
        start = len(self._prefix)
        return sorted(name[start:] for name in self._data if name.startswith(self._prefix))


def _clean(name: str) -> str | None:
    """Return a member's name without `./`; None if it leads out of the archive or is too long."""
    parts = [part for part in name.split("/") if part not in {"", "."}]
    if not parts or ".." in parts or len(parts) > _MOST_DEPTH or len(name) > _MOST_NAME:
        return None
    return "/".join(parts)
