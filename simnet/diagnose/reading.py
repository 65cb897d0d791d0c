"""What was read of each file, and which commands in it gave outputs that nothing is known of."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page
from simnet.importing.files.broken import why_broken

_MOST: Final = 20
# what asks for nothing that could be read, and logs, which rules search
_SILENT: Final = re.compile(
    r"(?:sudo\s+)?(?:dmesg|journalctl|cd|echo|ls|exit|sleep|service|systemctl|modprobe|vi|nano"
    r"|apt\S*|yum|dnf|reboot|export|clear)\b"
)


@dataclass(frozen=True)
class Reading:
    """What was read of a file."""

    name: str  # of the file
    lines: int  # that it has
    kinds: dict[str, int]  # how many facts of each kind it told
    # commands of whose outputs nothing is known, each with its line
    unread: tuple[tuple[int, str], ...]
    broken: str = ""  # why nothing of it can be read; empty where it is no document that breaks off

    @property
    def facts(self) -> int:
        """How many facts it told."""
        return sum(self.kinds.values())


def readings(pages: Sequence[Page], facts: Iterable[Fact]) -> tuple[Reading, ...]:
    """Return what was read of each file; several pages of one name count as one file."""
    kinds: dict[str, Counter[str]] = defaultdict(Counter)
    told: dict[str, set[int]] = defaultdict(set)
    for fact in facts:
        kinds[fact.file][fact.kind] += 1
        told[fact.file].add(fact.line)
    return tuple(
        Reading(
            page.name,
            len(page.lines),
            dict(kinds[page.name]),
            tuple(_unread(page, told))[:_MOST],
            "" if kinds[page.name] else why_broken("\n".join(page.lines)),
        )
        for page in pages
    )


def _unread(page: Page, told: dict[str, set[int]]) -> Iterator[tuple[int, str]]:
    lines = told[page.name]
    for part in page.parts:
        at, end = part.first, part.first + len(part.lines)
        if part.command and not _SILENT.match(part.command) and lines.isdisjoint(range(at, end)):
            yield at - 1, part.command
