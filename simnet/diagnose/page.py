"""A file as text: its lines within bounds, and which port each line speaks of."""

import bisect
import re
from functools import cached_property
from typing import Final

from simnet.importing.files.undressed import undressed
from simnet.importing.pasted import Part, split

MOST_LINES: Final = 200_000
_LONGEST: Final = 20_000
_LOGGED: Final = 600
# a word of each line that a rule looks for in a log
_TROUBLE: Final = re.compile(
    r"(?i)link|fault|watchdog|hang|reset|hardware error|swiotlb|pcie|table|overflow|orphan|tcp:"
    r"|martian|lockup|stall|throttl|memory|oom-kill|blocked|nobody|disabling irq|duplex|downshift"
    r"|smartspeed|carrier|mdd event|i/o|flooding|driver issue|adapter|controller|not responding"
    r"|timeout|conn error|clocksource|allocation failure|suspect gro|module|insufficient power|tsc"
    r"|bad_offload|caps=\(0x|detached|removed|health|isn.t alive|power state|unrecoverable|heated"
    r"|temperature|data path switched|voltage|%rdy|\b40 ?m(?:s|illi)"
)
_PORT: Final = r"(?!-)[A-Za-z][\w.@-]{0,14}"
_IN_NAME: Final = re.compile(
    rf"ethtool[_ -]+(?:-{{0,2}}[a-zA-Z]|-{{2}}[a-z-]+|-S_-a)[_ -]+({_PORT})$"
)
_ENDING: Final = re.compile(r"(?i)(?:\.(?:txt|log|out))$")
_WHEN: Final = re.compile(r"(?i)[-_.](?:before|after|first|later|slow|fast|good|bad|\d{1,3})$")
_TYPED: Final = re.compile(
    rf"(?:^|.*?[;&|] *)(?:sudo )?(?:/\S*/)?ethtool\s+(?:-{{1,2}}[\w-]+\s+)*(?P<typed>{_PORT})\b"
)
# a command within a sentence: what follows it is of its port
_SPOKEN: Final = re.compile(
    r"\bethtool\s+(?:-{1,2}[a-zA-Z][\w-]*\s+)+(?P<port>(?=[\w.@-]*\d)[A-Za-z][\w.@-]{1,14})(?![\w/])"
)
_HEADED: Final = re.compile(
    rf"""(?mx)
    ^\s*[\w ]*(?:parameters|[Cc]apabilities|[Ss]ettings|[Ff]eatures|table|Statistics|statistics)
    \ (?:for|on)\ (?:interface\ )?(?P<head>{_PORT}):?\s*(?:$|with)
    |^(?P<alone>{_PORT}):\s*\n(?=\s*NIC\ statistics)
    """
)


def number(text: str) -> float:
    """Return a number as tools print it: with commas, a percent sign, a decimal comma; 0 if none.

    >>> number("1,234"), number("12.5%"), number("n/a")
    (1234.0, 12.5, 0.0)
    """
    text = text.strip().rstrip("%").replace("'", "")
    if re.fullmatch(r"-?\d{1,3}(?:,\d{3})+(?:\.\d+)?", text):
        text = text.replace(",", "")
    try:
        found = float(text.replace(",", "."))
    except ValueError:
        return 0.0
    return found if abs(found) < 1e300 else 0.0  # noqa: PLR2004 - neither infinite nor no number


class Page:
    """A text of one file or one paste.

    Args:
        name: what the user calls it.
        text: what it holds.
    """

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self.lines = undressed([line[:_LONGEST] for line in text.splitlines()[:MOST_LINES]])
        self.text = "\n".join(self.lines)

    @cached_property
    def _starts(self) -> list[int]:
        found, at = [], 0
        for line in self.lines:
            found.append(at)
            at += len(line) + 1
        return found

    def line_of(self, offset: int) -> int:
        """Return the number of the line, from 1, that holds a place of the text."""
        return bisect.bisect_right(self._starts, offset)

    @cached_property
    def logged(self) -> str:
        """The same lines, each cut to what one of a log has; empty where it tells no trouble."""
        cut = (line[:_LOGGED] for line in self.lines)
        return "\n".join(line if _TROUBLE.search(line) else "" for line in cut)

    @cached_property
    def parts(self) -> list[Part]:
        """The outputs that it holds, each after the command that printed it."""
        return split(self.text)

    @cached_property
    def _ports(self) -> tuple[list[int], list[str]]:
        found = [(0, self._port_in_name())]
        found += [
            (part.first - 1, typed["typed"])
            for part in self.parts
            if part.command and (typed := _TYPED.match(part.command))
        ]
        found += [
            (self.line_of(one.start()), one["port"])
            for one in _SPOKEN.finditer(self.text)
            if "ethtool" not in self.text[one.end() :].partition("\n")[0]
        ]
        found += [
            (self.line_of(one.end("head" if one["head"] else "alone")), one["head"] or one["alone"])
            for one in _HEADED.finditer(self.text)
        ]
        found.sort(key=lambda one: one[0])
        return [line for line, _ in found], [name for _, name in found]

    def _port_in_name(self) -> str:
        name = _ENDING.sub("", self.name.rpartition("/")[2])
        found = _IN_NAME.search(_WHEN.sub("", name))
        return found[1] if found else ""

    def port_at(self, line: int) -> str:
        """Return the port that the last heading, prompt, or the file's name speaks of."""
        lines, names = self._ports
        return names[bisect.bisect_right(lines, line) - 1]
