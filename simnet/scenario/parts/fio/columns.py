"""What fio's jobs have done: counters, and a result by the names of fio's JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Final

from pydantic import Field

from simnet.rows import Row
from simnet.scenario.core.subject import Column
from simnet.storage.disk.model import SECTOR_BYTES
from simnet.time_units import PS_PER_MS, PS_PER_S
from simnet.workload.fio.stats import deviation

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from simnet.scenario.system.system import Snapshot
    from simnet.workload.fio.stats import FioStats, Latency

#: of completion latency, as fio prints them unless `percentile_list` says otherwise
PERCENTILES: Final = (
    *(1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0),
    *(99.0, 99.5, 99.9, 99.95, 99.99),
)
_LEVELS: Final = ("1", "2", "4", "8", "16", "32", ">=64")
_CALLS: Final = ("0", "4", "8", "16", "32", "64", ">=64")
_DISTRIBUTION: Final = (2, 4, 10, 20, 50, 100, 250, 500, 750, 1000)
NonNegative = Annotated[float, Field(ge=0.0)]


@dataclass(frozen=True)
class LatencyCounts:
    """Cumulative: values in ps, squares of ns, buckets as (upper ps, count)."""

    count: int
    sum_ps: int
    squares: float
    buckets: tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class FioCounts:
    """Cumulative counters of a job; pairs are of reads and writes."""

    name: str
    ios: tuple[int, int]
    sectors: tuple[int, int]
    slat: tuple[LatencyCounts, LatencyCounts]
    clat: tuple[LatencyCounts, LatencyCounts]
    lat: tuple[LatencyCounts, LatencyCounts]
    depths: tuple[int, ...]
    submits: tuple[int, ...]
    completes: tuple[int, ...]
    user_ps: int
    system_ps: int
    switches: int


#: the least and the largest latency up to each mark from the one before, of reads and writes
Marks = tuple[tuple[tuple[int, int], ...], ...]


@dataclass(frozen=True)
class FioExtremes:
    """Of a job's latencies, in ps."""

    slat: Marks
    clat: Marks
    lat: Marks


def group_extremes(stats: FioStats) -> FioExtremes:
    """Set a mark in a job's latencies, and return the extremes up to each mark."""
    return FioExtremes(
        slat=tuple(one.mark() for one in stats.slat),
        clat=tuple(one.mark() for one in stats.clat),
        lat=tuple(one.mark() for one in stats.lat),
    )


def group_counts(name: str, stats: FioStats) -> FioCounts:
    """Return a copy of a job's counters."""

    def both(given: tuple[Latency, Latency]) -> tuple[LatencyCounts, LatencyCounts]:
        first, second = (
            LatencyCounts(one.times.count, one.sum_ps, one.squares, one.times.buckets())
            for one in given
        )
        return first, second

    return FioCounts(
        name=name,
        ios=(stats.ios[0], stats.ios[1]),
        sectors=(stats.sectors[0], stats.sectors[1]),
        slat=both(stats.slat),
        clat=both(stats.clat),
        lat=both(stats.lat),
        depths=tuple(stats.depths),
        submits=tuple(stats.submits),
        completes=tuple(stats.completes),
        user_ps=stats.user_ps,
        system_ps=stats.system_ps,
        switches=stats.switches,
    )


class LatencyUse(Row):
    """Latencies in ns; percentiles are exact to one part in 128."""

    min: int
    max: int
    mean: NonNegative
    stddev: NonNegative
    N: int
    percentile: dict[str, int] = Field(default={})


class DirectionUse(Row):
    """What was read, or written."""

    io_bytes: int
    bw_bytes: NonNegative
    iops: NonNegative
    runtime: NonNegative
    total_ios: int
    slat_ns: LatencyUse | None
    clat_ns: LatencyUse | None
    lat_ns: LatencyUse | None


class FioGroupUse(Row):
    """A job as in fio's JSON; `runtime` is in ms."""

    jobname: str
    read: DirectionUse
    write: DirectionUse
    usr_cpu: NonNegative
    sys_cpu: NonNegative
    ctx: int
    iodepth_level: dict[str, float]
    iodepth_submit: dict[str, float]
    iodepth_complete: dict[str, float]
    latency_us: dict[str, float]
    latency_ms: dict[str, float]


