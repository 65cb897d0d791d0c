"""Which combinations of values a screening simulates.

A path turns every factor once, one at a time, in an order and from a start that chance draws:
Morris, Technometrics 33 (1991) 161; sampling is SALib's. Two rules save most of the runs:

- What has changed nothing so far comes first in a path, in one block. All runs have the same seed,
  so where the results at both ends of the block are the same to the last bit, nothing in it did
  anything, and what lies between is not simulated. Otherwise the block is halved. (Bettonville and
  Kleijnen, European Journal of Operational Research 96 (1997) 180: sequential bifurcation.)
- A knob that has been turned twice, and is within chance, is turned no more.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Final, TypeAlias

from simnet.study.run.result import Result
from simnet.study.screen.factors import Factor, turned
from simnet.study.work.cases import Case

_LEVELS: Final = 4
# paths that are drawn for each that is wanted: some steps of them do not go together
_SPARE: Final = 8
# turns after which a factor may be left alone
_ENOUGH: Final = 2

Simulated: TypeAlias = "Callable[[Sequence[Case]], Mapping[Case, Result]]"
"""Simulates cases, those that were simulated before not again."""


@dataclass(frozen=True)
class Turn:
    """A factor turned to a later of its values, and the results before and after."""

    factor: Factor
    before: Result
    after: Result


def same(one: Result, other: Result) -> bool:
    """Whether two results of one seed are the same to the last bit."""
    names = ("cpus", "work", "ports", "flows", "messages")
    return all(getattr(one, name) == getattr(other, name) for name in names)


def turns(
    base: Case,
    every: Sequence[Factor],
    most: int,
    seed: int,
    simulated: Simulated,
    within_chance: Callable[[Sequence[Turn]], bool],
) -> dict[Factor, list[Turn]]:
    """Turn each factor up to so many times, as far as combinations go together."""
    found: dict[Factor, list[Turn]] = {factor: [] for factor in every}
    settled: set[Factor] = set()
    for start, end, order in _drawn(every, most, seed):
        left = [one for one in order if len(found[one]) < most and one not in settled]
        if not left:
            break
        # until anything is known: the kernel's knobs are many, and few of them matter in one test
        quiet = [
            one
            for one in left
            if all(same(turn.before, turn.after) for turn in found[one])
            and (found[one] or one.of_kernel)
        ]
        path = _Path(base, every, start, end, [*quiet, *(o for o in left if o not in quiet)])
        for turn in path.turns(len(quiet), simulated):
            found[turn.factor].append(turn)
        settled |= {
            one
            for one in left
            if one not in quiet
            and not one.structure
            and len(found[one]) >= _ENOUGH
            and within_chance(found[one])
        }
    return found


def alone(
    base: Case, every: Sequence[Factor], wanted: Sequence[Factor], simulated: Simulated
) -> dict[Factor, list[Turn]]:
    """Turn these on the system as it is: each tuning by itself, and the knobs as one block.

    In a path a tuning may be void each time: of several that set the same, the last one wins.
    """
    found: dict[Factor, list[Turn]] = {factor: [] for factor in wanted}
    start = {factor: factor.usual for factor in every}
    end = start | {
        one: next(value for value in reversed(one.values) if value != one.usual) for one in wanted
    }
    knobs = [one for one in wanted if not one.structure]
    for order in (*([one] for one in wanted if one.structure), knobs):
        for turn in _Path(base, every, start, end, order).turns(len(order), simulated):
            found[turn.factor].append(turn)
    return found


_Values: TypeAlias = "dict[Factor, str]"


def _drawn(
    every: Sequence[Factor], paths: int, seed: int
) -> Iterator[tuple[_Values, _Values, list[Factor]]]:
    """The values at the start and at the end of each path, and the order."""
    from SALib.sample import morris  # takes longer to load than a short run

    names = [str(number) for number in range(len(every))]
    problem = {"num_vars": len(every), "names": names, "bounds": [[0.0, 1.0]] * len(every)}
    points = morris.sample(problem, paths * _SPARE, num_levels=_LEVELS, seed=seed).tolist()
    for first in range(0, len(points), len(every) + 1):
        path = [_values(every, point) for point in points[first : first + len(every) + 1]]
        places = {one: n for one in every for n, at in enumerate(path) if at[one] == path[0][one]}
        yield path[0], path[-1], sorted(every, key=places.__getitem__)


def _values(every: Sequence[Factor], point: Sequence[float]) -> _Values:
    """The value of each factor at a point of the unit cube."""
    return {factor: factor.at(share) for factor, share in zip(every, point, strict=True)}


class _Path:
    """One path: point number `n` has the first `n` factors of the order at their last values."""

    def __init__(
        self,
        base: Case,
        every: Sequence[Factor],
        start: _Values,
        end: _Values,
        order: Sequence[Factor],
    ) -> None:
        self._base = base
        self._every = every
        self._start = start
        self._end = end
        self._order = order
        self._cases: dict[int, Case | None] = {}

    def turns(self, quiet: int, simulated: Simulated) -> Iterator[Turn]:
        """The turns of the order, the first `quiet` of them as a block."""
        # where the start does not go, nothing of the block does
        spans = [(0, quiet)] if quiet and self._case(0) is not None else []
        spans += [(number, number + 1) for number in range(quiet, len(self._order))]
        while spans:
            legal: dict[tuple[int, int], tuple[Case, Case]] = {}
            for low, high in spans:
                before, after = self._case(low), self._case(high)
                if before is not None and after is not None:
                    legal[low, high] = before, after
            results = simulated(list(dict.fromkeys(chain.from_iterable(legal.values()))))
            halves: list[tuple[int, int]] = []
            for low, high in spans:
                pair = [results[case] for case in legal.get((low, high), ())]
                if pair and (high - low == 1 or same(*pair)):
                    yield from self._turns(low, high, pair)
                elif high - low > 1:
                    middle = (low + high) // 2
                    halves += [(low, middle), (middle, high)]
            spans = halves

    def _turns(self, low: int, high: int, ends: Sequence[Result]) -> Iterator[Turn]:
        for factor in self._order[low:high]:
            places = [factor.values.index(at[factor]) for at in (self._start, self._end)]
            yield Turn(factor, *(ends if places[0] < places[1] else reversed(ends)))

    def _case(self, number: int) -> Case | None:
        if number not in self._cases:
            ended = set(self._order[:number])
            values = [(self._end if one in ended else self._start)[one] for one in self._every]
            self._cases[number] = turned(self._base, self._every, values)
        return self._cases[number]
