"""Every picosecond that a CPU works is booked under a mechanism, and what is booked gets done."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.ledger import PLACEMENT
from simnet.host.scheduler import Scheduler
from tests.house.examples import examples
from tests.laws.machines import MS, HostPlan, Lab, Plan, StreamPlan
from tests.laws.strategies import plans

EXAMPLES = examples(60)
STREAM_BYTES = 60_000


def alone(plan: Plan) -> Plan:
    """No SMT sibling and no memory that slows a CPU: work takes the time that was asked for."""
    here, there = (replace(host, threads=1, stall_permille=0) for host in (plan.host, plan.peer))
    return replace(plan, host=here, peer=there)


def busy_ps(scheduler: Scheduler) -> int:
    """Time that a machine's CPUs have worked."""
    return sum(scheduler.sim.now - cpu.times()["idle_ps"] for cpu in scheduler.cpus)


def booked_ps(scheduler: Scheduler) -> int:
    """All entries of a machine's ledger."""
    return sum(scheduler.costs.ledger.work().values())


def owed_ps(sockets: Any) -> int:
    """What processes that have left for good would have done before their next call."""
    return sum(socket.writer.debt_ps for socket in sockets if socket.writer is not None)


@settings(max_examples=EXAMPLES)
@given(plans.filter(lambda plan: plan.whole_peer).map(alone))
def test_at_rest_all_that_was_booked_has_been_done(plan: Plan) -> None:
    lab = Lab(plan, stop_after=STREAM_BYTES)
    pairs = list(zip(lab.receivers, lab.senders, strict=True))
    for _ in range(400):
        lab.run(500 * MS)
        if all(end.delivered == sender.seq.write_seq >= STREAM_BYTES for end, sender in pairs):
            break
    lab.run(1000 * MS)
    here = [socket for wire in lab.wires for socket in wire.ends]
    for sockets in (here, *(wire.far for wire in lab.wires)):
        scheduler = (sockets[0].reader or sockets[0].writer).scheduler
        assert booked_ps(scheduler) == busy_ps(scheduler) + owed_ps(sockets)


@settings(max_examples=EXAMPLES)
@given(plans.map(alone), st.lists(st.integers(1, 8 * MS), min_size=1, max_size=3))
def test_work_is_booked_before_it_is_done(plan: Plan, gaps_ps: list[int]) -> None:
    lab = Lab(plan)
    for gap_ps in gaps_ps:
        lab.run(gap_ps)
        scheduler = lab.system.machine.scheduler
        assert booked_ps(scheduler) >= busy_ps(scheduler)


@settings(max_examples=EXAMPLES)
@given(plans, st.lists(st.integers(1, 8 * MS), min_size=1, max_size=3))
def test_without_luck_no_mechanism_ever_gives_work_back(plan: Plan, gaps_ps: list[int]) -> None:
    lab = Lab(replace(plan, host=replace(plan.host, spread_permille=0)))
    before = lab.system.machine.costs.ledger.work()
    assert not any(before.values())
    for gap_ps in gaps_ps:
        after = lab.run(gap_ps).system.machine.costs.ledger.work()
        assert all(after[name] >= before[name] for name in after)
        before = after


@settings(max_examples=EXAMPLES // 3)
@given(plans)
def test_a_machine_of_one_cpu_pays_for_no_placement(plan: Plan) -> None:
    single = replace(plan.host, nodes=1, sockets=1, cores=1, threads=1)
    booked = Lab(replace(plan, host=single)).run(8 * MS).system.machine.costs.ledger.work()
    assert {booked[name] for name in PLACEMENT} == {0}


def test_a_machine_of_two_nodes_pays_for_all_of_it() -> None:
    far = StreamPlan(node=0, irq_cpu=2, both=True)
    lab = Lab(Plan(host=HostPlan(nodes=2, spread_permille=300), streams=(far, far))).run(20 * MS)
    booked = lab.system.machine.costs.ledger.work()
    # its devices compute the checksums
    assert [name for name, work in booked.items() if not work] == ["checksum"]
