"""Counters of connection tracking, a CPU each: conntrack -S, /proc/net/stat/nf_conntrack.

Source: conntrack(8); net/netfilter/nf_conntrack_standalone.c of Linux, `ct_cpu_seq_show`: numbers
are hexadecimal, and each row has the entries of the whole table.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_NAMES: Final = ("found", "invalid", "insert", "insert_failed", "drop", "early_drop")
_ROW: Final = re.compile(rf"\b({'|'.join(_NAMES)})=(\d+)")
_HEAD: Final = re.compile(r"\s*entries\s.*\binsert_failed\s+drop\s+early_drop\b.*")
_HEX: Final = re.compile(r"\s*[0-9a-f]{8}(?:\s+[0-9a-f]{8})+\s*")
_COUNT: Final = "net.netfilter.nf_conntrack_count"

OUTPUTS: Final = {"conntrack": "conntrack -S"}
SIGN: Final = re.compile(r"insert_failed=|insert_failed\s+drop")


def read(page: Page) -> Iterator[Fact]:
    """Yield counters by CPU, and how many entries there are."""
    columns: list[str] = []
    cpu = 0
    for at, line in enumerate(page.lines, 1):
        if line.startswith("cpu=") and "insert_failed=" in line:
            of = line.split()[0].replace("cpu=", "CPU ")
            for name, value in _ROW.findall(line):
                yield Fact("conntrack", of, name, number(value), page.name, at)
        elif _HEAD.fullmatch(line):
            columns, cpu = line.split(), 0
        elif columns and _HEX.fullmatch(line) and len(line.split()) == len(columns):
            row = dict(zip(columns, line.split(), strict=True))
            if not cpu:
                count = int(row["entries"], 16)
                yield Fact("sysctl", "", _COUNT, float(count), page.name, at, str(count))
            for name in (one for one in _NAMES if one in row):
                counted = float(int(row[name], 16))
                yield Fact("conntrack", f"CPU {cpu}", name, counted, page.name, at)
            cpu += 1
