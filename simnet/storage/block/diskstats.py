"""The counters of `/proc/diskstats`, and what `iostat -x` makes of them.

Counters: block/ll_rw_blk.c of Linux 2.6.18 (`drive_stat_acct`, `disk_round_stats`,
`blk_account_io_done`). The kernel keeps times in jiffies; here they are exact.
Columns: iostat.c of sysstat 9.1.5. A request counts from its insertion into the scheduler until it
is complete; `svctm` is utilisation over throughput, no time that anything takes.
"""

from dataclasses import dataclass
from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.storage.block.request import READ, WRITE


@dataclass(frozen=True)
class Snapshot:
    """The counters at one time; times in ps."""

    time_ps: int  # when
    # of reads and writes: completed requests, merged bios, transferred sectors, time from
    # insertion to completion
    ios: tuple[int, int]
    merges: tuple[int, int]
    sectors: tuple[int, int]
    ticks_ps: tuple[int, int]
    in_flight: int  # requests in scheduler and device
    busy_ps: int  # time with any in flight (`io_ticks`)
    queue_ps: int  # requests in flight, over time (`time_in_queue`)


@cython.cclass
class DiskStats:
    """Counters of one device."""

    in_flight: Public[cython.longlong] = 0  # requests that are in scheduler and device
    ios: Public[list[Any]] = None
    merges: Public[list[Any]] = None
    sectors: Public[list[Any]] = None
    ticks_ps: Public[list[Any]] = None
    busy_ps: Public[Any] = None
    queue_ps: Public[Any] = None
    # time in flight of requests that were merged into others, less the time by which those
    # count from earlier: with it Little's law is an identity
    merged_ps: Public[Any] = None
    _stamp_ps: cython.longlong = 0

    def __init__(self) -> None:
        self.ios = [0, 0]
        self.merges = [0, 0]
        self.sectors = [0, 0]
        self.ticks_ps = [0, 0]
        self.busy_ps = self.queue_ps = self.merged_ps = 0

    def round(self, now_ps: cython.longlong) -> cython.int:
        """Account for the time since the last change (`disk_round_stats`)."""
        elapsed_ps: cython.longlong = now_ps - self._stamp_ps
        if self.in_flight:
            self.busy_ps += elapsed_ps
            self.queue_ps += self.in_flight * elapsed_ps
        self._stamp_ps = now_ps
        return 0

    def started(self, now_ps: cython.longlong) -> cython.int:
        """A request was inserted."""
        self.round(now_ps)
        self.in_flight += 1
        return 0

    def merged(self, now_ps: int, start_ps: int, earlier_ps: int) -> None:
        """A request became part of one that counts from `earlier_ps` earlier than before."""
        self.round(now_ps)
        self.in_flight -= 1
        self.merged_ps += now_ps - start_ps - earlier_ps

    def ended(
        self,
        now_ps: cython.longlong,
        rw: cython.int,
        sectors: cython.longlong,
        start_ps: cython.longlong,
    ) -> cython.int:
        """A request is complete."""
        self.sectors[rw] += sectors
        self.ios[rw] += 1
        self.ticks_ps[rw] += now_ps - start_ps
        self.round(now_ps)
        self.in_flight -= 1
        return 0

    def snapshot(self, now_ps: int) -> Snapshot:
        """Return the counters now."""
        self.round(now_ps)
        return Snapshot(
            time_ps=now_ps,
            ios=(self.ios[READ], self.ios[WRITE]),
            merges=(self.merges[READ], self.merges[WRITE]),
            sectors=(self.sectors[READ], self.sectors[WRITE]),
            ticks_ps=(self.ticks_ps[READ], self.ticks_ps[WRITE]),
            in_flight=self.in_flight,
            busy_ps=self.busy_ps,
            queue_ps=self.queue_ps,
        )


@dataclass(frozen=True)
class IostatRow:
    """One device's columns of `iostat -x`."""

    device: str  # as in sda
    # merged bios a second
    rrqm_s: float
    wrqm_s: float
    # completed requests a second
    r_s: float
    w_s: float
    # sectors of 512 bytes a second
    rsec_s: float
    wsec_s: float
    avgrq_sz: float  # sectors of a request
    avgqu_sz: float  # requests in flight, mean
    await_ms: float  # from insertion to completion, mean
    svctm_ms: float  # utilisation over throughput
    util: float  # time with requests in flight, percent

    @property
    def rkb_s(self) -> float:
        """KiB a second that were read."""
        return self.rsec_s / 2

    @property
    def wkb_s(self) -> float:
        """KiB a second that were written."""
        return self.wsec_s / 2


def iostat(device: str, before: Snapshot, after: Snapshot) -> IostatRow:
    """Return what `iostat -x` says of the time between two snapshots.

    Raises:
        ValueError: no time has passed between them.
    """
    interval_ps = after.time_ps - before.time_ps
    if interval_ps <= 0:
        raise ValueError(f"{device}: iostat needs an interval, got {interval_ps} ps")
    per_s = 10**12 / interval_ps

    def change(name: str) -> tuple[int, int]:
        new, old = getattr(after, name), getattr(before, name)
        return new[READ] - old[READ], new[WRITE] - old[WRITE]

    reads, writes = change("ios")
    read_sectors, written_sectors = change("sectors")
    read_merges, write_merges = change("merges")
    ios = reads + writes
    throughput = ios * per_s
    busy = (after.busy_ps - before.busy_ps) / interval_ps
    return IostatRow(
        device=device,
        rrqm_s=read_merges * per_s,
        wrqm_s=write_merges * per_s,
        r_s=reads * per_s,
        w_s=writes * per_s,
        rsec_s=read_sectors * per_s,
        wsec_s=written_sectors * per_s,
        avgrq_sz=(read_sectors + written_sectors) / ios if ios else 0.0,
        avgqu_sz=(after.queue_ps - before.queue_ps) / interval_ps,
        await_ms=sum(change("ticks_ps")) / ios / 10**9 if ios else 0.0,
        svctm_ms=busy / throughput * 1000 if throughput else 0.0,
        util=busy * 100,
    )
