"""Reads what commands of a real machine print of its attributes, as subjects announce them.

A line without its last part, and a file that ends within a line, are what is left of a listing that
was cut. The command itself may stand above its listing, with the shell's prompt.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn

from simnet.errors import InputError
from simnet.files import read_text
from simnet.scenario.core.subject import subjects

_PROMPT: Final = r"(?:.*[#$>]\s*)?"
_LONGEST_SHOWN: Final = 40


@dataclass(frozen=True)
class Attribute:
    """One line of a listing."""

    name: str  # as printed
    value: str  # as printed; empty where the listing has none
    line: int  # in the file, counted from 1
    # where the listing has sections, names of the nodes that it is for; empty for all
    nodes: str = ""
    repeats: bool = False  # an earlier line for the same nodes says the same

    def belongs_to(self, nodes: str) -> bool:
        """Whether it is said of a node or node class; of an empty one, whether it holds of all."""
        return nodes in self.nodes.split(",")


@dataclass(frozen=True)
class Listed:
    """A command that prints attributes, one a line, and what of them can be set."""

    command: str  # in short
    title: str  # as typed
    typed: str  # pattern of the command line above its listing; ``device`` is what it is of
    line: re.Pattern[str]  # pattern of an attribute, its ``name`` and ``value``
    form: str  # what messages say that a line is
    known: Mapping[str, tuple[str, str]]  # unit and meaning by name
    knob: str  # name of the knob of an attribute, which stands for ``{}``
    # the hosts that a listing is for, see `simnet.scenario.commands.captured.Target`
    target: Callable[..., Any]
    system: str = ""  # operating system that has it; empty for any
    # what the name of the knob has at its end where an attribute is one of other nodes
    suffix: str = ""

    def begins(self, line: str) -> bool:
        """Whether its listing begins with such a line."""
        return bool(self.line.fullmatch(line))

    def attributes(self, lines: Lines) -> Iterator[Attribute]:
        """Yield the attributes of a listing."""
        for number, line in lines:
            found = lines.match(self, self.line, number, line)
            yield Attribute(found["name"], found["value"], number)


@functools.cache
def listed_commands() -> tuple[Listed, ...]:
    """Return the commands that subjects announce."""
    return tuple(one for subject in subjects() for one in subject.listings())


@dataclass(frozen=True)
class Listing:
    """What a command printed."""

    file: str  # as shown in messages
    listed: Listed  # which command
    device: str  # what it is of, as an adapter; empty where the listing does not say
    attributes: tuple[Attribute, ...]  # in the file's order

    @property
    def command(self) -> str:
        """The command in short."""
        return self.listed.command

    @property
    def title(self) -> str:
        """The command as typed."""
        return f"{self.listed.title} {self.device}".rstrip()

    @property
    def nodes(self) -> tuple[str, ...]:
        """The sections that are of some nodes, in their order."""
        return tuple(dict.fromkeys(one.nodes for one in self.attributes if one.nodes))


def read_listing(path: Path) -> Listing:
    """Read a file.

    Raises:
        InputError: it cannot be read, is cut, or is the output of another command.
    """
    return parse_listing(read_text(path, kind="listing of attributes"), str(path))


def parse_listing(text: str, file: str) -> Listing:
    """Read a listing; `file` is what messages call it. Raises InputError as `read_listing` does."""
    if "\0" in text:
        line = text[: text.index("\0")].count("\n") + 1
        raise InputError("not text", file=file, line=line)
    lines = Lines(text, file)
    listed, device = lines.command()
    found = list(listed.attributes(lines))
    if found and not text.endswith("\n"):
        lines.fail("the line is cut here: expected a line end", lines.last)
    if not found:
        lines.fail(f"no attributes: expected {listed.form}")
    return Listing(file, listed, device, tuple(_once(found, file)))


class Lines:
    """The lines of a file with their numbers, those without text left out."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        numbered = enumerate(text.splitlines(), start=1)
        self._lines = [(number, line) for number, line in numbered if line.strip()]
        self.last = len(text.splitlines())  # number of the last line of the file

    def __iter__(self) -> Iterator[tuple[int, str]]:
        return iter(self._lines)

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        """Raise an error at a line of the file, or at all of it."""
        raise InputError(message, file=self._file, line=line)

    def match(self, listed: Listed, form: re.Pattern[str], number: int, line: str) -> re.Match[str]:
        """Return what a line of a command's listing consists of."""
        found = form.fullmatch(line)
        if found is None:
            self.fail(f"expected {listed.form}, got {_shown(line)}", number)
        return found

    def command(self) -> tuple[Listed, str]:
        """Which command printed it, and of what: by the command line, or by the first line's form.

        Raises:
            InputError: none of those that are known.
        """
        known = listed_commands()
        *titles, last = (one.title for one in known)
        expected = f"expected output of {', '.join(titles)} or {last}"
        if not self._lines:
            self.fail(f"the file is empty: {expected}")
        number, first = self._lines[0]
        for listed in known:
            typed = re.fullmatch(rf"{_PROMPT}{listed.typed}\s*", first)
            if typed:
                del self._lines[0]
                return listed, typed.groupdict().get("device") or ""
        found = next((one for one in known if one.begins(first)), None)
        if found is None:
            self.fail(f"{expected}, got {_shown(first)}", number)
        return found, ""


def _once(found: Sequence[Attribute], file: str) -> Iterator[Attribute]:
    """Mark what is said twice, and refuse what contradicts itself."""
    seen: dict[tuple[str, str], Attribute] = {}
    for one in found:
        before = seen.setdefault((one.nodes, one.name), one)
        if before.value != one.value:
            message = f"{one.value} here, but {before.value} in line {before.line}"
            raise InputError(message, file=file, line=one.line, key=one.name)
        yield one if before is one else replace(one, repeats=True)


def _shown(line: str) -> str:
    """The beginning of a line, printable."""
    text = "".join(c if c.isprintable() else "?" for c in line.strip())
    return repr(text if len(text) <= _LONGEST_SHOWN else f"{text[: _LONGEST_SHOWN - 3]}...")
