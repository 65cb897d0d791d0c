"""Reads what a tool printed on a real host into numbers by metric.

Metrics have dotted names, with the units of a result: `throughput_bps`, `cpu.all.softirq`,
`cpu.3.busy`, `port.eth0.rx_bps`, `disk.sda.await_ms`. Each module of this folder may announce a
`READER`; nothing else lists them. Which tool printed a file is known by what it begins with.
"""

import functools
import pkgutil
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib import import_module
from math import inf, isfinite
from pathlib import Path
from typing import Final, TypeAlias

from simnet.errors import InputError
from simnet.files import read_text

MOST_BYTES: Final = 16 << 20
_MOST_METRICS: Final = 100_000
_SHARES: Final = ("cpu.", "workers.")
_PERCENT: Final = "percent"
# tools round each part of a sum
_MOST_PERCENT: Final = 101.0

Numbers: TypeAlias = Mapping[str, float]
"""Values by metric."""


@dataclass(frozen=True)
class Reader:
    """One format."""

    tool: str  # what prints it, for messages
    knows: Callable[[str], bool]  # whether a text is of it
    read: Callable[[str], Numbers]  # its numbers; raises ValueError, saying what was expected
    counts: bool = False  # they are totals since the host started: two listings make rates
    named: bool = False  # a person named the metrics, so each must be one that a result has


@dataclass(frozen=True)
class Capture:
    """The numbers of a file, or the rates between the counts of two."""

    source: str  # name of the file
    reader: Reader  # of its format
    numbers: Numbers  # by metric


@functools.cache
def readers() -> tuple[Reader, ...]:
    """What the modules of this folder announce, by their names."""
    folder = __name__.rpartition(".")[0]
    modules = (
        import_module(f"{folder}.{found.name}")
        for found in pkgutil.iter_modules(import_module(folder).__path__)
    )
    return tuple(module.READER for module in modules if hasattr(module, "READER"))


def captures(files: Iterable[str | Path], seconds: float | None = None) -> list[Capture]:
    """Read files.

    Args:
        files: their paths; listings of counts come in pairs, the earlier one first.
        seconds: that lie between the two listings of a pair.

    Raises:
        InputError: a file cannot be read, is of no known format or broken, or one of a pair or
            the time between both is missing.
    """
    found: list[Capture] = []
    first: dict[str, Capture] = {}
    for file in files:
        one = _read(Path(file))
        if not one.reader.counts:
            found.append(one)
        elif one.reader.tool in first:
            found.append(_between(first.pop(one.reader.tool), one, seconds))
        else:
            first[one.reader.tool] = one
    for one in first.values():
        expected = f"{one.reader.tool} counts since the host started: expected a second listing"
        raise InputError(expected, file=one.source)
    return found


def means(values: Iterable[tuple[str, float]]) -> dict[str, float]:
    """The mean of the values of each metric."""
    by: defaultdict[str, list[float]] = defaultdict(list)
    for metric, value in values:
        by[metric].append(value)
    return {metric: sum(some) / len(some) for metric, some in by.items()}


def _read(path: Path) -> Capture:
    text = read_text(path, most_bytes=MOST_BYTES, kind="output of a tool").lstrip("\ufeff")
    reader = next((one for one in readers() if one.knows(text)), None)
    if reader is None:
        known = ", ".join(one.tool for one in readers())
        raise InputError(f"expected an output of one of {known}", file=path)
    try:
        numbers = reader.read(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"no output of {reader.tool}: {error}", file=path) from error
    if not numbers or len(numbers) > _MOST_METRICS or not all(map(isfinite, numbers.values())):
        raise InputError(f"no output of {reader.tool}: expected finite numbers", file=path)
    for metric, value in numbers.items():
        most = _MOST_PERCENT if metric.startswith(_SHARES) or metric.endswith(_PERCENT) else inf
        if not 0 <= value <= most:
            expected = "expected 0 to 100 percent" if most < inf else "expected 0 or more"
            raise InputError(f"{expected}, got {value:g}", file=path, key=metric)
    return Capture(str(path), reader, numbers)


def _between(first: Capture, last: Capture, seconds: float | None) -> Capture:
    tool = first.reader.tool
    if seconds is None:
        expected = f"expected the seconds between both listings of {tool}"
        raise InputError(expected, key="--seconds")
    if any(last.numbers.get(metric, 0.0) < value for metric, value in first.numbers.items()):
        expected = f"expected the later listing of {tool} after the earlier one"
        raise InputError(expected, file=last.source)
    rates = {
        metric: (value - first.numbers.get(metric, 0.0)) / seconds
        for metric, value in last.numbers.items()
    }
    return Capture(last.source, last.reader, rates)
