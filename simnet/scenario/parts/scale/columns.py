"""What a run of jobs measured: jobs, partitions, and what passed between clients and servers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from simnet.rows import Row, Shown
from simnet.scenario.core.subject import Column
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.scenario.system.system import Snapshot

_INTERVAL_S = 10


class JobRow(Row):
    """One job; `real_s` is null when it had not ended when the run did."""

    node: str
    name: str
    kind: str
    start_s: float
    real_s: Annotated[float | None, Shown("real min", 1, 1 / 60)]
    cpu_s: Annotated[float, Shown("CPU min", 1, 1 / 60)] = Field(
        ge=0.0, description="time on hardware threads, user and system"
    )
    io_wait_s: Annotated[float, Shown("I/O wait min", 1, 1 / 60)] = Field(ge=0.0)
    read_bytes: Annotated[int, Shown("read GB", 1, 1e-9)] = Field(ge=0)
    written_bytes: Annotated[int, Shown("written GB", 1, 1e-9)] = Field(ge=0)


class LparRow(Row):
    """One partition: utilisation as vmstat and lparstat print it, by the PURR."""

    name: str
    cores: Annotated[int, Shown("cores")]
    utilisation_percent: Annotated[float, Shown("%used", 1)]
    cpu_s: float = Field(ge=0.0, description="time on hardware threads, the daemon's included")
    read_bps: Annotated[float, Shown("read GB/s", 3, 1e-9 / 8)]
    write_bps: Annotated[float, Shown("write GB/s", 3, 1e-9 / 8)]
    hit_percent: Annotated[float | None, Shown("%hits", 1)] = Field(
        description="of the blocks read, in the pagepool"
    )


class Series(Row):
    """What passed between clients and servers, both ways, in bytes a second.

    `mean` is over the whole run, `peak` the largest mean of 10 s or of a run that is shorter,
    `values` the means of one interval after the other; the last one may be shorter.
    """

    interval_s: int = _INTERVAL_S
    mean: Annotated[float, Shown("mean GB/s", 3, 1e-9)]
    peak: Annotated[float, Shown("largest mean GB/s", 3, 1e-9)]
    values: tuple[float, ...]


class JobTotals(Row):
    """Sums over the jobs that have ended, and how many have not."""

    jobs: int
    unfinished: int
    real_s: float
    cpu_s: float
    io_wait_s: float
    utilisation_percent: float = Field(description="of the cores of all partitions")


def _jobs(_start: Snapshot, end: Snapshot) -> tuple[JobRow, ...]:
    """Every job that has begun."""
    return tuple(
        JobRow(
            node=job.node,
            name=job.name,
            kind=job.kind,
            start_s=job.start_ps / PS_PER_S,
            real_s=(job.end_ps - job.start_ps) / PS_PER_S if job.end_ps >= 0 else None,
            cpu_s=job.cpu_ps / PS_PER_S,
            io_wait_s=job.io_wait_ps / PS_PER_S,
            read_bytes=job.read_bytes,
            written_bytes=job.written_bytes,
        )
        for job in end.more.get("jobs", ())
        if job.start_ps >= 0
    )


def _lpars(_start: Snapshot, end: Snapshot) -> tuple[LparRow, ...]:
    """Every partition, from the start of the run on."""
    elapsed = max(end.time_ps, 1)
    rows = []
    for lpar in end.more.get("lpars", ()):
        blocks = lpar.hits + lpar.late + lpar.misses
        rows.append(
            LparRow(
                name=lpar.name,
                cores=lpar.cores,
                utilisation_percent=100 * lpar.purr_ps / (elapsed * lpar.cores),
                cpu_s=lpar.threads_ps / PS_PER_S,
                read_bps=8 * lpar.read_bytes * PS_PER_S / elapsed,
                write_bps=8 * lpar.written_bytes * PS_PER_S / elapsed,
                hit_percent=100 * lpar.hits / blocks if blocks else None,
            )
        )
    return tuple(rows)


def _series(_start: Snapshot, end: Snapshot) -> Series | None:
    """The sum over the partitions; None without any."""
    lpars = end.more.get("lpars", ())
    if not lpars:
        return None
    seconds = [0] * max(len(lpar.bins) for lpar in lpars)
    for lpar in lpars:
        for second, moved in enumerate(lpar.bins):
            seconds[second] += moved
    elapsed_s = end.time_ps / PS_PER_S
    window = sum(seconds[:_INTERVAL_S])
    peak = window
    for second in range(_INTERVAL_S, len(seconds)):
        window += seconds[second] - seconds[second - _INTERVAL_S]
        peak = max(peak, window)
    starts = range(0, len(seconds), _INTERVAL_S)
    return Series(
        mean=sum(seconds) / elapsed_s if elapsed_s else 0.0,
        peak=peak / min(_INTERVAL_S, elapsed_s) if elapsed_s else 0.0,
        values=tuple(
            sum(seconds[place : place + _INTERVAL_S]) / min(_INTERVAL_S, elapsed_s - place)
            if elapsed_s > place
            else 0.0
            for place in starts
        ),
    )


def totals(jobs: Sequence[JobRow], lpars: Sequence[LparRow]) -> JobTotals:
    """Sums over jobs; of a result's `jobs` and `lpars`."""
    done = [job for job in jobs if job.real_s is not None]
    cores = sum(lpar.cores for lpar in lpars)
    used = sum(lpar.utilisation_percent * lpar.cores for lpar in lpars)
    return JobTotals(
        jobs=len(jobs),
        unfinished=len(jobs) - len(done),
        real_s=sum(job.real_s or 0.0 for job in done),
        cpu_s=sum(job.cpu_s for job in done),
        io_wait_s=sum(job.io_wait_s for job in done),
        utilisation_percent=used / cores if cores else 0.0,
    )


COLUMNS: Final = (
    Column(
        "jobs", tuple[JobRow, ...], "jobs, in the order of their nodes", _jobs, table=True, order=20
    ),
    Column(
        "lpars", tuple[LparRow, ...], "partitions that jobs run on", _lpars, table=True, order=30
    ),
    Column(
        "series",
        Series | None,
        "traffic of a file system over time",
        _series,
        default=None,
        order=40,
    ),
)
