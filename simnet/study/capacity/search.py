"""The largest load that meets limits: bracketing, bisection, and a look at what was passed over.

1. From a first load by factors of about two, up while loads pass, down while none does, until the
   largest that passes lies beside one that fails.
2. Bisection (near geometric means) until the two are as close as was asked for. Where a load
   between them stays undecided, the gaps on both sides of it are narrowed; the interval is then
   wider, and says so.
3. A check that loads below pass and loads above fail, at quarters. Bisection alone would never
   notice if they did not: a moderated interrupt can make a low load slower than a higher one. A
   load above that passes starts the search again from there; a load below that fails is an
   exception to report.

Loads have as few digits as the search allows: they are read, compared and typed by people.

The answer is an interval: its lower end was shown to meet the limits, its upper end to exceed one.
If no load above the capacity passes by error, and none below fails, the capacity lies between, and
`verdict` bounds the probability of either, at all loads together.

Which loads come next depends on verdicts alone, so an interrupted search that finds its results
kept takes the same way again.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, TypeAlias

from simnet.study.capacity.verdict import Criterion, Limits, Sample, Verdict, criteria, verdict

LOOKS: Final = (4, 8, 16, 32)
"""Replications after which a load is judged."""
CONFIDENCE: Final = 0.95

_BRACKETS: Final = 10
_BESIDE: Final = 4
_CHECKS_BELOW: Final = (0.25, 0.5, 0.75)
_CHECKS_ABOVE: Final = (1.25, 1.5)
# a load that was judged this close by is check enough
_CLOSE: Final = 1.1
# how far from where it is looked for a round load may lie: a factor, and a share of a gap
_NEAR: Final = 1.05
_BESIDE_MIDDLE: Final = 0.1

Run: TypeAlias = tuple[int, int]
"""A load, and the number of the replication, from 0."""
Measure: TypeAlias = Callable[[Sequence[Run]], Mapping[Run, Sample]]


@dataclass(frozen=True)
class Plan:
    """What is searched for, and where.

    Attributes:
        start: first load.
        lowest: smallest load that is tried.
        highest: largest load that is tried.
        precision: largest relative width of the answer.
        limits: what a load must meet.
        looks: replications after which a load is judged, ascending.
    """

    start: int
    lowest: int
    highest: int
    precision: float
    limits: Limits
    looks: tuple[int, ...] = LOOKS

    @property
    def most_loads(self) -> int:
        """How many loads are tried at most."""
        gap = math.log(2 * _NEAR) / math.log1p(self.precision)
        halvings = math.ceil(math.log(gap) / -math.log(0.5 + _BESIDE_MIDDLE))
        checks = len(_CHECKS_BELOW) + len(_CHECKS_ABOVE)
        return _BRACKETS + max(halvings, 0) + _BESIDE + checks

    @property
    def tail(self) -> float:
        """Probability with which a single bound may err; all of them together 5 %."""
        return (1 - CONFIDENCE) / (self.most_loads * len(self.looks) * self.limits.count)


@dataclass(frozen=True)
class Judged:
    """A load, what was found of it after so many replications, and whether it meets the limits."""

    load: int
    runs: int
    criteria: tuple[Criterion, ...]

    @property
    def verdict(self) -> Verdict:
        """Whether it meets the limits."""
        return verdict(self.criteria)


@dataclass(frozen=True)
class Found:
    """All loads that were tried, ascending."""

    plan: Plan
    judged: tuple[Judged, ...]

    def _loads(self, wanted: Verdict) -> list[int]:
        return [one.load for one in self.judged if one.verdict == wanted]

    @cached_property
    def low(self) -> int | None:
        """The largest load that meets the limits; None when none does."""
        return max(self._loads("pass"), default=None)

    @cached_property
    def high(self) -> int | None:
        """The smallest load above it that does not; None when none was found."""
        return min((load for load in self._loads("fail") if load > (self.low or 0)), default=None)

    @property
    def undecided(self) -> tuple[int, ...]:
        """Loads between the two of which nothing could be said."""
        low, high = self.low or 0, self.high or math.inf
        return tuple(load for load in self._loads("undecided") if low < load < high)

    @property
    def exceptions(self) -> tuple[int, ...]:
        """Loads that exceed a limit although a larger one meets all: loss is not monotone."""
        return tuple(load for load in self._loads("fail") if load < (self.low or 0))

    @property
    def narrow(self) -> bool:
        """Whether the two are as close as was asked for, or as integers can be."""
        if self.low is None or self.high is None:
            return False
        return self.high <= max(self.low * (1 + self.plan.precision), self.low + 1)


def search(
    plan: Plan, measure: Measure, on_judged: Callable[[Judged], None] | None = None
) -> Found:
    """Find the largest load that meets the limits.

    Args:
        plan: what is searched for, and where.
        measure: gives the samples of runs; those of one call may be taken at the same time.
        on_judged: called with each load as it is judged.
    """
    judged: dict[int, Judged] = {}
    while True:
        found = Found(plan, tuple(judged[load] for load in sorted(judged)))
        wanted = [load for load in following(found) if load not in judged]
        wanted = wanted[: plan.most_loads - len(judged)]
        if not wanted:
            return found
        for one in _judge(plan, wanted, measure):
            judged[one.load] = one
            if on_judged:
                on_judged(one)


def following(found: Found) -> list[int]:
    """The loads to try next, which may be tried at the same time; empty at the end."""
    plan = found.plan
    if not found.judged:
        return [plan.start]
    low, high = found.low, found.high
    first, last = found.judged[0].load, found.judged[-1].load
    wanted = []
    if low is None and first > plan.lowest:
        wanted.append(max(_near(first / 2), plan.lowest))
    if high is None and found.judged[-1].verdict != "fail" and last < plan.highest:
        wanted.append(min(_near(last * 2), plan.highest))
    if wanted or low is None:
        return wanted
    between = [] if high is None or found.narrow else _between(found, low, high)
    return between or _checks(found, low, high)


def _between(found: Found, low: int, high: int) -> list[int]:
    """Where the interval can be narrowed: its middle, or the gaps beside what is undecided."""
    inside = found.undecided
    gaps = [(low, min(inside)), (max(inside), high)] if inside else [(low, high)]
    step = 1 + found.plan.precision
    wide = [(left, right) for left, right in gaps if right > max(left * step, left + 1)]
    return [_middle(left, right) for left, right in wide]


def roundest(low: float, high: float) -> int | None:
    """Return the integer with the fewest digits between two; None where there is none."""
    middle = math.sqrt(low * high)
    for digits in range(len(str(math.ceil(high))), -1, -1):
        unit = int(10**digits)
        found = round(middle / unit) * unit
        if low <= found <= high:
            return found
    return None


def _near(load: float) -> int:
    return roundest(load / _NEAR, load * _NEAR) or max(math.floor(load), 1)


def _middle(left: int, right: int) -> int:
    """Return a load near the geometric mean of two that are not neighbours."""
    ends = (right / left) ** (0.5 - _BESIDE_MIDDLE)
    # the geometric mean of close integers rounds down to the lower of them
    return roundest(left * ends, right / ends) or max(math.isqrt(left * right), left + 1)


def _checks(found: Found, low: int, high: int | None) -> list[int]:
    """Loads on either side of which nothing is known near by."""
    places = [_near(low * share) for share in _CHECKS_BELOW]
    places += [] if high is None else [_near(high * share) for share in _CHECKS_ABOVE]
    known = [one.load for one in found.judged]
    return [
        place
        for place in places
        if found.plan.lowest <= place <= found.plan.highest
        and not any(load <= place * _CLOSE and place <= load * _CLOSE for load in known)
    ]


def _judge(plan: Plan, loads: Sequence[int], measure: Measure) -> list[Judged]:
    """Replicate each load until it can be judged, or the last look."""
    samples: dict[int, list[Sample]] = {load: [] for load in loads}
    judged: dict[int, Judged] = {}
    open_loads = list(loads)
    for count in plan.looks:
        runs = [(load, n) for load in open_loads for n in range(len(samples[load]), count)]
        measured = measure(runs)
        for load, number in runs:
            samples[load].append(measured[load, number])
        for load in open_loads:
            quantities = criteria(samples[load], plan.limits, plan.tail)
            judged[load] = Judged(load, count, quantities)
        open_loads = [load for load in open_loads if judged[load].verdict == "undecided"]
        if not open_loads:
            break
    return [judged[load] for load in loads]
