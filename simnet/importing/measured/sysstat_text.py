"""Tables of sar and mpstat as text: `sar -u`, `-P ALL`, `-n DEV`, `mpstat -P ALL`.

A heading names its columns after `CPU` or `IFACE`; a time, of one word or two, stands
before it, and rows have as many columns after theirs. Where there are rows of `Average:`, in
any language, they alone count. The listings of x460's time, which `simnet run --format sar` prints,
have no times.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final

from simnet.importing.measured.reader import Numbers, Reader, means
from simnet.importing.measured.shares import cpu_metrics, port_metrics

_METRICS: Final[Mapping[str, Callable[[str, Mapping[str, float]], Iterator[tuple[str, float]]]]] = {
    "CPU": cpu_metrics,
    "IFACE": port_metrics,
}
_HEADING: Final = re.compile(r"^[^\n]{0,40}\b(CPU +%us|IFACE +rxpck/s)", re.MULTILINE)
_HEAD: Final = 4000
_MOST_BEFORE: Final = 2
# in any language
_AVERAGE: Final = re.compile(r"[^\W\d_]{3,15}\.?:")


def _knows(text: str) -> bool:
    return _HEADING.search(text[:_HEAD]) is not None


def text_metrics(text: str) -> Numbers:
    """Return the metrics of a text.

    Raises:
        ValueError: a value is no number.
    """
    averages: list[tuple[str, float]] = []
    samples: list[tuple[str, float]] = []
    columns: list[str] = []
    for line in text.splitlines():
        words = line.split()
        key = next((n for n, word in enumerate(words[: _MOST_BEFORE + 1]) if word in _METRICS), -1)
        if key >= 0:
            columns = words[key:]
        elif columns and len(columns) <= len(words) <= len(columns) + _MOST_BEFORE:
            values = words[-len(columns) :]
            found = averages if _AVERAGE.fullmatch(words[0]) else samples
            found += _METRICS[columns[0]](values[0], _row(columns[1:], values[1:]))
    known = {metric for metric, _ in averages}
    return means([*averages, *(one for one in samples if one[0] not in known)])


def _row(columns: list[str], values: list[str]) -> dict[str, float]:
    return {
        name: float(value.replace(",", "."))
        for name, value in zip(columns, values, strict=True)
        if value != "-"
    }


READER: Final = Reader("sar, mpstat", _knows, text_metrics)
