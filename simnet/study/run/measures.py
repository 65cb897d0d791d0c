"""The numbers of a run that questions are about, each declared once.

Sweeps, what-ifs, screenings, recommendations, comparisons and their figures read them here: what a
number means, its unit, how it is shown, and which direction is better. Numbers of a subject stand
beside its counters (`Column.measures`). Latencies are of the messages of all flows together.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError
from simnet.scenario.core.subject import Measure, columns
from simnet.spelling import nearest_or_all

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.study.run.result import Result
    from simnet.study.run.rows import FlowRates

# by name with unit, as sweeps and tables have them
THROUGHPUT: Final = "throughput_bps"
TRANSACTIONS: Final = "transactions_per_s"
P50, P99 = "latency_us_p50", "latency_us_p99"
# as verdicts and limits have them
RATE, REQUESTS, REAL_TIME = "throughput", "transactions", "real_time"
CPU_PER_BYTE, MEDIAN, TAIL = "cpu_per_byte", "latency_p50", "latency_p99"
LOSS, FAIRNESS = "loss", "fairness"
LATENCY_KIND: Final = "latency_kind"

_BITS: Final = 8
_NS_PER_S: Final = 10**9
# one packet in ten thousand more or less is no change of a loss
_FEW_LOST_PERCENT: Final = 0.01


def transactions_per_s(result: Result) -> float | None:
    """Of all flows of requests and responses; None where there are none."""
    rates = [flow.transactions_per_s for flow in result.flows]
    return None if all(rate is None for rate in rates) else sum(rate or 0.0 for rate in rates)


def alike(result: Result) -> list[list[FlowRates]]:
    """Flows that compete: of one kind and direction, at one port or disk; two or more of each."""
    groups: dict[tuple[str, str, str], list[FlowRates]] = {}
    for flow in result.flows:
        key = flow.port, flow.direction, flow.latency_us.kind
        groups.setdefault(key, []).append(flow)
    return [flows for flows in groups.values() if len(flows) > 1]


def fairness(result: Result) -> float | None:
    """Jain's index of what flows got that are alike, the mean over them (`alike`).

    None where no two flows are alike, or none got anything.
    """
    total, count = 0.0, 0
    for flows in alike(result):
        rates = [flow.goodput_bps for flow in flows]
        squares = sum(rate * rate for rate in rates)
        if squares:
            total += sum(rates) ** 2 / squares
            count += len(rates)
    return total / count if count else None


def _latency(quantile: str) -> Callable[[Result], float | None]:
    def of(result: Result) -> float | None:
        found = result.latency_us
        return None if found is None else getattr(found, quantile)

    return of


def _real_s(result: Result) -> float | None:
    done = [job.real_s for job in result.jobs if job.real_s is not None]
    return sum(done) if done and len(done) == len(result.jobs) else None


def _cpus(result: Result) -> float:
    return sum(cpu.busy for cpu in result.cpus)


def _cpu_ns_per_byte(result: Result) -> float | None:
    if not result.throughput_bps:
        return None
    return _cpus(result) / 100 * _NS_PER_S / (result.throughput_bps / _BITS)


def _interrupts(result: Result) -> float | None:
    return sum(port.interrupts_per_s for port in result.ports) if result.ports else None


MEASURES: Final[Mapping[str, Measure]] = {
    "real_s": Measure(
        *("real time of all jobs (s)", "real s", _real_s),
        digits=1,
        listed=True,
        metric=REAL_TIME,
        kind="real time",
        unit="s",
        changes=True,
    ),
    TRANSACTIONS: Measure(
        *("transactions (1/s)", "transactions/s", transactions_per_s),
        largest=True,
        listed=True,
        metric=REQUESTS,
        kind="throughput",
        unit="1/s",
        changes=True,
    ),
    THROUGHPUT: Measure(
        *("throughput (Mbit/s)", "Mbit/s", lambda result: result.throughput_bps, 1e-6, 1),
        largest=True,
        listed=True,
        metric=RATE,
        kind="throughput",
        goal="throughput",
        unit="bit/s",
        changes=True,
    ),
    "cpu_busy_percent": Measure(
        *("CPU (% of all)", "CPUs busy %", lambda result: result.cpu_busy_percent),
        digits=3,
        listed=True,
        metric="cpu_of_all",
        kind="CPU share",
        unit="% of all CPUs",
        changes=True,
        most=(100, "100 %"),
    ),
    "cpu_percent_of_one": Measure(
        *("CPU (% of one)", "CPU % of one", _cpus),
        digits=1,
        metric="cpu_of_one",
        kind="CPU share",
        unit="% of one CPU",
        changes=True,
    ),
    "cpu_ns_per_byte": Measure(
        *("CPU time per byte (ns)", "CPU ns/byte", _cpu_ns_per_byte),
        digits=3,
        metric=CPU_PER_BYTE,
        kind="CPU share",
        goal="cpu",
        unit="ns",
        changes=True,
    ),
    P50: Measure(
        *("{latency} p50 (us)", "{latency} p50 us", _latency("p50")),
        digits=1,
        listed=True,
        metric=MEDIAN,
        kind="latency",
        unit="us",
        changes=True,
    ),
    P99: Measure(
        *("{latency} p99 (us)", "{latency} p99 us", _latency("p99")),
        digits=1,
        listed=True,
        metric=TAIL,
        kind="latency",
        goal="p99",
        unit="us",
        changes=True,
    ),
    "interrupts_per_s": Measure(
        *("interrupts (1/s)", "interrupts/s", _interrupts),
        listed=True,
        metric="interrupts",
        kind="rate of interrupts",
        unit="1/s",
        changes=True,
    ),
    "drops": Measure(
        *("frames dropped (number)", "drops"),
        lambda result: sum(port.drops for port in result.ports),
        listed=True,
    ),
    "loss_percent": Measure(
        *("packets lost (%)", "lost %"),
        lambda result: None if result.loss is None else 100 * result.loss,
        digits=3,
        metric=LOSS,
        kind="rate of drops",
        goal="loss",
        unit="%",
        offset=_FEW_LOST_PERCENT,
        changes=True,
        most=(100, "100 %"),
    ),
    FAIRNESS: Measure(
        *("Jain's index (1)", "Jain's index", fairness),
        digits=3,
        largest=True,
        metric=FAIRNESS,
        unit="1",
        most=(1, "1"),
    ),
    **{name: one for column in columns() for name, one in column.measures.items()},
}
"""By name with unit, those of all subjects among them. Totals over ports and flows."""

METRICS: Final[Mapping[str, Measure]] = {one.metric: one for one in MEASURES.values() if one.metric}
"""Those that verdicts, limits and effects know, by the name that these have for them."""

SCREENED: Final = (RATE, CPU_PER_BYTE, TAIL)
"""The effects that screenings and pictures of searches show."""


def measure(name: str) -> Measure:
    """The measure of a name; InputError, with the nearest, for one that there is not."""
    if name not in MEASURES:
        hint = nearest_or_all(name, MEASURES)
        raise InputError(f"unknown measure{hint}", file="--best", key=name)
    return MEASURES[name]


def named(name: str, latency_kind: str) -> Measure:
    """The measure of a name, called after what its latencies are."""
    found, kind = MEASURES[name], latency_kind or "latency"
    label, heading = (text.format(latency=kind) for text in (found.label, found.heading))
    return replace(found, label=label, heading=heading)


def rate_text(bps: float, digits: int = 0) -> str:
    """A throughput in a sentence: ``9,412 Mbit/s``."""
    return f"{bps * MEASURES[THROUGHPUT].scale:,.{digits}f} {MEASURES[THROUGHPUT].heading}"


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
