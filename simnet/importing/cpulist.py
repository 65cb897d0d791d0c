"""Sets of CPUs as the kernel prints them: lists (`0-3,8`) and masks (`ff,00000000`).

Source: lib/bitmap.c of Linux, `bitmap_parselist` and `bitmap_parse`.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["MOST_CPUS", "cpulist_text", "parse_cpulist", "parse_cpumask"]

# CONFIG_NR_CPUS of x86-64 is at most this
MOST_CPUS: Final = 8192
_RANGE: Final = re.compile(r"(\d{1,5})(?:-(\d{1,5}))?")
_MASK: Final = re.compile(r"[0-9a-fA-F]{1,8}(?:,[0-9a-fA-F]{1,8})*")


def parse_cpulist(text: str) -> frozenset[int] | None:
    """Return the CPUs of a list such as `0-3,8`; None if the text is no such list."""
    found: set[int] = set()
    for part in text.split(","):
        if not part.strip():
            continue
        matched = _RANGE.fullmatch(part.strip())
        if matched is None:
            return None
        first, last = int(matched[1]), int(matched[2] or matched[1])
        if last < first or last >= MOST_CPUS:
            return None
        found.update(range(first, last + 1))
    return frozenset(found)


def parse_cpumask(text: str) -> frozenset[int] | None:
    """Return the CPUs of a mask in words of 32 bits; None if the text is no such mask."""
    text = text.strip().removeprefix("0x")
    if len(text) > MOST_CPUS // 3 or not _MASK.fullmatch(text):
        return None
    first, *words = text.split(",")
    # all words but the first have their leading zeros; a few kernels leave them out
    bits = int(first + "".join(word.rjust(8, "0") for word in words), 16)
    found = frozenset(number for number in range(bits.bit_length()) if bits >> number & 1)
    return found if bits < 1 << MOST_CPUS else None


def cpulist_text(cpus: frozenset[int]) -> str:
    """Return CPUs as a list, as in `0-3,8`."""
    runs: list[list[int]] = []
    for cpu in sorted(cpus):
        if runs and cpu == runs[-1][-1] + 1:
            runs[-1][1:] = [cpu]
        else:
            runs.append([cpu])
    return ",".join("-".join(map(str, run)) for run in runs)
