"""Keeps results of simulations that were done before, by content.

The key is a digest of everything that a result depends on: the effective values, the seed, the
simulated times and the sources of what simulates. So nothing ever has to be invalidated, and an
edited mechanism never meets a result of its former self. Files lie in the user's cache directory
(`SIMNET_CACHE_DIR` names another; set to nothing, it switches keeping off); deleting them is
always safe. When there are many, the ones that were not used for the longest time go first.

A file says which key it is of, and has a checksum of key and content. One that was cut, changed,
renamed or made by another program, or that unpacks to more than any result, counts as absent.
"""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import stat
import zlib
from collections.abc import Collection
from functools import cache
from pathlib import Path
from typing import Final

import platformdirs
from pydantic import ValidationError

import simnet
from simnet.errors import SimnetError
from simnet.files import remove_abandoned, write_bytes
from simnet.study.run.result import Result

MOST_FILES = 20_000
# a thousand times what a result of eight ports takes; a larger one is not kept
MOST_BYTES: Final = 32 << 20
_SUFFIX = ".json.gz"
# a result is mostly the names of its fields: 33 kB become 5
_GZIP_LEVEL = 6
_VARIABLE = "SIMNET_CACHE_DIR"
_FORMAT: Final = "simnet.kept/1"
_PRIVATE: Final = 0o700
# floors that only ask for results, and what simulates on the floor of studies
_ABOVE: Final = ("cli", "diagnose", "documents", "page", "report")
_SIMULATING: Final = ("__init__.py", "run", "statistics", "work")


class Store:
    """Results by key in a directory; `Store(None)` keeps nothing."""

    def __init__(self, directory: Path | None) -> None:
        self.directory = directory

    @classmethod
    def of_user(cls) -> Store:
        """The store in the cache directory of the user, or where the environment says."""
        chosen = os.environ.get(_VARIABLE)
        if chosen is None:
            return cls(platformdirs.user_cache_path("simnet", appauthor=False) / "results")
        return cls(Path(chosen) if chosen else None)

    def get(self, key: str) -> Result | None:
        """The result that was put under this key, or None; a damaged file counts as absent."""
        if self.directory is None:
            return None
        path = self.directory / f"{key}{_SUFFIX}"
        try:
            text = _content(_unpacked(path), key)
            result = None if text is None else Result.from_json(text.decode())
        except (OSError, EOFError, zlib.error, ValidationError, UnicodeDecodeError):
            return None
        if result is not None:
            with contextlib.suppress(OSError):  # who may only read may use it all the same
                os.utime(path)
        return result

    def put(self, key: str, result: Result) -> None:
        """Keep a result; a directory that can't be written to costs time later, nothing else."""
        if self.directory is None:
            return
        content = result.to_json(indent=None).encode()
        data = _head(key, content) + content
        if len(data) > MOST_BYTES:
            return
        path = self.directory / f"{key}{_SUFFIX}"
        # a power cut may leave a file whose content is not there, which the checksum shows
        with contextlib.suppress(OSError, SimnetError):
            self.directory.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
            write_bytes(path, gzip.compress(data, _GZIP_LEVEL), durable=False)

    def prune(self, most_files: int = MOST_FILES, *, kept: Collection[str] = ()) -> None:
        """Delete the results that were not used for the longest time, none of the keys `kept`.

        What the clock says of a file can be wrong; what this process needs is known. What killed
        processes have left half-written goes, too.
        """
        if self.directory is None:
            return
        with contextlib.suppress(OSError):
            for part in self.directory.glob(f"*{_SUFFIX}*.part"):
                remove_abandoned(part)
            files = sorted(self.directory.glob(f"*{_SUFFIX}"), key=_last_used, reverse=True)
            for path in files[most_files:]:
                if path.name.removesuffix(_SUFFIX) not in kept:
                    path.unlink(missing_ok=True)


def _head(key: str, content: bytes) -> bytes:
    """The first line of a file: what it is, its key, and the checksum of key and content."""
    digest = hashlib.blake2b(b"%b\n%b" % (key.encode(), content), digest_size=16).hexdigest()
    return f"{_FORMAT} {key} {digest}\n".encode()


def _content(data: bytes, key: str) -> bytes | None:
    """What follows the first line, if that is the one that belongs to it."""
    head, end, content = data.partition(b"\n")
    return content if head + end == _head(key, content) else None


def _unpacked(path: Path) -> bytes:
    """What a file holds, and of too much only the beginning; raises OSError where it is no file.

    Where anybody may put files, only the user's own count.
    """
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        foreign = found.st_uid != os.geteuid() and path.parent.stat().st_mode & stat.S_IWOTH
        if not stat.S_ISREG(found.st_mode) or foreign:
            raise OSError
        with gzip.GzipFile(fileobj=file) as packed:
            return packed.read(MOST_BYTES)


@cache
def sources_digest() -> str:
    """Digest of the sources of what simulates, so that a key knows the code too.

    What only asks for results, or shows them, is no part of it.
    """
    root = Path(simnet.__file__).parent
    digest = hashlib.blake2b(digest_size=16)
    for name in simulating_sources(root):
        digest.update(name.encode())
        digest.update((root / name).read_bytes())
    return digest.hexdigest()


def simulating_sources(root: Path) -> list[str]:
    """The sources in a package's folder that a result can depend on, by their paths in it."""
    asking = {*_ABOVE, *(f"study/{place.name}" for place in (root / "study").iterdir())}
    asking -= {f"study/{name}" for name in _SIMULATING}
    # paths as text: objects take ten times as long, and every study waits for it
    found, folders = [], [""]
    while folders:
        folder = folders.pop()
        with os.scandir(root / folder) as entries:
            for entry in entries:
                name = f"{folder}{entry.name}"
                if name.endswith((".py", ".h")):
                    found.append(name)
                elif name not in asking and entry.is_dir():
                    folders.append(f"{name}/")
    return sorted(found)


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
