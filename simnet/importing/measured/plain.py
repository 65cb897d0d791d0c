"""Metrics that a person wrote down: TOML (`cpu.all.softirq = 12.5`) or CSV (`metric,value`)."""

import csv
import re
import tomllib
from collections.abc import Iterator
from typing import Any, Final

from simnet.importing.measured.reader import Numbers, Reader

_NAME: Final = r"[A-Za-z_][\w./-]*"
_LINE: Final = re.compile(rf'(?:\s*#[^\n]*\n|\s*\n)*\s*(?:\[|"?{_NAME}"?\s*[=,])')
_TOML: Final = re.compile(r"^\s*[\w.\"'/-]+\s*=", re.MULTILINE)
_COLUMNS: Final = 2


def _read(text: str) -> Numbers:
    if _TOML.search(text):
        return dict(_flat(tomllib.loads(text)))
    rows = [row for row in csv.reader(text.splitlines()) if row and not row[0].startswith("#")]
    if rows and rows[0][0].strip() == "metric":
        del rows[0]
    if any(len(row) != _COLUMNS for row in rows):
        raise ValueError("expected a metric and a value in each row")
    return {name.strip(): _number(name, value) for name, value in rows}


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError as error:
        raise ValueError(f"expected a number for {name.strip()}, got {text.strip()!r}") from error


def _flat(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, float]]:
    for key, value in table.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{above}{key}.")
        elif isinstance(value, bool) or not isinstance(value, (int, float)):
            raise ValueError(f"expected a number for {above}{key}")  # noqa: TRY004 - of a text
        else:
            yield f"{above}{key}", float(value)


READER: Final = Reader(
    "TOML or CSV of metrics", lambda text: _LINE.match(text) is not None, _read, named=True
)
