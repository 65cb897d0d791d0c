"""Fenced blocks of Markdown: commands, code, files and what the commands print.

The first word after the fence is the language; further words say how a block is checked.

| block | what happens |
| --- | --- |
| `sh` | runs in bash, in a checkout of the document's own; it must end with status 0 |
| `python` | runs; the blocks of a document share their names |
| `python in=FOLDER` | runs in a folder of that checkout, and imports what stands in it |
| any language with `title="FILE"` | is written to FILE; TOML is checked against its schema |
| `toml kind=KIND` | a few keys of such a file, checked against its schema |
| `text` after an executed block, with only blank lines between | what that block prints |
| `text` elsewhere | a picture or an illustration |

The folders of that checkout are links to the real ones until a block with a title writes to one, or
one comes that `writes` marks: its commands do.

`compiled` marks what needs the speed of the compiled engine, or a C compiler, and `slow` what takes
long: it runs only when `SIMNET_DOCS=all` asks for it, as `make test-all` does every night.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

EXECUTED = frozenset({"sh", "python"})
LANGUAGES = EXECUTED | {"toml", "yaml", "cython", "text"}

_FENCE = "```"
_WORD = re.compile(r'(?P<key>\w+)(?:=(?:"(?P<quoted>[^"]*)"|(?P<plain>\S+)))?')


@dataclass(frozen=True)
class Block:
    """One fenced block."""

    path: Path  # the document
    first: int  # number of the line after the opening fence, counted from 1
    language: str  # first word after the fence
    words: dict[str, str]  # the others, with their values; empty where there is none
    lines: tuple[str, ...]  # the content
    follows: bool  # only blank lines lie between the block before and this one

    @property
    def text(self) -> str:
        """The content with its line ends."""
        return "".join(f"{line}\n" for line in self.lines)

    @property
    def title(self) -> str:
        """The file that the block is; empty for none."""
        return self.words.get("title", "")

    @property
    def executed(self) -> bool:
        """Whether the block is run."""
        return self.language in EXECUTED and not self.title

    @property
    def place(self) -> str:
        """File and line."""
        return f"{self.path.name}:{self.first}"


@dataclass(frozen=True)
class Step:
    """A block, and the one after it that shows what it prints."""

    block: Block
    output: Block | None = None


class BadBlockError(Exception):
    """A block that nothing can check as it stands."""


def blocks(path: Path, text: str) -> Iterator[Block]:
    """Yield the blocks of a document.

    Raises:
        BadBlockError: a fence that is open or not at the start of its line, or an unknown language.
    """
    opened: tuple[int, str] | None = None
    follows = closed = False
    lines = text.splitlines()
    for number, line in enumerate(lines, start=1):
        if not line.lstrip().startswith(_FENCE):
            closed = closed and not line.strip()
        elif line.startswith(" "):
            message = f"{path.name}:{number}: expected a fence at the start of the line"
            raise BadBlockError(message)
        elif opened is None:
            opened, follows = (number, line.removeprefix(_FENCE)), closed
        else:
            start, information = opened
            content = tuple(lines[start : number - 1])
            yield _block(path, start, information, content, follows=follows)
            opened, closed = None, True
    if opened is not None:
        message = f"{path.name}:{opened[0]}: the block is not closed"
        raise BadBlockError(message)


def _block(
    path: Path, start: int, information: str, lines: tuple[str, ...], *, follows: bool
) -> Block:
    language, _, rest = information.partition(" ")
    if language not in LANGUAGES:
        message = f"{path.name}:{start}: expected one of {', '.join(sorted(LANGUAGES))}"
        raise BadBlockError(message)
    words = {w["key"]: w["quoted"] or w["plain"] or "" for w in _WORD.finditer(rest)}
    return Block(path, start + 1, language, words, lines, follows)


def steps(found: Sequence[Block]) -> list[Step]:
    """Join each block with what it prints; illustrations are left out."""
    joined: list[Step] = []
    before: Block | None = None
    for block in found:
        if block.language != "text":
            joined.append(Step(block))
        elif block.follows and before is not None and before.executed:
            joined[-1] = Step(before, block)
        before = block
    return joined


def read(path: Path) -> list[Step]:
    """Return the steps of a document."""
    return steps(list(blocks(path, path.read_text(encoding="utf-8"))))
