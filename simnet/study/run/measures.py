"""What a sweep keeps of each run: a few numbers, with units in their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError
from simnet.scenario.core.library import nearest

if TYPE_CHECKING:
    from simnet.study.run.result import Result

__all__ = ["MEASURES", "Measure", "measure", "measures"]


@dataclass(frozen=True)
class Measure:
    """A number that points of a grid are compared by.

    Attributes:
        label: what it is, with the unit that it is shown in.
        heading: the same for a column, short.
        scale: shown units in one of its own.
        digits: decimals that are shown.
        largest: whether more of it is better.
    """

    label: str
    heading: str
    scale: float
    digits: int
    largest: bool = False

    def shown(self, value: float) -> str:
        """A value in the unit that it is shown in."""
        return f"{value * self.scale:.{self.digits}f}"


MEASURES: Final[Mapping[str, Measure]] = {
    "throughput_bps": Measure("throughput (Mbit/s)", "Mbit/s", 1e-6, 1, largest=True),
    "cpu_busy_percent": Measure("CPUs busy (%, mean of all)", "CPUs busy %", 1.0, 3),
    "interrupts_per_s": Measure("interrupts (1/s)", "interrupts/s", 1.0, 0),
    "real_s": Measure("real time of all jobs (s)", "real s", 1.0, 1),
    "drops": Measure("frames dropped (number)", "drops", 1.0, 0),
    "latency_us_p50": Measure("latency, median (us)", "p50 us", 1.0, 1),
    "latency_us_p99": Measure("latency, 99th percentile (us)", "p99 us", 1.0, 1),
}


def measure(name: str) -> Measure:
    """The measure of a name; InputError, with the nearest, for one that there is not."""
    if name not in MEASURES:
        raise InputError(f"unknown measure{nearest(name, MEASURES)}", file="--best", key=name)
    return MEASURES[name]


def measures(result: Result) -> dict[str, Any]:
    """Totals over ports and flows; of latencies the worst flow's, None where none was sampled."""
    latencies = [flow.latency_us for flow in result.flows]
    return {
        "throughput_bps": result.throughput_bps,
        "cpu_busy_percent": result.cpu_busy_percent,
        "interrupts_per_s": sum(port.interrupts_per_s for port in result.ports),
        **({"real_s": sum(job.real_s or 0.0 for job in result.jobs)} if result.jobs else {}),
        "drops": sum(port.drops for port in result.ports),
        "latency_us_p50": max((q.p50 for q in latencies if q.p50 is not None), default=None),
        "latency_us_p99": max((q.p99 for q in latencies if q.p99 is not None), default=None),
        "packets_per_s": sum(p.rx_packets_per_s + p.tx_packets_per_s for p in result.ports),
        "warmup_s": result.warmup_s,
        "simulated_s": result.simulated_s,
        "fingerprint": result.fingerprint,
    }
