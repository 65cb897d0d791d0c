"""Disks, partitions and thread groups in a scenario: names, commands, and what is refused."""

from __future__ import annotations

import pytest

from simnet.errors import InputError
from simnet.scenario.commands import commands
from simnet.scenario.load import load

SCENARIO = "vscsi-parallel"


def test_a_scenario_without_a_switch_has_virtual_disks_and_their_server() -> None:
    effective = load(SCENARIO)
    assert effective.switch is None
    assert [(disk.name, disk.backing) for disk in effective.host.disks] == [
        ("sdb", "sdc1"),
        ("sdc", "sdc2"),
        ("sdd", "sdc3"),
    ]
    assert [part.name for part in effective.peers[0].disks[0].partitions] == [
        "sdc1",
        "sdc2",
        "sdc3",
    ]


def test_the_schedulers_of_client_and_server_are_set_by_their_files_in_sysfs() -> None:
    settings = {
        "/sys/block/sdb/queue/scheduler": "deadline",
        "/sys/block/sdb/queue/iosched/read_expire": "100",
        "/sys/block/sdb/queue/read_ahead_kb": "128",
        "peer:/sys/block/sdc/queue/nr_requests": "64",
    }
    base, tuned = load(SCENARIO), load(SCENARIO, settings=settings)
    first = tuned.host.disks[0]
    assert (first.queue.scheduler, first.iosched.read_expire) == ("deadline", 100)
    assert first.queue.read_ahead_bytes == 128 * 1024
    assert tuned.peers[0].disks[0].queue.nr_requests == 64
    client, server = commands(base, tuned)
    assert client.apply == (
        "echo deadline > /sys/block/sdb/queue/scheduler",
        "echo 100 > /sys/block/sdb/queue/iosched/read_expire",
        "echo 128 > /sys/block/sdb/queue/read_ahead_kb",
    )
    assert "echo anticipatory > /sys/block/sdb/queue/scheduler" in client.undo
    assert server.apply == ("echo 64 > /sys/block/sdc/queue/nr_requests",)
    assert server.undo == ("echo 128 > /sys/block/sdc/queue/nr_requests",)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        (
            {"peer:sdc3.size": "25000 MB"},
            "peer:sdc3.size: sdc3 ends at 73799995392 B, beyond the 73400000000 B of sdc",
        ),
        (
            {"peer:sdc2.start": "20 GB"},
            (
                "peer:sdc2.start: sdc2, 19999997952 to 44399996928 B, overlaps sdc1,"
                " 0 to 24399998976 B"
            ),
        ),
        (
            {"/sys/block/sdb/queue/scheduler": "deadlien"},
            (
                "/sys/block/sdb/queue/scheduler: expected one of noop, anticipatory, deadline,"
                " cfq, got 'deadlien'"
            ),
        ),
        (
            {"/sys/block/sde/queue/scheduler": "noop"},
            (
                "/sys/block/sde/queue/scheduler: ibm-p5-partition has no disk sde: expected one"
                " of sdb, sdc, sdd"
            ),
        ),
        (
            {"/sys/block/sdb/queue/iosched/slice_idle": "1"},
            (
                "/sys/block/sdb/queue/iosched/slice_idle: anticipatory of sdb has no slice_idle:"
                " it has read_expire, write_expire, antic_expire, read_batch_expire,"
                " write_batch_expire"
            ),
        ),
        (
            {"ffsb.random-read.disk": "sde"},
            "ffsb.random-read.disk: random-read: the system has no disk sde; did you mean sdd?",
        ),
        (
            {"sdd.backing": "sdc9"},
            "sdd.backing: sdd: the server has no partition sdc9; did you mean sdc3?",
        ),
        ({"sdd.backing": "sdc1"}, "sdd.backing: sdd: sdb is on sdc1 already"),
        (
            {"ffsb.random-read.num_files": "1000"},
            "random-read: 105067315200 B of files, sdc has 24399998976 B",
        ),
        (
            {
                f"ffsb.{name}.num_threads": "0"
                for name in ("sequential-read", "random-read", "random-write")
            },
            "no thread group has a thread: nothing would happen",
        ),
        (
            {"test": "netserver"},
            "missing",
        ),
        (
            {"/sys/block/sdb/queue/schedular": "noop"},
            (
                "/sys/block/sdb/queue/schedular: unknown knob; did you mean"
                " /sys/block/sdb/queue/scheduler?"
            ),
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_fit_together_is_refused(settings: dict[str, str], line: str) -> None:
    with pytest.raises(InputError) as caught:
        load(SCENARIO, settings=settings)
    assert line in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_network_needs_a_switch() -> None:
    settings = {"test": "netserver", "message": "8 KiB"}
    with pytest.raises(InputError, match="netserver needs a switch"):
        load(SCENARIO, settings=settings)
