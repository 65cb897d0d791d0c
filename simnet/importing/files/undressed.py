"""What terminals, forums, mails and loggers put around an output, taken off line by line.

People copy with colours, quote a mail, number the lines, or paste from a forum. The words of the
tool stay as they are, and so does the number of lines: evidence names them.

Source: ECMA-48 for control sequences; RFC 3676, 4.5 for quoting; RFC 3164 and RFC 5424 for logs.
"""

import itertools
import re
from collections.abc import Callable, Sequence
from typing import Final

_CONTROL: Final = re.compile(
    r"(?:\x1b|\^\[)(?:\[[0-9;?]{0,20}[A-Za-z]|\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|[()][A-Z0-9])"
    r"|.\x08|[\x07\u200b\ufeff]"
)
_TAG: Final = re.compile(
    r"\[/?(?:code|quote|pre|spoiler|php|bash|shell|font|color|size)(?:[= ][^\]\n]{0,60})?\]"
    r"|</?(?:pre|code|br|p|div|span)(?: [^>\n]{0,60})?/?>",
    re.IGNORECASE,
)
_ENTITY: Final = re.compile(r"&(lt|gt|amp|quot|nbsp|#39|#x27);")
_MEANT: Final = {
    "lt": "<", "gt": ">", "amp": "&", "quot": '"', "nbsp": " ", "#39": "'", "#x27": "'",
}  # fmt: skip
_SPACES: Final = re.compile(r"[\u00a0\u2002-\u200a\u202f]")
# what word processors make of the dash of an option
_DASH: Final = re.compile(r"(?<= )[\u2010-\u2015\u2212](?=[A-Za-z\u2010-\u2015\u2212])")
# a counter in the output of diff
_DIFFERS: Final = re.compile(r"[<>] +(?=[\w.\[\]-]{2,60}: +\d{1,20}\s*$)")
_SIDES: Final = frozenset({"< ", "> "})
_QUOTE: Final = re.compile(r"(?:> ?){1,8}")
_CELLS: Final = re.compile(r"\s*\|(?P<cells>[^|\n]{0,200}(?:\|[^|\n]{0,200}){0,30})\|\s*")
_RULE: Final = re.compile(r"[\s:+|-]*-{2,}[\s:+|-]*")
_BULLET: Final = re.compile(r"\s*[-*\u2022\u00b7] +(?=[\w.\[\]-]{2,60} ?[:=] *\d)")
_TICKED: Final = re.compile(r"\s*`([^`\n]+)`\s*")
_NUMBERED: Final = re.compile(r" {0,8}(\d{1,6})(?:\t|[.)|\u2502] ?| {1,2}(?=[\S\t])| {3,}| {0,2}$)")
_WIDE: Final = re.compile(r" {0,8}\d{1,6}( +)(?=[\S\t])")
_BY_TAB: Final = re.compile(r" {0,8}\d{1,6}\t")
# what begins an output, and never stands inside of one
_BEGINS: Final = re.compile(
    r"(?:\[?[\w.-]+@[\w.-]+[^\n$#%>]{0,80}|~ ?)?[$#%>] ?[a-z/]|\d{1,6}: [^\s:]{1,20}: <|> "
    r"|NIC statistics:|Settings for |(?:Ring|Channel|Coalesce|Pause) parameters|Features for "
    r"|top - |%?Cpu|CPU\d*: "
    r"|Mem: |PING |Device:? |[0-9a-f]{8} [0-9a-f]{8} |cpu=\d|Chain |Linux \S+ \d|driver: |procs -"
    r"|\d\d:\d\d:\d\d |Architecture:|qdisc |HOST: |Udp|Tcp|Ip[A-Z]|CPU\d+ "
)
_FEWEST_INDENTED: Final = 2
# `grep -n`: no space behind the colon, or a counter; rows of /proc/interrupts have both otherwise
_GREPPED: Final = re.compile(r"(\d{1,6}):(?=\S|\s{1,12}[\w.\[\]-]{1,40}: *\d+\s*$)")
# of containers, of systemd and syslog, and of `ts`; the kernel's own lines stay
_STAMPED: Final = re.compile(
    r"\[?\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{1,9})?(?:Z|[+-]\d\d:?\d\d)?\]?"
    r"(?: +(?:std(?:out|err) [FP] ?| {0,3}(?=\S))| +|:? *$)(?!.{0,40}\bkernel: )"
    r"|\[?[A-Z][a-z]{2} [ \d]\d (?:\d{4} )?\d\d:\d\d:\d\d\]? "
    r"(?:[\w.-]{1,64} )?(?!kernel)[\w./-]{1,40}(?:\[\d{1,8}\])?: "
)
_FEWEST: Final = 3
# rows of /proc/interrupts that a narrow window or a mail has cut: counts, and no device behind
_COUNTS: Final = re.compile(r"\s{0,8}\d{1,5}:(?:\s+\d{1,20})+\s*|\s*CPU\d+(?:\s+CPU\d+)*\s*")
_GOES_ON: Final = re.compile(
    r"\s+(?:\d{1,20}\s+)*(?:\d{1,20}\s*|(?!CPU)[A-Za-z][\w.-]*(?:\s+\S.*)?)|\s+CPU\d+(?:\s+CPU\d+)*\s*"
)
_MOST_CUT: Final = 64


