"""What a sweep keeps of each run: a few numbers, with units in their names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError
from simnet.scenario.core.library import nearest
from simnet.scenario.core.subject import Measure, columns

if TYPE_CHECKING:
    from simnet.study.run.result import Result

__all__ = [
    "LATENCY_KIND",
    "MEASURES",
    "THROUGHPUT",
    "TRANSACTIONS",
    "measure",
    "measures",
    "named",
    "transactions_per_s",
]

THROUGHPUT: Final = "throughput_bps"
TRANSACTIONS: Final = "transactions_per_s"
LATENCY_KIND: Final = "latency_kind"


def transactions_per_s(result: Result) -> float | None:
    """Of all flows of requests and responses; None where there are none."""
    rates = [flow.transactions_per_s for flow in result.flows]
    return None if all(rate is None for rate in rates) else sum(rate or 0.0 for rate in rates)


def _worst(quantile: str) -> Any:
    def of(result: Result) -> float | None:
        found = (getattr(flow.latency_us, quantile) for flow in result.flows)
        return max((one for one in found if one is not None), default=None)

    return of


def _real(result: Result) -> float | None:
    return sum(job.real_s or 0.0 for job in result.jobs) if result.jobs else None


MEASURES: Final[Mapping[str, Measure]] = {
    TRANSACTIONS: Measure(
        "transactions (1/s)", "transactions/s", transactions_per_s, largest=True, listed=True
    ),
    THROUGHPUT: Measure(
        *("throughput (Mbit/s)", "Mbit/s", lambda result: result.throughput_bps, 1e-6, 1),
        largest=True,
        listed=True,
    ),
    "cpu_busy_percent": Measure(
        *("CPUs busy (%, mean of all)", "CPUs busy %", lambda result: result.cpu_busy_percent),
        digits=3,
        listed=True,
    ),
    "interrupts_per_s": Measure(
        *("interrupts (1/s)", "interrupts/s"),
        lambda result: sum(port.interrupts_per_s for port in result.ports),
        listed=True,
    ),
    "real_s": Measure("real time of all jobs (s)", "real s", _real, digits=1, listed=True),
    "drops": Measure(
        *("frames dropped (number)", "drops"),
        lambda result: sum(port.drops for port in result.ports),
        listed=True,
    ),
    "latency_us_p50": Measure(
        "{latency}, median (us)", "{latency} p50 us", _worst("p50"), digits=1, listed=True
    ),
    "latency_us_p99": Measure(
        "{latency}, 99th percentile (us)", "{latency} p99 us", _worst("p99"), digits=1, listed=True
    ),
    **{name: one for column in columns() for name, one in column.measures.items()},
}
"""By name with unit, those of all subjects among them. Totals over ports and flows; of latencies
the worst flow's."""


def measure(name: str) -> Measure:
    """The measure of a name; InputError, with the nearest, for one that there is not."""
    if name not in MEASURES:
        hint = nearest(name, MEASURES) or f": expected one of {', '.join(MEASURES)}"
        raise InputError(f"unknown measure{hint}", file="--best", key=name)
    return MEASURES[name]


def named(name: str, latency_kind: str) -> Measure:
    """The measure of a name, called after what its latencies are."""
    found, kind = MEASURES[name], latency_kind or "latency"
    label, heading = (text.format(latency=kind) for text in (found.label, found.heading))
    return replace(found, label=label, heading=heading)


def measures(result: Result) -> dict[str, Any]:
    """Every measure, None where the run has none, and what says which run it was."""
    return {
        **{name: one.of(result) for name, one in MEASURES.items()},
        LATENCY_KIND: result.latency_kind or None,
        "packets_per_s": sum(p.rx_packets_per_s + p.tx_packets_per_s for p in result.ports),
        "warmup_s": result.warmup_s,
        "simulated_s": result.simulated_s,
        "fingerprint": result.fingerprint,
    }
