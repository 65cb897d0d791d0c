"""fio on an NVMe drive as a user runs it: knobs, commands, formats, and what is refused."""

import json
from typing import Any

import pytest

import simnet
from simnet.report.fio import _number
from simnet.report.formats import FORMATS
from simnet.scenario.commands.commands import commands
from simnet.scenario.core.load import load
from simnet.scenario.parts.nvme.build import costs_of
from simnet.scenario.system.build import build
from simnet.study.run.run import simulate
from simnet.study.work.vary import with_values

SCENARIO = "nvme-local"
DURATION, WARM_UP = "20 ms", "5 ms"
QUEUE = "/sys/block/nvme0n1/queue"
ONE_READER = {"fio.mixed.rw": "randread", "fio.mixed.numjobs": "1", "fio.mixed.iodepth": "1"}


def run(**settings: str) -> Any:
    return simnet.run(SCENARIO, settings=settings, duration=DURATION, warm_up=WARM_UP)


def test_one_read_at_a_time_takes_the_drive_and_the_host() -> None:
    """10 us, 55 us for a page, 0.6 us on the link; a few us of fio, kernel and interrupt."""
    job = run(**ONE_READER).fio[0]
    drive_us = 10 + 55 + 4096 * 8 / 54.4e9 * 1e6
    assert drive_us + 3 < job.read.lat_ns.mean / 1000 < drive_us + 8
    assert job.read.iops == pytest.approx(10**9 / job.read.lat_ns.mean, rel=0.01)
    assert job.write.total_ios == 0


@pytest.mark.parametrize(
    ("scheduler", "own_ns", "lock_ns"),
    [("none", 0, 0), ("mq-deadline", 400, 100), ("bfq", 900, 800), ("kyber", 700, 0)],
)
def test_each_scheduler_has_costs_of_its_own(scheduler: str, own_ns: int, lock_ns: int) -> None:
    cycles = {
        "mq_deadline": 400,
        "mq_deadline_lock": 100,
        "bfq": 900,
        "bfq_lock": 800,
        "kyber": 700,
        "submit": 1000,
    }
    settings = {f"nvme.{name}": f"{number} cycles" for name, number in cycles.items()}
    effective = load(SCENARIO, settings=settings)
    found = costs_of(effective.nvme, 10**9, scheduler)
    assert (found.submit_ps, found.schedule_ps) == (10**6, own_ns * 1000)
    assert found.lock_ps == lock_ns * 1000


def test_reads_saturate_at_what_the_dies_can_do() -> None:
    """64 dies of 55 us; with 2,048 in flight nearly none is idle."""
    deep = {"fio.mixed.rw": "randread", "fio.mixed.numjobs": "8", "fio.mixed.iodepth": "256"}
    iops = run(**deep, **{"fio.mixed.cpus_allowed": "32-39"}).fio[0].read.iops
    assert 0.93 * 64 / 55e-6 < iops <= 64 / 55e-6


def test_writes_at_random_are_as_many_as_the_data_sheet_says() -> None:
    job = run(**{"fio.mixed.rw": "randwrite"}).fio[0]
    assert job.write.iops == pytest.approx(180_000, rel=0.05)


def test_polling_trades_a_cpu_for_latency() -> None:
    once = run(**ONE_READER)
    polled = run(**ONE_READER, **{"fio.mixed.hipri": "on", "modprobe nvme poll_queues": "2"})
    assert polled.fio[0].read.lat_ns.mean < once.fio[0].read.lat_ns.mean - 1000
    assert polled.cpus[32].idle < 5 < once.cpus[32].idle
    assert polled.cpus[32].irq == 0


def test_a_drive_with_fewer_queues_than_are_to_be_polled_keeps_one_with_an_interrupt() -> None:
    """How many queues a drive has is assumed, and drawn from 32 on."""
    polls = {"fio.mixed.hipri": "on", "modprobe nvme poll_queues": "32"}
    effective = load(SCENARIO, settings=polls, duration=DURATION, warm_up=WARM_UP)
    usual = simulate(effective)
    few = simulate(with_values(effective, {"nvme-tlc-3840gb.queues": 32}))
    assert few.fio[0].read.iops == pytest.approx(usual.fio[0].read.iops, rel=0.1)
    assert few.cpus[32].irq == 0


