"""Whether a tuning is worth it: paired differences, their intervals, and the rule that decides.

Runs with and without a tuning share their seeds, so every difference is one of twins, and the
Student interval of the mean difference (95 %) holds only what the tuning adds. A second interval
holds what is not known about parameters: each draw of the uncertain ones is simulated with
and without the tuning, and 95 % of the differences lie in it. A third holds how far off the model
itself is: where ratios of two configurations were left out of the fit, they were missed by up to
some part of their logarithm, so this change may be, too (`discrepancy_of_changes`). A change of
nothing is not off by that. The verdict is of the hull of all three.

A metric is more or less when the whole interval is on one side of 0, the same when the interval
lies within 1 % (less is not worth it, and the model is not that good), else the answer is open.
What decides, in this order:

1. Throughput: more, then yes; less, then no.
2. CPU time per byte, more: no. Its price is certain, and a gain is not.
3. CPU time per byte, less: yes, unless throughput is expected to fall, and could by over 1 %.
4. Both the same: no difference.
5. Anything else: cannot tell.

Of jobs, which end, the sum of their real times decides alone: less is yes, more is no.

More runs may decide by what comes first. So as long as there will be more, nothing decides of which
what comes before it is expected to say the contrary.

Under an open-loop load, whose throughput is given, latency (p99) comes second: less is yes, more
is no. Elsewhere it does not decide, but it can veto: a yes becomes a no where p99 is more than
twice as long for certain, and is open where that is only expected. A limit of one's own takes the
place of that: a yes above it is a no, and so is what is open but above it for certain. Loss and
fairness can veto, too (`vetoes`). Other latencies and interrupt rates are shown and do not decide.

The change of a latency is the geometric mean over the pairs: a queue that fills in one run and not
in the next makes it differ by orders of magnitude.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from pydantic import Field

from simnet.rows import Row
from simnet.scenario.core.subject import Measure
from simnet.study.run.duration_text import late, latency_text
from simnet.study.run.loss import kind_of
from simnet.study.run.measures import (
    CPU_PER_BYTE,
    METRICS,
    RATE,
    REAL_TIME,
    REQUESTS,
    TAIL,
    transactions_per_s,
)
from simnet.study.run.result import Result
from simnet.study.validate.intervals import Part, parameters_of_few

Answer: TypeAlias = Literal["yes", "no", "no difference", "cannot tell"]
Direction: TypeAlias = Literal["more", "less", "same", "unknown"]

MARGIN_PERCENT = 1.0
# what p99 may rise by where it has no limit
TAIL_PERCENT = 100.0
_ERROR = 0.05


# of what only some runs have
_ASKED = frozenset({REAL_TIME, REQUESTS})


def _metrics(results: Sequence[Result]) -> tuple[Measure, ...]:
    """What a tuning may change; real times of jobs, rates of requests only where there are any."""
    jobs = any(result.jobs for result in results)
    asks = not jobs and any(transactions_per_s(result) is not None for result in results)
    missing = _ASKED - ({REAL_TIME} if jobs else set()) - ({REQUESTS} if asks else set())
    return tuple(one for one in METRICS.values() if one.changes and one.metric not in missing)


class Interval(Row):
    """95 %, in percent of the value before."""

    low: float
    high: float


class Change(Row):
    """What a tuning does to one metric.

    `before` and `after` are means over the seeds, `percent` is the mean of the relative changes.
    `seeds` is the interval of that mean, `parameters` that of a change over the draws of the
    uncertain parameters; null where too little was simulated. `model` is how far off the model
    itself may be; null where nothing is known of that.
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
    def hull(self) -> Interval | None:
        """The interval that decides: it holds all others. None where chance is not known."""
        if self.seeds is None and self.parameters is None:
            return None
        known = [one for one in (self.seeds, self.parameters, self.model) if one is not None]
        return Interval(low=min(i.low for i in known), high=max(i.high for i in known))

    @property
    def direction(self) -> Direction:
        """Whether the metric is more or less for certain, or the same but for the margin."""
        hull = self.hull
        if hull is None:
            return "unknown"
        if max(-hull.low, hull.high) <= MARGIN_PERCENT:
            return "same"
        if hull.low > 0:
            return "more"
        return "less" if hull.high < 0 else "unknown"


