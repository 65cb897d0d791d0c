"""What does nothing changes nothing: idle parts, tracing, looking."""

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.scheduler import Task
from simnet.scenario.system.system import Snapshot
from tests.house.examples import examples
from tests.laws.machines import MS, Lab, Plan, StreamPlan
from tests.laws.strategies import plans

EXAMPLES = examples(80)
RUN_PS = 6 * MS


def result(lab: Lab, ports: int) -> tuple[Any, ...]:
    """Return the counters, those of ports beyond the first few left out."""
    shot: Snapshot = lab.run(RUN_PS).system.snapshot()
    return shot.time_ps, shot.cpus, shot.ports[:ports], shot.flows


@settings(max_examples=EXAMPLES)
@given(plans)
def test_idle_port(plan: Plan) -> None:
    more = replace(plan, streams=(*plan.streams, StreamPlan(idle=True)))
    moves = tuple((at, port % len(plan.streams), cpu) for at, port, cpu in plan.moves)
    plan, more = replace(plan, moves=moves), replace(more, moves=moves)
    count = len(plan.streams)
    assert result(Lab(plan), count) == result(Lab(more), count)


@settings(max_examples=EXAMPLES)
@given(plans)
def test_idle_task(plan: Plan) -> None:
    lab = Lab(plan)
    Task(lab.system.machine.scheduler, "idle task", lab.system.machine.cpus[0])
    count = len(plan.streams)
    assert result(lab, count) == result(Lab(plan), count)


class Nothing:
    """A tracer that writes nothing down."""

    def span(self, *_: object) -> None:
        pass

    instant = counter = span


@settings(max_examples=EXAMPLES)
@given(plans)
def test_tracing(plan: Plan) -> None:
    count = len(plan.streams)
    assert result(Lab(plan, tracer=Nothing()), count) == result(Lab(plan), count)


@settings(max_examples=EXAMPLES)
@given(plans, st.sets(st.integers(1, RUN_PS - 1), max_size=5))
def test_looking(plan: Plan, times_ps: set[int]) -> None:
    lab = Lab(plan)
    for time_ps in sorted(times_ps):
        lab.run(time_ps - lab.sim.now).system.snapshot()
    lab.run(RUN_PS - lab.sim.now)
    assert lab.system.snapshot() == Lab(plan).run(RUN_PS).system.snapshot()
