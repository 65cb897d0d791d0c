"""Keeps results of simulations that were done before, by content.

The key is a digest of everything that a result depends on: the effective values, the seed, the
simulated times and the sources of simnet itself. So nothing ever has to be invalidated, and an
edited mechanism never meets a result of its former self. Files lie in the user's cache directory
(`SIMNET_CACHE_DIR` names another; set to nothing, it switches keeping off); deleting them is
always safe. When there are many, the ones that were not used for the longest time go first.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import zlib
from functools import cache
from pathlib import Path

import platformdirs
from pydantic import ValidationError

import simnet
from simnet.study.result import Result

MOST_FILES = 20_000
_SUFFIX = ".json.gz"
# a result is mostly the names of its fields: 33 kB become 5
_GZIP_LEVEL = 6
_VARIABLE = "SIMNET_CACHE_DIR"


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
            result = Result.from_json(gzip.decompress(path.read_bytes()).decode())
            os.utime(path)
        except (OSError, EOFError, zlib.error, ValidationError, UnicodeDecodeError):
            return None
        return result

    def put(self, key: str, result: Result) -> None:
        """Keep a result; a directory that can't be written to costs time later, nothing else."""
        if self.directory is None:
            return
        path = self.directory / f"{key}{_SUFFIX}"
        part = path.with_name(f"{path.name}.{os.getpid()}.part")
        try:
            self.directory.mkdir(parents=True, exist_ok=True)
            part.write_bytes(gzip.compress(result.to_json(indent=None).encode(), _GZIP_LEVEL))
            part.replace(path)
        except OSError:
            return

    def prune(self, most_files: int = MOST_FILES) -> None:
        """Delete the results that were not used for the longest time."""
        if self.directory is None or not self.directory.is_dir():
            return
        files = sorted(self.directory.glob(f"*{_SUFFIX}"), key=_last_used, reverse=True)
        for path in files[most_files:]:
            path.unlink(missing_ok=True)


@cache
def sources_digest() -> str:
    """Digest of the installed package's sources, so that a key knows the code too.

    Commands and reports stand above what simulates, and no result can depend on them.
    """
    root = Path(simnet.__file__).parent
    digest = hashlib.blake2b(digest_size=16)
    above = {root / "cli", root / "report"}
    for path in sorted([*root.rglob("*.py"), *root.rglob("*.pxd")]):
        if path.parent in above:
            continue
        digest.update(path.relative_to(root).as_posix().encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _last_used(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0
