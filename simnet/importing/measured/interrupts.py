"""`/proc/interrupts`: counts by the words of an interrupt's name, one of which may be a port's.

Drivers put the port's name between other words: `eth0-TxRx-3`, `iavf-eth0-TxRx-0`, `eth0-rx-1`.
Each word gets the sum of the interrupts that have it; a comparison takes those of its ports.
"""

import re
from collections import defaultdict
from typing import Final

from simnet.importing.measured.reader import Numbers, Reader
from simnet.importing.parsers.interrupts import interrupt_counts

_HEADING: Final = re.compile(r"\s+CPU\d+\s")
_WORDS: Final = re.compile(r"[^\s,:@-]+")


def _read(text: str) -> Numbers:
    found: defaultdict[str, float] = defaultdict(float)
    for by_cpu, name in interrupt_counts(text).values():
        for word in set(_WORDS.findall(name)):
            found[f"port.{word}.interrupts_per_s"] += sum(by_cpu.values())
    return found


READER: Final = Reader(
    "/proc/interrupts", lambda text: _HEADING.match(text) is not None, _read, counts=True
)
