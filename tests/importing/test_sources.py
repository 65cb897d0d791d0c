"""Folders and archives from strangers: bounded, no link opened, no path outside."""

import gzip
import io
import os
import tarfile
import time
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simnet.diagnose.sources import pages_of
from simnet.errors import InputError
from simnet.importing.bounded import bounded
from simnet.importing.files import archive as archive_module
from simnet.importing.files.archive import ArchiveFiles
from simnet.importing.files.folder import FolderFiles
from simnet.importing.source import read_source
from tests.house.examples import examples
from tests.importing.trees import archive, folder, sysfs

HOST = sysfs([[0, 2], [1, 3]], [[0, 1, 2, 3]])


@pytest.mark.parametrize("mode", ["", "gz", "bz2", "xz"])
@pytest.mark.parametrize("prefix", ["", "./", "sosreport-host/", "a/b/"])
def test_an_archive_is_read_as_its_folder_is(tmp_path: Path, mode: str, prefix: str) -> None:
    packed = archive(tmp_path / "host.tar", HOST, mode, prefix)
    unpacked = folder(tmp_path / "host", HOST)
    assert read_source(str(packed)).topology == read_source(str(unpacked)).topology


def links(path: Path, pairs: dict[str, str]) -> Path:
    """An archive with a secret, and symbolic links to here and there."""
    with tarfile.open(path, "w") as made:
        for name, target in pairs.items():
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.SYMTYPE, target
            made.addfile(member)
        member = tarfile.TarInfo("real/file")
        member.size = 2
        made.addfile(member, io.BytesIO(b"ok"))
    return path


LINKS = {
    "inside": "real/file",
    "absolute": "/real/file",
    "up/down": "../real/../real/file",
    "outside": "../../etc/passwd",
    "round": "round",
    "first": "second",
    "second": "first",
    "folder": "real",
}


@pytest.mark.parametrize("kind", ["folder", "archive"])
def test_links_lead_nowhere_but_inside(tmp_path: Path, kind: str) -> None:
    files: FolderFiles | ArchiveFiles
    if kind == "archive":
        files = ArchiveFiles(links(tmp_path / "host.tar", LINKS), "host")
    else:
        root = folder(tmp_path / "host", {"real/file": "ok", "up/x": ""})
        for name, target in LINKS.items():
            (root / name).symlink_to(target)
        files = FolderFiles(root, "host")
    for name in ("inside", "absolute", "up/down", "folder/file"):
        assert files.text(name) == "ok"
    for name in ("outside", "round", "first"):
        assert files.text(name) is None
    assert files.names("folder") == ["file"]


def test_a_folder_on_the_way_that_is_a_link_is_not_followed_outside(tmp_path: Path) -> None:
    folder(tmp_path / "secret", {"file": "secret"})
    root = folder(tmp_path / "host", {"x": ""})
    (root / "way").symlink_to(tmp_path / "secret")
    assert FolderFiles(root, "host").text("way/file") is None


def test_a_pipe_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert FolderFiles(tmp_path, "host").text("pipe") is None


def test_names_that_lead_out_are_not_members(tmp_path: Path) -> None:
    packed = archive(tmp_path / "host.tar", {"../evil": "x", "/etc/evil": "y", "good": "z"}, "", "")
    assert ArchiveFiles(packed, "host").walk() == ["etc/evil", "good"]


def test_hard_links_are_their_files(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "host.tar", "w") as made:
        member = tarfile.TarInfo("a")
        member.size = 1
        made.addfile(member, io.BytesIO(b"x"))
        for name, target in (("b", "a"), ("c", "../../etc/passwd")):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = tarfile.LNKTYPE, target
            made.addfile(member)
    files = ArchiveFiles(tmp_path / "host.tar", "host")
    assert (files.text("b"), files.text("c")) == ("x", None)


def test_a_bomb_is_refused(tmp_path: Path) -> None:
    zeros = "\0" * (4 << 20)
    packed = archive(tmp_path / "bomb.tar.xz", {f"f{n}": zeros for n in range(40)}, "xz")
    with pytest.raises(InputError, match="unpacks to more than 400 times its size"):
        ArchiveFiles(packed, "bomb")


@pytest.mark.parametrize(
    ("bound", "value", "message"),
    [
        ("MOST_NAMES", 3, "more than 3 members"),
        ("_MOST_KEPT", 1 << 10, "MiB of files to read"),
        ("_MOST_UNPACKED", 1 << 10, "unpacked"),
    ],
)
def test_bounds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bound: str, value: int, message: str
) -> None:
    packed = archive(tmp_path / "host.tar.gz", {f"f{n}": "x" * 900 for n in range(9)})
    monkeypatch.setattr(archive_module, bound, value)
    with pytest.raises(InputError, match=message):
        ArchiveFiles(packed, "host")


