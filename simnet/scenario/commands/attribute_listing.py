"""Reads what `lsattr -El`, `no -a` and `mmlsconfig` print.

- `lsattr -El ent3`: attribute, value, description, and True or False in columns. The value may be
  missing.
- `no -a`: `attribute = value`.
- `mmlsconfig`: attribute and value. `[NODECLASS]` begins what holds of some nodes, `[common]` what
  holds of all. With its heading the list of file systems has to follow. Lines may begin with `! `,
  as in a text that was annotated.

A line without its last part, and a file that ends within a line, are what is left of a listing that
was cut. The command itself may stand above its listing, with the shell's prompt.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final, Literal, NoReturn

from simnet.errors import InputError
from simnet.files import read_text
from simnet.scenario.parts.scale.attributes import SCALE_ATTRIBUTES, of_servers

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

__all__ = ["COMMANDS", "Attribute", "Listing", "parse_listing", "read_listing"]

Command = Literal["lsattr", "no", "mmlsconfig"]
COMMANDS: Final[dict[Command, str]] = {
    "lsattr": "lsattr -El",
    "no": "no -a",
    "mmlsconfig": "mmlsconfig",
}
_TYPED: Final = re.compile(
    r"(?:.*[#$>]\s*)?(?:(?P<lsattr>lsattr\s+-El?\s*(?P<device>\w+))|(?P<no>no\s+-a)"
    r"|(?P<mmlsconfig>mmlsconfig)(?:\s.*)?)\s*"
)
_NO: Final = re.compile(r"\s*(?P<name>\w+)\s*=\s*(?P<value>\S.*?)\s*")
_LSATTR: Final = re.compile(r"(?P<name>\w+)\s+(?P<rest>\S.*\S)\s+(?:True|False)\+?\s*")
_SCALE: Final = re.compile(r"(?:!\s*)?(?P<name>[A-Za-z]\w*)(?:\s+\([^)]*\))?\s+(?P<value>\S.*?)\s*")
_SECTION: Final = re.compile(r"(?:!\s*)?\[(?P<nodes>[^\]]+)\]\s*")
_HEADING: Final = re.compile(r"Configuration data for cluster \S+:\s*")
_TRAILER: Final = re.compile(r"File systems in cluster \S+:\s*")
_RULE: Final = re.compile(r"-+\s*")
_COMMON: Final = "common"
_FORMS: Final[dict[Command, str]] = {
    "lsattr": "attribute, value, description, and True or False at the end, as lsattr -El prints",
    "no": "attribute = value, as no -a prints",
    "mmlsconfig": "attribute and value, as mmlsconfig prints",
}


@dataclass(frozen=True)
class Attribute:
    """One line of a listing.

    Attributes:
        name: as printed.
        value: as printed; empty where the listing has none.
        line: in the file, counted from 1.
        nodes: of mmlsconfig, names of nodes and node classes that it is for; empty for all.
        repeats: an earlier line for the same nodes says the same.
    """

    name: str
    value: str
    line: int
    nodes: str = ""
    repeats: bool = False

    def is_of(self, nodes: str) -> bool:
        """Whether it is said of a node or node class; of an empty one, whether it holds of all."""
        return nodes in self.nodes.split(",")


@dataclass(frozen=True)
class Listing:
    """What a command printed.

    Attributes:
        file: as shown in messages.
        command: which.
        device: of lsattr, the adapter or interface; empty where the listing does not tell.
        attributes: in the file's order.
    """

    file: str
    command: Command
    device: str
    attributes: tuple[Attribute, ...]

    @property
    def title(self) -> str:
        """The command as typed."""
        return f"{COMMANDS[self.command]} {self.device}".rstrip()

    def of_servers(self, nodes: str) -> bool:
        """Whether it is the configuration of nodes that have disks of their own.

        Args:
            nodes: of mmlsconfig, a node or node class; empty for what holds of all, which tells
                nothing of any, unless the listing is of one node.
        """
        if self.nodes and not nodes:
            return False
        return any(of_servers(one.name) for one in self.attributes if one.is_of(nodes))

    @property
    def nodes(self) -> tuple[str, ...]:
        """The sections of mmlsconfig, in their order."""
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
    return _Reader(text, file).listing()


class _Reader:
    """The lines of a file with their numbers."""

    def __init__(self, text: str, file: str) -> None:
        self._file = file
        self._whole = text.endswith("\n")
        numbered = enumerate(text.splitlines(), start=1)
        self._lines = [(number, line) for number, line in numbered if line.strip()]
        self._last = len(text.splitlines())

    def _fail(self, message: str, line: int | None = None) -> NoReturn:
        raise InputError(message, file=self._file, line=line)

    def listing(self) -> Listing:
        command, device = self._command()
        if not self._lines:
            self._fail(f"no attributes: expected {_FORMS[command]}")
        if command == "lsattr":
            found = list(self._columns())
        elif command == "no":
            found = [self._match(_NO, "no", *numbered) for numbered in self._lines]
        else:
            found = list(self._sections())
        if not self._whole:
            self._fail("the line is cut here: a line end was expected", self._last)
        if not found:
            self._fail(f"no attributes: expected {_FORMS[command]}")
        return Listing(self._file, command, device, tuple(_once(found, self._file)))

    def _command(self) -> tuple[Command, str]:
        """Which command printed it, and of lsattr the device: by the command line, if any."""
        if not self._lines:
            self._fail("the file is empty: expected output of lsattr -El, no -a or mmlsconfig")
        first = self._lines[0][1]
        typed = _TYPED.fullmatch(first)
        if typed:
            del self._lines[0]
            if typed["lsattr"]:
                return "lsattr", typed["device"]
            return ("no" if typed["no"] else "mmlsconfig"), ""
        return self._by_form(*self._lines[0]), ""

    def _by_form(self, number: int, first: str) -> Command:
        """Which command prints such a line."""
        forms: tuple[tuple[Command, re.Pattern[str]], ...] = (
            ("no", _NO),
            ("lsattr", _LSATTR),
            ("mmlsconfig", _HEADING),
            ("mmlsconfig", _SECTION),
        )
        for command, form in forms:
            if form.fullmatch(first):
                return command
        scale = _SCALE.fullmatch(first)
        if not scale or not (first.startswith("! ") or scale["name"] in SCALE_ATTRIBUTES):
            expected = "expected output of lsattr -El, no -a or mmlsconfig"
            self._fail(f"{expected}, got {_shown(first)}", number)
        return "mmlsconfig"

    def _match(self, form: re.Pattern[str], command: Command, number: int, line: str) -> Attribute:
        found = form.fullmatch(line)
        if found is None:
            self._fail(f"expected {_FORMS[command]}, got {_shown(line)}", number)
        return Attribute(found["name"], found["value"], number)

    def _columns(self) -> Iterator[Attribute]:
        """Attributes of lsattr: an empty value is told by the column where values begin."""
        matched = []
        for number, line in self._lines:
            found = _LSATTR.fullmatch(line)
            if found is None:
                self._fail(f"expected {_FORMS['lsattr']}, got {_shown(line)}", number)
            matched.append((number, found))
        starts = Counter(found.start("rest") for _, found in matched)
        column = min(starts)
        for number, found in matched:
            value = ""
            if found.start("rest") == column:
                value = found["rest"].split(maxsplit=1)[0]
            yield Attribute(found["name"], value, number)

    def _sections(self) -> Iterator[Attribute]:
        """Attributes of mmlsconfig, with the nodes that they are for."""
        nodes = ""
        headed = ended = False
        for number, line in self._lines:
            if _TRAILER.fullmatch(line):
                ended = True
                break
            if _HEADING.fullmatch(line):
                headed = True
            elif section := _SECTION.fullmatch(line):
                nodes = "" if section["nodes"] == _COMMON else section["nodes"]
            elif not (headed and _RULE.fullmatch(line)):
                yield replace(self._match(_SCALE, "mmlsconfig", number, line), nodes=nodes)
        if headed and not ended:
            self._fail(
                "the listing is cut here: `File systems in cluster` was expected", self._last
            )


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
    return repr(text if len(text) <= 40 else f"{text[:37]}...")  # noqa: PLR2004 (a short line)
