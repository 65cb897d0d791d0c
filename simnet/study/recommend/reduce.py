"""The shortest list of changes that has nearly all of a gain.

A search finds lists with many changes of which few matter, and the first of many runs owes some of
its place to chance. So the best lists, and shorter ones that came near, are simulated again, longer
and with other seeds. From the shortest that still reaches the share, parts are left out, halves
first, then single changes, until none can be missed (delta debugging: Zeller and Hildebrandt,
Simplifying and isolating failure-inducing input, IEEE TSE 28 (2002) 183).
"""

from collections.abc import Sequence
from statistics import fmean
from typing import Final

from simnet.study.recommend.bench import Bench, Change, Changes, Level, Trial
from simnet.study.run.measures import TAIL

SHARE: Final = 0.95
_BEST: Final = 4
_SHORT: Final = 6
_PARTS: Final = 6


def finalists(found: Sequence[Trial]) -> list[Changes]:
    """The best lists of a search, and the shortest of those that came near, best first."""
    allowed = [one for one in found if one.allowed and one.gain > 0]
    if not allowed:
        return []
    near = [one for one in allowed if one.gain >= SHARE * allowed[0].gain]
    short = sorted(near, key=lambda one: len(one.changes))[:_SHORT]
    return list(dict.fromkeys(one.changes for one in (*allowed[:_BEST], *short)))


def reduced(bench: Bench, lists: Sequence[Changes], level: Level) -> tuple[Trial, Changes]:
    """The best of the lists, and the shortest that has the share of its gain.

    The change of it that is missed most when it is left out comes first. Both are empty where no
    list gains anything with these seeds.
    """
    tried = bench.trials(lists, level) if lists else []
    tried = [one for one in tried if one.allowed and one.gain > 0]
    if not tried:
        return Trial((), (), (), 0.0), ()
    best = max(tried, key=lambda one: one.gain)
    enough = [one for one in tried if one.gain >= SHARE * best.gain]
    kept = min(enough, key=lambda one: (len(one.changes), _tail(one), -one.gain))
    size = max(-(-len(kept.changes) // _PARTS), 1)
    while True:
        without = _without(bench, kept.changes, size, level)
        spare = [one for one in without if one.allowed and one.gain >= SHARE * best.gain]
        if spare:
            kept = _all_spared(bench, kept, spare, best, level)
            size = min(size, max(-(-len(kept.changes) // _PARTS), 1))
        elif size > 1:
            size //= 2
        else:
            missed = sorted(without, key=lambda one: one.gain)
            left_out = (next(o for o in kept.changes if o not in t.changes) for t in missed)
            return best, tuple(left_out) or kept.changes


def _tail(trial: Trial) -> float:
    """The p99 latency, for a choice between lists that are as short."""
    return fmean(one.get(TAIL, 0.0) for one in trial.runs)


def _without(bench: Bench, changes: Changes, size: int, level: Level) -> list[Trial]:
    """What is left of a list without each of its parts."""
    if len(changes) <= 1:
        return []
    lists = [(*changes[:start], *changes[start + size :]) for start in range(0, len(changes), size)]
    return bench.trials([one for one in lists if one], level)


def _all_spared(
    bench: Bench, kept: Trial, spare: Sequence[Trial], best: Trial, level: Level
) -> Trial:
    """Without all parts that can be missed one by one, if they can be missed together."""
    left: set[Change] = set(kept.changes)
    for one in spare:
        left &= set(one.changes)
    changes = tuple(change for change in kept.changes if change in left)
    if len(spare) > 1 and changes:
        (together,) = bench.trials([changes], level)
        if together.allowed and together.gain >= SHARE * best.gain:
            return together
    return max(spare, key=lambda one: one.gain)
