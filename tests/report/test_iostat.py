"""iostat's columns as sysstat computes them, and its listing as the documents print it."""

import pytest

from simnet.report.iostat import avg_cpu, devices
from simnet.storage.block.diskstats import DiskStats, IostatRow, Snapshot, iostat

MS = 10**9

# The client's listing of document 3: sequential reads alone.
LISTING = """\
avg-cpu:  %user   %nice %system %iowait  %steal   %idle
           0.30    0.00    6.35   93.30    0.00    0.00

Device:  rrqm/s  wrqm/s     r/s     w/s    rsec/s   wsec/s     rkB/s    wkB/s avgrq-sz avgqu-sz\
    await  svctm  %util
sdb        1.17    0.80  173.36    0.40  82818.59    11.19  41409.30     5.60   476.68   102.99\
   592.19   5.75 100.00
sdc        0.00    0.00    0.00    0.00      0.00     0.00      0.00     0.00     0.00     0.00\
     0.00   0.00   0.00
"""


def test_the_listing_looks_as_iostat_prints_it() -> None:
    busy = IostatRow(
        *("sdb", 1.17, 0.80, 173.36, 0.40, 82818.594, 11.194, 476.68, 102.99, 592.19, 5.75, 100.0)
    )
    idle = IostatRow("sdc", *[0.0] * 11)
    cpu = avg_cpu({"user": 0.30, "system": 6.35, "iowait": 93.30})
    assert cpu + "\n" + devices([busy, idle]) == LISTING


def test_columns_follow_from_counters() -> None:
    before = Snapshot(0, (10, 20), (1, 2), (80, 160), (0, 0), 0, 0, 0)
    after = Snapshot(
        2000 * MS, (110, 70), (5, 12), (1680, 960), (900 * MS, 600 * MS), 3, 1800 * MS, 3000 * MS
    )
    row = iostat("sda", before, after)
    assert (row.rrqm_s, row.wrqm_s, row.r_s, row.w_s) == pytest.approx((2, 5, 50, 25))
    assert (row.rsec_s, row.wsec_s, row.rkb_s, row.wkb_s) == pytest.approx((800, 400, 400, 200))
    assert row.avgrq_sz == pytest.approx(16)
    assert row.avgqu_sz == pytest.approx(1.5)
    assert row.await_ms == pytest.approx(10)
    assert row.svctm_ms == pytest.approx(12)
    assert row.util == pytest.approx(90)


def test_an_idle_device_has_zeros_everywhere() -> None:
    counters = (1, 1), (0, 0), (8, 8), (0, 0), 0, 0, 0
    row = iostat("sda", Snapshot(0, *counters), Snapshot(MS, *counters))
    assert {getattr(row, name) for name in ("avgrq_sz", "await_ms", "svctm_ms", "util")} == {0.0}


def test_no_interval_is_an_error() -> None:
    snapshot = DiskStats().snapshot(0)
    with pytest.raises(ValueError, match="needs an interval"):
        iostat("sda", snapshot, snapshot)
