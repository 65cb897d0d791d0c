"""Files are read within bounds, and written whole or not at all, whatever fails on the way."""

import ast
import errno
import os
import resource
import signal
import socket
import stat
import subprocess
import sys
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simnet.errors import InputError, OutputError, SimnetError
from simnet.files import NewFile, check_place, read_bytes, read_text, write_bytes, write_text
from tests.house.trees import ROOT

OLD, NEW = b"old", b"new" * 100_000
CALLS = ("open", "write", "fsync", "replace", "stat", "fstat", "fchmod")


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@contextmanager
def full_after(count: int) -> Iterator[None]:
    """Files grow to so many bytes, and not beyond."""
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (count, limits[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)


def test_a_file_takes_its_name_when_it_is_complete(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(OLD)
    with NewFile(target) as stream:
        stream.write(NEW)
        assert target.read_bytes() == OLD
        assert names(tmp_path) == [".a.json.part", "a.json"]
    assert target.read_bytes() == NEW
    assert names(tmp_path) == ["a.json"]


@pytest.mark.parametrize("count", [0, 1, 65_536, len(NEW) - 1])
@pytest.mark.parametrize("before", [None, OLD])
def test_a_full_disk_leaves_what_was_there(
    tmp_path: Path, count: int, before: bytes | None
) -> None:
    target = tmp_path / "a.json"
    if before is not None:
        target.write_bytes(before)
    said = r"a\.json: cannot be written: File too large"
    with full_after(count), pytest.raises(OutputError, match=said):
        write_bytes(target, NEW)
    assert names(tmp_path) == ([] if before is None else ["a.json"])
    assert before is None or target.read_bytes() == before


@pytest.mark.parametrize("call", CALLS)
def test_each_call_of_the_system_may_fail(
    tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(OLD)
    real: Callable[..., object] = getattr(os, call)
    left = [0]

    def failing(*arguments: object, **options: object) -> object:
        if left[0] == 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        left[0] -= 1
        return real(*arguments, **options)

    failures = 0
    for number in range(5):
        target.write_bytes(OLD)
        left[0] = number
        with monkeypatch.context() as patch:
            patch.setattr(os, call, failing)
            said = _said(target)
        assert said in {"", f"{target}: cannot be written: Input/output error"}
        failures += bool(said)
        assert names(tmp_path) == ["a.json"]
        assert target.read_bytes() == (OLD if said else NEW)
    assert failures or call in {"fchmod", "fstat"}


def _said(target: Path) -> str:
    try:
        write_bytes(target, NEW)
    except SimnetError as error:
        return str(error)
    return ""


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("gone/a.json", "No such file or directory"),
        ("file/a.json", "Not a directory"),
        (".", "Is a directory"),
        ("x" * 300, "File name too long"),
        ("loop", "Too many levels of symbolic links"),
        ("nul\0", "embedded null byte"),
    ],
)
def test_a_name_that_no_file_can_have_is_bad_input(tmp_path: Path, name: str, reason: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loop").symlink_to("loop")
    before = names(tmp_path)
    for write in (check_place, lambda path: write_text(path, "new")):
        with pytest.raises(InputError, match=rf"cannot be written: {reason}"):
            write(tmp_path / name)
        assert names(tmp_path) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everything")
def test_a_file_that_may_not_be_written_stays(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(OLD)
    target.chmod(0o444)
    with pytest.raises(InputError, match="Permission denied"):
        write_bytes(target, NEW)
    assert target.read_bytes() == OLD


def test_a_link_stays_and_permissions_stay(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(OLD)
    target.chmod(0o640)
    (tmp_path / "link").symlink_to("a.json")
    write_bytes(tmp_path / "link", NEW)
    assert (tmp_path / "link").is_symlink()
    assert target.read_bytes() == NEW
    assert stat.S_IMODE(target.stat().st_mode) == 0o640


def test_a_device_is_written_to_and_stays(tmp_path: Path) -> None:
    check_place(Path("/dev/full"))
    write_bytes(Path("/dev/null"), NEW)
    (tmp_path / "a.png").symlink_to("/dev/full")
    with pytest.raises(OutputError, match=r"a\.png: cannot be written: No space left on device"):
        write_bytes(tmp_path / "a.png", NEW)
    assert Path("/dev/null").is_char_device()
    assert Path("/dev/full").is_char_device()
    assert names(tmp_path) == ["a.png"]


def test_an_exclusive_file_replaces_nothing(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    write_text(target, "first", exclusive=True)
    assert names(tmp_path) == ["a.json"]
    with pytest.raises(InputError, match=r"a\.json: cannot be written: File exists"):
        write_text(target, "second", exclusive=True)
    assert target.read_text(encoding="utf-8") == "first"
    assert names(tmp_path) == ["a.json"]


def test_two_writers_of_one_target_do_not_meet(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    with NewFile(target) as one, NewFile(target) as other:
        one.write(b"one")
        other.write(b"other")
        assert names(tmp_path) == [".a.json.1.part", ".a.json.part"]
    assert target.read_bytes() == b"one"
    assert names(tmp_path) == ["a.json"]


def test_what_a_killed_writer_left_goes_with_the_next(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(OLD)
    script = (
        "import os, signal, sys; from simnet.files import NewFile;"
        "NewFile(sys.argv[1]).stream.write(b'x' * 10**6);"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", script, target], check=False)
    assert done.returncode == -signal.SIGKILL
    assert names(tmp_path) == [".a.json.part", "a.json"]
    assert target.read_bytes() == OLD
    write_bytes(target, NEW)
    assert names(tmp_path) == ["a.json"]
    assert target.read_bytes() == NEW


def test_a_reader_sees_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_bytes(OLD)
    with target.open("rb") as reader:
        write_bytes(target, NEW)
        assert reader.read() == OLD


def _read(path: Path) -> bytes:
    return read_bytes(path, most_bytes=1 << 20, kind="listing")


@pytest.mark.parametrize("size", [0, 1, 1 << 20])
def test_a_file_within_its_bound_is_read(tmp_path: Path, size: int) -> None:
    (tmp_path / "a").write_bytes(b"x" * size)
    assert _read(tmp_path / "a") == b"x" * size


@pytest.mark.parametrize("size", [(1 << 20) + 1, 1 << 40])
def test_a_larger_file_is_refused_and_not_kept(tmp_path: Path, size: int) -> None:
    with (tmp_path / "a").open("wb") as stream:
        stream.truncate(size)
    tracemalloc.start()
    with pytest.raises(InputError, match=r"a: larger than 1 MiB, which is no listing"):
        _read(tmp_path / "a")
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 5 << 20


def test_what_is_no_regular_file_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "zero").symlink_to("/dev/zero")
    server = socket.socket(socket.AF_UNIX)
    server.bind(str(tmp_path / "sock"))
    refused = {"fifo": "a pipe", "zero": "a device", "sock": "a socket"}
    for name, what in refused.items():
        with pytest.raises(InputError, match=rf"{name}: expected a regular file, got {what}"):
            _read(tmp_path / name)
    server.close()
    with pytest.raises(InputError, match=r"cannot be read: Is a directory"):
        _read(tmp_path)


def test_a_file_that_turns_into_a_pipe_makes_nobody_wait(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    regular = tmp_path / "a"
    regular.touch()
    os.mkfifo(tmp_path / "fifo")
    seen = regular.stat()
    monkeypatch.setattr(Path, "stat", lambda _path: seen)
    with pytest.raises(InputError, match=r"fifo: expected a regular file, got a pipe"):
        _read(tmp_path / "fifo")


def test_what_is_not_utf_8_is_refused_by_line(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"one\ntwo \xff\n")
    with pytest.raises(InputError, match=r"a:2: is not UTF-8 text"):
        read_text(tmp_path / "a")


@pytest.mark.parametrize("call", ["open", "read", "fstat"])
def test_a_failure_to_read_is_one_line(
    tmp_path: Path, call: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_arguments: object, **_options: object) -> None:
        raise OSError(errno.EIO, os.strerror(errno.EIO))

    (tmp_path / "a").write_bytes(NEW)
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    with monkeypatch.context() as patch:
        patch.setattr(os, call, fail)
        with pytest.raises(InputError, match=r"a: cannot be read: Input/output error"):
            _read(tmp_path / "a")
    assert len(list(Path("/proc/self/fd").iterdir())) == descriptors


def test_no_other_module_opens_files() -> None:
    """Which is why no read is without a bound, and no write leaves half a file."""
    opening = {"open", "read_text", "read_bytes", "write_text", "write_bytes", "savefig"}
    # of the simulated client; in the place of a stdout that broke; of the kernel; of what is open
    others = {
        "tarfile.open",
        "node.client.open",
        "os.open",
        "_QUOTA.read_text",
        "_STATM.read_text",
        "_MEMINFO.read_text",
    }
    others |= {"(_CGROUP / name).read_text"}
    own = {"files.py", "_engine.py", "store.py"}
    found = set()
    for path in (ROOT / "simnet").rglob("*.py"):
        if path.name in own or "_build" in path.parts:
            continue
        text = path.read_text(encoding="utf-8")
        if not any(f"{name}(" in text for name in opening):
            continue
        for node in ast.walk(ast.parse(text)):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            method = called.rpartition(".")[2] if "." in called or called == "open" else ""
            if method in opening and called not in others:
                found.add(f"{path.relative_to(ROOT)}: {called}")
    assert found == set()
