"""`/proc/net/softnet_stat`: packets that a backlog dropped, the second number of each CPU's row.

Source: `softnet_seq_show` of net/core/net-procfs.c.
"""

import re
from typing import Final

from simnet.importing.measured.reader import Numbers, Reader

_ROW: Final = re.compile(r"[0-9a-f]{8}(?: [0-9a-f]{8}){8,}$")


def _read(text: str) -> Numbers:
    rows = [line.split() for line in text.splitlines() if _ROW.match(line.strip())]
    return {"backlog_drops_per_s": float(sum(int(row[1], 16) for row in rows))}


READER: Final = Reader(
    "/proc/net/softnet_stat",
    lambda text: _ROW.match(text.partition("\n")[0].strip()) is not None,
    _read,
    counts=True,
)
