"""What no gain is worth: packets lost, flows that starve.

A yes becomes a no where the share of packets that are dropped rises by more than a percentage
point for certain, where a flow gets nothing in any run with the tuning and something in every run
without, or where Jain's index of the flows' rates falls by more than a tenth for certain (Jain,
Chiu and Hawe, A quantitative measure of fairness and discrimination, DEC-TR-301, 1984: 1 for equal
rates, 1/n where one of n flows has all). It is open where that is only expected. Only flows are
compared that compete (`measures.alike`), and only where the one with least gets less than before:
that others gain more than it does is no harm.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from simnet.printable import few
from simnet.study.run.measures import FAIRNESS, LOSS, alike, fairness
from simnet.study.run.result import Result
from simnet.study.whatif.verdict import Interval, Verdict, student

LOSS_POINTS: Final = 1.0
FAIRNESS_PERCENT: Final = 10.0


def vetoed(
    decided: Verdict, before: Sequence[Result], after: Sequence[Result], error: float
) -> Verdict:
    """The same verdict, but a yes that costs too much; `error`: how often intervals may miss."""
    if decided.answer != "yes":
        return decided
    starved = _starved(before, after)
    if starved:
        sentence = f"{decided.sentence}, but {len(starved)} of {len(after[0].flows)} flows"
        return Verdict("no", FAIRNESS, f"{sentence} get nothing: {few(starved)}")
    pairs = list(zip(before, after, strict=True))
    lost = [100 * (a.loss - b.loss) for b, a in pairs if a.loss is not None and b.loss is not None]
    indices = [(fairness(b), fairness(a)) for b, a in pairs]
    fell = [100 * (1 - a / b) for b, a in indices if a and b]
    if sum(_least(a) for a in after) >= sum(_least(b) for b in before):
        fell = []
    return (
        _veto(decided, lost, LOSS_POINTS, error, LOSS, "loss of packets rises by", "points")
        or _veto(decided, fell, FAIRNESS_PERCENT, error, FAIRNESS, "Jain's index falls by", "%")
        or decided
    )


def _veto(  # noqa: PLR0917 (a limit and how it is told)
    decided: Verdict,
    rises: Sequence[float],
    limit: float,
    error: float,
    metric: str,
    what: str,
    unit: str,
) -> Verdict | None:
    mean = sum(rises) / len(rises) if rises else 0.0
    if mean <= limit:
        return None
    chance: Interval | None = student(rises, error)
    certain = chance is not None and chance.low > limit
    sentence = f"{decided.sentence}, but {what} {mean:.1f} {unit}"
    return Verdict("no" if certain else "cannot tell", metric, sentence)


def _least(result: Result) -> float:
    """What the flows with least get of those that are alike, bit/s."""
    return sum(min(flow.goodput_bps for flow in flows) for flows in alike(result))


def _starved(before: Sequence[Result], after: Sequence[Result]) -> list[str]:
    """Flows that get nothing in any run with the tuning, and something in each without."""
    silent = set.intersection(*(set(one.silent) for one in after))
    served = {flow.name for flow in before[0].flows} - {n for one in before for n in one.silent}
    return sorted(silent & served)
