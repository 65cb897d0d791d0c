"""Disks, partitions and thread groups in a scenario: names, commands, and what is refused."""

from pathlib import Path

import pytest

from simnet import _share
from simnet.errors import InputError
from simnet.scenario.commands.commands import commands
from simnet.scenario.core.load import load

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
            "random-read: 104964096000 B of files, sdc has 24399998976 B",
        ),
        (
            {
                "peer:sdc2.size": "54 MiB",
                "ffsb.random-read.file": "52 KiB",
                "ffsb.random-read.num_files": "1000",
            },
            # the last page of each file is behind an indirect block
            "random-read: 57344000 B of files, sdc has 56623104 B",
        ),
        (
            {"ffsb.random-read.read_block": "8 KiB", "ffsb.random-read.read": "4 KiB"},
            (
                "ffsb.random-read.read_block: random-read: no block of 8192 B fits into the 4096 B"
                " that it reads at random places of a file"
            ),
        ),
        (
            {"ffsb.random-write.write_block": "8 KiB", "ffsb.random-write.file": "4 KiB"},
            "random-write: no block of 8192 B fits into the 4096 B that it writes at random",
        ),
        (
            {"/sys/block/sdb/queue/max_sectors_kb": "1"},
            "max_sectors_kb: sdb: a request has 4096 B or more, got 1024 B",
        ),
        (
            {"peer:disk.seek_track": "9 ms"},
            "peer:disk.seek_track: sdc: no seek curve rises through 9000000000 ps",
        ),
        (
            {
                f"ffsb.{name}.num_threads": "0"
                for name in ("sequential-read", "random-read", "random-write")
            },
            "no thread group has a thread: nothing would happen",
        ),
        ({"test": "netserver"}, "missing"),
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
    assert line in caught.value.typed
    assert "\n" not in str(caught.value)


def test_a_network_needs_a_switch() -> None:
    settings = {"test": "netserver", "message": "8 KiB"}
    with pytest.raises(InputError, match="netserver needs a switch"):
        load(SCENARIO, settings=settings)


def test_ports_beside_the_disks_need_a_switch() -> None:
    with pytest.raises(InputError) as caught:
        load(SCENARIO, settings={"system.server": "ibm-p5-partitioned"})
    line = "--set: system.server: the ports of ibm-p5-partitioned need a switch"
    assert str(caught.value.typed) == line


def test_a_virtual_disk_has_no_partitions(tmp_path: Path) -> None:
    text = (_share.folder("scenarios") / f"{SCENARIO}.toml").read_text("utf-8")
    virtual = 'backing = "sdc3"\n'
    part = '[[system.disks.partitions]]\nname = "sdd1"\nstart = "0 B"\nsize = "1 GB"\n'
    (tmp_path / "mine.toml").write_text(text.replace(virtual, virtual + part), "utf-8")
    with pytest.raises(InputError, match=r"sdd: only a real disk, one with model, has partitions"):
        load(tmp_path / "mine.toml")
