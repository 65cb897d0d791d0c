"""mutilate's own text: requests a second, and quantiles of the latency of reads in us."""

import re
from typing import Final

from simnet.importing.measured.reader import Numbers, Reader

_QPS: Final = re.compile(r"^Total QPS = ([\d.]+)", re.MULTILINE)
_QUANTILES: Final = {"50th": "latency_us.p50", "99th": "latency_us.p99"}


def _read(text: str) -> Numbers:
    found = {}
    lines = [line.split() for line in text.splitlines()]
    heading = next((words for words in lines if words[:1] == ["#type"]), [])
    row = next((words for words in lines if words[:1] == ["read"]), [])
    for name, value in zip(heading, row, strict=False):
        if name in _QUANTILES:
            found[_QUANTILES[name]] = float(value)
    total = _QPS.search(text)
    if total is None:
        raise ValueError("expected a line Total QPS")
    return {**found, "requests_per_s": float(total[1])}


READER: Final = Reader("mutilate", lambda text: _QPS.search(text) is not None, _read)
