"""Folders in the making: locked by who fills them, and there as a whole or not at all.

A folder that is filled has a name of its own until it is complete. It goes with all that is in it
when the process fails; only a process that was killed leaves one, and the next that makes a folder
of this kind there removes it: a folder in use is locked.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from simnet.errors import InputError, SimnetError
from simnet.files import failure, write_text

_FILLED: Final = ".simnet-"
_LOOK: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


@contextlib.contextmanager
def scratch_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a folder for a while, without those that processes left which were killed.

    Args:
        parent: where; other folders of this user there, with this prefix and without a lock, go.
        prefix: of its name.
    """
    _remove_abandoned(parent, prefix)
    path, descriptor = _locked(parent, prefix)
    try:
        yield path
    finally:
        shutil.rmtree(path, ignore_errors=True)
        os.close(descriptor)


def write_folder(folder: Path, texts: Mapping[str, str]) -> None:
    """Write the files of a folder that is empty or not there yet; all of it, or nothing.

    Args:
        folder: its name; folders above it are made, too.
        texts: of each file, by its name below the folder.

    Raises:
        InputError: it has files, or cannot have this name.
        OutputError: the disk is full or fails.
    """
    try:
        place = next(one for one in (folder, *folder.parents) if one.exists())
        if place == folder:
            _check_empty(folder)
        with scratch_folder(place, _FILLED) as scratch:
            _fill(scratch / folder.relative_to(place), texts, folder)
            _move(scratch, place)
    except (OSError, ValueError) as error:
        raise failure(error, folder) from error


def _check_empty(folder: Path) -> None:
    if folder.is_dir():
        _remove_abandoned(folder, _FILLED)
    if not folder.is_dir() or any(folder.iterdir()):
        raise InputError("expected a folder that is empty or not there yet", file=folder)


def _fill(root: Path, texts: Mapping[str, str], folder: Path) -> None:
    """Write the files; errors name them as they will be called."""
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        try:
            write_text(root / name, text)
        except SimnetError as error:
            raise failure(error, folder / name) from error


def _move(scratch: Path, place: Path) -> None:
    """Move what is in a folder to another one; back again if that fails."""
    moved: list[Path] = []
    try:
        for path in sorted(scratch.iterdir()):
            path.rename(place / path.name)
            moved.append(path)
    except BaseException:
        for path in moved:
            with contextlib.suppress(OSError):
                (place / path.name).rename(path)
        raise


def _locked(parent: Path, prefix: str) -> tuple[Path, int]:
    """Make a folder; return it open and locked."""
    while True:
        path = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        try:
            descriptor = os.open(path, _LOOK)
        except FileNotFoundError:
            continue  # another process found it before it was opened, and removed it
        with contextlib.suppress(OSError):  # not every file system has locks
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        if os.fstat(descriptor).st_nlink:
            return path, descriptor
        os.close(descriptor)  # another process found it before it was locked, and removed it


def _remove_abandoned(parent: Path, prefix: str) -> None:
    with contextlib.suppress(OSError), os.scandir(parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix):
                _remove_unlocked(entry)


def _remove_unlocked(entry: os.DirEntry[str]) -> None:
    """Remove a folder of this user that no process has locked."""
    try:
        descriptor = os.open(entry.path, _LOOK)
    except OSError:
        return
    with contextlib.suppress(OSError):
        if os.fstat(descriptor).st_uid == os.geteuid():
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(entry.path, ignore_errors=True)
    os.close(descriptor)
