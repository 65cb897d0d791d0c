"""What a change did, beside what was predicted of it: `simnet compare --before`.

A model may be off before a change and after it alike, and say well what the change does. So what
was measured before is where the prediction begins: the predicted factor, with its interval, is
applied to that. The interval has two parts: by which factor each draw of the uncertain parameters
changes the metric, and how far the model has been off changes that no fit had seen
(`discrepancy_of_changes`). Of what was measured, the interval is Welch's, on the scale of
the metric's kind, where there are several captures before and after.

Source: Welch, The generalization of Student's problem when several different population variances
are involved, Biometrika 34 (1947) 28.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simnet.study.compare.metrics import kind_of
from simnet.study.compare.row import Row
from simnet.study.validate.changes import discrepancy_of_changes, known_changes
from simnet.study.validate.intervals import hull, parameters
from simnet.study.validate.kinds import factor, log_factor

_CONFIDENCE_TAIL = 0.975
_SEVERAL = 2


@dataclass(frozen=True)
class Moved:
    """Numbers of the system before and after a change, by metric."""

    predicted: tuple[Mapping[str, float], Mapping[str, float]]  # before, and after
    # before and after, of the parameters as predicted and then of each draw
    members: tuple[Sequence[Mapping[str, float]], Sequence[Mapping[str, float]]]

    def by(self, metric: str) -> tuple[float, list[float]]:
        """By which factor the change is predicted to move a metric, and each draw, as logarithms.

        The draws' are beside that of the parameters as predicted.
        """
        kind = kind_of(metric)
        before, after = self.predicted
        whole = log_factor(after[metric], before[metric], kind)
        if len(self.members[0]) != len(self.members[1]):
            # the change makes other parameters uncertain
            return whole, []
        each = [
            log_factor(now[metric], was[metric], kind)
            for was, now in zip(*self.members, strict=True)
            if metric in was and metric in now
        ]
        return whole, [one - each[0] for one in each[1:]]


def changed(metric: str, moved: Moved, before: Sequence[float], after: Sequence[float]) -> Row:
    """One metric: what it was, what it was predicted to become, and what it became.

    Args:
        metric: its name.
        moved: what was predicted.
        before: what was measured before the change, once a capture.
        after: what was measured after it.
    """
    kind = kind_of(metric)
    was, now = (sum(values) / len(values) for values in (before, after))
    change, draws = moved.by(metric)
    off = discrepancy_of_changes(known_changes(), kind).of(change)
    expected = factor(was, change, kind)
    low, high = hull(expected, (parameters(draws), (-off, off)), kind)
    below, above = _measured(before, after, kind)
    return Row(
        metric=metric,
        kind=kind,
        before=was,
        predicted=expected,
        low=low,
        high=high,
        measured=now,
        captures=min(len(before), len(after)),
        measured_low=below,
        measured_high=above,
        difference=now - expected,
        percent=100 * (now / expected - 1) if expected else None,
        inside=below <= high and above >= low,
    )


def _measured(before: Sequence[float], after: Sequence[float], kind: str) -> tuple[float, float]:
    """The interval of what was measured after a change, given the mean before it."""
    was, now = (sum(values) / len(values) for values in (before, after))
    if min(len(before), len(after)) < _SEVERAL or not was:
        return now, now
    first, last = ([log_factor(one, was, kind) for one in values] for values in (before, after))
    from scipy.special import stdtrit  # scipy.stats takes a second to load

    parts = [_variance_of_mean(values) for values in (first, last)]
    total = sum(parts)
    if not total:
        return now, now
    freedom = total**2 / sum(
        part**2 / (len(values) - 1) for part, values in zip(parts, (first, last), strict=True)
    )
    half = float(stdtrit(freedom, _CONFIDENCE_TAIL)) * math.sqrt(total)
    return factor(now, -half, kind), factor(now, half, kind)


def _variance_of_mean(values: Sequence[float]) -> float:
    mean = sum(values) / len(values)
    return sum((one - mean) ** 2 for one in values) / (len(values) - 1) / len(values)
