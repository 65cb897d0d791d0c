"""/proc/net/softnet_stat: one line of hexadecimal numbers a CPU."""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page

_ROW: Final = re.compile(r"\s*((?:[0-9a-f]{8}\s+){8,14}[0-9a-f]{8})\s*")
# scripts that add names and decimals: `cpu0 total=918273 drop=0 squeeze=12`
_NAMED: Final = re.compile(r"\s*[Cc][Pp][Uu]\s?(?P<cpu>\d{1,5})\b[ :,|]+(?=.*\bdrop)(?P<rest>\S.*)")
_PAIR: Final = re.compile(r"\b(?P<name>total|processed|drop|squeeze)\w*\s?[=:]\s?(?P<n>\d{1,18})\b")
_MEANT: Final = {"total": "processed", "drop": "dropped", "squeeze": "squeezed"}
_NAMES: Final = {0: "processed", 1: "dropped", 2: "squeezed", 9: "rps", 10: "flow_limit"}
_CPU: Final = 12

# columns that somebody picked: awk '{print NR-1,$1,$2,$3}' /proc/net/softnet_stat
_PICKED: Final = re.compile(
    r".*\bawk\b.*\bprint (?:NR(?:-1)?, ?)?(?P<columns>\$\d{1,2}(?:,? ?\$\d{1,2}){0,9})\}.*"
)
_COLUMN: Final = re.compile(r"\$(\d{1,2})")
_WORD: Final = re.compile(r"\b[0-9a-f]{8}\b")
_WORDS: Final = re.compile(r"\s*(?:\d{1,5}[\s,;]+)?[0-9a-f]{8}(?:[\s,;]+[0-9a-f]{8})*\s*")

OUTPUTS: Final = {"softnet": "softnet_stat"}
SIGN: Final = re.compile(
    r"(?m)^\s*(?:[0-9a-f]{8}\s+){8}|^\s*[Cc][Pp][Uu]\s?\d+.*\bdrop\w*\s?[=:]\s?\d|softnet_stat"
)


def read(page: Page) -> Iterator[Fact]:
    """Yield what each CPU counts; Linux 5.10 and later print its number, else rows count."""
    cpu = -1
    picked: list[int] = []
    for at, line in enumerate(page.lines, 1):
        row = _ROW.fullmatch(line)
        if "softnet_stat" in line and (typed := _PICKED.fullmatch(line)):
            picked, cpu = [int(one) - 1 for one in _COLUMN.findall(typed["columns"])], -1
            continue
        if picked and row is None and _WORDS.fullmatch(line):
            cpu += 1
            for place, word in zip(picked, _WORD.findall(line), strict=False):
                if name := _NAMES.get(place):
                    value = float(int(word, 16))
                    yield Fact("softnet", f"CPU {cpu}", name, value, page.name, at)
            continue
        picked = [] if line.strip() else picked
        if (named := _NAMED.fullmatch(line)) is not None:
            for pair in _PAIR.finditer(named["rest"]):
                name = _MEANT.get(pair["name"], pair["name"])
                value = float(pair["n"])
                yield Fact("softnet", f"CPU {int(named['cpu'])}", name, value, page.name, at)
        if row is None:
            cpu = -1
            continue
        words = [int(word, 16) for word in row[1].split()]
        cpu = words[_CPU] if len(words) > _CPU else cpu + 1
        for place, name in _NAMES.items():
            if place < len(words):
                yield Fact("softnet", f"CPU {cpu}", name, float(words[place]), page.name, at)
