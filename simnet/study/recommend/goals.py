"""What a search wants more or less of, and what it must not spoil.

A limit is typed as ``METRIC<=VALUE`` or ``METRIC>=VALUE``. A value with a sign is a change:
``latency_p99<=+50 %``, ``throughput>=-1 %``; of a loss it is in percentage points.
"""

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Final, TypeAlias

from simnet.errors import InputError
from simnet.scenario.core.units import KINDS, UnitError, parse_quantity
from simnet.spelling import nearest_or_all
from simnet.study.run.arguments import time_us_of
from simnet.study.run.measures import FAIRNESS, LOSS, METRICS, RATE, SCREENED, TAIL
from simnet.study.run.result import Result
from simnet.study.whatif.aim import GOALS as METRIC_OF_GOAL
from simnet.study.whatif.aim import Criterion, aim_of
from simnet.study.whatif.verdict import MARGIN_PERCENT
from simnet.study.whatif.vetoes import FAIRNESS_PERCENT, LOSS_POINTS

Numbers: TypeAlias = Mapping[str, float]
"""Metrics of a run by name; without those that it lacks."""

# what an open-loop load offers, in the unit of throughput
_OFFERED: Final = "offered"
_LIMIT: Final = re.compile(r"\s*(\w+)\s*(<=|>=)\s*([+-]?)\s*(.*\S)\s*")
# quantity of a unit, and how many base units of that are one
_QUANTITIES: Final = {
    "bit/s": ("rate", 1),
    "1/s": ("count", 1),
    "ns": ("time", 1000),
    "us": ("time", 10**6),
    "s": ("time", 10**12),
    "%": ("ratio", 10),
    "1": ("ratio", 1000),
}
_PERCENT: Final = _QUANTITIES["%"]


@dataclass(frozen=True)
class Goal:
    """A metric to be made better."""

    name: str
    metric: str

    @property
    def more(self) -> bool:
        """Whether more of it is better."""
        return METRICS[self.metric].largest

    def label(self, latency_kind: str = "") -> str:
        """What it is, called after what latencies are."""
        return METRICS[self.metric].said.format(latency=latency_kind or "latency")

    def gain(self, before: Numbers, after: Numbers) -> float:
        """By how much a run is better than another, a hundred times the logarithm of the ratio."""
        was, now = before.get(self.metric, 0.0), after.get(self.metric, 0.0)
        if was <= 0 or now <= 0:
            return -math.inf
        return 100 * math.log(now / was) * (1 if self.more else -1)

    def most(self, before: Numbers) -> float:
        """The gain that no change can exceed: no throughput is larger than the offered load."""
        offered = before.get(_OFFERED)
        if self.metric != RATE or offered is None:
            return math.inf
        return self.gain(before, {RATE: offered})


GOALS: Final = {n: Goal(n, metric) for n, metric in METRIC_OF_GOAL.items() if metric in SCREENED}


def goals_of(load: str) -> list[Goal]:
    """What is wanted of a load where nothing is said: the next where the first has all it can."""
    wanted = [one.metric for one in aim_of(load).criteria]
    found = [one for metric in wanted for one in GOALS.values() if one.metric == metric]
    return found or [GOALS["throughput"]]


@dataclass(frozen=True)
class Limit:
    """How large or small a metric may be, or its change."""

    text: str  # as typed
    metric: str  # its name
    least: bool  # it is the least that is allowed; else the most
    value: float  # in the metric's unit; of a change in percent, or percentage points of a loss
    relative: bool  # it is of the change

    def broken(self, before: Sequence[Numbers], after: Sequence[Numbers]) -> str:
        """That it is broken and by how much: ``throughput>=-1 % (it is -7.4)``."""
        over = self.excess(before, after)
        found = self.value - over if self.least else self.value + over
        return f"{self.text} (it is {found:{'+' if self.relative else ''}.3g})"

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


def limits_of(
    texts: Sequence[str], goal: Goal, max_p99: str | None, load: str
) -> tuple[Limit, ...]:
    """The limits that are typed, and the usual ones of what else counts for a kind of load.

    Raises:
        InputError: a text is no limit.
    """
    usual = [
        *(_usual(one) for one in aim_of(load).criteria if math.isfinite(one.tolerated)),
        Limit("", LOSS, least=False, value=LOSS_POINTS, relative=True),
        Limit("", FAIRNESS, least=True, value=-FAIRNESS_PERCENT, relative=True),
    ]
    given = [_limit(text) for text in texts]
    if max_p99 is not None:
        most_us = time_us_of(max_p99, "--max-p99")
        given.append(Limit(f"{TAIL}<={max_p99}", TAIL, least=False, value=most_us, relative=False))
    own = {one.metric for one in given} | {goal.metric}
    # what counts for the load may be one of those that are always kept
    once = {one.metric: one for one in reversed(usual) if one.metric not in own}
    return (*given, *map(_named, reversed(once.values())))


def _usual(one: Criterion) -> Limit:
    """What is tolerated of what counts, but no less than what is worth talking of."""
    most, least = max(one.tolerated, MARGIN_PERCENT), one.better > 0
    return Limit("", one.metric, least=least, value=-most if least else most, relative=True)


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
    if metric not in METRICS:
        hint = nearest_or_all(metric, METRICS)
        raise InputError(f"unknown metric{hint}", file="--limit", key=metric)
    limited = METRICS[metric]
    kind, scale = _PERCENT if sign else _QUANTITIES[limited.unit.partition(" ")[0]]
    try:
        number = parse_quantity(value, KINDS[kind]) / scale
    except UnitError as error:
        raise InputError(str(error), file="--limit", key=text) from error
    if not sign and limited.most and number > limited.most[0]:
        message = f"{metric} is at most {limited.most[1]}"
        raise InputError(message, file="--limit", key=text)
    return Limit(
        text, metric, compared == ">=", -number if sign == "-" else number, relative=bool(sign)
    )


def numbers(result: Result) -> Numbers:
    """The metrics of a run; what an open-loop load had in queues before is no throughput."""
    found = {name: metric.of(result) for name, metric in METRICS.items()}
    sent = result.messages
    if sent is not None and sent.delivered:
        offered = result.throughput_bps * sent.offered / sent.delivered
        found |= {_OFFERED: offered, RATE: min(result.throughput_bps, offered)}
    return {name: value for name, value in found.items() if value is not None}