def undressed(lines: Sequence[str]) -> list[str]:
    r"""Return the lines without what is around them; there are as many.

    >>> undressed(["> rx_missed: 5", "> rx_fifo: 0", "> tx_packets: 9"])
    ['rx_missed: 5', 'rx_fifo: 0', 'tx_packets: 9']
    >>> undressed(["\x1b[01;31mrx_missed\x1b[0m: 5"])
    ['rx_missed: 5']
    """
    found = [_one(line) for line in lines]
    if any(line.startswith("< ") and _DIFFERS.match(line) for line in found):
        found = [_DIFFERS.sub("", line) if line[:2] in _SIDES else line for line in found]
    found = _dedented(_quotes(_dedented(found)))
    for numbering in (_GREPPED, _NUMBERED):
        found = _quotes(_numbers(found, numbering))
    found = _whole(_stamps(found))
    return [_cells(line) for line in found]


def _one(line: str) -> str:
    """Return a line without colours, tags, and signs that stand for others."""
    if "\x1b" in line or "\x08" in line or "^[" in line or not line.isascii():
        line = _CONTROL.sub("", line)
        line = _DASH.sub("-", _SPACES.sub(" ", line))
    if "&" in line:
        line = _ENTITY.sub(lambda one: _MEANT[one[1]], line)
    if "[" in line or "<" in line:
        line = _TAG.sub("", line)
    if "`" in line and (ticked := _TICKED.fullmatch(line)):
        return ticked[1]
    return _BULLET.sub("", line) if line.lstrip()[:1] in {"-", "*", "\u2022", "\u00b7"} else line


def _quotes(lines: list[str]) -> list[str]:
    """Return lines without the marks of a mail, where several lines in a row have them."""
    return _in_runs(lines, _QUOTE.match, lambda line: _QUOTE.sub("", line, count=1))


def _dedented(lines: list[str]) -> list[str]:
    """Return blocks of code as Markdown has them, without the four spaces or more before each line.

    >>> _dedented(["so:", "", "    NIC statistics:", "         rx_missed: 5"])
    ['so:', '', 'NIC statistics:', '     rx_missed: 5']
    """
    found: list[str] = []
    for inside, run in itertools.groupby(lines, lambda line: not line[:1].strip()):
        block = list(run)
        texts = [line for line in block if line.strip()]
        margin = min((len(line) - len(line.lstrip(" ")) for line in texts), default=0)
        outer = [line[margin:] for line in texts if line[margin : margin + 1] != " "]
        code = inside and margin and len(texts) >= _FEWEST_INDENTED
        if code and any(_BEGINS.match(line) for line in outer):
            block = [line[margin:] if line.strip() else "" for line in block]
        found += block
    return found


def _in_runs(
    lines: list[str], has: Callable[[str], object], without: Callable[[str], str]
) -> list[str]:
    found: list[str] = []
    for marked, run in itertools.groupby(lines, lambda line: bool(has(line))):
        every = list(run)
        found += map(without, every) if marked and len(every) >= _FEWEST else every
    return found


def _numbers(lines: list[str], numbering: re.Pattern[str]) -> list[str]:
    """Return lines without their numbers, if all have one and each is larger than the last."""
    matched = [numbering.match(line) for line in lines if line.strip()]
    if len(matched) < _FEWEST or not all(matched[:_FEWEST]):
        return lines
    numbers = [int(one[1]) for one in matched if one]
    rising = all(one < other for one, other in itertools.pairwise(numbers))
    if len(numbers) < len(matched) or not rising:
        return lines
    if numbering is _NUMBERED:
        if numbers != list(range(1, len(numbers) + 1)):
            return lines
        found = [wide for line in lines if (wide := _WIDE.match(line))]
        least = min((len(wide[1]) for wide in found), default=0)
        if least and not any(map(_BY_TAB.match, lines)):
            numbering = re.compile(rf" {{0,8}}\d{{1,6}} {{0,{least}}}")
    return [numbering.sub("", line, count=1) for line in lines]


def _stamps(lines: list[str]) -> list[str]:
    """Return lines without the time and place that a logger puts before each of them."""
    return _in_runs(lines, _STAMPED.match, lambda line: _STAMPED.sub("", line, count=1))


def _whole(lines: list[str]) -> list[str]:
    """Return rows of interrupts that were cut as one line, and an empty one for each that it took.

    >>> _whole([" 41:  7  8", "  9  PCI-MSI 5-edge  eth0", " 42:  1  2  3  PCI-MSI 6-edge  eth1"])
    [' 41:  7  8  9  PCI-MSI 5-edge  eth0', '', ' 42:  1  2  3  PCI-MSI 6-edge  eth1']
    """
    found = list(lines)
    at = 0
    while at < len(found):
        end = at
        head = "CPU" in found[at]
        while (
            end - at < _MOST_CUT
            and end + 1 < len(found)
            and _COUNTS.fullmatch(found[at])
            and _GOES_ON.fullmatch(found[end + 1])
            and ("CPU" in found[end + 1]) is head
        ):
            found[at] = found[at].rstrip() + found[end + 1]
            end += 1
            found[end] = ""
        at = end + 1
    return found


def _cells(line: str) -> str:
    """Return a row of a table of Markdown as a counter, or as columns."""
    if "|" not in line or (row := _CELLS.fullmatch(line)) is None:
        return line
    if _RULE.fullmatch(line):
        return ""
    cells = [cell.strip().strip("`*") for cell in row["cells"].split("|")]
    if not any(cells):
        return line
    if len(cells) == 2 and re.fullmatch(r"-?[\d,.]+%?", cells[1]):  # noqa: PLR2004 - name and value
        return f"{cells[0]}: {cells[1].replace(',', '')}"
    return "  ".join(cells)
