"""What a search wants more or less of, and what it must not spoil.

A limit is typed as ``METRIC<=VALUE`` or ``METRIC>=VALUE``. A value with a sign is a change:
``latency_p99<=+50 %``, ``throughput>=-1 %``; of a loss it is in percentage points.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TYPE_CHECKING, Final, TypeAlias

from simnet.errors import InputError
from simnet.scenario.core.units import KINDS, UnitError, parse_quantity
from simnet.spelling import nearest
from simnet.study.run.arguments import time_us_of
from simnet.study.whatif.verdict import CPU_PER_BYTE, METRICS, TAIL, TAIL_PERCENT, THROUGHPUT
from simnet.study.whatif.vetoes import FAIRNESS, FAIRNESS_PERCENT, LOSS, LOSS_POINTS, fairness

if TYPE_CHECKING:
    from simnet.study.run.result import Result

__all__ = ["GOALS", "Goal", "Limit", "Numbers", "limits_of", "numbers"]

Numbers: TypeAlias = Mapping[str, float]
"""Metrics of a run by name; without those that it lacks."""

# what an open-loop load offers, in the unit of throughput
_OFFERED: Final = "offered"
_LIMIT: Final = re.compile(r"\s*(\w+)\s*(<=|>=)\s*([+-]?)\s*(.*\S)\s*")
# quantity and how many base units of it are one of the metric
_QUANTITIES: Final = {
    THROUGHPUT: ("rate", 1),
    "cpu_of_all": ("ratio", 10),
    "cpu_of_one": ("ratio", 10),
    CPU_PER_BYTE: ("time", 1000),
    "latency_p50": ("time", 10**6),
    TAIL: ("time", 10**6),
    "interrupts": ("count", 1),
    LOSS: ("ratio", 10),
    FAIRNESS: ("ratio", 1000),
}
_PERCENT: Final = ("ratio", 10)
# what a metric can be at most
_MOST: Final = {"cpu_of_all": (100, "100 %"), LOSS: (100, "100 %"), FAIRNESS: (1, "1")}


@dataclass(frozen=True)
class Goal:
    """A metric, and whether more of it is better."""

    name: str
    metric: str
    more: bool
    label: str

    def gain(self, before: Numbers, after: Numbers) -> float:
        """By how much a run is better than another, a hundred times the logarithm of the ratio."""
        was, now = before.get(self.metric, 0.0), after.get(self.metric, 0.0)
        if was <= 0 or now <= 0:
            return -math.inf
        return 100 * math.log(now / was) * (1 if self.more else -1)

    def most(self, before: Numbers) -> float:
        """The gain that no change can exceed: no throughput is larger than the offered load."""
        offered = before.get(_OFFERED)
        if self.metric != THROUGHPUT or offered is None:
            return math.inf
        return self.gain(before, {THROUGHPUT: offered})


GOALS: Final = {
    one.name: one
    for one in (
        Goal("throughput", THROUGHPUT, more=True, label="throughput"),
        Goal("p99", TAIL, more=False, label="latency p99"),
        Goal("cpu", CPU_PER_BYTE, more=False, label="CPU time per byte"),
    )
}


@dataclass(frozen=True)
class Limit:
    """How large or small a metric may be, or its change.

    Attributes:
        text: as typed.
        metric: its name.
        least: it is the least that is allowed; else the most.
        value: in the metric's unit; of a change in percent, or percentage points of a loss.
        relative: it is of the change.
    """

    text: str
    metric: str
    least: bool
    value: float
    relative: bool

    def excess(self, before: Sequence[Numbers], after: Sequence[Numbers]) -> float:
        """By how much runs break it, in its own unit; 0 or less where they keep it."""
        pairs = [
            (was[self.metric], now[self.metric])
            for was, now in zip(before, after, strict=True)
            if self.metric in was and self.metric in now
        ]
        if not pairs:
            return 0.0
        if not self.relative:
            found = fmean(now for _, now in pairs)
        elif self.metric == LOSS:
            found = fmean(now - was for was, now in pairs)
        else:
            ratios = [math.log(now / was) for was, now in pairs if was > 0 and now > 0]
            found = 100 * math.expm1(fmean(ratios)) if ratios else 0.0
        return self.value - found if self.least else found - self.value


def limits_of(texts: Sequence[str], goal: Goal, max_p99: str | None) -> tuple[Limit, ...]:
    """The limits that are typed, and the usual ones of the other metrics.

    Raises:
        InputError: a text is no limit.
    """
    usual = [
        Limit("", TAIL, least=False, value=TAIL_PERCENT, relative=True),
        Limit("", LOSS, least=False, value=LOSS_POINTS, relative=True),
        Limit("", FAIRNESS, least=True, value=-FAIRNESS_PERCENT, relative=True),
        Limit("", THROUGHPUT, least=True, value=-1.0, relative=True),
    ]
    given = [_limit(text) for text in texts]
    if max_p99 is not None:
        most_us = time_us_of(max_p99, "--max-p99")
        given.append(Limit(f"{TAIL}<={max_p99}", TAIL, least=False, value=most_us, relative=False))
    own = {one.metric for one in given} | {goal.metric}
    return (*given, *(_named(one) for one in usual if one.metric not in own))


def _named(limit: Limit) -> Limit:
    sign, unit = (">=", "%") if limit.least else ("<=", "points" if limit.metric == LOSS else "%")
    text = f"{limit.metric}{sign}{limit.value:+g} {unit}"
    return Limit(text, limit.metric, limit.least, limit.value, limit.relative)


def _limit(text: str) -> Limit:
    found = _LIMIT.fullmatch(text)
    if found is None:
        example = "such as latency_p99<=2ms or throughput>=-1%"
        raise InputError(f"expected METRIC<=VALUE, {example}", file="--limit", key=text)
    metric, compared, sign, value = found.groups()
    if metric not in _QUANTITIES:
        known = f": expected one of {', '.join(_QUANTITIES)}"
        hint = nearest(metric, _QUANTITIES) or known
        raise InputError(f"unknown metric{hint}", file="--limit", key=metric)
    kind, scale = _PERCENT if sign else _QUANTITIES[metric]
    try:
        number = parse_quantity(value, KINDS[kind]) / scale
    except UnitError as error:
        raise InputError(str(error), file="--limit", key=text) from error
    if not sign and metric in _MOST and number > _MOST[metric][0]:
        message = f"{metric} is at most {_MOST[metric][1]}"
        raise InputError(message, file="--limit", key=text)
    return Limit(
        text, metric, compared == ">=", -number if sign == "-" else number, relative=bool(sign)
    )


def numbers(result: Result) -> Numbers:
    """The metrics of a run; what an open-loop load had in queues before is no throughput."""
    found = {metric.name: metric.of(result) for metric in METRICS}
    found |= {FAIRNESS: fairness(result)}
    found |= {LOSS: None if result.loss is None else 100 * result.loss}
    sent = result.messages
    if sent is not None and sent.delivered:
        offered = result.throughput_bps * sent.offered / sent.delivered
        found |= {_OFFERED: offered, THROUGHPUT: min(result.throughput_bps, offered)}
    return {name: value for name, value in found.items() if value is not None}
