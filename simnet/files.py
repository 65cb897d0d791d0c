"""Files that people name: read within bounds, written whole or not at all.

What is written goes to a part file beside its target, `.NAME.part`, which takes the target's name
when it is complete. Until then whatever had that name stays; after a failure the part file is gone.
Only a process that was killed leaves one, and the next that writes to the same target removes it: a
part file in use is locked. What is no regular file (`/dev/null`, a pipe) is written to directly.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import io
import os
import stat
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, BinaryIO, Final, cast

from simnet.errors import InputError, OutputError, SimnetError

if TYPE_CHECKING:
    from collections.abc import Callable

    from _typeshed import ReadableBuffer
    from matplotlib.figure import Figure

_MIB: Final = 1 << 20
_SPECIAL: Final = {
    stat.S_IFIFO: "a pipe",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}

# of a name that may have 255 bytes, what the part file's keeps
_KEPT_BYTES: Final = 200
_MOST_WRITERS: Final = 100
_BUFFER_BYTES: Final = 1 << 16
# the name was a mistake; anything else is the disk's fault
_MISTAKES: Final = frozenset(
    {errno.EACCES, errno.EPERM, errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST}
    | {errno.ENOTEMPTY, errno.EROFS, errno.ENAMETOOLONG, errno.ELOOP, errno.EINVAL, errno.ENXIO}
    | {errno.ETXTBSY}
)


def read_bytes(path: Path, *, shown: str | None = None, most_bytes: int, kind: str) -> bytes:
    """Return a file's content.

    Args:
        path: the file; a link is followed.
        shown: how messages call it; its path when None.
        most_bytes: size that no such file exceeds, whole MiB.
        kind: what such a file is, for messages.

    Raises:
        InputError: it cannot be read, is no regular file, or is larger.
    """
    file = shown or str(path)
    try:
        _check_regular(path.stat(), file)
        # what came in its place since then must not make this wait
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
        try:
            _check_regular(os.fstat(descriptor), file)
            data = _read(descriptor, most_bytes + 1)
        finally:
            os.close(descriptor)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise InputError(f"cannot be read: {reason or error}", file=file) from error
    if len(data) > most_bytes:
        message = f"larger than {most_bytes // _MIB} MiB, which is no {kind}"
        raise InputError(message, file=file)
    return data


def open_to_read(path: Path, *, shown: str | None = None, waits: bool = False) -> BinaryIO:
    """Return a file to be read from front to end; whoever reads it sets the bounds.

    Args:
        path: the file; a link is followed.
        shown: how messages call it; its path when None.
        waits: it may be a pipe, for whose writer reading waits.

    Raises:
        InputError: it cannot be opened, or is no regular file.
    """
    file = shown or str(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOCTTY | (0 if waits else os.O_NONBLOCK))
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise InputError(f"cannot be read: {reason or error}", file=file) from error
    try:
        if not waits:
            _check_regular(os.fstat(descriptor), file)
    except BaseException:
        os.close(descriptor)
        raise
    return os.fdopen(descriptor, "rb")


def read_text(
    path: Path, *, shown: str | None = None, most_bytes: int = _MIB, kind: str = "model or scenario"
) -> str:
    """Return the text of a file in UTF-8; arguments and errors are those of `read_bytes`."""
    data = read_bytes(path, shown=shown, most_bytes=most_bytes, kind=kind)
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise InputError("is not UTF-8 text", file=shown or path, line=line) from error


def _check_regular(status: os.stat_result, file: str) -> None:
    """Refuse what may have no end, or never a beginning; a folder fails by itself."""
    special = _SPECIAL.get(stat.S_IFMT(status.st_mode))
    if special is not None:
        raise InputError(f"expected a regular file, got {special}", file=file)


def _read(descriptor: int, most_bytes: int) -> bytes:
    """Read so many bytes, or to the end."""
    found = bytearray()
    while len(found) < most_bytes:
        data = os.read(descriptor, min(most_bytes - len(found), _MIB))
        if not data:
            break
        found += data
    return bytes(found)


class NewFile:
    """A file in the making; `commit` gives it its name, `discard` leaves no trace of it.

    In a `with` block the end of the block commits, and an exception discards.

    Args:
        path: its name; a link stays, and what it leads to is replaced.
        key: the option that named it, for messages.
        durable: whether it has reached the disk before it takes its name; a file that can be made
            again need not.
        exclusive: no file may have the name.

    Raises:
        InputError: no file can have this name: no such folder, no permission, a folder.
        OutputError: the disk is full or fails; from here, from the stream and from `commit`.
    """

    def __init__(
        self,
        path: Path | str,
        *,
        key: str | None = None,
        durable: bool = True,
        exclusive: bool = False,
    ) -> None:
        self.path = Path(path)
        self._key = key
        self._durable = durable
        self._exclusive = exclusive
        self._part: Path | None = None
        self._target = self.path
        try:
            if _is_special(self.path):
                descriptor = os.open(self.path, os.O_WRONLY | os.O_NONBLOCK)
                os.set_blocking(descriptor, True)
            else:
                descriptor = self._open_part()
        except (OSError, ValueError) as error:
            raise self._failure(error) from error
        self._sink = _Sink(descriptor, self._failure)
        self.stream: BinaryIO = cast("BinaryIO", io.BufferedWriter(self._sink, _BUFFER_BYTES))

    def _open_part(self) -> int:
        """Open the part file, with the permissions of what it is to replace."""
        self._target = Path(os.path.realpath(self.path))
        try:
            before = self._target.stat()
        except FileNotFoundError:
            self._part, descriptor = _locked_part(self._target, 0o666)
            return descriptor
        if stat.S_ISDIR(before.st_mode) or not os.access(self._target, os.W_OK):
            number = errno.EISDIR if stat.S_ISDIR(before.st_mode) else errno.EACCES
            raise OSError(number, os.strerror(number))
        mode = stat.S_IMODE(before.st_mode)
        self._part, descriptor = _locked_part(self._target, mode)
        with contextlib.suppress(OSError):
            os.fchmod(descriptor, mode)
        return descriptor

    def _failure(self, error: OSError | ValueError) -> SimnetError:
        return failure(error, self.path, self._key)

    @property
    def failed(self) -> SimnetError | None:
        """The first failure to write, whatever became of it on its way."""
        return self._sink.failed

    def sync(self) -> None:
        """Bring to the disk what was written: of several files of which none is to change alone."""
        try:
            self.stream.flush()
            if self._part is not None and self._durable:
                os.fsync(self._sink.fileno())
        except (OSError, ValueError) as error:
            raise self._failure(error) from error

    def commit(self) -> None:
        """Complete the file and give it its name."""
        try:
            self.sync()
            if self._part is not None:
                if self._exclusive:
                    self._target.hardlink_to(self._part)
                    self._part.unlink()
                else:
                    self._part.replace(self._target)
            self.stream.close()
        except (OSError, ValueError) as error:
            raise self._failure(error) from error
        finally:
            self.discard()

    def discard(self) -> None:
        """Remove what was written, unless it has its name; nothing to do the second time."""
        if self._sink.closed:
            return
        self._sink.dropped = True
        if self._part is not None:
            with contextlib.suppress(OSError):
                self._part.unlink()
        with contextlib.suppress(OSError):
            self.stream.close()

    def __enter__(self) -> BinaryIO:
        return self.stream

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None:
            self.commit()
        else:
            self.discard()


class _Sink(io.RawIOBase):
    """An open file; keeps the first failure, which names the file, and can drop what is written."""

    def __init__(self, descriptor: int, failure: Callable[[OSError], SimnetError]) -> None:
        self._descriptor = descriptor
        self._failure = failure
        self.failed: SimnetError | None = None
        self.dropped = False

    def fileno(self) -> int:
        return self._descriptor

    def writable(self) -> bool:
        return True

    def write(self, data: ReadableBuffer, /) -> int:
        if self.dropped:
            return memoryview(data).nbytes
        try:
            return os.write(self._descriptor, data)
        except OSError as error:
            self.failed = self.failed or self._failure(error)
            raise self.failed from error

    def close(self) -> None:
        if not self.closed:
            super().close()
            os.close(self._descriptor)


def failure(
    error: OSError | ValueError | SimnetError, path: Path, key: str | None = None
) -> SimnetError:
    """What to raise of a file or folder for what the system said, or was raised of its part.

    Args:
        error: why it cannot be written.
        path: as named.
        key: the option that named it, for messages.
    """
    if isinstance(error, OutputError):
        return OutputError(error.message, file=path)
    if isinstance(error, InputError):
        return InputError(error.message, file=path, key=key)
    number = error.errno if isinstance(error, OSError) else errno.EINVAL
    reason = error.strerror if isinstance(error, OSError) else None
    message = f"cannot be written: {reason or error}"
    if number in _MISTAKES:
        return InputError(message, file=path, key=key)
    return OutputError(message, file=path)


def write_bytes(
    path: Path,
    data: ReadableBuffer,
    *,
    key: str | None = None,
    durable: bool = True,
    exclusive: bool = False,
) -> None:
    """Write a file whole or not at all; arguments and errors are those of `NewFile`."""
    with NewFile(path, key=key, durable=durable, exclusive=exclusive) as stream:
        stream.write(data)


def write_text(path: Path, text: str, *, exclusive: bool = False) -> None:
    """Write a file of UTF-8 text whole or not at all, as `write_bytes` does."""
    write_bytes(path, text.encode(), exclusive=exclusive)


def write_figure(path: Path, figure: Figure) -> None:
    """Write a plot, in the format that the name ends with, as `write_bytes` does."""
    write_bytes(path, figure_bytes(figure, path.suffix.removeprefix(".")))


def figure_bytes(figure: Figure, form: str, **options: Any) -> memoryview:
    """A plot in a format of Matplotlib, such as `svg`, with options of its `savefig`."""
    drawn = io.BytesIO()
    figure.savefig(drawn, format=form, **options)
    return drawn.getbuffer()


def check_place(path: Path, *, key: str | None = None) -> None:
    """Find out whether a file can be written, before time is spent on what goes into it.

    Raises:
        InputError, OutputError: as `NewFile`; nothing is left behind.
    """
    if not _is_special(path):
        NewFile(path, key=key).discard()


def _is_special(path: Path) -> bool:
    """Whether it is a device, a pipe or a socket, which no file can replace."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError):
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def _locked_part(target: Path, mode: int) -> tuple[Path, int]:
    """Create a part file for a target that no other is writing; return it open and locked."""
    stem = os.fsdecode(os.fsencode(target.name)[:_KEPT_BYTES])
    for number in range(_MOST_WRITERS):
        part = target.with_name(f".{stem}.{number}.part" if number else f".{stem}.part")
        while True:
            try:
                descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
            except FileExistsError:
                if remove_abandoned(part):
                    continue
                break
            if _locked(descriptor):
                return part, descriptor
            os.close(descriptor)  # another process found it before it was locked, and removed it
    raise OSError(errno.EBUSY, os.strerror(errno.EBUSY))


def _locked(descriptor: int) -> bool:
    """Lock a file that was just created. Whether it still has a name."""
    with contextlib.suppress(OSError):  # not every file system has locks
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        return os.fstat(descriptor).st_nlink > 0
    return True


def remove_abandoned(part: Path) -> bool:
    """Remove a part file that no process writes: its lock is free. Return whether it was."""
    try:
        descriptor = os.open(part, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.path.samestat(os.fstat(descriptor), part.lstat()):
            part.unlink()
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True
