"""A sweep as a table: one line a run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.report.columns import columns

if TYPE_CHECKING:
    from simnet.study.sweep import Sweep


def sweep(found: Sweep) -> str:
    """Knobs, tuning, throughput, CPU time, interrupts, drops and latency of every run."""
    names = [*found.knobs, *(["tuning"] if found.tuned else [])]
    heading = (*names, "Mbit/s", "CPUs busy %", "interrupts/s", "drops", "p50 us", "p99 us")
    cells = [
        (
            *(row[name] for name in names),
            f"{row['throughput_bps'] / 1e6:.1f}",
            f"{row['cpu_busy_percent']:.3f}",
            f"{row['interrupts_per_s']:.0f}",
            str(row["drops"]),
            _us(row["latency_us_p50"]),
            _us(row["latency_us_p99"]),
        )
        for row in found.rows()
    ]
    return columns(heading, cells, left=len(names))


def _us(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}"