def test_counters_of_a_result_agree() -> None:
    """The drive, `iostat`, the flow and fio count the same requests."""
    result = run()
    job, disk, flow = result.fio[0], result.disks[0], result.flows[0]
    ios = job.read.total_ios + job.write.total_ios
    assert disk["r_s"] + disk["w_s"] == pytest.approx(ios / 0.02, rel=0.02)
    assert flow.goodput_bps == pytest.approx(ios * 4096 * 8 / 0.02)
    assert sum(job.iodepth_level.values()) == pytest.approx(100)
    assert sum(job.latency_us.values()) + sum(job.latency_ms.values()) == pytest.approx(100)
    assert job.read.total_ios / ios == pytest.approx(0.75, abs=0.02)


def test_no_latency_is_outside_of_the_least_and_the_largest() -> None:
    job = run().fio[0]
    for direction in (job.read, job.write):
        for found in (direction.slat_ns, direction.clat_ns, direction.lat_ns):
            assert found.min <= found.mean <= found.max
            assert all(found.min <= one <= found.max for one in found.percentile.values())


def test_the_same_seed_gives_the_same_result_and_another_one_does_not() -> None:
    first, again = run(), run()
    assert first == again
    other = simnet.run(SCENARIO, seed=2, duration=DURATION, warm_up=WARM_UP)
    assert other.fingerprint != first.fingerprint


def test_the_format_is_that_of_fio() -> None:
    text = FORMATS["fio"](run())
    lines = text.splitlines()
    assert lines[0] == (
        "mixed: (g=0): rw=randrw, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B,"
        " ioengine=io_uring, iodepth=32"
    )
    assert lines[1:4] == ["...", "simnet, in the layout of fio 3.36", "Starting 4 processes"]
    starts = [line.split(":")[0].strip() for line in lines if ":" in line]
    for name in ("read", "clat (usec)", "clat percentiles (usec)", "write", "cpu", "IO depths"):
        assert name in starts
    assert "     | 99.00th=[" in text
    assert "   READ: bw=" in text
    assert text.count("\n  nvme0n1: ios=") == 1


def test_the_json_is_that_of_fio() -> None:
    result = run()
    found = json.loads(FORMATS["fio-json"](result))
    job = found["jobs"][0]
    assert job["jobname"] == "mixed"
    assert job["job options"]["iodepth"] == "32"
    assert job["read"]["clat_ns"]["percentile"]["99.000000"] > job["read"]["clat_ns"]["mean"]
    assert job["read"]["total_ios"] == result.fio[0].read.total_ios


@pytest.mark.parametrize(
    ("value", "thousand", "text"),
    [
        (999, 1000, "999"),
        (4801, 1000, "4801"),
        (48_011, 1000, "48.0k"),
        (313_449, 1000, "313k"),
        (313_500, 1000, "314k"),
        (19_668_992, 1024, "18.8Mi"),
        (19_668_992, 1000, "19.7M"),
    ],
)
def test_numbers_are_shortened_as_fio_does(value: int, thousand: int, text: str) -> None:
    assert _number(value, thousand) == text


def test_no_job_no_report() -> None:
    assert FORMATS["fio"](simnet.run("tcp-rr-one-queue", duration="1 ms", warm_up="0 s")) == (
        "# no jobs of fio\n"
    )


