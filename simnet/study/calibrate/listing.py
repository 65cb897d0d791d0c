"""How far a result is from a captured sar listing.

The listing's own arithmetic is kept: busy is 100 minus idle minus iowait, sums run over the CPUs
that the listing shows, and errors are relative to the measured number.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from simnet.errors import InputError

if TYPE_CHECKING:
    from simnet.study.calibrate.capture import Capture, SarRow
    from simnet.study.run.result import Result
    from simnet.study.run.rows import CpuUse


@dataclass(frozen=True)
class CpuPair:
    """One CPU, measured (sar) and predicted (exact time); percent."""

    measured: SarRow
    predicted: CpuUse

    @property
    def id(self) -> int:
        """The logical CPU."""
        return self.measured.id

    @property
    def difference(self) -> float:
        """Predicted minus measured busy time, in points."""
        return self.predicted.busy - self.measured.busy

    @property
    def error(self) -> float:
        """The difference as a fraction of the measured busy time."""
        return _ratio(self.difference, self.measured.busy, same=0.0)


@dataclass(frozen=True)
class PortPair:
    """One port: interrupts a second, measured and predicted, and what it carries (predicted)."""

    name: str
    irq: int
    node: int
    cpus: tuple[int, ...]
    measured_per_s: float
    predicted_per_s: float
    rx_bps: float

    @property
    def error(self) -> float:
        """Relative error of the interrupt rate."""
        return _ratio(self.predicted_per_s, self.measured_per_s) - 1


@dataclass(frozen=True)
class Gate:
    """One condition that a prediction must meet, with the numbers that decide it."""

    passed: bool
    sentence: str


@dataclass(frozen=True)
class Comparison:
    """A result beside a capture."""

    result: Result
    capture: Capture
    cpus: tuple[CpuPair, ...]
    ports: tuple[PortPair, ...]

    @property
    def interrupt_cpus(self) -> tuple[CpuPair, ...]:
        """The CPUs that served interrupts when the listing was taken."""
        serving = {cpu for column in self.capture.interrupts for cpu in column.cpus}
        return tuple(pair for pair in self.cpus if pair.id in serving)

    @property
    def other_cpus(self) -> tuple[CpuPair, ...]:
        """The CPUs of the listing that served none."""
        serving = {pair.id for pair in self.interrupt_cpus}
        return tuple(pair for pair in self.cpus if pair.id not in serving)

    @property
    def unlisted(self) -> tuple[CpuUse, ...]:
        """CPUs of the simulated machine that the listing leaves out as nearly idle."""
        listed = {pair.id for pair in self.cpus}
        return tuple(cpu for cpu in self.result.cpus if cpu.id not in listed)

    @property
    def measured_total(self) -> float:
        """Sum of busy time over the listed CPUs, percent of one CPU."""
        return sum(pair.measured.busy for pair in self.cpus)

    @property
    def predicted_total(self) -> float:
        """The same sum, predicted."""
        return sum(pair.predicted.busy for pair in self.cpus)

    @property
    def total_error(self) -> float:
        """Relative error of the sum."""
        return _ratio(self.predicted_total, self.measured_total) - 1


def compare(result: Result, capture: Capture) -> Comparison:
    """Pair the CPUs and ports of a capture with those of a result.

    Raises InputError when the capture shows a CPU or port that the simulated machine lacks, or no
    interrupts at all.
    """
    predicted = {cpu.id: cpu for cpu in result.cpus}
    ports = {port.name: port for port in result.ports}
    missing = [f"CPU {row.id}" for row in capture.cpus if row.id not in predicted]
    missing += [f"port {column.port}" for column in capture.interrupts if column.port not in ports]
    if missing:
        message = f"{missing[0]} of the capture is not part of scenario {result.scenario}"
        raise InputError(message, file=capture.source)
    cpu_pairs = tuple(CpuPair(row, predicted[row.id]) for row in capture.cpus)
    port_pairs = tuple(
        PortPair(
            name=column.port,
            irq=column.irq,
            node=ports[column.port].node,
            cpus=column.cpus,
            measured_per_s=column.per_s,
            predicted_per_s=ports[column.port].interrupts_per_s,
            rx_bps=ports[column.port].rx_bps,
        )
        for column in capture.interrupts
    )
    comparison = Comparison(result, capture, cpu_pairs, port_pairs)
    if not comparison.interrupt_cpus:
        message = "expected a capture with a CPU that serves interrupts"
        raise InputError(message, file=capture.source)
    return comparison


def _ratio(part: float, whole: float, *, same: float = 1.0) -> float:
    """One number over another; `same` where both are nothing."""
    if whole:
        return part / whole
    return math.inf if part else same
