"""How the threads of an NFS server keep up: /proc/fs/nfsd/pool_stats.

Source: Linux Documentation/filesystems/nfs/knfsd-stats.rst.
"""

import re
from collections.abc import Iterator
from typing import Final

from simnet.diagnose.fact import Fact
from simnet.diagnose.page import Page, number

_HEAD: Final = re.compile(r"\s*# pool (?P<names>packets-arrived [a-z -]{1,100})")
_ROW: Final = re.compile(r"\s*\d{1,4}(?: \d{1,20}){3,6}\s*")

SIGN: Final = re.compile(r"# pool packets-arrived")


def read(page: Page) -> Iterator[Fact]:
    """Yield what arrived at each pool of threads, and how much of it waited for one."""
    names: list[str] = []
    for at, line in enumerate(page.lines, 1):
        if head := _HEAD.match(line):
            names = head["names"].split()
        elif names and _ROW.fullmatch(line):
            pool, *counts = line.split()
            for name, count in zip(names, counts, strict=False):
                yield Fact("nfsd", f"pool {pool}", name, number(count), page.name, at)
        else:
            names = []
