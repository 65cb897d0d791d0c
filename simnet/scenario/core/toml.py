"""TOML files with line numbers.

``tomllib`` gives values without positions. :func:`read` adds the line of every key, found by a
scan of the text that knows headers, keys, multi-line strings and multi-line arrays. The scan only
runs on text that ``tomllib`` has accepted, so it need not detect errors itself.
"""

import os
import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Final, TypeAlias

from simnet.errors import InputError
from simnet.files import read_text

KeyPath: TypeAlias = tuple[str | int, ...]

_KEY: Final = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)"""
_DOTTED: Final = re.compile(rf"\s*({_KEY}(?:\s*\.\s*{_KEY})*)\s*")
_PART: Final = re.compile(_KEY)
_POSITION: Final = re.compile(r"\s*\(at (?:line (\d+), column \d+|end of document)\)$")
_MOST_PARTS: Final = 32
# a command asks for a scenario's text thrice: whether it is TOML, what it names, what it says
_MOST_KEPT: Final = 2
_LARGEST: Final = 1 << 63
_TOO_LARGE: Final = "expected an integer of at most 64 bits"
# What keys consist of, where dots may stand; what else is in a line ends a key.
_KEY_TOKEN: Final = re.compile(
    r'(?P<part>"(?!"")(?:[^"\\\n]|\\.)*"|\'(?!\'\')[^\'\n]*\'|[A-Za-z0-9_-]+|[ \t]+)|(?P<dot>\.)'
    r'|(?P<other>"""(?:[^\\]|\\.)*?"""|\'\'\'.*?\'\'\'|#[^\n]*|.)',
    re.DOTALL,
)
# What can hide or end a string, array or comment inside a value.
_TOKEN: Final = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|\'\'\'.*?\'{3,5}|"(?:[^"\\\n]|\\.)*"|\'[^\'\n]*\'|#[^\n]*|[\[\]{}]|\n',
    re.DOTALL,
)


@dataclass(frozen=True)
class Document:
    """A parsed file."""

    file: str  # as shown in messages
    data: Mapping[str, Any]  # the content
    # line (counted from 1) of each key path; entries of arrays of tables are numbers
    lines: Mapping[KeyPath, int]

    def line(self, path: KeyPath) -> int | None:
        """Return the line of the key, or of the nearest key that contains it."""
        for end in range(len(path), 0, -1):
            if path[:end] in self.lines:
                return self.lines[path[:end]]
        return None

    def error(self, message: str, path: KeyPath = ()) -> InputError:
        """Return an error at a key of this file."""
        return InputError(
            message, file=self.file, line=self.line(path), key=_key_text(path) or None
        )


def _key_text(path: KeyPath) -> str:
    text = ""
    for part in path:
        if isinstance(part, int):
            text += f"[{part}]"
        else:
            text += f".{part}" if text else part
    return text


def as_typed(path: Path) -> str:
    """Return a path as a person would type it: relative to the current folder where it is below."""
    try:
        return str(Path(os.path.realpath(path)).relative_to(Path.cwd()))
    except (OSError, ValueError):  # elsewhere, or the current folder is gone
        return str(path)


def read(path: Path, shown: str | None = None) -> Document:
    """Return the file's content with the line of every key.

    Args:
        path: the file.
        shown: how messages call it; its path when None.

    Raises:
        InputError: the file cannot be read, is no UTF-8 text, is huge, or is no TOML.
    """
    return parse(read_text(path, shown=shown), shown or str(path))


@lru_cache(maxsize=_MOST_KEPT)
def parse(text: str, file: str) -> Document:
    """Return a text's content with the line of every key; nobody changes it.

    Args:
        text: the text of a TOML file.
        file: how messages call it.

    Raises:
        InputError: it is no TOML, or beyond what any such file has.
    """
    _check_keys(text, file)
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _broken(str(error), text, file) from error
    except RecursionError as error:
        raise InputError("broken TOML: nested too deeply", file=file) from error
    except ValueError as error:  # what Python says of a number with thousands of digits
        raise InputError(f"broken TOML: {_TOO_LARGE}", file=file) from error
    lines: dict[KeyPath, int] = {}
    for key, line in _scan(text.replace("\r\n", "\n")):
        lines.setdefault(key, line)
    document = Document(file, data, lines)
    _check_numbers(document)
    return document


def _check_keys(text: str, file: str) -> None:
    """Refuse keys of very many parts: `tomllib` takes the square of their number."""
    if all(line.count(".") < _MOST_PARTS for line in text.split("\n")):
        return
    dots = 0
    for token in _KEY_TOKEN.finditer(text):
        if token.lastgroup == "dot":
            dots += 1
            if dots >= _MOST_PARTS:
                line = text.count("\n", 0, token.start()) + 1
                message = f"broken TOML: expected a key of at most {_MOST_PARTS} parts"
                raise InputError(message, file=file, line=line)
        elif token.lastgroup == "other":
            dots = 0


def _check_numbers(document: Document) -> None:
    """Refuse integers that TOML does not have: it has those of 64 bits."""
    waiting: list[tuple[KeyPath, Any]] = [((), document.data)]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict):
            waiting += [((*path, key), item) for key, item in value.items()]
        elif isinstance(value, list):
            waiting += [((*path, number), item) for number, item in enumerate(value)]
        elif isinstance(value, int) and not -_LARGEST <= value < _LARGEST:
            raise document.error(_TOO_LARGE, path)


def _broken(message: str, text: str, file: str) -> InputError:
    match = _POSITION.search(message)
    line = text.count("\n") + 1
    if match:
        message = message[: match.start()]
        line = int(match[1]) if match[1] else line
    return InputError(f"broken TOML: {message[0].lower()}{message[1:]}", file=file, line=line)


def _parts(dotted: str) -> tuple[str, ...]:
    parts = []
    for raw in _PART.findall(dotted):
        plain = raw if raw[0] not in "\"'" else next(iter(tomllib.loads(f"{raw} = 0")))
        parts.append(plain)
    return tuple(parts)


def _scan(text: str) -> Iterator[tuple[KeyPath, int]]:
    prefix: KeyPath = ()
    arrays: dict[KeyPath, int] = {}
    position, line = 0, 1
    while position < len(text):
        end = text.find("\n", position)
        end = len(text) if end < 0 else end
        start = text[position:end].lstrip()
        if start.startswith("["):
            double = start.startswith("[[")
            match = _DOTTED.match(start, 2 if double else 1)
            names = _parts(match[1]) if match else ()
            prefix = _resolve(names, arrays, new_element=double)
            yield from _keys((), prefix, line)
        elif start and not start.startswith("#"):
            match = _DOTTED.match(text, position)
            if match:
                yield from _keys(prefix, _parts(match[1]), line)
                end = _value_end(text, text.index("=", match.end()) + 1)
        line += text.count("\n", position, end) + 1
        position = end + 1


def _keys(prefix: KeyPath, names: KeyPath, line: int) -> Iterator[tuple[KeyPath, int]]:
    for count in range(1, len(names) + 1):
        yield prefix + names[:count], line


def _resolve(names: tuple[str, ...], arrays: dict[KeyPath, int], *, new_element: bool) -> KeyPath:
    """Return the path of a header, with the current element of every array of tables on it."""
    path: KeyPath = ()
    for number, name in enumerate(names):
        path = (*path, name)
        if new_element and number == len(names) - 1:
            arrays[path] = arrays.get(path, -1) + 1
        if path in arrays:
            path = (*path, arrays[path])
    return path


def _value_end(text: str, position: int) -> int:
    """Return where the value that starts here ends: the newline outside strings and brackets."""
    depth = 0
    for token in _TOKEN.finditer(text, position):
        mark = token[0]
        if mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
        elif mark == "\n" and depth <= 0:
            return token.start()
    return len(text)
