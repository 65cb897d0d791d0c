"""The largest load that meets limits: bracketing, bisection, and a look at what was passed over.

1. From a first load by factors of about two, up while loads pass, down while none does, until the
   largest that passes lies beside one that fails.
2. Bisection (near geometric means), until a load is near its limits, or the two are close.
3. A load at the capacity itself could never be judged. So loads on both sides of where a limit
   seems to be reached are judged, as far apart as was asked for. Where one stays undecided, the
   gaps on both sides of it are narrowed; the interval is then wider, and says so.
4. A check that loads below pass and loads above fail, at quarters. Bisection alone would never
   notice if they did not: a moderated interrupt can make a low load slower than a higher one. A
   load above that passes starts the search again from there; a load below that fails is an
   exception to report.

Most loads are far from the capacity, and a few short runs show that. A short run can miss what a
queue does in the long run: it says pass or fail only where all is within half of its limit, or
something beyond twice of it, and else where to look. What is judged near its limits, is judged by
long runs.

Loads have as few digits as the search allows: they are read, compared and typed by people.

The answer is an interval: its lower end was shown to meet the limits, its upper end to exceed one.
If no load above the capacity passes by error, and none below fails, the capacity lies between, and
`verdict` bounds the probability of either, at all loads together.

Which loads come next depends on verdicts alone, so an interrupted search that finds its results
kept takes the same way again.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Final, NamedTuple, TypeAlias

from simnet.study.capacity.verdict import Criterion, Limits, Sample, Verdict, criteria, verdict

GLANCES: Final = (4, 8)
"""Short replications before the others, after which what is far from its limits is judged."""
LOOKS: Final = (8, 12, 16, 24, 32)
"""Replications after which a load is judged."""
CONFIDENCE: Final = 0.95

_BRACKETS: Final = 10
_BESIDE: Final = 4
_CHECKS_BELOW: Final = (0.25, 0.5, 0.75)
_CHECKS_ABOVE: Final = (1.25, 1.5)
# loads that long runs judge at most, and the part of the error that short ones have
_MOST_LONG: Final = 16
_GLANCING: Final = 0.2
# a load that was judged this close by is check enough
_CLOSE: Final = 1.1
# how far from where it is looked for a round load may lie: a factor, and a share of a gap
_NEAR: Final = 1.05
_BESIDE_MIDDLE: Final = 0.1
# by how much more than the limit, or less, something is far from it
_FAR: Final = 2.0
# so many times the precision is close
_LAST_GAP: Final = 2
# where loads on both sides of the capacity lie in the interval: at most at its ends, and at least
_ENDS: Final = (0.5, 0.3)


class Run(NamedTuple):
    """A load, the number of the replication, from 0, and whether it is a short one."""

    load: int
    number: int
    short: bool


Measure: TypeAlias = Callable[[Sequence[Run]], Mapping[Run, Sample]]


@dataclass(frozen=True)
class Plan:
    """What is searched for, and where."""

    start: int  # first load
    lowest: int  # smallest load that is tried
    highest: int  # largest load that is tried
    precision: float  # largest relative width of the answer
    limits: Limits  # what a load must meet
    looks: tuple[int, ...] = LOOKS  # replications after which a load is judged, ascending
    glances: tuple[int, ...] = GLANCES  # short replications before those

    @property
    def most_loads(self) -> int:
        """How many loads are tried at most."""
        gap = math.log(2 * _NEAR) / math.log1p(self.precision)
        halvings = math.ceil(math.log(gap) / -math.log(0.5 + _BESIDE_MIDDLE))
        checks = len(_CHECKS_BELOW) + len(_CHECKS_ABOVE)
        return _BRACKETS + max(halvings, 0) + _BESIDE + checks

    def tail(self, place: int, *, short: bool) -> float:
        """Probability with which a single bound of a load may err.

        Args:
            place: of the load among those that are judged so, from 1.
            short: by short runs; all together err in 1 %, long ones in 4 %.
        """
        part, most, counts = (1 - _GLANCING, _MOST_LONG, self.looks)
        if short:
            part, most, counts = (_GLANCING, self.most_loads, self.glances)
        shares = math.fsum(1 / number for number in range(1, most + 1))
        error = (1 - CONFIDENCE) * part / (place * shares)
        return error / (len(counts) * self.limits.count)


@dataclass(frozen=True)
class Judged:
    """A load, what was found of it after so many replications, and whether it meets the limits.

    `short`: they were short ones.
    """

    load: int
    runs: int
    criteria: tuple[Criterion, ...]
    short: bool = False

    @property
    def verdict(self) -> Verdict:
        """Whether it meets the limits; short runs say that only of what is far from them."""
        return verdict(self.criteria) if self.is_far or not self.short else "undecided"

    @property
    def is_far(self) -> bool:
        """Whether all is well within its limits, or something far beyond."""
        beyond = any(one.low > _FAR * one.limit for one in self.criteria)
        return beyond or all(one.high <= one.limit / _FAR for one in self.criteria)

    @property
    def is_near(self) -> bool:
        """Whether short runs could not say anything."""
        return self.short and not self.is_far

    @property
    def excess(self) -> float:
        """By how much the worst quantity exceeds its limit, as a logarithm; below 0: by none."""
        return max(one.excess for one in self.criteria)


@dataclass(frozen=True)
class Found:
    """All loads that were tried, ascending; `ended`: there would be more, but for their number."""

    plan: Plan
    judged: tuple[Judged, ...]
    ended: bool = False

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
        """Loads between the two of which long runs could say nothing."""
        low, high = self.low or 0, self.high or math.inf
        long = [one for one in self.judged if not one.short and one.verdict == "undecided"]
        return tuple(one.load for one in long if low < one.load < high)

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
        wanted = [
            one
            for one in dict.fromkeys(following(found))
            if one.load not in judged or (one.long and judged[one.load].is_near)
        ]
        if not wanted:
            return found
        long = sum(not one.short for one in judged.values()) + sum(one.long for one in wanted)
        if len(judged) + len(wanted) > plan.most_loads or long > _MOST_LONG:
            return replace(found, ended=True)
        for one in _judge(plan, wanted, judged, measure):
            judged[one.load] = one
            if on_judged:
                on_judged(one)


class Wanted(NamedTuple):
    """A load to try, and whether long runs do where short ones cannot say."""

    load: int
    long: bool


def following(found: Found) -> list[Wanted]:
    """The loads to try next, which may be tried at the same time; empty at the end."""
    if not found.judged:
        return [Wanted(found.plan.start, long=False)]
    low, high = found.low, found.high
    if low is None or high is None:
        outside = _outside(found)
        if outside or low is None:
            return outside
    between = [] if high is None or found.narrow else _between(found, low, high)
    return between or [Wanted(load, long=True) for load in _checks(found, low, high)]


def _outside(found: Found) -> list[Wanted]:
    """Where a load may be found that passes, or one above that fails."""
    plan, first, last = found.plan, found.judged[0], found.judged[-1]
    wanted = []
    if found.low is None and first.is_near and first.excess < 0:
        return [Wanted(first.load, long=True)]  # it seems to pass
    if found.high is None and len(found.judged) > 1 and last.is_near and found.judged[-2].is_near:
        return [Wanted(last.load, long=True)]  # twice the load is no farther from the limit
    if found.low is None and first.load > plan.lowest:
        wanted.append(max(_near(first.load / 2), plan.lowest))
    if found.high is None and last.verdict != "fail" and last.load < plan.highest:
        wanted.append(min(_near(last.load * 2), plan.highest))
    near = [] if wanted else [one.load for one in found.judged if one.is_near]
    return [Wanted(load, long=False) for load in wanted] + [
        Wanted(load, long=True) for load in near
    ]


def _between(found: Found, low: int, high: int) -> list[Wanted]:
    """Where the interval can be narrowed.

    That is its middle, the two sides of the capacity, or the gaps beside what is undecided.
    """
    step = 1 + found.plan.precision
    inside = [one for one in found.judged if low < one.load < high]
    if found.undecided:
        gaps = [(low, min(found.undecided)), (max(found.undecided), high)]
        wide = [(left, right) for left, right in gaps if right > max(left * step, left + 1)]
        return [Wanted(_middle(left, right), long=True) for left, right in wide]
    if inside or high <= low * step**_LAST_GAP:
        return [Wanted(load, long=True) for load in _beside_capacity(found, low, high)]
    return [Wanted(_middle(low, high), long=False)]


def _beside_capacity(found: Found, low: int, high: int) -> list[int]:
    """Loads on both sides of where a limit seems to be reached."""
    far, near = ((1 + found.plan.precision) ** part for part in _ENDS)
    capacity = _capacity([one for one in found.judged if low <= one.load <= high])
    places = []
    if low < capacity / far:
        places.append((capacity / far, capacity / near))
    if high > capacity * far:
        places.append((capacity * near, capacity * far))
    inside = [(max(left, low + 1), min(right, high - 1)) for left, right in places]
    loads = [roundest(left, right) for left, right in inside if left <= right]
    return [load for load in loads if load is not None] or [_middle(low, high)]


def _capacity(judged: Sequence[Judged]) -> float:
    """The load at which a limit seems to be reached: by logarithms, between loads beside it."""
    above = next(
        (number for number, one in enumerate(judged) if number and one.excess >= 0), len(judged) - 1
    )
    left, right = judged[above - 1], judged[above]
    low, high = min(left.excess, 0.0), max(right.excess, 0.0)
    share = -low / (high - low) if high > low else 0.5
    return left.load * math.pow(right.load / left.load, share)


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


def _judge(
    plan: Plan, wanted: Sequence[Wanted], known: Mapping[int, Judged], measure: Measure
) -> list[Judged]:
    """Replicate each load until it can be judged, or the last look."""
    judged = {one.load: known[one.load] for one in wanted if one.load in known}
    unseen = [one.load for one in wanted if one.load not in judged]
    judged |= _replicated(plan, unseen, len(known), measure, short=True)
    near = [one.load for one in wanted if one.long and judged[one.load].is_near]
    before = sum(not one.short for one in known.values())
    judged |= _replicated(plan, near, before, measure, short=False)
    return [judged[one.load] for one in wanted]


def _replicated(
    plan: Plan, loads: Sequence[int], before: int, measure: Measure, *, short: bool
) -> dict[int, Judged]:
    """Replicate loads by short or long runs; as many as `before` were judged so already."""
    counts = plan.glances if short else plan.looks
    places = enumerate(loads, before + 1)
    tails = {load: plan.tail(place, short=short) for place, load in places}
    samples: dict[int, list[Sample]] = {load: [] for load in loads}
    judged: dict[int, Judged] = {}
    left = list(loads)
    for count in counts:
        if not left:
            break
        runs = [
            Run(load, number, short=short)
            for load in left
            for number in range(len(samples[load]), count)
        ]
        measured = measure(runs)
        for run in runs:
            samples[run.load].append(measured[run])
        for load in left:
            quantities = criteria(samples[load], plan.limits, tails[load])
            judged[load] = Judged(load, count, quantities, short)
        left = [load for load in left if judged[load].verdict == "undecided"]
    return judged