def _latency(
    first: LatencyCounts, last: LatencyCounts, extremes: Sequence[tuple[int, int]]
) -> LatencyUse | None:
    """What was counted between two snapshots, given the extremes of its parts; None without any."""
    count = last.count - first.count
    if not count:
        return None
    buckets = _more(first.buckets, last.buckets)
    sum_ps = last.sum_ps - first.sum_ps
    largest = max(most for _, most in extremes) // 1000
    return LatencyUse(
        min=min(least for least, _ in extremes) // 1000,
        max=largest,
        mean=sum_ps / 1000 / count,
        stddev=deviation(count, sum_ps, last.squares - first.squares),
        N=count,
        percentile={
            f"{one:.6f}": min(largest, _percentile(buckets, count, one)) for one in PERCENTILES
        },
    )


def _more(first: tuple[tuple[int, int], ...], last: tuple[tuple[int, int], ...]) -> dict[int, int]:
    before = dict(first)
    found = {upper: count - before.get(upper, 0) for upper, count in last}
    return {upper: count for upper, count in found.items() if count}


def _percentile(buckets: Mapping[int, int], count: int, percent: float) -> int:
    """The least bucket that so many percent do not exceed, in ns (`calc_clat_percentiles`)."""
    total = 0
    for upper, more in buckets.items():
        total += more
        if total >= percent * count / 100:
            return upper // 1000
    return max(buckets) // 1000


def _direction(
    counts: tuple[FioCounts, FioCounts],
    extremes: tuple[FioExtremes, FioExtremes],
    rw: int,
    elapsed_ps: int,
) -> DirectionUse:
    first, last = counts
    ios = last.ios[rw] - first.ios[rw]
    size = (last.sectors[rw] - first.sectors[rw]) * SECTOR_BYTES
    found = {}
    for kind in ("slat", "clat", "lat"):
        before, after = (getattr(one, kind)[rw] for one in extremes)
        found[f"{kind}_ns"] = _latency(
            getattr(first, kind)[rw], getattr(last, kind)[rw], after[len(before) :]
        )
    return DirectionUse(
        io_bytes=size,
        bw_bytes=size * PS_PER_S / elapsed_ps,
        iops=ios * PS_PER_S / elapsed_ps,
        runtime=elapsed_ps / PS_PER_MS,
        total_ios=ios,
        **found,
    )


def _shares(
    names: tuple[str, ...], first: tuple[int, ...], last: tuple[int, ...]
) -> dict[str, float]:
    counts = [after - before for before, after in zip(first, last, strict=True)]
    total = sum(counts) or 1
    return {name: 100 * count / total for name, count in zip(names, counts, strict=True)}


def _distribution(first: FioCounts, last: FioCounts) -> tuple[dict[str, float], dict[str, float]]:
    """Percent of all units by whole latency: up to so many us, then up to so many ms."""
    total = sum(last.ios) - sum(first.ios) or 1
    us: dict[str, float] = {}
    ms: dict[str, float] = {}
    for rw in (0, 1):
        for upper, count in _more(first.lat[rw].buckets, last.lat[rw].buckets).items():
            found, value = (us, upper / 10**6) if upper <= 10**9 else (ms, upper / 10**9)
            limit = next((str(one) for one in _DISTRIBUTION if value <= one), ">=2000")
            found[limit] = found.get(limit, 0.0) + 100 * count / total
    return _in_order(us), _in_order(ms)


def _in_order(found: dict[str, float]) -> dict[str, float]:
    return {str(one): found[str(one)] for one in (*_DISTRIBUTION, ">=2000") if str(one) in found}


def _groups(start: Snapshot, end: Snapshot) -> tuple[FioGroupUse, ...]:
    elapsed_ps = end.time_ps - start.time_ps
    made = []
    counts = zip(*(one.more.get("fio", ()) for one in (start, end)), strict=True)
    extremes = zip(*(one.observed.get("fio", ()) for one in (start, end)), strict=True)
    for (first, last), found in zip(counts, extremes, strict=True):
        us, ms = _distribution(first, last)
        made.append(
            FioGroupUse(
                jobname=last.name,
                read=_direction((first, last), found, 0, elapsed_ps),
                write=_direction((first, last), found, 1, elapsed_ps),
                usr_cpu=100 * (last.user_ps - first.user_ps) / elapsed_ps,
                sys_cpu=100 * (last.system_ps - first.system_ps) / elapsed_ps,
                ctx=last.switches - first.switches,
                iodepth_level=_shares(_LEVELS, first.depths, last.depths),
                iodepth_submit=_shares(_CALLS, first.submits, last.submits),
                iodepth_complete=_shares(_CALLS, first.completes, last.completes),
                latency_us=us,
                latency_ms=ms,
            )
        )
    return tuple(made)


COLUMNS: Final = (Column("fio", tuple[FioGroupUse, ...], "of each job of fio", _groups, order=65),)
