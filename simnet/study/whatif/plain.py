"""A verdict for readers who know no statistics: what decides, what is expected, why it is open."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

from simnet.printable import capital
from simnet.study.run.measures import METRICS
from simnet.study.whatif.verdict import (
    called,
    change_text,
    interval_text,
    percent_text,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.study.whatif.verdict import Change
    from simnet.study.whatif.whatif import Judged

# what an interval is made of, and what would make it narrower
_WHY: Final = {
    "seeds": "it differs from run to run by chance, and few were simulated",
    "parameters": "it depends on values of this host that no file says",
    "model": "such changes were predicted no better where they were measured",
}


def plain(judged: Judged, judged_by: Sequence[str]) -> str:
    """Return what a tuning does in words, with the measure that decides and why it is open.

    Args:
        judged: the tuning.
        judged_by: metrics that count, what decides first at the front.
    """
    decisive = next((one for one in judged.changes if one.metric == judged.decided_by), None)
    if decisive is None or decisive.hull is None:
        return judged.reason
    if judged.verdict == "no difference":
        counts = _listed([_name(judged, name) for name in judged_by])
        hulls = [one.hull for one in judged.changes if one.metric in judged_by and one.hull]
        most = max(abs(end) for hull in hulls for end in (hull.low, hull.high))
        return f"{capital(counts)} would stay about the same, within {math.ceil(most)} %"
    if not _is_open(judged, decisive, judged_by):
        return judged.reason
    counted = "counts most" if decisive.metric == judged_by[0] else "counts"
    wanted = "more" if METRICS[decisive.metric].largest else "less"
    other = "less" if wanted == "more" else "more"
    expected, possible = percent_text(decisive), interval_text(decisive.hull)
    told = (
        f"{called(decisive)} {counted}, and {wanted} is better. Expected is {expected}, but"
        f" anything from {possible} % is possible, so it may as well be {other}:"
        f" {_WHY[judged.widest(decisive)]}"
    )
    rest = [one for one in judged_by if one != decisive.metric]
    changes = {one.metric: one for one in judged.changes}
    still_open = [name for name in rest if name in changes and changes[name].direction == "unknown"]
    if still_open:
        names = _listed([_name(judged, name) for name in still_open])
        told += f". {capital(names)} {'is' if len(still_open) == 1 else 'are'} as open"
    return capital(told)


def _is_open(judged: Judged, decisive: Change, judged_by: Sequence[str]) -> bool:
    """Whether nothing but the width of an interval makes it open."""
    return (
        judged.verdict == "cannot tell"
        and decisive.metric in judged_by
        and decisive.direction == "unknown"
        and change_text(decisive) in judged.reason
        and ", but " not in judged.reason
    )


def _name(judged: Judged, metric: str) -> str:
    found = next((one for one in judged.changes if one.metric == metric), None)
    return METRICS[metric].said if found is None else called(found)


def _listed(names: Sequence[str]) -> str:
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last
