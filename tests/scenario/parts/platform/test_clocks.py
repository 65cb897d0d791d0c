"""Clocks that may not rise above the nominal one, and TuneD's profiles."""

from pathlib import Path

import pytest

import simnet
from simnet.errors import InputError
from simnet.importing.import_host import import_host
from simnet.scenario.core.load import load
from simnet.study.whatif.tuning import read_tuning

NO_TURBO = "/sys/devices/system/cpu/intel_pstate/no_turbo"
BOOST = "/sys/devices/system/cpu/cpufreq/boost"
MHZ = 10**6
# its clock is assumed to be 2.6 GHz, its data sheet says 2.0 GHz; 3.3 and 2.0 GHz; 3.4 GHz both
INTEL, AMD, NOMINAL = "web-25g", "memcached-100g", "stream-100g"


@pytest.mark.parametrize(
    ("scenario", "settings", "mhz"),
    [
        (INTEL, {}, 2600),
        (INTEL, {NO_TURBO: "0"}, 2600),
        (INTEL, {NO_TURBO: "1"}, 2000),
        (INTEL, {BOOST: "0"}, 2600),
        (AMD, {BOOST: "1"}, 3300),
        (AMD, {BOOST: "0"}, 2000),
        (AMD, {NO_TURBO: "1"}, 3300),
        (NOMINAL, {NO_TURBO: "1"}, 3400),
        # somebody has measured it
        (INTEL, {NO_TURBO: "1", "cpu.clock": "1800 MHz"}, 1800),
        (INTEL, {NO_TURBO: "1", "cpu.clock": "2.4 GHz"}, 2400),
    ],
)
def test_without_turbo_a_clock_is_the_nominal_one(
    scenario: str, settings: dict[str, str], mhz: int
) -> None:
    assert load(scenario, settings=settings).host.cpu.clock_hz == mhz * MHZ


def test_the_peer_s_clock_is_its_own() -> None:
    effective = load(INTEL, settings={f"peer:{NO_TURBO}": "1"})
    assert (effective.host.cpu.clock_hz, effective.peers[0].cpu.clock_hz) == (
        2600 * MHZ,
        2000 * MHZ,
    )


def test_a_clock_that_no_data_sheet_says_is_refused() -> None:
    with pytest.raises(InputError, match=r"the nominal clock of .* is not known"):
        load("netperf-rr", settings={NO_TURBO: "1"})
    settings = {NO_TURBO: "1", "cpu.base_clock": "2.4 GHz"}
    assert load("netperf-rr", settings=settings).host.cpu.clock_hz == 2400 * MHZ


def test_a_knob_of_another_maker_says_that_it_has_no_effect() -> None:
    remarks = load(INTEL, settings={BOOST: "0"}).remarks
    assert any("no processor of this maker" in line for line in remarks)


def test_work_takes_as_much_longer_as_the_clock_is_slower() -> None:
    few = {"connections": "8"}
    before, after = (
        simnet.run(INTEL, settings=few | {NO_TURBO: bit}, duration="10 ms", warm_up="5 ms")
        for bit in "01"
    )
    assert not any(NO_TURBO in line for line in after.remarks)
    spent = [
        sum(100 - cpu.idle for cpu in one.cpus) / one.throughput_bps for one in (before, after)
    ]
    # lines that come from elsewhere do not come later
    assert 1.1 < spent[1] / spent[0] < 2600 / 2000 + 0.02


def test_a_governor_is_known_and_not_simulated() -> None:
    (line, *_) = load(INTEL, settings={"cpupower frequency-set -g": "performance"}).remarks
    assert "accepted, but not modelled" in line
    with pytest.raises(InputError, match="expected one of performance"):
        load(INTEL, settings={"cpupower frequency-set -g": "fast"})


@pytest.mark.parametrize(
    ("profile", "changed"),
    [
        ("latency-performance", {"idle_limit_ps"}),
        ("network-latency", {"idle_limit_ps", "busy_read_usecs", "busy_poll_usecs"}),
        ("network-throughput", {"tcp_rmem_bytes", "tcp_wmem_bytes"}),
    ],
)
def test_a_profile_of_tuned_sets_what_it_sets(profile: str, changed: set[str]) -> None:
    for typed in (f"tuned-{profile}", f"tuned-adm profile {profile}"):
        names = read_tuning(INTEL, typed).names
        before, after = (load(INTEL, tunings=[*chosen]).host.kernel for chosen in ((), names))
        fields = type(before).model_fields
        assert {n for n in fields if getattr(before, n) != getattr(after, n)} == changed


def test_a_profile_that_sets_nothing_of_a_host_is_not_offered() -> None:
    # none of its CPUs has a state deeper than C1; and a kernel before TuneD
    with pytest.raises(InputError, match="tuned-network-latency"):
        load("router-connectx5", tunings=["tuned-latency-performance"])
    with pytest.raises(InputError, match="unknown tuning"):
        load("x460-out-of-box", tunings=["tuned-network-latency"])


@pytest.mark.parametrize(
    ("name", "base_mhz", "mhz"), [("Gold 6230 CPU @ 2.10GHz", 2100, 2100), ("Gold 6230", 0, 3400)]
)
def test_an_import_takes_the_nominal_clock_from_the_name(
    name: str, base_mhz: int, mhz: int, tmp_path: Path
) -> None:
    (tmp_path / "in" / "sys/devices/system/cpu/intel_pstate").mkdir(parents=True)
    lscpu = f"CPU(s): 4\nVendor ID: GenuineIntel\nModel name: Intel(R) Xeon(R) {name}\n"
    (tmp_path / "in" / "lscpu.txt").write_text(lscpu, "utf-8")
    (tmp_path / "in" / NO_TURBO[1:]).write_text("1\n", "utf-8")
    import_host(tmp_path / "in", workload="rr").write(tmp_path / "out")
    host = load(tmp_path / "out" / "scenario.toml").host
    assert (host.cpu.base_clock_hz, host.cpu.clock_hz) == (base_mhz * MHZ, mhz * MHZ)
    # where nobody knows the nominal clock the report says that it is not used
    assert host.kernel.no_turbo == ("1" if base_mhz else "0")
