"""Whether a tuning is worth it: paired differences, their intervals, and the rule that decides.

Runs with and without a tuning share their seeds, so every difference is one of twins, and the
Student interval of the mean difference (95 %) holds only what the tuning adds. A second interval
holds what is not known about parameters: each draw of the uncertain ones is simulated with
and without the tuning, and 95 % of the differences lie in it. A third holds how far off the model
itself is: as far as changes were off that no fit had seen, of which some were not predicted at all
(`discrepancy_of_changes`). The verdict is of the hull of the third, and of the first two together.

A metric is more or less when the whole interval is on one side of 0. It is the same when what was
simulated, the first two parts, lies within 1 %: the model has nothing there that changes it, and
its own error is how much it may be all the same. Else the answer is open; but where the whole
interval lies within 10 %, the model's error included, it makes no difference: nobody touches a host
for that, and more runs would tell no more.
What counts follows from the load, or from a goal (`aim`): criteria in stages. The first stage
decides, and the next where that does not.

1. Something of a stage gains for certain, by more than all prices so far, the certain ones and
   what may be one: yes. Gains and prices are logarithms, times their weights.
2. Something gets worse for certain, by more than is tolerated of it: no, whatever else gains.
3. No stage gains, and something is worse for certain: no. Its price is certain, and a gain is not.
4. All the same, or so little: no difference.
5. Anything else: cannot tell.

A yes is a no where something that counts, or that a goal of one's own lets alone, gets worse by
more than is tolerated for certain, and open where that is only expected. A limit on p99 of one's
own is stronger: a yes above it is a no, and so is what is open but above it for certain. Loss and
fairness can veto, too (`vetoes`). What does not count is shown and does not decide.

More runs may decide by what comes first. So as long as there will be more, a price does not make a
no where a gain that counts more is expected. Where no more runs can tell, there are none
(`more_may_tell`).

Means are geometric: a queue that fills in one run and not in the next makes latencies differ by
orders of magnitude, and what a change makes of one mean is then the other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple, TypeAlias

from pydantic import Field

from simnet.rows import Row
from simnet.scenario.core.subject import Measure
from simnet.study.run.duration_text import latency_text
from simnet.study.run.loss import kind_of
from simnet.study.run.measures import (
    CPU_PER_BYTE,
    LOSS,
    MEDIAN,
    METRICS,
    REAL_TIME,
    REQUESTS,
    TAIL,
    transactions_per_s,
)
from simnet.study.run.result import Result
from simnet.study.validate.changes import Discrepancy
from simnet.study.validate.intervals import Part, parameters_of_few
from simnet.study.whatif.aim import Aim, Criterion

Answer: TypeAlias = Literal["yes", "no", "no difference", "cannot tell"]
Direction: TypeAlias = Literal["more", "less", "same", "unknown"]

MARGIN_PERCENT = 1.0
# where the whole interval lies within it, nobody touches a host for the change
LITTLE_PERCENT = 10.0
_ERROR = 0.05
_OPEN: Final = "cannot tell"
# from a factor of ten on, a number of percent says nothing
_FACTOR_PERCENT = 900.0
# what is left of something that is gone, for its logarithm
_LEAST_RATIO = 1e-3

# of what only some runs have
_ASKED = frozenset({REAL_TIME, REQUESTS, LOSS})


def _metrics(results: Sequence[Result]) -> tuple[Measure, ...]:
    """What a tuning may change; real times, rates of requests, losses only where there are any."""
    jobs = any(result.jobs for result in results)
    asks = not jobs and any(transactions_per_s(result) is not None for result in results)
    has = {REAL_TIME: jobs, REQUESTS: asks, LOSS: any(result.loss for result in results)}
    missing = {name for name in _ASKED if not has[name]}
    return tuple(one for one in METRICS.values() if one.changes and one.metric not in missing)


class Interval(Row):
    """95 %, in percent of the value before."""

    low: float
    high: float

    def within(self, percent: float) -> bool:
        """Whether all of it is this little."""
        return max(-self.low, self.high) <= percent

    def direction(self, simulated: Interval) -> Direction:
        """Whether all of it is more or less, or the same but for the margin.

        `simulated` is the same interval without the model's error.
        """
        if self.within(MARGIN_PERCENT):
            return "same"
        if self.low > 0:
            return "more"
        if self.high < 0:
            return "less"
        return "same" if simulated.within(MARGIN_PERCENT) else "unknown"


class Change(Row):
    """What a tuning does to one metric.

    `before` and `after` are means over the seeds, `percent` is how much more one is than the other:
    geometric means where every run has some of it. `seeds` is the interval of that change,
    `parameters` that of a change over the draws of the uncertain parameters; null where too little
    was simulated. `model` is how far off the model itself may be; null where nothing is known of
    that.
    """

    metric: str
    unit: str
    before: float | None
    after: float | None
    percent: float | None
    seeds: Interval | None
    parameters: Interval | None
    model: Interval | None = None
    latency_kind: str = Field(default="", description="of a latency: one-way or round trip")

    @property
    def simulated(self) -> Interval | None:
        """The interval of what was simulated: chance, and what is not known of the machine.

        Both are independent, so together they are wider than either. None where chance is not
        known.
        """
        parts = [one for one in (self.seeds, self.parameters) if one is not None]
        if len(parts) > 1 and self.percent is not None and self.percent > -100:  # noqa: PLR2004
            parts.append(_together(self.percent, parts))
        return _hull(parts) if parts else None

    @property
    def hull(self) -> Interval | None:
        """The interval that decides: it holds all others. None where chance is not known.

        How far off the model was holds a usual share of chance and of unknown values already.
        """
        simulated = self.simulated
        if simulated is None or self.model is None:
            return simulated
        return _hull((simulated, self.model))

    @property
    def widest(self) -> str:
        """The part that makes the interval as wide as it is; empty where there is none."""
        parts = {name: getattr(self, name) for name in ("seeds", "parameters", "model")}
        widths = {name: part.high - part.low for name, part in parts.items() if part is not None}
        return max(widths, key=widths.__getitem__, default="")

    @property
    def direction(self) -> Direction:
        """Whether the metric is more or less for certain, or the same."""
        if self.hull is None or self.simulated is None:
            return "unknown"
        return self.hull.direction(self.simulated)

    @property
    def is_little(self) -> bool:
        """Whether it makes no difference: it is the same, or as little as the model can tell."""
        if self.hull is None or self.model is None:
            return self.direction == "same"
        return self.direction == "same" or self.hull.within(LITTLE_PERCENT)


def _hull(parts: Sequence[Interval]) -> Interval:
    return Interval(low=min(one.low for one in parts), high=max(one.high for one in parts))


def _together(percent: float, parts: Iterable[Interval]) -> Interval:
    """Independent parts of an interval around a change: squares of half widths add up, of logs."""
    ends = [(one.low, one.high) for one in parts]
    low, high = (
        math.hypot(
            *(math.log(max(1 + end / 100, _LEAST_RATIO) / (1 + percent / 100)) for end in side)
        )
        for side in zip(*ends, strict=True)
    )
    return _around(percent, (-low, high))


def changes(
    before: Sequence[Result],
    after: Sequence[Result],
    drawn: Mapping[str, Sequence[float]] | None = None,
    model: Callable[[str], Discrepancy] | None = None,
    *,
    error: float = _ERROR,
    deciding: int = 2,
) -> tuple[Change, ...]:
    """What every metric does.

    Args:
        before: results without the tuning.
        after: results with it, in pairs with those before: equal seeds.
        drawn: by metric, by which factors what :func:`ratios` says of the draws of the uncertain
            parameters differs from what it is without; as logarithms.
        model: how far off the model itself may be, by the kind of quantity; None leaves it out.
        error: how often chance alone may make a verdict wrong. An interval of chance misses by an
            equal share of that, one for each metric that decides (Bonferroni).
        deciding: how many metrics decide.
    """
    share = error / deciding
    return tuple(
        _change(metric, before, after, (drawn or {}).get(metric.metric, ()), model, share)
        for metric in _metrics((*before, *after))
    )


def _change(
    metric: Measure,
    before: Sequence[Result],
    after: Sequence[Result],
    drawn: Sequence[float],
    model: Callable[[str], Discrepancy] | None,
    error: float,
) -> Change:
    pairs = _pairs(metric, before, after)
    means = _geometric(pairs, metric.offset, error) or _arithmetic(pairs, error)
    percent = means.percent
    parameters = None
    if drawn and percent is not None:
        parameters = _around(percent, parameters_of_few(drawn))
    return Change(
        metric=metric.metric,
        unit=metric.unit,
        before=means.before,
        after=means.after,
        percent=percent,
        seeds=means.seeds,
        parameters=parameters,
        model=modelled(percent, model(metric.kind)) if model and percent is not None else None,
        latency_kind=kind_of(one.latency_kind for one in before) if metric.unit == "us" else "",
    )


class _Means(NamedTuple):
    """Of pairs of runs: means before and after, their change in percent, and its interval."""

    before: float | None
    after: float | None
    percent: float | None
    seeds: Interval | None


def _geometric(pairs: Sequence[tuple[float, float]], offset: float, error: float) -> _Means | None:
    """Geometric means; None where a value is nothing: that has no logarithm."""
    logs = [[math.log(v + offset) for v in pair if v + offset > 0] for pair in pairs]
    if not logs or any(len(pair) < 2 for pair in logs):  # noqa: PLR2004 (before and after)
        return None
    before, after = (sum(side) / len(logs) for side in zip(*logs, strict=True))
    seeds = student([a - b for b, a in logs], error)
    return _Means(
        math.exp(before) - offset,
        math.exp(after) - offset,
        100 * math.expm1(after - before),
        seeds and Interval(low=100 * math.expm1(seeds.low), high=100 * math.expm1(seeds.high)),
    )


def _arithmetic(pairs: Sequence[tuple[float, float]], error: float) -> _Means:
    """Arithmetic means, and differences as parts of the mean before."""
    before, after = (_mean(side) for side in zip(*pairs, strict=True)) if pairs else (None, None)
    if not before or after is None:
        return _Means(before, after, None, None)
    seeds = student([100 * (a - b) / before for b, a in pairs], error)
    return _Means(before, after, 100 * (after / before - 1), _possible(seeds))


def _around(percent: float, part: Part) -> Interval:
    """The interval that a part, of logarithms of factors, makes around a change; it holds that."""
    ends = (percent, *(100 * ((1 + percent / 100) * math.exp(end) - 1) for end in part))
    return Interval(low=min(ends), high=max(ends))


def modelled(percent: float, model: Discrepancy) -> Interval:
    """The interval of a change, given how far off the model may be."""
    if percent <= -100:  # noqa: PLR2004 (nothing is left)
        return Interval(low=percent, high=percent)
    off = model.of(math.log1p(percent / 100))
    return _around(percent, (-off, off))


def _possible(interval: Interval | None) -> Interval | None:
    """Nothing falls by more than all of it, whatever a distribution of means says."""
    if interval is None:
        return None
    return Interval(low=max(interval.low, -100.0), high=interval.high)


def ratios(before: Sequence[Result], after: Sequence[Result]) -> dict[str, list[float]]:
    """After divided by before of every pair, by metric; without metrics that a pair lacks."""
    found = {metric.metric: _ratios(metric, before, after) for metric in _metrics(before)}
    return {name: values for name, values in found.items() if len(values) == len(before)}


def measured(metric: str, result: Result) -> float | None:
    """A number of a result, by the name of one of `METRICS`."""
    return METRICS[metric].of(result)


def _mean(values: Iterable[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _pairs(
    metric: Measure, before: Sequence[Result], after: Sequence[Result]
) -> list[tuple[float, float]]:
    """The values of the pairs that have both."""
    pairs = ((metric.of(b), metric.of(a)) for b, a in zip(before, after, strict=True))
    return [(b, a) for b, a in pairs if b is not None and a is not None]


def _ratios(metric: Measure, before: Sequence[Result], after: Sequence[Result]) -> list[float]:
    pairs = [(b + metric.offset, a + metric.offset) for b, a in _pairs(metric, before, after)]
    return [a / b for b, a in pairs if b]


def student(values: Sequence[float], error: float = _ERROR) -> Interval | None:
    """The interval that the mean of `values` misses this often; None for fewer than two."""
    count = len(values)
    if count < 2:  # noqa: PLR2004 (one value has no spread)
        return None
    from scipy.special import stdtrit  # scipy.stats takes a second to load

    mean = sum(values) / count
    variance = sum((value - mean) ** 2 for value in values) / (count - 1)
    half = float(stdtrit(count - 1, 1 - error / 2)) * (variance / count) ** 0.5
    return Interval(low=mean - half, high=mean + half)


@dataclass(frozen=True)
class Verdict:
    """The answer, the metric that decided, and a sentence: what is gained, and at which price."""

    answer: Answer
    metric: str
    sentence: str


def verdict(
    found: Sequence[Change],
    aim: Aim,
    *,
    max_p99_us: float | None = None,
    last: bool = True,
) -> Verdict:
    """Apply the rule of this module's docstring, with a limit of one's own if there is one.

    `last`: there will be no more runs.
    """
    if max_p99_us is not None:
        aim = aim.without_limit(TAIL)
    by_name = {change.metric: change for change in found}
    if LOSS not in by_name and aim.criteria[0].metric == LOSS and len(aim.stages) > 1:
        # nothing is lost, with it or without: what comes next decides
        aim = replace(aim, stages=aim.stages[1:])
    decided = _Scales(by_name, aim).decided(last=last)
    tail = next((change for change in found if change.metric == TAIL), None)
    if tail is None or max_p99_us is None:
        return decided
    return _limited(decided, tail, max_p99_us, last=last)


def more_may_tell(
    found: Sequence[Change],
    aim: Aim,
    model: Callable[[str], Discrepancy] | None,
    *,
    max_p99_us: float | None = None,
) -> bool:
    """Whether a verdict that is open may become clear with more runs.

    It cannot where it stays open though every number that counts turns out as good as chance
    allows, or as bad, and nothing is unknown of the machine: the model's own error alone is too
    large then (stopping for futility: Jennison and Turnbull, as in `plan.Look`, chapter 10).
    """
    if model is None:
        return True
    better = {one.metric: one.better for one in aim.criteria}
    for side in (1, -1):
        ends = [
            _at_end(one, side * better[one.metric], model) if one.metric in better else one
            for one in found
        ]
        known = [one for one in ends if one is not None]
        if len(known) < len(ends) or verdict(known, aim, max_p99_us=max_p99_us).answer != _OPEN:
            return True
    return False


def _at_end(change: Change, side: int, model: Callable[[str], Discrepancy]) -> Change | None:
    """A change at the upper or lower end of what chance allows, for certain; None: not known."""
    if change.seeds is None:
        return None
    percent = change.seeds.high if side > 0 else change.seeds.low
    return change.model_copy(
        update={
            "percent": percent,
            "after": None if change.before is None else change.before * (1 + percent / 100),
            "seeds": Interval(low=percent, high=percent),
            "parameters": None,
            "model": modelled(percent, model(METRICS[change.metric].kind)),
        }
    )


class _Scales:
    """The changes that count, each with its weight."""

    def __init__(self, found: Mapping[str, Change], aim: Aim) -> None:
        self._found = found
        self._aim = aim

    def decided(self, *, last: bool) -> Verdict:
        """What they say together."""
        aim = self._aim
        if LOSS in aim.metrics and LOSS not in self._found and aim.criteria[0].metric == LOSS:
            return Verdict("no difference", LOSS, "no packet is lost, with it or without")
        passed: list[Criterion] = []
        for stage in aim.stages:
            passed += stage
            worse = [one for one in passed if self._way(one) == -1 and self._too_much(one)]
            if worse:
                return self._verdict("no", worse[0])
            gains = [one for one in passed if self._way(one) == 1]
            if any(one in stage for one in gains) and self._worth(passed):
                return self._kept(self._verdict("yes", max(gains, key=self._value)))
        prices = [one for one in aim.criteria if self._way(one) == -1]
        if prices and (last or not self._hoped()):
            return self._verdict("no", min(prices, key=self._value))
        if all(map(self._is_little, aim.criteria)) and (last or not self._hoped()):
            return self._verdict("no difference", aim.criteria[-1])
        still_open = [one for one in aim.criteria if self._way(one) is None]
        # what most is at stake of
        return self._verdict(
            "cannot tell", max(still_open or aim.criteria, key=lambda one: abs(self._value(one)))
        )

    def _change(self, one: Criterion) -> Change | None:
        return self._found.get(one.metric)

    def _way(self, one: Criterion) -> int | None:
        """1 better and -1 worse for certain, 0 the same, None open."""
        change = self._change(one)
        ways: dict[Direction, int] = {"more": one.better, "less": -one.better, "same": 0}
        return None if change is None else ways.get(change.direction)

    def _is_little(self, one: Criterion) -> bool:
        change = self._change(one)
        return change is not None and change.is_little

    def _value(self, one: Criterion) -> float:
        """What is expected, weighed: better is positive."""
        change = self._change(one)
        if change is None or change.percent is None:
            return 0.0
        ratio = max(1 + change.percent / 100, _LEAST_RATIO)
        return one.weight * one.better * math.log(ratio)

    def _worse(self, one: Criterion) -> float:
        """By how many percent it is expected to get worse; 0 or less where it is not."""
        change = self._change(one)
        return 0.0 if change is None else -one.better * (change.percent or 0.0)

    def value(self, stage: Sequence[Criterion]) -> float:
        """What is expected of a stage, weighed: better is positive."""
        return sum(map(self._value, stage))

    def _too_much(self, one: Criterion) -> bool:
        """Whether it is expected to get worse by more than is tolerated, beyond 1 % maybe."""
        change = self._change(one)
        simulated = None if change is None else change.simulated
        if simulated is None:
            return one.tolerated < MARGIN_PERCENT
        if self._worse(one) <= one.tolerated:
            return False
        return max(-one.better * simulated.low, -one.better * simulated.high) > MARGIN_PERCENT

    def _worth(self, passed: Sequence[Criterion]) -> bool:
        """Whether what is gained for certain is worth what it costs, and what it may cost."""
        gain = sum(self._value(one) for one in passed if self._way(one) == 1)
        price = sum(-self._value(one) for one in passed if self._way(one) == -1)
        still_open = [one for one in passed if self._way(one) is None]
        fear = sum(max(-self._value(one), 0.0) for one in still_open)
        return gain > price + fear and not any(map(self._too_much, still_open))

    def _is_hope(self, one: Criterion) -> bool:
        """Whether it is expected to get better by more than the margin, and open."""
        return self._way(one) is None and self._value(one) > MARGIN_PERCENT / 100

    def _hoped(self) -> bool:
        """Whether more runs may show a yes: what is gained and hoped for, above all prices so far.

        Stage by stage, as it is decided: a price of a later stage does not count in an earlier one.
        """
        passed: list[Criterion] = []
        for stage in self._aim.stages:
            passed += stage
            good = [one for one in passed if self._way(one) == 1 or self._is_hope(one)]
            price = sum(-self._value(one) for one in passed if self._way(one) == -1)
            if any(one in stage for one in good) and sum(map(self._value, good)) > price:
                return True
        return False

    def _kept(self, decided: Verdict) -> Verdict:
        """A yes, or what it is where something gets too much worse."""
        for one in (*self._aim.criteria, *self._aim.kept):
            change = self._change(one)
            if change is None or self._way(one) == 1 or not self._too_much(one):
                continue
            hull = change.hull
            ends = () if hull is None else (hull.low, hull.high)
            certain = bool(ends) and min(-one.better * end for end in ends) > one.tolerated
            sentence = f"{decided.sentence}, but {called(change)} {change_text(change)}"
            return Verdict("no" if certain else "cannot tell", one.metric, sentence)
        return decided

    def _verdict(self, answer: Answer, by: Criterion) -> Verdict:
        return Verdict(answer, by.metric, self._sentence(answer, by))

    def _sentence(self, answer: Answer, by: Criterion) -> str:
        """What decides, with its interval; of a yes what it costs, of a no what it gains."""
        if answer not in {"yes", "no"}:
            shown = [self._found[one] for one in self._aim.metrics if one in self._found]
            return ", ".join(f"{called(one)} {change_text(one)}" for one in shown)
        way = 1 if answer == "yes" else -1
        told = [one for one in self._told() if one != by]
        also, then = (
            [self._found[one.metric] for one in told if self._way(one) == sign]
            for sign in (way, -way)
        )
        decisive = self._found[by.metric]
        first = [f"{called(decisive)} {change_text(decisive)}", *map(_shortly, also)]
        parts = [", ".join(first)]
        if then:
            what = "costs" if answer == "yes" else "gains"
            parts.append(f"{what} {', '.join(map(_shortly, then))}")
        if answer == "yes" and (hoped := self._hoped_before(by)):
            parts.append(f"expected, but not certain: {', '.join(map(_shortly, hoped))}")
        return "; ".join(parts)

    def _hoped_before(self, by: Criterion) -> list[Change]:
        """What counts more than what decided, is expected to get better, and is open."""
        found = []
        for stage in self._aim.stages:
            if by in stage:
                break
            found += [self._found[one.metric] for one in stage if self._is_hope(one)]
        return found

    def _told(self) -> list[Criterion]:
        """What a sentence tells of: what counts, and what it costs besides."""
        told = {one.metric: one for one in (*self._aim.criteria, *self._aim.kept)}
        if TAIL in told:
            told.setdefault(MEDIAN, Criterion(MEDIAN))
        if REAL_TIME not in told:
            told.setdefault(CPU_PER_BYTE, Criterion(CPU_PER_BYTE))
        return list(told.values())


def _shortly(change: Change) -> str:
    """A change without its interval: ``throughput -2.9 %``."""
    return f"{called(change)} {percent_text(change)}"


def called(change: Change) -> str:
    """What a change is of: ``round trip p99``."""
    return METRICS[change.metric].said.format(latency=change.latency_kind or "latency")


def _limited(decided: Verdict, tail: Change, max_p99_us: float, *, last: bool) -> Verdict:
    """The same, but no yes above a limit on p99, and a no where p99 is above it for certain."""
    if tail.percent is None or tail.after is None:
        return decided
    least, most = 0.0, math.inf
    if tail.hull and tail.before:
        ends = (tail.hull.low, tail.hull.high)
        least, most = (tail.before * (1 + percent / 100) for percent in ends)
    expected = {"yes": tail.after, "cannot tell": least}.get(decided.answer, 0.0)
    if not last and decided.answer == "yes" and least <= max_p99_us < most:
        return replace(decided, answer="cannot tell")
    if expected > max_p99_us:
        value, limit = latency_text(tail.after), latency_text(max_p99_us, ",g")
        above = f"{called(tail)} is {value}, above {limit}"
        return Verdict("no", TAIL, f"{decided.sentence}; {above}")
    return decided


def change_text(change: Change) -> str:
    """A change with its deciding interval: ``+13.3 % (+9.8 to +16.2)``."""
    if change.percent is None or change.hull is None:
        return "is not known"
    return f"{percent_text(change)} ({interval_text(change.hull)})"


def percent_text(change: Change) -> str:
    """A change in percent, ``+13.3 %``; beyond a factor of ten what is certain: ``x 12 or more``.

    Nobody can tell a factor of 300 from one of 400 million; that it is more than ten is enough.
    """
    if change.percent is None:
        return "-"
    if change.percent < _FACTOR_PERCENT:
        return end_text(change.percent, " %")
    hull = change.hull
    least = change.percent if hull is None else hull.low
    if least < _FACTOR_PERCENT:
        return end_text(change.percent)
    return f"x {math.floor(1 + least / 100)} or more"


def interval_text(interval: Interval) -> str:
    """The ends of an interval in percent: ``+9.8 to +16.2``, ``+333.4 to more than x 10``."""
    low, high = end_text(interval.low), end_text(interval.high)
    return low if interval.low >= _FACTOR_PERCENT else f"{low} to {high}"


def end_text(percent: float, unit: str = "") -> str:
    """A change of so many percent, bounded: ``+9.8``, ``more than x 10``."""
    return f"{percent:+.1f}{unit}" if percent < _FACTOR_PERCENT else "more than x 10"


_ORDER: tuple[Answer, ...] = ("yes", "no difference", "cannot tell", "no")


def rank(answer: Answer, found: Sequence[Change], aim: Aim) -> tuple[int, int, float]:
    """Sort key, best first: verdict, the first stage of what counts in steps of 1 %, then the rest.

    What is open and expected to be worse stands among what is worse, by how much it is.
    """
    scales = _Scales({change.metric: change for change in found}, aim)
    first, *rest = aim.stages
    leading = scales.value(first) / first[0].weight
    worse = -round(100 * leading / MARGIN_PERCENT)
    last = sum(scales.value(stage) for stage in rest) if rest else leading
    if answer == "cannot tell" and worse > 0:
        answer = "no"
    return _ORDER.index(answer), worse, -last


def exit_status(answers: Sequence[Answer]) -> int:
    """0: the best-ranked tuning is recommended; 1: none is; 3: cannot tell."""
    if "yes" in answers:
        return 0
    return 3 if "cannot tell" in answers else 1
