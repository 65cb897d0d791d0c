"""Shares of CPU time of all CPUs together: what `top` and `vmstat` print, BusyBox's top as well.

Of vmstat the last row counts: the first is of all time since the host started.

Source: top(1), vmstat(8); procps/top.c of BusyBox, `display_header`; Linux's command line, proc(5).
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.importing.evidence import Evidence
from simnet.importing.kind import HAPPENED, NOT_MODELLED, Kind
from simnet.importing.parser import Parser

_NUMBER: Final = r"\d{1,3}(?:[.,]\d{1,2})?"
_TOP: Final = re.compile(
    rf"^(?:%CPU|%?Cpu)\(s\): *({_NUMBER} ?%?\s*[^\W\d_]{{1,2}},.*)$", re.MULTILINE
)
# other languages have other words for them, in the same order
_TRANSLATED: Final = re.compile(rf"({_NUMBER}) ?%?\s*([^\W\d_]{{1,2}})(?=\s*(?:,|$))")
_IN_ORDER: Final = ("us", "sy", "ni", "id", "wa", "hi", "si", "st")
_SHARE: Final = re.compile(rf"({_NUMBER}) ?%?\s*(us|sy|ni|id|wa|hi|si|st)\b")
_BUSYBOX: Final = re.compile(rf"^CPU: +({_NUMBER}% usr .*)$", re.MULTILINE)
_OF_BUSYBOX: Final = re.compile(rf"({_NUMBER})% (usr|sys|nic|idle|io|irq|sirq)\b")
_HEAD: Final = re.compile(r"^ *r +b +swpd .*$", re.MULTILINE)
_ROW: Final = re.compile(r"^ *\d+(?: +\d+){12,}.*$", re.MULTILINE)
_WORDS: Final = {
    "id": "idle",
    "idle": "idle",
    "wa": "idle",
    "io": "idle",
    "si": "softirq",
    "sirq": "softirq",
    "st": "steal",
}


def shares_of_top(text: str) -> list[tuple[str, str]]:
    """Return the shares of a line of top with what they are of, in any language.

    >>> shares_of_top("5,2 be,  1,1 sy,  0,0 ni, 50,0 un,  0,3 wa,  0,0 hi,  2,7 si, 40,7 st")[-2:]
    [('2,7', 'si'), ('40,7', 'st')]
    """
    found = _SHARE.findall(text)
    every = _TRANSLATED.findall(text)
    if len(every) == len(_IN_ORDER) > len(found):
        return [(value, word) for (value, _), word in zip(every, _IN_ORDER, strict=True)]
    return found


def _uses(evidence: Evidence) -> Iterator[tuple[str, float, str]]:
    """Yield the shares in percent of all CPUs, and of vmstat how many threads are ready to run."""
    for kind, pattern, shares in (
        ("top of BusyBox", _BUSYBOX, _OF_BUSYBOX.findall),
        ("top", _TOP, shares_of_top),
    ):
        told = evidence.outputs.one(kind)
        if told is not None and (matched := pattern.search(told.text)):
            found = [(word, float(n.replace(",", "."))) for n, word in shares(matched[1])]
            yield from _named(found, told.name)
    told = evidence.outputs.one("vmstat")
    head = _HEAD.search(told.text) if told is not None else None
    if told is None or head is None:
        return
    rows = _ROW.findall(told.text, head.end())
    names = head[0].split()
    if rows and len(cells := rows[-1].split()) >= len(names):
        row = list(zip(names, cells, strict=False))
        # its si is what comes from swap
        columns = ("us", "sy", "id", "wa", "st")
        found = [(word, float(n)) for word, n in row if word in columns and n.isdecimal()]
        yield from _named(found, told.name)
        yield "runnable_threads", float(cells[0]), told.name


def _named(found: list[tuple[str, float]], source: str) -> Iterator[tuple[str, float, str]]:
    named: dict[str, float] = {}
    for word, value in found:
        if word in _WORDS:
            named[_WORDS[word]] = named.get(_WORDS[word], 0.0) + value
    if "idle" in named:
        yield "cpu.all.busy", max(100.0 - named.pop("idle"), 0.0), source
    yield from ((f"cpu.all.{name}", value, source) for name, value in named.items())


PARSER: Final = Parser(
    kinds=(
        Kind(
            "top",
            line=r"top - [\d:]{8} up |(?:%CPU|%?Cpu)\(s\): ",
            command="top -b -n 1",
            folder="process",
            idle=HAPPENED,
        ),
        Kind("top of BusyBox", line=rf"CPU: +{_NUMBER}% usr +\d+% sys ", idle=HAPPENED),
        Kind(
            "vmstat",
            line=r"procs -{3,}| *r +b +swpd ",
            command="vmstat 1 2",
            folder="process",
            idle=HAPPENED,
        ),
        Kind(
            "cmdline",
            line=r"(?:BOOT_IMAGE=|root=|(?:intel|amd)_iommu=|iommu=|quiet |ro )",
            files=("proc/cmdline",),
            idle=NOT_MODELLED,
        ),
    ),
    uses=_uses,
)
