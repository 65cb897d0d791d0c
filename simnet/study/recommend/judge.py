"""Whether what was found is worth it: what a what-if says, of the goal and within the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from simnet.study.run.measures import FAIRNESS, LOSS
from simnet.study.whatif.aim import aim_of
from simnet.study.whatif.verdict import Verdict, verdict

if TYPE_CHECKING:
    from simnet.study.recommend.goals import Goal, Limit
    from simnet.study.whatif.verdict import Answer
    from simnet.study.whatif.whatif import Judged


def judged(found: Judged, goal: Goal, limits: Sequence[Limit], load: str) -> Verdict:
    """As in a what-if with the goal, but for what must be kept: the limits say that here.

    A limit makes a yes a no where it is broken for certain, and opens it where that is expected.
    """
    if found.decided_by in {LOSS, FAIRNESS}:
        return Verdict(found.verdict, found.decided_by, found.reason)
    decided = verdict(found.changes, replace(aim_of(load, goal.name), kept=()))
    broken = [one for limit in limits if (one := _broken(found, limit))]
    if decided.answer != "yes" or not broken:
        return decided
    answer, limit = min(broken, key=lambda one: one[0] != "no")
    sentence = f"{decided.sentence}, but {limit.metric.replace('_', ' ')}"
    return Verdict(answer, limit.metric, f"{sentence} breaks the limit {limit.text}")


def _broken(found: Judged, limit: Limit) -> tuple[Answer, Limit] | None:
    change = next((one for one in found.changes if one.metric == limit.metric), None)
    if change is None or change.after is None or change.percent is None:
        return None
    sign = -1 if limit.least else 1
    if not limit.relative:
        return ("no", limit) if sign * (change.after - limit.value) > 0 else None
    if sign * (change.percent - limit.value) <= 0:
        return None
    hull = change.hull
    nearest = None if hull is None else hull.high if limit.least else hull.low
    certain = nearest is not None and sign * (nearest - limit.value) > 0
    return ("no" if certain else "cannot tell"), limit
