"""What people name, as pages: files, folders, archives, standard input; within bounds."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Final

from simnet.diagnose.page import Page
from simnet.errors import InputError
from simnet.files import open_to_read, read_bytes
from simnet.importing.source import opened

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simnet.importing.files.files import Files

__all__ = ["pages_of"]

_MIB: Final = 1 << 20
_MOST_MIB: Final = 16
_MOST_TOTAL: Final = 64 * _MIB
_MOST_FILES: Final = 5000
_ARCHIVE: Final = re.compile(r"(?i)\.(?:tar|t[gbx]z2?|tar\.(?:gz|bz2|xz))$")
# of a whole host: what counts or may be wrong; all the rest of a sosreport says nothing of paths
_OF_HOST: Final = re.compile(
    r"^proc/(?:interrupts|cmdline|version|net/(?:softnet_stat|snmp|netstat|dev)|sys/net/.*)$"
    r"|^(?:later/)?(?:sos_commands|insights_commands)/"
    r"|^var/log/dmesg|^sys/class/net/[^/]+/(?:queues/rx-\d+/rps_\w+|mtu|carrier_changes)$"
    r"|(?:^|/)cpu\.stat$"
)
_PASSED_OVER: Final = re.compile(
    r"sos_commands/(?:(?!networking|kernel|pci|process|general|sar|hardware|block|boot)[^/]*)/"
    r"|ethtool_-[dempT]|--show-(?:eee|priv)|--phy-stat|bridge_-|modinfo|config-"
)


def pages_of(names: Sequence[str]) -> list[Page]:
    """Return the texts of all files.

    Raises:
        InputError: a name cannot be read, or everything together is too large.
    """
    found: list[Page] = []
    total = 0
    for name in names:
        for page in _pages(name, several=len(names) > 1):
            total += len(page.text)
            if total > _MOST_TOTAL:
                raise InputError(f"more than {_MOST_TOTAL // _MIB} MiB of text", file=name)
            found.append(page)
    return found


def _pages(name: str, *, several: bool) -> Iterator[Page]:
    if name == "-":
        data = sys.stdin.buffer.read(_MOST_MIB * _MIB + 1)
        if len(data) > _MOST_MIB * _MIB:
            raise InputError(f"larger than {_MOST_MIB} MiB", file="standard input")
        yield Page("standard input", _decoded(data))
        return
    path = Path(name)
    if not path.exists():
        raise InputError("expected a file, a folder, an archive or -: no such file", file=name)
    if path.is_dir() or _is_archive(path, name):
        files, loose = opened(name)
        prefix = f"{path.name}/" if several else ""
        for member in sorted(_members(files, loose), key=_order):
            text = files.text(member)
            if text:
                yield Page(prefix + member, text)
        return
    data = read_bytes(path, shown=name, most_bytes=_MOST_MIB * _MIB, kind="output of a command")
    yield Page(name if several else path.name, _decoded(data))


def _is_archive(path: Path, name: str) -> bool:
    if _ARCHIVE.search(path.name):
        return True
    with open_to_read(path, shown=name) as stream:
        start = stream.read(512)
    return start.startswith((b"\xfd7zXZ\0", b"\x1f\x8b", b"BZh")) or (start[257:262] == b"ustar")


def _members(files: Files, loose: list[str]) -> Iterator[str]:
    """Yield the files to read; of a host's root those that say something of its paths."""
    every = files.walk()
    if len(loose) == len(every):
        chosen = [name for name in every if not _PASSED_OVER.search(name)]
    else:
        outputs = set(loose)
        chosen = [
            name
            for name in every
            if name in outputs or (_OF_HOST.search(name) and not _PASSED_OVER.search(name))
        ]
    yield from chosen[:_MOST_FILES]


def _order(name: str) -> tuple[bool, str]:
    """Return the place of a file among all: what was taken later comes later."""
    return name.startswith("later/"), name


def _decoded(data: bytes) -> str:
    if data[:2] in {b"\xff\xfe", b"\xfe\xff"}:
        return data.decode("utf-16", "replace")
    return data.decode("utf-8", "replace").replace("\0", "")