def changes(
    before: Sequence[Result],
    after: Sequence[Result],
    drawn: Mapping[str, Sequence[float]] | None = None,
    model: float = 0.0,
    *,
    error: float = _ERROR,
) -> tuple[Change, ...]:
    """What every metric does.

    Args:
        before: results without the tuning.
        after: results with it, in pairs with those before: equal seeds.
        drawn: by metric, by which factors what :func:`ratios` says of the draws of the uncertain
            parameters differs from what it is without; as logarithms.
        model: by which part of its logarithm the model itself may be off a change; 0 if unknown.
        error: how often chance alone may make a verdict wrong. An interval of chance misses by an
            equal share of that, one for each metric that decides (Bonferroni).
    """
    share = error / _deciding(before)
    return tuple(
        _change(metric, before, after, (drawn or {}).get(metric.metric, ()), model, share)
        for metric in _metrics(before)
    )


def _deciding(results: Sequence[Result]) -> int:
    """How many metrics can decide: of jobs, of an open-loop load, of other flows."""
    if any(result.jobs for result in results):
        return 1
    return 3 if any(result.messages for result in results) else 2


def _change(
    metric: Measure,
    before: Sequence[Result],
    after: Sequence[Result],
    drawn: Sequence[float],
    model: float,
    error: float,
) -> Change:
    found = _ratios(metric, before, after)
    relative = [100 * (math.log(ratio) if metric.geometric else ratio - 1) for ratio in found]
    percent = sum(relative) / len(relative) if relative else None
    seeds = student(relative, error)
    if metric.geometric and percent is not None:
        percent = _percent_change(percent)
        seeds = seeds and Interval(low=_percent_change(seeds.low), high=_percent_change(seeds.high))
    parameters = None
    if drawn and percent is not None:
        parameters = _around(percent, parameters_of_few(drawn))
    return Change(
        metric=metric.metric,
        unit=metric.unit,
        before=_mean(metric.of(result) for result in before),
        after=_mean(metric.of(result) for result in after),
        percent=percent,
        seeds=_possible(seeds),
        parameters=parameters,
        model=_modelled(percent, model) if model and percent is not None else None,
        latency_kind=kind_of(one.latency_kind for one in before) if metric.unit == "us" else "",
    )


def _percent_change(logarithm: float) -> float:
    """Change in percent, of a hundred times the logarithm of a ratio."""
    return 100 * math.expm1(logarithm / 100)


def _around(percent: float, part: Part) -> Interval:
    """The interval that a part, of logarithms of factors, makes around a change; it holds that."""
    ends = (percent, *(100 * ((1 + percent / 100) * math.exp(end) - 1) for end in part))
    return Interval(low=min(ends), high=max(ends))


def _modelled(percent: float, part: float) -> Interval:
    """The interval of a change whose logarithm may be off by a part of itself."""
    if percent <= -100:  # noqa: PLR2004 (nothing is left)
        return Interval(low=percent, high=percent)
    off = part * abs(math.log1p(percent / 100))
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


def _ratios(metric: Measure, before: Sequence[Result], after: Sequence[Result]) -> list[float]:
    pairs = [(metric.of(b), metric.of(a)) for b, a in zip(before, after, strict=True)]
    return [a / b for b, a in pairs if b and a is not None and (a or not metric.geometric)]


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
    """The answer, the metric that decided, and a sentence with its numbers."""

    answer: Answer
    metric: str
    sentence: str


def verdict(
    found: Sequence[Change],
    *,
    open_loop: bool = False,
    max_p99_us: float | None = None,
    last: bool = True,
) -> Verdict:
    """Apply the rule of this module's docstring, with a limit of one's own if there is one.

    `last`: there will be no more runs.
    """
    real = next((change for change in found if change.metric == REAL_TIME), None)
    if real:
        return _of_jobs(real)
    tail = next(change for change in found if change.metric == TAIL)
    decided = _of_flows(found, open_loop=open_loop, last=last)
    return _vetoed(decided, tail, max_p99_us, last=last)


def _vetoed(decided: Verdict, tail: Change, max_p99_us: float | None, *, last: bool) -> Verdict:
    """The same, but a yes that costs too much latency, and what does so for certain."""
    if tail.percent is None or tail.after is None:
        return decided
    if max_p99_us is not None:
        least, most = 0.0, math.inf
        if tail.hull and tail.before:
            ends = (tail.hull.low, tail.hull.high)
            least, most = (tail.before * (1 + percent / 100) for percent in ends)
        expected = {"yes": tail.after, "cannot tell": least}.get(decided.answer, 0.0)
        if not last and decided.answer == "yes" and least <= max_p99_us < most:
            return replace(decided, answer="cannot tell")
        if expected > max_p99_us:
            value, limit = latency_text(tail.after), latency_text(max_p99_us, "g")
            above = f"{_tail(tail)} is {value}, above {limit}"
            return Verdict("no", TAIL, f"{decided.sentence}; {above}")
        return decided
    if decided.answer != "yes" or tail.percent <= TAIL_PERCENT:
        return decided
    certain = tail.hull is not None and tail.hull.low > TAIL_PERCENT
    sentence = f"{decided.sentence}, but {_tail(tail)} {change_text(tail)}"
    return Verdict("no" if certain else "cannot tell", TAIL, sentence)


