"""The clients of a file system as a scenario: what can be set, what is refused, what comes out."""

import json
import re
from pathlib import Path

import pytest

import simnet
from simnet.errors import InputError
from simnet.report.whatif import whatif
from simnet.scenario.commands.commands import commands
from simnet.scenario.core.load import load
from simnet.scenario.parts.scale.columns import totals
from simnet.scenario.scenarios import find_scenario
from simnet.study.run.result import Result

SCENARIO = "ess-sas"
SHORT = {"length": "0.01", "sas.jobs_20": "22", "sas.data": "6 GB"}


@pytest.fixture(scope="module")
def result() -> Result:
    return simnet.run(SCENARIO, settings=SHORT)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"mmchconfig pagepool": "128G"}, "a partition has 98304M"),
        ({"mmchconfig pagepool": "256M", "mmcrfs -B": "16M"}, ""),
        ({"mmcrfs -B": "3M"}, "expected 1M, 2M, 4M, 8M or 16M"),
        ({"mmcrfs -B": "32M"}, "outside the legal range"),
        ({"mmchconfig maxblocksize": "4M"}, "blocks of 16M"),
        ({"lpars.cores": "32 32 16"}, "80 cores in 3 partitions: ibm-e880 has 64"),
        ({"lpars.cores": ""}, "at least one"),
        ({"lpars.memory": "1024 GiB"}, "ibm-e880 has"),
        ({"smtctl -t": "3"}, "expected 1, 2 or 4"),
        ({"nodes": "5"}, "there are 4 partitions"),
        ({"test": "netserver"}, "expected one of 20-test, 30-test"),
        ({"test": "read-seq"}, "expected one of 20-test, 30-test"),
        ({"type": "relay"}, "run sas or gpfsperf"),
        ({"mmchconfig pagepol": "1G"}, "did you mean mmchconfig pagepool"),
        ({"storage.mode": "lacp"}, "expected one of"),
        ({"filesystem.first": "0.7"}, "more than the disks"),
        ({"filesystem.data_strips": "7"}, "blocks of 16M cannot be cut into 7 strips"),
        ({"storage.array_disks": "9"}, "10 strips, each on a disk of its own: an array has 9"),
        (
            {
                "filesystem.nsd_max_worker_threads": "8",
                "filesystem.nsd_raid_small_thread_ratio": "8",
            },
            "none left",
        ),
        (
            {"filesystem.nsd_raid_flusher_fw_log_high_watermark": "5000 MiB"},
            "from 5000M on: it holds 5000M at most",
        ),
        (
            {"filesystem.nsd_raid_flusher_fw_log_limit": "900 MiB"},
            "--set: filesystem.nsd_raid_flusher_fw_log_limit: the log empties from 1000M on",
        ),
        ({"sas.small_file": "1000 GiB"}, "larger than the largest"),
    ],
)
def test_what_cannot_be_is_one_line(settings: dict[str, str], message: str) -> None:
    if not message:
        assert load(SCENARIO, settings=settings).scale
        return
    with pytest.raises(InputError) as caught:
        load(SCENARIO, settings=settings)
    assert message in caught.value.typed
    assert "\n" not in str(caught.value)


def test_disks_without_room_for_their_vdisks_are_one_line() -> None:
    """How large disks are is in their model: only who builds them knows."""
    settings = {"filesystem.vdisks": "4096", "filesystem.extent": "0.001"}
    with pytest.raises(InputError, match=r"^system.storage: .* tracks are not within the disks$"):
        simnet.run(SCENARIO, settings={**SHORT, **settings})


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("disk.outer_rate", "0 B/s", "disk: a magnetic disk needs outer_rate_bps above 0"),
        ("log_disk.flash_channels", "0", "log_disk: a flash disk needs flash_channels above 0"),
    ],
)
def test_a_disk_that_cannot_be_is_refused_where_it_is_set(
    name: str, value: str, message: str
) -> None:
    with pytest.raises(InputError) as caught:
        load(SCENARIO, settings={**SHORT, name: value})
    assert caught.value.typed == f"--set: {name}: {message}"


def test_clients_need_a_switch(tmp_path: Path) -> None:
    text = find_scenario(SCENARIO).read_text("utf-8")
    file = tmp_path / "mine.toml"
    file.write_text(re.sub(r"(?m)^switch = .*\n", "", text), "utf-8")
    with pytest.raises(InputError, match="switch: missing, there are lpars"):
        load(file)


@pytest.mark.parametrize("option", [{"warm_up": "1 s"}, {"precision": "1 %"}])
def test_jobs_end_by_themselves(option: dict[str, str]) -> None:
    with pytest.raises(InputError, match=r"expected 0 s|no precision"):
        load(SCENARIO, **option)  # type: ignore[arg-type]


