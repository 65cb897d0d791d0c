"""What is gained by lifting each sort of part."""

from __future__ import annotations

import pytest

from simnet.scenario.load import load
from simnet.study.explain import Explanation, explain
from simnet.study.lift import lifts
from tests.study.test_explain import STREAMS

SLOW = {**STREAMS, "cpu.clock": "1 GHz"}


@pytest.fixture(scope="module")
def slow_cpus() -> Explanation:
    return explain("x460-out-of-box", settings=SLOW, duration="8 ms", warmup="10 ms", lift=True)


def test_the_part_that_is_full_gains_and_no_other(slow_cpus: Explanation) -> None:
    assert slow_cpus.limits[0].first == "cpu0"
    gains = {one.part: one.gain for one in slow_cpus.lifted}
    assert slow_cpus.lifted[0].part == "CPUs of the system"
    assert 0.1 < gains.pop("CPUs of the system") < 0.3
    assert max(gains.values()) < 0.06
    assert set(gains) == {"network", "network latency", "CPUs of the peers", "TCP's buffers"}


def test_what_is_lifted_is_told_as_a_table(slow_cpus: Explanation) -> None:
    frame = slow_cpus.to_frame("lifted")
    assert frame["part"].iloc[0] == "CPUs of the system"
    assert frame["p99_us"].isna().all()


@pytest.mark.parametrize(
    ("scenario", "parts"),
    [
        ("ipoib-sunway", {"network", "network latency", "TCP's buffers"}),
        ("relay-tuned", {"network", "network latency", "TCP's buffers"}),
        ("vscsi-parallel", {"disks"}),
    ],
)
def test_each_scenario_has_parts_of_its_own(scenario: str, parts: set[str]) -> None:
    effective = load(scenario)
    found = {part: changed for part, _, changed in lifts(effective)}
    assert set(found) == {"CPUs of the system", "CPUs of the peers", *parts}
    assert len({changed.digest() for changed in found.values()}) == len(found)
    assert found["CPUs of the system"].cpu.clock_hz == effective.cpu.clock_hz * 5 // 4


def test_a_file_system_has_its_network_and_its_pagepool() -> None:
    effective = load("ess-sas")
    found = {part: changed for part, _, changed in lifts(effective)}
    assert set(found) == {"network", "network latency", "pagepool"}
    storage, scale = found["network"].storage, found["pagepool"].scale
    assert storage is not None
    assert scale is not None
    assert storage.link_rate_bps == found["network"].lan.link_rate_bps == 50 * 10**9
    assert scale.pagepool_bytes == 64 << 30


def test_a_faster_disk_turns_faster_and_seeks_sooner() -> None:
    effective = load("vscsi-parallel")
    changed = next(one for part, _, one in lifts(effective) if part == "disks")
    before, after = (one.peers[0].disks[0].disk for one in (effective, changed))
    assert before is not None
    assert after is not None
    assert after.rpm == before.rpm * 5 // 4
    assert after.seek_average_ps == before.seek_average_ps * 4 // 5
