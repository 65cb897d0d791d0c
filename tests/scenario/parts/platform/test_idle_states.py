"""Limits of idle states: what an administrator says, and which states CPUs then have."""

from typing import Any

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

US = 10**6
# C1 is left in 1 us, C6 in 170 us; the driver is intel_idle
INTEL = "web-25g"
# 900 ns, which a driver says as 1 us, and 400 us; acpi_idle
AMD = "memcached-100g"
LIMIT = "cpupower idle-set -D"
FEW = {"web-25g": {"connections": "8"}, "memcached-100g": {}}


def _states(scenario: str, settings: dict[str, str]) -> list[tuple[int, int]]:
    """Exit times of a host's CPUs, without repeats; nothing where they have none to leave."""
    system = build(load(scenario, settings=FEW[scenario] | settings), seed=1)
    states: list[Any] = [cpu.idle_states for cpu in system.machine.cpus]
    return sorted({(one.shallow_exit_ps, one.deep_exit_ps) for one in states if one})


@pytest.mark.parametrize(
    ("scenario", "settings", "states"),
    [
        (INTEL, {}, [(1 * US, 170 * US)]),
        (INTEL, {LIMIT: "171"}, [(1 * US, 170 * US)]),
        (INTEL, {LIMIT: "170"}, [(1 * US, 0)]),
        (INTEL, {LIMIT: "2"}, [(1 * US, 0)]),
        (INTEL, {LIMIT: "1"}, []),
        (INTEL, {LIMIT: "0"}, []),
        (INTEL, {"intel_idle.max_cstate": "1"}, [(1 * US, 0)]),
        (INTEL, {"processor.max_cstate": "1"}, [(1 * US, 170 * US)]),
        (INTEL, {"idle": "poll"}, []),
        (INTEL, {"idle": "halt"}, [(1 * US, 0)]),
        (AMD, {"idle": "poll"}, []),
        (AMD, {"processor.max_cstate": "1"}, [(900_000, 0)]),
        (AMD, {"intel_idle.max_cstate": "1"}, [(900_000, 400 * US)]),
        (AMD, {LIMIT: "2"}, [(900_000, 0)]),
        (AMD, {LIMIT: "1"}, []),
    ],
)
def test_states_that_take_as_long_to_leave_are_not_used(
    scenario: str, settings: dict[str, str], states: list[tuple[int, int]]
) -> None:
    assert _states(scenario, settings) == states


def test_a_limit_of_one_host_is_not_that_of_its_peer() -> None:
    system = load(INTEL, settings={LIMIT: "1"})
    assert system.host.kernel.idle_limit_ps == US
    assert system.peers[0].kernel.idle_limit_ps == 10**13
    assert load(INTEL, settings={f"peer:{LIMIT}": "1"}).host.kernel.idle_limit_ps == 10**13


def test_a_driver_of_another_maker_says_that_it_has_no_effect() -> None:
    remarks = load(INTEL, settings={"processor.max_cstate": "1"}).remarks
    assert any("intel_idle, not processor, has the idle states" in line for line in remarks)


def test_what_is_not_known_is_not_limited() -> None:
    with pytest.raises(InputError, match=r"the idle states of .* are not known"):
        load("router-connectx5", settings={LIMIT: "1", "cpu.idle_exit": "0 us"})
    with pytest.raises(InputError, match=r"not in Linux 2\.6\.16: it came with Linux 3\.13"):
        load("x460-out-of-box", settings={LIMIT: "1"})


def _wait_us(limit: dict[str, str], quantile: str) -> float:
    rare = {"connections": "2", "think": "2 ms", "service": "1 us"}
    found = simnet.run(INTEL, settings=rare | limit, duration="60 ms", warm_up="30 ms")
    return float(getattr(found.latency_us, quantile))


def test_rare_requests_are_answered_sooner_by_a_cpu_that_does_not_sleep() -> None:
    # the request that finds the CPU asleep waits for it to wake up, 170 us, and not for 1 us
    saved = _wait_us({}, "p99") - _wait_us({LIMIT: "2"}, "p99")
    assert 160 < saved < 200
    peer = f"peer:{LIMIT}"
    halts, polls = ({LIMIT: limit, peer: limit} for limit in ("2", "1"))
    # one interrupt at each end
    assert 1 <= _wait_us(halts, "p50") - _wait_us(polls, "p50") <= 3


def test_a_host_that_sleeps_deeply_has_a_tuning_ready_against_that() -> None:
    assert _states(INTEL, {LIMIT: "2"}) == [(1 * US, 0)]
    tuned = load(INTEL, settings=FEW[INTEL], tunings=["no-deep-idle"])
    assert tuned.host.kernel.idle_limit_ps == 2 * US
    with pytest.raises(InputError, match="unknown tuning"):
        load("router-connectx5", tunings=["no-deep-idle"])