@pytest.mark.parametrize("typed", ["64G", "65536M", "68719476736", "64 GiB"])
def test_a_size_is_typed_as_mmchconfig_takes_it(typed: str) -> None:
    base = load(SCENARIO)
    tuned = load(SCENARIO, settings={"mmchconfig pagepool": typed})
    assert tuned.scale
    assert tuned.scale.pagepool_bytes == 64 << 30
    [found] = commands(base, tuned)
    assert "mmchconfig pagepool=64G -N CLIENTS -i" in found.apply
    assert "mmchconfig pagepool=32G -N CLIENTS -i" in found.undo


def test_a_result_has_jobs_and_what_passed(result: Result) -> None:
    assert len(result.jobs) == 22
    found = totals(result.jobs, result.lpars)
    assert found.unfinished == 0
    assert 0 < found.cpu_s < found.real_s
    assert 0 < found.utilisation_percent < 100
    assert result.series
    moved = result.lpars[0].read_bps + result.lpars[0].write_bps
    assert result.series.mean == pytest.approx(moved / 8, rel=1e-9)
    assert result.series.peak >= result.series.mean
    assert result.throughput_bps == pytest.approx(moved, rel=1e-9)
    assert len(result.cpus) == 32
    assert json.loads(result.to_json())["jobs"][0]["node"] == "lpar1"
    assert len(result.to_frame("jobs")) == 22


@pytest.mark.nightly
def test_the_same_seed_gives_the_same_result(result: Result) -> None:
    assert simnet.run(SCENARIO, settings=SHORT).fingerprint == result.fingerprint


def test_a_run_that_is_cut_says_which_jobs_had_not_ended() -> None:
    cut = simnet.run(SCENARIO, settings=SHORT, duration="5 s")
    assert cut.simulated_s == 5
    assert totals(cut.jobs, cut.lpars).unfinished > 0
    assert any(job.real_s is None for job in cut.jobs)
    # of less than 10 s there is one mean
    assert cut.series
    assert cut.series.peak == cut.series.mean > 0


def test_a_small_pagepool_is_felt_and_small_blocks_are() -> None:
    """Without memory nothing is ahead of its reader; with small blocks disks only seek."""
    gpfsperf = {"type": "gpfsperf", "test": "read-seq", "message": "1 MiB", "nodes": "2"}
    sizes = {"gpfsperf.threads": "16", "gpfsperf.file": "64 MiB"}
    times = {}
    for block in ("1M", "16M"):
        run = simnet.run(SCENARIO, settings={**gpfsperf, **sizes, "mmcrfs -B": block})
        times[block] = run.simulated_s
        assert sum(job.read_bytes for job in run.jobs) == 32 * 64 << 20
    assert times["1M"] > 1.3 * times["16M"]


def test_the_roofline_holds() -> None:
    """No client gets more than its port carries."""
    settings = {"type": "gpfsperf", "test": "read-seq", "message": "1 MiB"}
    run = simnet.run(SCENARIO, settings={**settings, "gpfsperf.file": "64 MiB"})
    assert run.throughput_bps / 8 < 4.95e9


def test_a_what_if_of_jobs_tells_their_real_time() -> None:
    """In the table and in the picture; without memory for prefetch jobs end later."""
    found = simnet.whatif(
        SCENARIO, ["mmchconfig pagepool=256M"], settings=SHORT, seeds=2, members=0
    )
    row = next(line for line in whatif(found).splitlines() if line.startswith("real time of all"))
    before, after = (float(text) for text in row.split()[6:8])
    assert after > before
    labels = [label.get_text() for label in found.plot().axes[0].get_yticklabels()]
    assert "real time of all jobs, less is better" in labels


@pytest.mark.parametrize("seed", [1, 3])
def test_jobs_end_with_the_least_memory(seed: int) -> None:
    """Sixteen blocks for twenty jobs: prefetch must not keep the writers waiting for ever."""
    run = simnet.run(SCENARIO, settings={**SHORT, "mmchconfig pagepool": "256M"}, seed=seed)
    assert all(job.real_s is not None for job in run.jobs)


def test_disks_of_the_servers_are_models_whose_values_can_be_set(result: Result) -> None:
    slow = {"disk.outer_rate": "60 MB/s", "disk.inner_rate": "60 MB/s"}
    changed = load(SCENARIO, settings=SHORT | slow)
    assert changed.disk is not None
    assert changed.disk.outer_rate_bps == 60 * 8 * 10**6
    assert changed.models["disk"] == "sas-7k2-2tb"
    assert changed.digest() != load(SCENARIO, settings=SHORT).digest()
    assert simnet.run(SCENARIO, settings=SHORT | slow).simulated_s > result.simulated_s
    with pytest.raises(InputError, match=r"did you mean disk\.outer_rate"):
        load(SCENARIO, settings={"disk.outer_rat": "60 MB/s"})
