"""What somebody collected by hand, part by part: outputs, and files of /proc and /sys in them.

`grep . FILES` prints `FILE:LINE`, and a prompt or heading may name a file: these are read as if the
files lay in the host's /proc and /sys.
"""

import itertools
import posixpath
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Final

from simnet.importing.files.files import Files
from simnet.importing.files.undressed import undressed
from simnet.importing.pasted import split, sysctls_of

_MOST_FILES: Final = 5000
_MOST_VIRTUAL: Final = 20_000
_MOST_TEXT: Final = 64 << 20
_GREPPED: Final = re.compile(r"^/?((?:sys|proc)/[\w./:@+-]{1,250}?):(.{0,400})$", re.MULTILINE)
_SHOWN: Final = re.compile(
    r"(?:cat|head|tail|more|less)(?: -\S+)* /?((?:proc|sys|etc)/[\w./:@+-]+)"
)
_PLACE: Final = re.compile(r"/?((?:proc|sys|etc)/[\w./:@+-]+)")
# what people write beside what they collected, and what an import wrote
_NOTES: Final = re.compile(
    r"(?:case|readme|import|notes?)(?:\.(?:md|rst|txt|adoc))?", re.IGNORECASE
)


@dataclass(frozen=True)
class Piece:
    """An output, or a part of a text with several."""

    name: str  # the file, with the line where the part begins if there are several
    file: str  # its name alone
    command: str | None  # that printed it; None if nothing says it
    text: str  # what was printed
    host: str = ""  # that the prompt names; empty if it names none
    held: bool = False  # it is a file of /proc or /sys, or has such


@dataclass(frozen=True)
class Loose:
    """All that was collected by hand."""

    pieces: tuple[Piece, ...]  # in order
    virtual: dict[str, bytes]  # files of /proc and /sys that pieces hold, by name
    holders: dict[str, str]  # which piece each of these is in, by its name
    skipped: dict[str, str]  # files that are not read, and why


def gather(files: Files, names: Iterable[str]) -> Loose:
    """Return what the named files hold, as far as the bounds allow."""
    pieces: list[Piece] = []
    virtual: dict[str, bytes] = {}
    holders: dict[str, str] = {}
    skipped: dict[str, str] = {}
    size = 0
    names = iter(names)
    for name in itertools.islice(names, _MOST_FILES):
        if _NOTES.fullmatch(posixpath.basename(name)):
            skipped[name] = "notes of people are not read"
            continue
        text = files.text(name)
        if text is None:
            if not files.names(name):
                skipped[name] = "it cannot be read, or is too large"
            continue
        size += len(text)
        if size > _MOST_TEXT:
            skipped[name] = f"more than {_MOST_TEXT >> 20} MiB of texts"
            continue
        if not text.strip():
            skipped[name] = "it is empty"
            continue
        for piece in _pieces(name, text):
            inside = list(_held(piece))
            pieces.append(replace(piece, held=bool(inside)))
            for place, held in inside:
                if place not in virtual and len(virtual) < _MOST_VIRTUAL:
                    virtual[place], holders[place] = held.encode(), piece.name
    skipped |= dict.fromkeys(itertools.islice(names, 1000), f"more than {_MOST_FILES} files")
    return Loose(tuple(pieces), virtual, holders, skipped)


def _pieces(name: str, text: str) -> Iterator[Piece]:
    text = "\n".join(undressed(text.splitlines()))
    parts = split(text)
    if len(parts) == 1 and parts[0].command is None and parts[0].first == 1:
        yield Piece(name, name, None, text)
        return
    for part in parts:
        shown = name if len(parts) == 1 else f"{name}:{part.first}"
        yield Piece(shown, name, part.command or part.name or None, part.text, part.host)


def _held(piece: Piece) -> Iterator[tuple[str, str]]:
    """Yield name and content of the files of /proc and /sys that a piece holds."""
    command = piece.command or ""
    if names := sysctls_of(command):
        lines = [line for line in piece.text.splitlines() if line.strip()]
        for name, line in zip(names, lines, strict=False):
            if place := _clean(name.replace(".", "/")):
                yield f"proc/sys/{place}", line
        return
    shown = _SHOWN.fullmatch(command) or _PLACE.fullmatch(command)
    if shown is not None and (place := _clean(shown[1])):
        yield place, piece.text
        return
    found: dict[str, list[str]] = {}
    for place, line in _GREPPED.findall(piece.text):
        if clean := _clean(place):
            found.setdefault(clean, []).append(line)
    yield from ((place, "\n".join(lines)) for place, lines in found.items())


def _clean(place: str) -> str:
    """Return a name below the root; empty if it leads out of it."""
    parts = place.split("/")
    return "" if ".." in parts else "/".join(part for part in parts if part not in {"", "."})
