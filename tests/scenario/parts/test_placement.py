"""Processes bound to CPUs with taskset, at either end."""

import pytest

import simnet
from simnet.errors import InputError
from simnet.scenario.commands.commands import commands
from simnet.scenario.core.load import load

SCENARIO = "sw1621-t520"
SHORT = {"warm_up": "2 ms", "duration": "5 ms"}


@pytest.mark.parametrize(
    ("text", "cpus", "canonical"),
    [("3", (3,), "3"), ("0,8-11", (0, 8, 9, 10, 11), "0,8-11"), ("5,4", (4, 5), "4-5")],
)
def test_a_list_has_numbers_and_ranges(text: str, cpus: tuple[int, ...], canonical: str) -> None:
    effective = load(SCENARIO, settings={"taskset --cpu-list": text})
    assert effective.flows[0].cpus == cpus
    assert effective.flows[0].peer_cpus == ()
    assert effective.applied[-1].value == canonical


@pytest.mark.parametrize("end", ["", "peer:"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("16", "CPU 16 is beyond the machine: shenwei-1621-server has CPUs 0 to 15"),
        ("3-1", "3-1 ends before it begins"),
        ("a", "expected a list of CPUs such as '6' or '0,8-11', got 'a'"),
        ("", "expected a list of CPUs such as '6' or '0,8-11', got ''"),
    ],
)
def test_a_bad_list_is_refused(end: str, text: str, message: str) -> None:
    with pytest.raises(InputError) as caught:
        load(SCENARIO, settings={f"{end}taskset --cpu-list": text})
    assert caught.value.message == message


@pytest.mark.parametrize("test", ["netserver", "netperf"])
def test_the_process_stays_where_it_is_bound_and_the_interrupt_where_it_was(test: str) -> None:
    settings = {"test": test, "taskset --cpu-list": "5"}
    result = simnet.run(SCENARIO, settings=settings | SHORT)
    used = {cpu.id: cpu for cpu in result.cpus if cpu.busy > 1}
    assert set(used) == {0, 5}
    assert used[5].user > 0
    assert used[0].user == 0


def test_the_peer_s_process_is_bound_apart() -> None:
    free = simnet.run(SCENARIO, settings={"test": "netserver"} | SHORT)
    bound = simnet.run(
        SCENARIO, settings={"test": "netserver", "peer:taskset --cpu-list": "5"} | SHORT
    )
    assert {cpu.id for cpu in bound.cpus if cpu.busy > 1} == {
        cpu.id for cpu in free.cpus if cpu.busy > 1
    }
    assert bound.fingerprint != free.fingerprint


def test_what_is_typed_says_under_what_to_start_them() -> None:
    base = load(SCENARIO)
    tuned = load(SCENARIO, settings={"taskset --cpu-list": "1-2", "peer:taskset --cpu-list": "3"})
    own, *_ = commands(base, tuned)
    assert own.apply == (
        "# start the processes of eth0 under: taskset --cpu-list 1-2",
        "# on each peer: start the processes under: taskset --cpu-list 3",
    )
    assert own.undo == ("# start the processes of eth0 as they are",)