def _tail(change: Change) -> str:
    return late(change.latency_kind, "p99")


def _of_flows(found: Sequence[Change], *, open_loop: bool, last: bool) -> Verdict:
    by_name = {change.metric: change for change in found}
    throughput, tail, cpu = by_name[RATE], by_name[TAIL], by_name[CPU_PER_BYTE]
    sentence = f"throughput {change_text(throughput)}, CPU time per byte {change_text(cpu)}"
    carried = throughput.direction
    if carried in {"more", "less"}:
        return Verdict("yes" if carried == "more" else "no", RATE, sentence)
    gains = [throughput.percent or 0.0]
    if open_loop:
        sentence = f"throughput {change_text(throughput)}, {_tail(tail)} {change_text(tail)}"
        longer = _decides(tail.direction, gains, last=last)
        if longer in {"more", "less"}:
            return Verdict("yes" if longer == "less" else "no", TAIL, sentence)
        sentence += f", CPU time per byte {change_text(cpu)}"
        gains.append(-(tail.percent or 0.0))
    spent = _decides(cpu.direction, gains, last=last)
    if spent == "more":
        return Verdict("no", CPU_PER_BYTE, sentence)
    if spent == "less" and not _at_risk(throughput):
        return Verdict("yes", CPU_PER_BYTE, sentence)
    if carried == spent == "same":
        return Verdict("no difference", CPU_PER_BYTE, sentence)
    return Verdict("cannot tell", CPU_PER_BYTE if carried == "same" else RATE, sentence)


def _decides(cost: Direction, gains: Sequence[float], *, last: bool) -> Direction:
    """The direction of a cost; unknown if more runs may decide the contrary by gains before it."""
    contrary = {"more": max(gains) > MARGIN_PERCENT, "less": min(gains) < -MARGIN_PERCENT}
    return cost if last or not contrary.get(cost) else "unknown"


def _of_jobs(real: Change) -> Verdict:
    answers: dict[Direction, Answer] = {"less": "yes", "more": "no", "same": "no difference"}
    answer = answers.get(real.direction, "cannot tell")
    return Verdict(answer, REAL_TIME, f"real time of the jobs {change_text(real)}")


def _at_risk(throughput: Change) -> bool:
    hull = throughput.hull
    if hull is None or throughput.percent is None:
        return True
    return throughput.percent < 0 and hull.low < -MARGIN_PERCENT


def change_text(change: Change) -> str:
    """A change with its deciding interval: ``+13.3 % (95 %: +9.8 to +16.2)``."""
    hull = change.hull
    if change.percent is None or hull is None:
        return "is not known"
    return f"{change.percent:+.1f} % (95 %: {hull.low:+.1f} to {hull.high:+.1f})"


_ORDER: tuple[Answer, ...] = ("yes", "no difference", "cannot tell", "no")


def rank(
    answer: Answer, found: Sequence[Change], *, open_loop: bool = False
) -> tuple[int, int, float]:
    """Sort key, best first: verdict, throughput in steps of the margin, CPU time per byte.

    For an open-loop load it is verdict, throughput, latency; of jobs it is verdict and real time.
    What is open and expected to be worse stands among what is worse, by how much it is.
    """
    by_name = {change.metric: change.percent or 0.0 for change in found}
    if REAL_TIME in by_name:
        last = by_name[REAL_TIME]
        worse = round(last / MARGIN_PERCENT)
    else:
        last = by_name[TAIL if open_loop else CPU_PER_BYTE]
        worse = -round(by_name[RATE] / MARGIN_PERCENT)
    if answer == "cannot tell" and worse > 0:
        answer = "no"
    return _ORDER.index(answer), worse, last


def exit_status(answers: Sequence[Answer]) -> int:
    """0: the best-ranked tuning is recommended; 1: none is; 3: cannot tell."""
    if "yes" in answers:
        return 0
    return 3 if "cannot tell" in answers else 1
