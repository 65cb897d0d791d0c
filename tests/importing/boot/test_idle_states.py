"""The deeper idle state of imported hosts: by the kernel's table, unless TuneD forbids it."""

from pathlib import Path
from typing import Final

import pytest

import simnet
from simnet.importing.import_host import import_host
from simnet.scenario.core.load import load
from simnet.study.work.vary import ranged

_CPUS: Final = "Architecture: x86_64\nCPU(s): 4\nVendor ID: GenuineIntel\nModel name: {}\n"
GOLD: Final = "Intel(R) Xeon(R) Gold 6230 CPU @ 2.10GHz"


def made(folder: Path, model: str, profile: str = "", more: str = "") -> Path:
    """The scenario of a host with this processor and TuneD's profile."""
    (folder / "in").mkdir()
    (folder / "in" / "lscpu.txt").write_text(_CPUS.format(model) + more, "utf-8")
    if profile:
        said = f"Current active profile: {profile}\n"
        (folder / "in" / "tuned.txt").write_text(said, "utf-8")
    import_host(folder / "in", workload="rr").write(folder / "out")
    return folder / "out" / "scenario.toml"


@pytest.mark.parametrize(
    ("model", "leaves_us", "stays_us"),
    [
        ("Intel(R) Xeon(R) CPU E5-2680 0 @ 2.70GHz", 104, 345),
        ("Intel(R) Xeon(R) CPU E5-2670 v2 @ 2.50GHz", 82, 300),
        ("Intel(R) Xeon(R) CPU E5-2680 v3 @ 2.50GHz", 133, 400),
        ("Intel(R) Xeon(R) CPU E7-8890 v4 @ 2.20GHz", 133, 400),
        (GOLD, 133, 600),
        # that of its own model
        ("Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz", 170, 600),
        ("Intel(R) Core(TM) i5-8400 CPU @ 2.80GHz", 0, 0),
    ],
)
def test_the_kernel_s_table_has_it(
    model: str, leaves_us: int, stays_us: int, tmp_path: Path
) -> None:
    cpu = load(made(tmp_path, model)).host.cpu
    assert cpu.deep_idle_exit_ps == leaves_us * 10**6
    assert cpu.deep_idle_residency_ps == stays_us * 10**6


def test_how_soon_it_is_left_is_drawn(tmp_path: Path) -> None:
    drawn = {one.name: (one.low, one.high) for one in ranged(load(made(tmp_path, GOLD)))}
    assert drawn["cpu.toml.deep_idle_exit_ps"] == (33 * 10**6, 133 * 10**6)


@pytest.mark.parametrize(("profile", "deep"), [("network-latency", False), ("balanced", True)])
def test_tuned_may_forbid_it(profile: str, *, deep: bool, tmp_path: Path) -> None:
    cpu = load(made(tmp_path, GOLD, profile)).host.cpu
    assert (cpu.deep_idle_exit_ps > 0) == deep


@pytest.mark.parametrize(
    ("option", "states"), [("=1 mitigations=off", "1"), ("=0", "9"), ("", "9")]
)
def test_the_command_line_may_forbid_it(option: str, states: str, tmp_path: Path) -> None:
    line = f"$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz ro intel_idle.max_cstate{option}\n"
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "paste.txt").write_text(f"$ lscpu\n{_CPUS.format(GOLD)}{line}", "utf-8")
    found = import_host(tmp_path / "in", workload="rr")
    found.write(tmp_path / "out")
    kernel = load(tmp_path / "out" / "scenario.toml").host.kernel
    assert kernel.model_dump()["intel_max_cstate"] == states
    assert any(one.name == "intel_idle.max_cstate" for one in found.host.told) == bool(option)


def test_a_guest_has_none(tmp_path: Path) -> None:
    scenario = made(tmp_path, GOLD, more="Hypervisor vendor: VMware\n")
    assert load(scenario).host.cpu.deep_idle_exit_ps == 0


def test_rare_requests_wait_for_it(tmp_path: Path) -> None:
    scenario = made(tmp_path, GOLD)
    found = []
    for settings in ({}, {"cpu.deep_idle_exit": "0 us"}):
        rare = {"think": "3 ms", **settings}
        run = simnet.run(scenario, settings=rare, warm_up="60 ms", duration="60 ms")
        assert run.latency_us is not None
        assert run.latency_us.p50 is not None
        found.append(run.latency_us.p50)
    assert found[0] > found[1] + 100
