"""What a tuning is judged by: the numbers that count for a kind of load, or a goal of one's own.

A workload declares what kind of load it is (`Setup.load`); `_LOADS` says what that is judged by.
The delay of a bulk stream's packets is that of a queue nobody waits for, so none of its latencies
count. A closed loop of requests is fast when each answer is: rate, p99 and p50 are weighed
together, and a percent of the rate is worth three of p99, as one of p99 is worth two of p50. A
load that is offered whether or not it is answered has a rate of its own: where that is carried, p99
counts, then CPU time. Media is not sent again: first counts what is lost, then how old it is.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from simnet.scenario.core.files import LOADS
from simnet.study.run.arguments import check_one_of
from simnet.study.run.measures import (
    CPU_PER_BYTE,
    LOSS,
    MEDIAN,
    METRICS,
    RATE,
    REAL_TIME,
    TAIL,
)

GOALS: Final = {one.goal: one.metric for one in METRICS.values() if one.goal}
"""Metrics that can be asked for, by the name that ``--goal`` has for them."""


@dataclass(frozen=True)
class Criterion:
    """A number that counts."""

    metric: str  # its name
    # how many percent of a criterion of weight 1 are worth one of it; of logarithms
    weight: float = 1.0
    # by how many percent it may get worse where something else gains more
    tolerated: float = math.inf

    @property
    def better(self) -> int:
        """1 where more of it is better, else -1."""
        return 1 if METRICS[self.metric].largest else -1


@dataclass(frozen=True)
class Aim:
    """What decides, and what must not get much worse."""

    load: str  # the kind of load
    # criteria of a stage are weighed together; a stage counts where those before it do not
    # decide
    stages: tuple[tuple[Criterion, ...], ...]
    # what decides nothing but must not get worse by more than it tolerates
    kept: tuple[Criterion, ...] = ()
    goal: str = ""  # as it was asked for; empty where it follows from the load

    @property
    def criteria(self) -> tuple[Criterion, ...]:
        """All that decide, in their order."""
        return tuple(one for stage in self.stages for one in stage)

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of all that count."""
        return tuple(one.metric for one in (*self.criteria, *self.kept))

    def without_limit(self, metric: str) -> Aim:
        """The same where a metric may get worse by any amount."""

        def loose(criteria: Sequence[Criterion]) -> tuple[Criterion, ...]:
            return tuple(
                replace(one, tolerated=math.inf) if one.metric == metric else one
                for one in criteria
            )

        return replace(self, stages=tuple(map(loose, self.stages)), kept=loose(self.kept))

    def said(self, latency_kind: str) -> str:
        """What decides, as a person says it: ``throughput and round trip p99, then CPU time``."""
        stages = [
            " and ".join(said(one.metric, latency_kind) for one in stage) for stage in self.stages
        ]
        return ", then ".join(stages)


def said(metric: str, latency_kind: str = "") -> str:
    """What a metric is called, of what its latencies are."""
    return METRICS[metric].said.format(latency=latency_kind or "latency")


_REQUESTS: Final = (
    Criterion(RATE, weight=3.0, tolerated=5.0),
    Criterion(TAIL, tolerated=100.0),
    Criterion(MEDIAN, weight=0.5),
)
_CPU: Final = (Criterion(CPU_PER_BYTE),)
_LOADS: Final = {
    "bulk": Aim("bulk", ((Criterion(RATE, tolerated=0.0),), _CPU)),
    "requests": Aim("requests", (_REQUESTS, _CPU)),
    "offered": Aim(
        "offered",
        ((Criterion(RATE, tolerated=1.0),), (Criterion(TAIL, tolerated=100.0),), _CPU),
    ),
    "media": Aim(
        "media",
        ((Criterion(LOSS, tolerated=0.0),), (Criterion(TAIL, tolerated=100.0),), _CPU),
    ),
    "jobs": Aim("jobs", ((Criterion(REAL_TIME, tolerated=0.0),),)),
}


def load_of(test: str) -> str:
    """The kind of load that a test of a workload declares to be."""
    return LOADS[test]


def aim_of(load: str, goal: str = "") -> Aim:
    """What counts for a load, or what a goal wants of it.

    A goal decides alone. What else counts for the load may get worse by what it tolerates.

    Raises:
        InputError: there is no such goal.
    """
    usual = _LOADS[load]
    if not goal:
        return usual
    check_one_of(goal, GOALS, "--goal")
    metric = GOALS[goal]
    kept = tuple(_others(usual, metric))
    return replace(usual, stages=((Criterion(metric, tolerated=0.0),),), kept=kept, goal=goal)


def _others(usual: Aim, metric: str) -> Iterator[Criterion]:
    for one in usual.criteria:
        if one.metric != metric and math.isfinite(one.tolerated):
            yield one