def test_a_header_that_claims_a_terabyte_is_refused(tmp_path: Path) -> None:
    member = tarfile.TarInfo("x")
    member.type, member.size = tarfile.XHDTYPE, 1 << 40
    (tmp_path / "host.tar").write_bytes(member.tobuf(tarfile.GNU_FORMAT) + b"x" * 5000)
    with pytest.raises(InputError, match="cannot be read as a tar archive"):
        ArchiveFiles(tmp_path / "host.tar", "host")


def _header(kind: bytes, data: bytes = b"", size: int | None = None) -> bytes:
    member = tarfile.TarInfo("x")
    member.type, member.size = kind, len(data) if size is None else size
    return member.tobuf(tarfile.GNU_FORMAT) + data + bytes(-len(data) % tarfile.BLOCKSIZE)


HOSTILE = {
    "8 MiB of digits": _header(b"x", b"1" * (8 << 20)),
    "5000 long names": _header(b"L", b"abc\0") * 5000,
    "3000 pax headers": _header(b"x", b"11 path=ab\n") * 3000,
    "empty pax headers": _header(b"x") * 3000,
    "global headers": _header(b"g", b"13 comment=a\n") * 3000,
    "negative size": _header(b"0", size=-5),
    "sparse without end": _header(b"S").replace(bytes(26), b"1" + bytes(25)),
}


@pytest.mark.parametrize("kind", HOSTILE)
def test_hostile_headers_are_refused_at_once(tmp_path: Path, kind: str) -> None:
    packed = gzip.compress(HOSTILE[kind] + _header(b"0") + bytes(1024), 1)
    (tmp_path / "host.tar.gz").write_bytes(packed)
    began_s = time.process_time()
    with pytest.raises(InputError, match="cannot be read as a tar archive"):
        ArchiveFiles(tmp_path / "host.tar.gz", "host")
    assert time.process_time() - began_s < 1


def test_what_global_headers_say_is_not_kept(tmp_path: Path) -> None:
    record = b"30012 comment=" + b"a" * 29_997 + b"\n"
    pair = _header(b"g", record) + _header(b"0")
    (tmp_path / "host.tar").write_bytes(pair * 50 + bytes(1024))
    assert ArchiveFiles(tmp_path / "host.tar", "host").walk() == ["x"]


def test_an_import_has_a_bound_of_processor_time(tmp_path: Path) -> None:
    member = _header(b"x", b"1" * 60_000) + _header(b"0")
    (tmp_path / "host.tar").write_bytes(member * 20 + bytes(1024))
    began_s = time.process_time()
    message = "takes more than 0.3 s of processor time"
    with pytest.raises(InputError, match=message), bounded("host.tar", 0.3):
        ArchiveFiles(tmp_path / "host.tar", "host")
    assert time.process_time() - began_s < 2


@pytest.mark.parametrize("data", [b"he\0llo", b"\x1f\x8bnot gzip", b"\xfd7zXZ\x00", b"BZh9"])
def test_what_is_no_archive_is_one_line(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "host").write_bytes(data)
    with pytest.raises(InputError, match="cannot be read as a tar archive"):
        read_source(str(tmp_path / "host"))


def test_what_is_not_there_is_one_line() -> None:
    with pytest.raises(InputError, match=r"^nowhere.tar: cannot be read: No such file"):
        read_source("nowhere.tar")


def test_a_pipe_and_no_name_at_all_are_said_to_be_that(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(InputError, match=r"expected a regular file, got a pipe$"):
        read_source(str(tmp_path / "pipe"))
    with pytest.raises(InputError, match=r"^expected a folder, a tar archive or a file, got ''$"):
        read_source("")


@settings(
    max_examples=examples(60),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(
    place=st.integers(0, 3000), data=st.binary(min_size=1, max_size=40), cut=st.integers(0, 4000)
)
def test_damaged_archives_are_read_or_refused(
    tmp_path: Path, place: int, data: bytes, cut: int
) -> None:
    path = tmp_path / "host.tar.gz"
    whole = archive(path, HOST).read_bytes()
    damaged = whole[:place] + data + whole[place + len(data) :]
    path.write_bytes(damaged[: len(damaged) - cut % len(damaged)])
    message = ""
    try:
        read_source(str(path))
    except InputError as error:
        message = str(error)
    assert "\n" not in message


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-16-le"])
def test_a_text_in_either_encoding_is_one_text(tmp_path: Path, encoding: str) -> None:
    text = "Architecture: x86_64\nCPU(s): 4\nThread(s) per core: 1\nModel name: something\n"
    mark = b"\xff\xfe" if encoding == "utf-16-le" else b""
    (tmp_path / "lscpu.txt").write_bytes(mark + text.encode(encoding))
    assert len(read_source(str(tmp_path / "lscpu.txt")).topology.cpus) == 4
    assert len(read_source(str(tmp_path)).topology.cpus) == 4
    assert [page.text for page in pages_of([str(tmp_path / "lscpu.txt")])] == [text.rstrip("\n")]


def test_an_empty_file_is_a_text_of_which_nothing_is_understood(tmp_path: Path) -> None:
    (tmp_path / "empty.txt").touch()
    with pytest.raises(InputError, match="nothing here is understood"):
        read_source(str(tmp_path / "empty.txt"))
