"""Changes texts as accidents and attackers do."""

from random import Random
from typing import Final

_NUMBERS: Final = (
    "0", "-1", "1", "2", "255", "65535", "65536", "4294967295", "4294967296",
    "9223372036854775807", "9223372036854775808", "1e300", "1e-300", "1e999", "nan", "inf",
    "-inf", "0x7f", "1_000", "1.5", "9" * 4400, "٣", "1979-05-27", "true", '""', "[]", "{}",
    "null", "[[[[[[[[[[[[]]]]]]]]]]]]",
)  # fmt: skip
_CHANGES: Final = (
    "number", "number", "number", "number", "word", "swap", "drop", "double", "move", "piece",
    "other", "cut",
)  # fmt: skip
_NEAR: Final = 0.6
"""How often a number becomes one that could be meant."""
_LONG: Final = 40
_PIECES: Final = (
    "\0", "\x1b[2J", "\x07", "\ufeff", "\u202e", "\r", "\n", "\n\n", "\t", '"', "'", "'''", '"""',
    "[", "]", "[[", "{", "}", "=", ".", ",", "#", "\\", "`", "//", "/*", "*/", "+0", "~", ">",
    "<", "...", "%", "$(id)", "é", "\U0001f600", " " * 300, "a" * 3000, "a." * 500, "[" * 2000,
    "(" * 2000,
)  # fmt: skip


def mutated(random: Random, text: str, more: str = "") -> bytes:
    """Return a text with one change or several; `more` is where strange lines come from."""
    lines = text.split("\n")
    for _ in range(random.choice((1, 1, 1, 1, 2, 4))):
        _change(random, lines, more.split("\n") if more else text.split("\n"))
    content = "\n".join(lines)
    if random.random() < 0.08:
        content = content[: random.randrange(len(content) + 1)]
    raw = content.encode("utf-8", "surrogatepass")
    if random.random() < 0.06 and raw:
        at = random.randrange(len(raw))
        raw = (
            raw[:at]
            + random.randbytes(random.choice((1, 2, 8)))
            + raw[at + random.choice((0, 1)) :]
        )
    return raw


def _change(random: Random, lines: list[str], more: list[str]) -> None:
    at = random.randrange(len(lines)) if lines else 0
    match random.choice(_CHANGES):
        case "drop":
            del lines[at : at + random.choice((1, 1, 2, 10))]
        case "double":
            lines[at:at] = lines[at : at + 1] * random.choice((1, 1, 2, 50))
        case "move" if lines:
            lines.insert(random.randrange(len(lines)), lines.pop(at))
        case "other":
            lines.insert(at, random.choice(more))
        case _ if not lines:
            lines.append(random.choice(_PIECES))
        case "number":
            lines[at] = _numbered(random, lines[at])
        case "piece":
            column = random.randrange(len(lines[at]) + 1)
            lines[at] = lines[at][:column] + random.choice(_PIECES) + lines[at][column:]
        case "word":
            words = lines[at].split(" ")
            words[random.randrange(len(words))] = random.choice(random.choice(more).split(" "))
            lines[at] = " ".join(words)
        case "cut":
            lines[at] = lines[at][: random.randrange(len(lines[at]) + 1)]
        case "swap":
            other = random.randrange(len(lines))
            left, _, right = lines[at].partition("=")
            lines[at] = f"{left}={lines[other].partition('=')[2] or right}"


def _numbered(random: Random, line: str) -> str:
    """Replace a number of the line, if it has any."""
    starts = [
        i for i, letter in enumerate(line) if letter.isdigit() and not line[i - 1 : i].isdigit()
    ]
    if not starts:
        return line + random.choice(_NUMBERS)
    start = random.choice(starts)
    end = start
    while end < len(line) and (line[end].isdigit() or line[end] in "._"):
        end += 1
    number = random.choice(_NUMBERS)
    if random.random() < _NEAR and line[start:end].isdecimal() and end - start < _LONG:
        before = int(line[start:end])
        number = str(random.choice((0, 1, before + 1, max(before - 1, 0), 2 * before, 10 * before)))
    return line[:start] + number + line[end:]