def test_knobs_have_commands_to_apply_undo_and_keep_them() -> None:
    settings = {
        f"{QUEUE}/scheduler": "mq-deadline",
        f"{QUEUE}/iosched/read_expire": "100",
        f"{QUEUE}/rq_affinity": "2",
        "modprobe nvme poll_queues": "4",
    }
    tuned = load(SCENARIO, settings=settings)
    drive = tuned.host.drives[0]
    assert (drive.queue.scheduler, drive.iosched.read_expire) == ("mq-deadline", 100)
    (found,) = commands(load(SCENARIO), tuned)
    assert f"echo mq-deadline > {QUEUE}/scheduler" in found.apply
    assert f"echo none > {QUEUE}/scheduler" in found.undo
    assert f"echo 1 > {QUEUE}/rq_affinity" in found.undo
    assert "modprobe -r nvme; modprobe nvme poll_queues=4" in found.apply
    assert "options nvme poll_queues=4" in found.keep
    queue = build(tuned, seed=1, per_frame=False, tracer=None).parts["queues"]["nvme0n1"]
    assert queue.scheduler.show("read_expire") == 100
    assert sum(one.line is None for one in queue.hardware) == 4


def test_io_poll_says_that_it_does_nothing() -> None:
    remarks = load(SCENARIO, settings={f"{QUEUE}/io_poll": "on"}).remarks
    assert any("io_poll" in one and "not modelled" in one for one in remarks)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {f"{QUEUE}/scheduler": "mq-deadlin"},
            "expected one of none, mq-deadline, kyber, bfq, got 'mq-deadlin'",
        ),
        ({"/sys/block/nvme1n1/queue/scheduler": "none"}, "no drive nvme1n1: expected one of nvme0"),
        ({f"{QUEUE}/iosched/read_expire": "9"}, "none of nvme0n1 has no read_expire: it has none"),
        (
            {f"{QUEUE}/scheduler": "kyber", f"{QUEUE}/iosched/fifo_batch": "9"},
            "it has read_lat_nsec, write_lat_nsec",
        ),
        ({"modprobe nvme poll_queues": "64"}, "has 64 queues: expected poll_queues below that"),
        ({"fio.mixed.hipri": "on"}, "expected modprobe nvme poll_queues above 0"),
        ({"fio.mixed.hipri": "on", "fio.mixed.ioengine": "libaio"}, "only io_uring polls"),
        ({"fio.mixed.ioengine": "sync"}, "the sync engine has one unit in flight"),
        ({"fio.mixed.bs": "256 KiB"}, "whole sectors of 512 B, up to max_sectors_kb = 131072 B"),
        (
            {"/sys/block/nvme0n1/queue/max_sectors_kb": "1024", "fio.mixed.bs": "512 KiB"},
            "a request has up to 127 pages = 520192 B; how more is split is not modelled",
        ),
        ({"fio.mixed.bs": "1000 B"}, "whole sectors of 512 B"),
        ({"fio.mixed.size": "1 KiB"}, "expected a range of bs or more within 3840000000000 B"),
        ({"fio.mixed.offset": "3840 GB"}, "expected a range of bs or more"),
        ({"fio.mixed.cpus_allowed": "60-70"}, "the system has no CPU 64, it has 0 to 63"),
        ({"fio.mixed.iodepth_batch": "64"}, "expected no more than iodepth, 32, got 64"),
        (
            {
                "fio.mixed.iodepth_batch_complete_min": "8",
                "fio.mixed.iodepth_batch_complete_max": "4",
            },
            "expected no less than the least, 8",
        ),
        ({"fio.mixed.numjobs": "0"}, "no job has a process"),
        ({"drive.flash_channels": "0"}, "a flash disk needs flash_channels above 0"),
        ({"system.kernel": "linux-2.6.38"}, "expected Linux 5.0 or later, got 2.6.38"),
        (
            {
                "system.kernel": "linux-5.4",
                f"{QUEUE}/scheduler": "none",
                f"{QUEUE}/iosched/prio_aging_expire": "5",
            },
            "it came with Linux 5.17",
        ),
    ],
)
def test_what_does_not_fit_is_refused_in_one_line(settings: dict[str, str], message: str) -> None:
    with pytest.raises(simnet.InputError) as caught:
        load(SCENARIO, settings=settings)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)
