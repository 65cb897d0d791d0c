"""Sets of CPUs as the kernel prints and takes them: lists (`0-3,8`) and masks (`ff,00000000`).

Source: lib/bitmap.c of Linux, `bitmap_parselist` and `bitmap_parse`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

MOST_CPUS: Final = 8192
"""The largest CONFIG_NR_CPUS of x86-64."""
CPULIST: Final = "[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*"
"""A pattern for lists."""
_MASK: Final = re.compile(r"[0-9a-fA-F]{1,8}(?:,[0-9a-fA-F]{1,8})*")


def cpu_ranges(text: str) -> list[tuple[int, int]]:
    """Return the first and last CPU of each part of a list, as written; empty if it is no list."""
    if not re.fullmatch(CPULIST, text):
        return []
    ends = (part.partition("-") for part in text.split(","))
    return [(int(first), int(last or first)) for first, _, last in ends]


def parse_cpulist(text: str) -> frozenset[int] | None:
    """Return the CPUs of a list such as `0-3,8`, which may be empty; None if it is no such list."""
    text = text.strip()
    ranges = cpu_ranges(text)
    if not ranges:
        return None if text else frozenset()
    if any(not first <= last < MOST_CPUS for first, last in ranges):
        return None
    return frozenset(cpu for first, last in ranges for cpu in range(first, last + 1))


def parse_cpumask(text: str) -> frozenset[int] | None:
    """Return the CPUs of a mask in words of 32 bits; None if the text is no such mask."""
    text = text.strip().removeprefix("0x")
    if len(text) > MOST_CPUS // 3 or not _MASK.fullmatch(text):
        return None
    found = cpus_of_words(text.split(","))
    return frozenset(found) if not found or found[-1] < MOST_CPUS else None


def cpus_of_words(words: Sequence[str]) -> tuple[int, ...]:
    """Return the CPUs of a mask's words, the first with the highest CPUs, ascending."""
    # all words but the first have their leading zeros; a few kernels leave them out
    bits = int(words[0] + "".join(word.zfill(8) for word in words[1:]), 16)
    return tuple(cpu for cpu in range(bits.bit_length()) if bits >> cpu & 1)


def cpulist_text(cpus: Iterable[int]) -> str:
    """Return CPUs as a list, as in `0-3,8`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1][1:] = [cpu]
        else:
            runs.append([cpu])
    return ",".join("-".join(map(str, run)) for run in runs)
