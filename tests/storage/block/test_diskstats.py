"""The counters of /proc/diskstats, and the columns of iostat, worked out by hand."""

import pytest

from simnet.storage.block.diskstats import DiskStats, IostatRow, Snapshot, iostat

MS = 10**9
S = 10**12
READ, WRITE = 0, 1


def test_counters_begin_at_nothing() -> None:
    stats = DiskStats()
    nothing = Snapshot(5 * MS, (0, 0), (0, 0), (0, 0), (0, 0), 0, 0, 0)
    assert stats.snapshot(5 * MS) == nothing


def test_requests_in_flight_are_added_up_over_time() -> None:
    stats = DiskStats()
    stats.started(10 * MS)
    stats.started(12 * MS)
    stats.ended(15 * MS, READ, 8, 10 * MS)
    assert stats.snapshot(16 * MS) == Snapshot(
        time_ps=16 * MS,
        ios=(1, 0),
        merges=(0, 0),
        sectors=(8, 0),
        ticks_ps=(5 * MS, 0),
        in_flight=1,
        busy_ps=6 * MS,
        # one for 2 ms, two for 3, one for 1
        queue_ps=9 * MS,
    )
    stats.merges[WRITE] += 3
    stats.ended(17 * MS, WRITE, 24, 12 * MS)
    assert stats.snapshot(40 * MS) == Snapshot(
        40 * MS, (1, 1), (0, 3), (8, 24), (5 * MS, 5 * MS), 0, 7 * MS, 10 * MS
    )


def test_a_request_that_was_merged_is_in_flight_until_then() -> None:
    stats = DiskStats()
    stats.started(0)
    stats.started(2 * MS)
    stats.merged(5 * MS, 2 * MS, 0)
    assert stats.snapshot(5 * MS).queue_ps == 8 * MS
    assert (stats.in_flight, stats.merged_ps) == (1, 3 * MS)
    # what it counts from earlier is its own
    stats.started(6 * MS)
    stats.merged(9 * MS, 6 * MS, 1 * MS)
    assert stats.merged_ps == 3 * MS + 2 * MS
    stats.ended(10 * MS, READ, 8, 0)
    after = stats.snapshot(10 * MS)
    assert after.queue_ps == 16 * MS


def test_a_read_and_a_write_that_overlap_keep_the_device_busy_once() -> None:
    stats = DiskStats()
    stats.started(3 * MS)
    stats.started(5 * MS)
    stats.ended(11 * MS, READ, 8, 3 * MS)
    stats.ended(13 * MS, WRITE, 8, 5 * MS)
    seen = stats.snapshot(17 * MS)
    assert (seen.ticks_ps, seen.busy_ps, seen.queue_ps) == ((8 * MS, 8 * MS), 10 * MS, 16 * MS)
    assert (seen.ios, seen.sectors, seen.in_flight) == ((1, 1), (8, 8), 0)


def test_iostat_divides_what_has_changed() -> None:
    before = Snapshot(1 * S, (10, 20), (1, 2), (100, 200), (S, S), 0, 5 * S, 7 * S)
    after = Snapshot(
        time_ps=5 * S,
        ios=(50, 40),
        merges=(9, 6),
        sectors=(900, 1000),
        ticks_ps=(S + 120 * MS, S + 480 * MS),
        in_flight=3,
        busy_ps=7 * S,
        queue_ps=13 * S,
    )
    row = iostat("sda", before, after)
    assert row == IostatRow(
        device="sda",
        rrqm_s=2.0,
        wrqm_s=1.0,
        r_s=10.0,
        w_s=5.0,
        rsec_s=200.0,
        wsec_s=200.0,
        # 1600 sectors of 60 requests
        avgrq_sz=1600 / 60,
        avgqu_sz=1.5,
        await_ms=10.0,
        # half of the time at 15 requests a second
        svctm_ms=pytest.approx(1000 / 30),  # type: ignore[arg-type]
        util=50.0,
    )
    assert (row.rkb_s, row.wkb_s) == (100.0, 100.0)


def test_reads_and_writes_have_columns_of_their_own() -> None:
    before = Snapshot(0, (0, 0), (0, 0), (0, 0), (0, 0), 0, 0, 0)
    row = iostat("sda", before, Snapshot(S, (1, 3), (5, 7), (8, 80), (0, 0), 0, 0, 0))
    assert (row.r_s, row.w_s, row.rrqm_s, row.wrqm_s) == (1.0, 3.0, 5.0, 7.0)
    assert (row.rsec_s, row.wsec_s, row.rkb_s, row.wkb_s) == (8.0, 80.0, 4.0, 40.0)


def test_an_idle_device_has_zeros() -> None:
    stats = DiskStats()
    row = iostat("sda", stats.snapshot(0), stats.snapshot(1))
    assert row == IostatRow("sda", *[0.0] * 11)


@pytest.mark.parametrize("end", [5, 4])
def test_iostat_needs_an_interval(end: int) -> None:
    stats = DiskStats()
    before = stats.snapshot(5)
    after = Snapshot(end, (0, 0), (0, 0), (0, 0), (0, 0), 0, 0, 0)
    with pytest.raises(ValueError, match=f"sda: iostat needs an interval, got {end - 5} ps"):
        iostat("sda", before, after)
