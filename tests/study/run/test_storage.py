"""A run with disks: what it says, the laws that it keeps, and that it is the same every time."""

import json

import pytest

import simnet
from simnet.errors import InputError
from simnet.report.formats import FORMATS
from simnet.scenario.core.load import load
from simnet.study.run.result import Result
from simnet.study.run.run import simulate

ALONE = ("sequential-read-alone", "random-read-alone", "random-write-alone")


@pytest.fixture(scope="module", params=((), *((name,) for name in ALONE)), ids=str)
def result(request: pytest.FixtureRequest) -> Result:
    tunings: tuple[str, ...] = request.param
    return simnet.run("vscsi-parallel", tunings=tunings, warm_up="500 ms", duration="1 s")


def test_every_disk_of_client_and_server_has_a_row(result: Result) -> None:
    assert [disk["name"] for disk in result.disks] == [
        *("sdb", "sdc", "sdd"),
        *("peer0:sdc", "peer0:sdd"),
    ]


def test_disks_are_a_table(result: Result) -> None:
    frame = result.to_frame("disks")
    assert list(frame.index) == [disk["name"] for disk in result.disks]
    assert frame.loc["peer0:sdc", "device"] == "sdc"


def test_utilisation_is_throughput_times_svctm(result: Result) -> None:
    for disk in result.disks:
        row = {name: value for name, value in disk.items() if isinstance(value, float)}
        throughput = row["r_s"] + row["w_s"]
        assert row["util"] == pytest.approx(throughput * row["svctm_ms"] / 10, abs=1e-6)
        assert 0 <= row["util"] <= 100 + 1e-9


@pytest.mark.parametrize(
    ("tunings", "warm_up", "duration"),
    [((), "10 s", "40 s"), *(((name,), "2 s", "4 s") for name in ALONE)],
)
def test_a_queue_is_as_long_as_its_throughput_times_its_await(
    tunings: tuple[str, ...], warm_up: str, duration: str
) -> None:
    # Little's law, as far as a listing can keep it: it must be long compared with its requests
    result = simnet.run("vscsi-parallel", tunings=tunings, warm_up=warm_up, duration=duration)
    rows = [{name: disk[name] for name in disk if name != "name"} for disk in result.disks]
    found = [
        (float(row["avgqu_sz"]), float(row["r_s"]) + float(row["w_s"]), float(row["await_ms"]))
        for row in rows
    ]
    used = [row for row in found if row[0]]
    assert len(used) == (2 if tunings else 4)
    for queue, throughput, await_ms in used:
        assert queue == pytest.approx(throughput * await_ms / 1000, rel=0.025)


def test_what_a_client_moves_its_server_moves(result: Result) -> None:
    *client, server, _spare = result.disks
    for column in ("rsec_s", "wsec_s"):
        moved = sum(float(disk[column]) for disk in client)
        # what is under way at both ends of the measurement
        assert float(server[column]) == pytest.approx(moved, abs=16 * 512)


def test_cpu_time_adds_up_and_waits_for_disks(result: Result) -> None:
    for cpu in result.cpus:
        total = cpu.user + cpu.system + cpu.softirq + cpu.irq + cpu.iowait + cpu.steal + cpu.idle
        assert total == pytest.approx(100)
    assert max(cpu.iowait for cpu in result.cpus) > 80


def test_iostat_prints_both_hosts_as_sysstat_does(result: Result) -> None:
    lines = FORMATS["iostat"](result).splitlines()
    assert lines[0] == "# client"
    assert lines[1].split() == [
        "avg-cpu:",
        "%user",
        "%nice",
        "%system",
        "%iowait",
        "%steal",
        "%idle",
    ]
    assert [line.split()[0] for line in lines if line.startswith("sd")] == [
        *("sdb", "sdc", "sdd"),
        *("sdc", "sdd"),
    ]
    assert json.loads(result.to_json())["disks"][3]["device"] == "sdc"


def test_the_same_seed_gives_the_same_result() -> None:
    runs = [
        simnet.run("vscsi-parallel", seed=seed, warm_up="100 ms", duration="300 ms").fingerprint
        for seed in (1, 1, 2)
    ]
    assert runs[0] == runs[1] != runs[2]


def test_vmstat_and_sar_tell_who_waits_for_disks() -> None:
    effective = load(
        "vscsi-parallel", tunings=("random-read-alone",), warm_up="500 ms", duration="2 s"
    )
    result = simulate(effective, vmstat=True)
    (cpu,) = result.cpus
    (ticks,) = result.ticks
    assert len(result.vmstat) == 2
    for row in result.vmstat:
        # 32 threads, each with a read under way
        assert row.blocked == 32
        assert row.idle + row.iowait == pytest.approx(100 - row.user - row.system)
        assert row.interrupts_per_s == pytest.approx(result.disks[1]["r_s"], rel=0.05)
    seen = sum(row.iowait for row in result.vmstat) / len(result.vmstat)
    assert seen == pytest.approx(cpu.iowait, abs=1)
    assert ticks.iowait == pytest.approx(cpu.iowait, abs=1)
    assert ticks.user + ticks.system + ticks.iowait + ticks.idle == pytest.approx(100)


def test_seconds_need_a_time_that_is_given() -> None:
    effective = load("vscsi-parallel", precision="5 %")
    with pytest.raises(InputError, match="vmstat"):
        simulate(effective, vmstat=True)
