"""Whether what was found is worth it: what a what-if says, of the goal and within the limits."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from simnet.study.run.measures import FAIRNESS, LOSS, RATE
from simnet.study.whatif.verdict import Verdict, change_text, verdict

if TYPE_CHECKING:
    from simnet.study.recommend.goals import Goal, Limit
    from simnet.study.whatif.verdict import Answer, Direction
    from simnet.study.whatif.whatif import Judged

__all__ = ["judged"]


def judged(found: Judged, goal: Goal, limits: Sequence[Limit], *, open_loop: bool) -> Verdict:
    """More throughput is judged as in a what-if; p99 latency and CPU time by their own change.

    A limit makes a yes a no where it is broken for certain, and opens it where that is expected.
    """
    if found.decided_by in {LOSS, FAIRNESS}:
        return Verdict(found.verdict, found.decided_by, found.reason)
    if goal.metric == RATE:
        decided = verdict(found.changes, open_loop=open_loop, max_p99_us=math.inf)
    else:
        change = found.change(goal.metric)
        answers: dict[Direction, Answer] = {"less": "yes", "more": "no", "same": "no difference"}
        sentence = f"{goal.label(change.latency_kind)} {change_text(change)}"
        decided = Verdict(answers.get(change.direction, "cannot tell"), goal.metric, sentence)
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
