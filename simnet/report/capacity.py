"""A capacity for reading: the answer, what it is made of, and every load that was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.printable import printable, titled
from simnet.report.columns import columns
from simnet.rows import or_dash
from simnet.study.capacity.document import PortLoad
from simnet.study.capacity.verdict import LIMITED
from simnet.study.run.duration_text import in_unit, late, latency_text, time_text
from simnet.study.run.loss import kind_of
from simnet.study.run.measures import rate_text

if TYPE_CHECKING:
    from simnet.study.capacity.document import Capacity, LoadResults, TriedLoad
    from simnet.study.capacity.search import Judged

_PERCENT = 100.0
_PORT: Final = ("rx_bps", "tx_bps", "rx_packets_per_s", "tx_packets_per_s")


def capacity(found: Capacity) -> str:
    """The answer in a sentence, the load by port, and the loads that were tried."""
    title = titled(found.scenario, found.tunings, sorted(found.settings.items()))
    lines = [f"{title}: {answer_text(found)}", f"limits: {limits_text(found)}"]
    lines += [f"note: {remark}" for remark in found.remarks]
    lines.append(f"{found.simulations} runs, fingerprint {found.fingerprint}")
    parts = ["".join(f"{printable(line)}\n" for line in lines)]
    if found.carried:
        parts.append(f"at {_load(found.low)} {_unit(found)}:\n{_carried(found.carried)}")
    parts.append(_tried(found))
    return "\n".join(parts)


def judged(one: Judged) -> str:
    """A load in one line, as it is judged."""
    shown = ", ".join(
        f"{LIMITED[c.name][1]} {_number(c.mean)} ({_span(c.low, c.high)})" for c in one.criteria
    )
    return f"{one.load:,}: {one.verdict} after {one.runs} runs: {shown}"


def answer_text(found: Capacity) -> str:
    """Between which loads the largest lies that meets the limits."""
    if not found.conclusive:
        return "cannot tell: runs were too short"
    sure = f"{_PERCENT * found.confidence:g} % confidence"
    if found.low is None:
        return f"no load from {_load(found.loads[0].load)} {_unit(found)} on meets the limits"
    if found.high is None:
        return f"at least {_load(found.low)} {_unit(found)} ({sure})"
    width = _PERCENT * (found.high / found.low - 1)
    bracket = f"between {_load(found.low)} and {_load(found.high)} {_unit(found)} ({sure})"
    return bracket if found.precise else f"{bracket}; {width:.1f} % wide, more than was asked for"


def _unit(found: Capacity) -> str:
    return " ".join(part for part in (found.counted, f"({found.setting})") if part)


def limits_text(found: Capacity) -> str:
    """What may be lost, late and piling up."""
    limits = []
    if found.max_loss is not None:
        limits.append(f"packets lost at most {_PERCENT * found.max_loss:g} %")
    if found.max_p99_us is not None:
        kind = kind_of(one.carried.latency_us.kind for one in found.loads)
        limits.append(f"{late(kind, 'p99')} at most {latency_text(found.max_p99_us, ',g')}")
    limits.append(f"messages piling up at most {_PERCENT * found.max_shortfall:g} %")
    return ", ".join(limits)


def _carried(carried: LoadResults) -> str:
    of = carried.latency_us
    unit, scale = in_unit((of.p50, of.p99, of.p999))
    quantiles = " ".join(
        f"{name} {time_text(value, scale)}"
        for name, value in (("p50", of.p50), ("p99", of.p99), ("p99.9", of.p999))
    )
    table = columns(
        ("port", *PortLoad.headings(_PORT)),
        [(port.name, *port.cells(_PORT)) for port in carried.ports],
    )
    received = f"{rate_text(carried.rx_bps, 1)}, {carried.rx_packets_per_s:,.0f} packets/s"
    dropped = "".join(f"; dropped in {p}: {n:.1f} a run" for p, n in carried.drops.items())
    return (
        f"{table}# received in all: {received}; CPUs {carried.cpu_busy_percent:.1f} % busy;"
        f" {of.kind or 'latency'} in {unit}: {quantiles}{dropped}\n"
    )


def _tried(found: Capacity) -> str:
    heading, *rows = tried_rows(found)
    return columns(heading, rows)


def tried_rows(found: Capacity) -> list[tuple[str, ...]]:
    """Every load that was tried, a heading first."""
    names = [interval.name for one in found.loads[:1] for interval in one.intervals]
    unit, scale = in_unit([one.carried.latency_us.p99 for one in found.loads])
    kind = kind_of(one.carried.latency_us.kind for one in found.loads)
    heading = ["load", "verdict", "runs", "s each", f"{late(kind, 'p99')} {unit}"]
    for name in names:
        heading += [LIMITED[name][1], "low to high"]
    return [tuple(heading), *(tuple(_row(one, scale)) for one in found.loads)]


def _row(one: TriedLoad, scale: float) -> list[str]:
    late_us = one.carried.latency_us.p99
    digits = 1 if scale == 1 else 3
    p99 = time_text(late_us, scale, f".{digits}f")
    row = [_load(one.load), one.verdict, str(one.runs), f"{one.simulated_s:g}", p99]
    for found in one.intervals:
        row += [_number(found.mean), _span(found.low, found.high)]
    return row


def _span(low: float, high: float) -> str:
    return f"{_number(low)} to {_number(high)}"


def _number(share: float) -> str:
    return f"{_PERCENT * share:.4f}"


def _load(value: float | None) -> str:
    return or_dash(value, ",.0f")
