"""Reads a captured `sar` listing: CPU shares, then interrupts a second by CPU and adapter/IRQ.

The layout is that of `validation/captures/`: two tables, each closed by a comment that says what
the CPUs without a row do, and a newline at the very end. By the closing comments a
complete capture differs from one that was cut between two rows.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from simnet.errors import InputError
from simnet.files import read_text

CPU_COLUMNS = ("CPU", "%user", "%nice", "%system", "%iowait", "%steal", "%idle")

_PORT = re.compile(r"(?P<name>[A-Za-z]\w*)/(?P<irq>\d{1,9})")
_CPU = re.compile(r"\d{1,9}")
_NUMBER = re.compile(r"\d{1,12}\.\d\d")
# seven values rounded to two decimals
_ROUNDING_PERCENT = 0.04


@dataclass(frozen=True)
class SarRow:
    """One CPU in sar's columns, in percent; `system` includes hard and soft interrupts."""

    id: int
    user: float
    nice: float
    system: float
    iowait: float
    steal: float
    idle: float

    @property
    def busy(self) -> float:
        """Percent of the time that was neither idle nor waiting for I/O."""
        return 100 - self.idle - self.iowait


@dataclass(frozen=True)
class InterruptColumn:
    """Interrupts a second of one port by CPU id; CPUs without a row are not in `by_cpu`."""

    port: str
    irq: int
    by_cpu: dict[int, float]

    @property
    def per_s(self) -> float:
        """Interrupts a second of the port on all listed CPUs."""
        return sum(self.by_cpu.values())

    @property
    def cpus(self) -> tuple[int, ...]:
        """CPUs that served the port."""
        return tuple(cpu for cpu, rate in self.by_cpu.items() if rate > 0)


@dataclass(frozen=True)
class Capture:
    """A captured listing: measured CPU rows and interrupt columns, in the file's order."""

    source: str
    cpus: tuple[SarRow, ...]
    interrupts: tuple[InterruptColumn, ...]


def read_capture(path: Path) -> Capture:
    """Parse a captured listing.

    Raises InputError, naming file and line, when the file can't be read, is cut or is malformed.
    """
    return parse_capture(read_text(path, kind="listing"), source=str(path))


def parse_capture(text: str, *, source: str) -> Capture:
    """Parse the text of a captured listing; `source` names it in errors."""
    lines = _Lines(text, source)
    cpus = tuple(_cpu_rows(lines))
    interrupts = _interrupt_columns(lines)
    if not text.endswith("\n"):
        lines.fail("expected a line end after the closing comment (the capture is cut here)")
    return Capture(source=source, cpus=cpus, interrupts=interrupts)


class _Lines:
    """The lines that carry rows, headings or comments, with their numbers."""

    def __init__(self, text: str, source: str) -> None:
        self._source = source
        self._lines = text.splitlines()
        self.number = 0

    def next(self, expected: str) -> str:
        """The next line that is not blank; fails with `expected` at the end of the file."""
        while True:
            if self.number == len(self._lines):
                self._end(expected)
            self.number += 1
            line = self._lines[self.number - 1]
            if line.strip():
                return line

    def _end(self, expected: str) -> NoReturn:
        self.fail(f"expected {expected} next, but the file ends (the capture is cut here)")

    def fail(self, message: str) -> NoReturn:
        """Raise InputError at the present line."""
        raise InputError(message, file=self._source, line=self.number)


def _cpu_rows(lines: _Lines) -> Iterator[SarRow]:
    heading = lines.next("the heading " + " ".join(CPU_COLUMNS))
    if tuple(heading.split()) != CPU_COLUMNS:
        lines.fail("expected the heading " + " ".join(CPU_COLUMNS))
    seen: set[int] = set()
    while not (line := lines.next("a CPU row or the closing comment")).startswith("#"):
        cpu, values = _row(lines, line, len(CPU_COLUMNS) - 1, seen)
        total = sum(values)
        if abs(total - 100) > _ROUNDING_PERCENT:
            lines.fail(f"expected shares of CPU {cpu} that add up to 100, got {total:.2f}")
        yield SarRow(cpu, *values)


def _interrupt_columns(lines: _Lines) -> tuple[InterruptColumn, ...]:
    expected = "the heading CPU PORT/IRQ ... of the interrupts table"
    while (heading := lines.next(expected)).startswith("#"):
        pass
    first, *titles = heading.split()
    ports = [match for title in titles if (match := _PORT.fullmatch(title))]
    if first != "CPU" or not ports or len(ports) != len(titles):
        lines.fail(f"expected {expected}")
    columns = [InterruptColumn(port["name"], int(port["irq"]), {}) for port in ports]
    seen: set[int] = set()
    while not (line := lines.next("a CPU row or the closing comment")).startswith("#"):
        cpu, rates = _row(lines, line, len(columns), seen)
        for column, rate in zip(columns, rates, strict=True):
            column.by_cpu[cpu] = rate
    return tuple(columns)


def _row(lines: _Lines, line: str, columns: int, seen: set[int]) -> tuple[int, list[float]]:
    first, *values = line.split()
    if (
        not _CPU.fullmatch(first)
        or not all(map(_NUMBER.fullmatch, values))
        or len(values) != columns
    ):
        lines.fail(f"expected a CPU id and {columns} numbers with two decimals, got {line!r}")
    cpu = int(first)
    if cpu in seen:
        lines.fail(f"expected one row a CPU, but CPU {cpu} has a second one")
    seen.add(cpu)
    return cpu, [float(value) for value in values]
