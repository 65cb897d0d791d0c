"""The table of connections, and what finds no room in it."""

from typing import Any

from simnet.kernel.random import stream
from simnet.net.forward.conntrack import Conntrack
from simnet.net.forward.contended_line import ContendedLine
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build

FOUND, MADE, TABLE_FULL = 0, 1, 2


def host() -> Any:
    return build(load("router-connectx5"), seed=1).machine


def table(machine: Any, *, flows: int, most: int, buckets: int) -> Conntrack:
    return Conntrack(
        flows,
        most=most,
        buckets=buckets,
        line=ContendedLine(machine.memory),
        make_ps=0,
        find_ps=0,
        luck=stream(1, "test"),
    )


def test_only_a_confirmed_connection_is_found() -> None:
    machine = host()
    cpu = machine.cpus[0]
    made = table(machine, flows=3, most=10, buckets=16)
    assert made.enter(1, cpu, 0) == MADE
    assert made.enter(1, cpu, 0) == MADE
    assert made.count == 2
    made.free(cpu, 0)
    assert made.confirm(1)
    assert made.enter(1, cpu, 0) == FOUND
    assert made.count == made.chains[made_bucket(made)].count(1) == 1


def made_bucket(made: Conntrack) -> int:
    (bucket,) = made.chains
    return int(bucket)


def test_the_second_of_two_at_once_is_no_connection_more() -> None:
    machine = host()
    cpu = machine.cpus[0]
    made = table(machine, flows=1, most=10, buckets=16)
    assert [made.enter(0, cpu, 0), made.enter(0, cpu, 0)] == [MADE, MADE]
    assert made.confirm(0)
    assert not made.confirm(0)
    assert made.count == 1


def test_a_full_table_makes_room_in_the_first_of_eight_buckets() -> None:
    machine = host()
    cpu = machine.cpus[0]
    made = table(machine, flows=50, most=20, buckets=1)
    for flow in range(20):
        assert made.enter(flow, cpu, 0) == MADE
        assert made.confirm(flow)
    # one bucket has them all, and all of it goes
    assert made.enter(20, cpu, 0) == MADE
    assert made.early_drops == 20
    assert made.count == 1
    assert made.enter(3, cpu, 0) == MADE


def test_a_connection_that_was_answered_makes_no_room_from_its_next_packet_on() -> None:
    machine = host()
    cpu = machine.cpus[0]
    made = table(machine, flows=9, most=3, buckets=1)
    for flow in range(3):
        assert made.enter(flow, cpu, 0) == MADE
        assert made.confirm(flow)
    for flow in (0, 1):
        assert made.enter(flow, cpu, 0) == FOUND
        made.answered(flow)
    # of the first another packet follows its answer
    assert made.enter(0, cpu, 0) == FOUND
    assert made.enter(3, cpu, 0) == MADE
    assert made.early_drops == 2
    assert made.chains == {0: [0]}
    assert made.enter(0, cpu, 0) == FOUND
    # what comes again begins anew
    assert made.confirm(3)
    assert made.enter(1, cpu, 0) == MADE
    assert made.confirm(1)
    assert made.enter(1, cpu, 0) == FOUND
    assert made.enter(4, cpu, 0) == MADE
    assert made.early_drops == 4


def test_a_flow_table_has_what_was_answered_until_its_entry_goes() -> None:
    machine = host()
    cpu = machine.cpus[0]
    made = table(machine, flows=4, most=2, buckets=1)
    for flow in range(2):
        assert made.enter(flow, cpu, 0) == MADE
        # its first packet is not confirmed yet
        made.offload(flow)
        assert made.confirm(flow)
        made.offload(flow)
        assert not made.offloaded(flow)
    made.answered(1)
    assert not made.offloaded(1)
    made.offload(1)
    assert [bool(made.offloaded(flow)) for flow in range(2)] == [False, True]
    # an answer is not assured, so it makes room with all others; its flow goes with it
    assert made.enter(2, cpu, 0) == MADE
    assert made.early_drops == 2
    assert not made.offloaded(1)
    assert made.enter(1, cpu, 0) == MADE
    assert made.confirm(1)
    assert not made.offloaded(1)


def test_what_is_not_confirmed_makes_no_room() -> None:
    machine = host()
    cpu = machine.cpus[0]
    made = table(machine, flows=9, most=2, buckets=4)
    assert [made.enter(flow, cpu, 0) for flow in range(4)] == [MADE, MADE, TABLE_FULL, TABLE_FULL]
    assert (made.drops, made.early_drops, made.count) == (2, 0, 2)
    made.free(cpu, 0)
    assert made.enter(4, cpu, 0) == MADE


def test_no_limit_is_none() -> None:
    machine = host()
    cpu = machine.cpus[0]
    made = table(machine, flows=500, most=0, buckets=4)
    assert all(made.enter(flow, cpu, 0) == MADE for flow in range(500))


def test_far_buckets_are_not_looked_into() -> None:
    machine = host()
    cpu = machine.cpus[0]
    made = table(machine, flows=400, most=1, buckets=4096)
    assert made.enter(0, cpu, 0) == MADE
    assert made.confirm(0)
    verdicts = [made.enter(flow, cpu, 0) for flow in range(1, 100)]
    # eight of 4096 buckets hold the only entry for few of the others
    assert verdicts.count(TABLE_FULL) > 90
    assert made.drops == verdicts.count(TABLE_FULL)


def test_eight_buckets_are_looked_into() -> None:
    machine = host()
    cpu = machine.cpus[0]
    made = table(machine, flows=60, most=1, buckets=8)
    for flow in range(60):
        assert made.enter(flow, cpu, 0) == MADE
        assert made.confirm(flow)
    assert (made.drops, made.early_drops) == (0, 59)


def test_a_line_travels_to_one_cpu_after_the_other() -> None:
    machine = host()
    first, second, third, fourth = machine.cpus[:4]
    line = ContendedLine(machine.memory)
    assert line.change(first, 0, 0) == 0
    assert line.change(first, 5, 0) == 0
    move = machine.memory.dirty_lines_ps(second, first, 1)
    assert line.change(second, 1000, 0) == move > 0
    # the third asks while it is under way
    assert line.change(third, 1000, 0) == 2 * move
    assert line.waited_ps == move
    assert line.change(fourth, 1000, 0) == 3 * move
    assert line.waited_ps == 3 * move
    assert line.moves == 3
    # later nobody is in the way, but for who holds it
    assert line.change(first, 10**9, 5000) == move
    assert line.change(second, 10**9 + move, 0) == 5000 + move
