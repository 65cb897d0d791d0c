"""Whether short runs were long enough: nothing moved on, and nothing waited for a slow timer.

A change that grows or shrinks while it is measured is not yet what it will be. So the second half
of each pair of runs is compared with the first: the Student interval of the difference, over the
pairs, must not lie beyond what counts as the same. Several numbers share the error of 5 %. Halves
of one run are no independent values, pairs with other seeds are. A segment that is sent again may
have waited 200 ms for its timer (RFC 6298 with Linux's TCP_RTO_MIN), which is longer than short
runs are.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

from simnet.study.run.result import Result
from simnet.study.run.run import LATENCY
from simnet.study.whatif.verdict import MARGIN_PERCENT, student

_ERROR: Final = 0.05


def settled(before: Sequence[Result], after: Sequence[Result], *, latency: bool = True) -> bool:
    """Whether runs with and without a tuning, in pairs, were past their warm-up.

    Where nothing is known of halves, or a half had nothing, they were not.

    Args:
        before: runs without the tuning.
        after: runs with it.
        latency: whether a latency that moves on counts, too.
    """
    pairs = list(zip(before, after, strict=True))
    if any(flow.retransmissions for pair in pairs for run in pair for flow in run.tcp):
        return False
    names = {name for pair in pairs for run in pair for name in run.second_half}
    if not latency:
        names.discard(LATENCY)
    error = _ERROR / max(len(names), 1)
    return bool(names) and all(_stays(list(_grown(pairs, name)), error) for name in names)


def _grown(pairs: Sequence[tuple[Result, Result]], name: str) -> Iterator[float | None]:
    """Of each pair: by how many percent the change is larger in the second half."""
    for was, now in pairs:
        halves = was.second_half.get(name), now.second_half.get(name)
        known = [half for half in halves if half]
        yield 100 * math.log(known[1] / known[0]) if len(known) == len(halves) else None


def _stays(grown: Sequence[float | None], error: float) -> bool:
    known = [one for one in grown if one is not None]
    if len(known) < len(grown):
        return False
    interval = student(known, error)
    return interval is None or (interval.low <= MARGIN_PERCENT and interval.high >= -MARGIN_PERCENT)
