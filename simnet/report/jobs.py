"""A result of jobs for reading: sums by kind of job, the partitions, traffic over time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.report.columns import columns
from simnet.scenario.parts.scale.columns import totals

if TYPE_CHECKING:
    from simnet.scenario.parts.scale.columns import JobRow
    from simnet.study.run.result import Result

_MINUTE = 60.0
_GB = 1e9


def jobs_text(result: Result) -> str:
    """Jobs by kind with their sums, then the partitions, then what passed to and fro."""
    kinds: dict[str, list[JobRow]] = {}
    for job in result.jobs:
        kinds.setdefault(job.kind, []).append(job)
    rows = [_sums(kind, kinds[kind]) for kind in sorted(kinds)]
    if len(kinds) > 1:
        rows.append(_sums("all", list(result.jobs)))
    table = columns(
        ("jobs", "number", "real min", "CPU min", "I/O wait min", "read GB", "written GB"), rows
    )
    unfinished = totals(result.jobs, result.lpars).unfinished
    note = f"# {unfinished} jobs had not ended\n" if unfinished else ""
    return "\n".join([table + note, _lpars(result), _series(result)])


def _sums(name: str, jobs: list[JobRow]) -> tuple[str, ...]:
    return (
        name,
        str(len(jobs)),
        f"{sum(job.real_s or 0.0 for job in jobs) / _MINUTE:.1f}",
        f"{sum(job.cpu_s for job in jobs) / _MINUTE:.1f}",
        f"{sum(job.io_wait_s for job in jobs) / _MINUTE:.1f}",
        f"{sum(job.read_bytes for job in jobs) / _GB:.1f}",
        f"{sum(job.written_bytes for job in jobs) / _GB:.1f}",
    )


def _lpars(result: Result) -> str:
    return columns(
        ("partition", "cores", "%used", "read GB/s", "write GB/s", "%hits"),
        [
            (
                lpar.name,
                str(lpar.cores),
                f"{lpar.utilisation_percent:.1f}",
                f"{lpar.read_bps / 8 / _GB:.3f}",
                f"{lpar.write_bps / 8 / _GB:.3f}",
                "-" if lpar.hit_percent is None else f"{lpar.hit_percent:.1f}",
            )
            for lpar in result.lpars
        ],
    )


def _series(result: Result) -> str:
    series = result.series
    if series is None:
        return ""
    mean, peak = series.mean / _GB, series.peak / _GB
    return f"traffic: mean {mean:.3f} GB/s, largest mean of {series.interval_s} s {peak:.3f} GB/s\n"
