"""Which simulations answer a measurement, and which show how far off chance and parameters are.

A prediction is simulated for as long as its numbers need. A number of one run needs a long one. A
mean over many runs needs less of each, and a member of the ensemble less still: all that is taken
from it is how far its parameters move a number, from where that is with the parameters of the
prediction in a run as short. Where an answer has many cases, a few of them show that
(`Answer.few`), and there are fewer members.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final, TypeAlias

from simnet.study.validate.asking import Ask
from simnet.study.validate.document import Answer, Results, kind_of
from simnet.study.validate.kinds import log_factor
from simnet.study.work.cases import Case, Draw, Member, runs_to_completion, uncertain
from simnet.study.work.ensemble import Anchor, condition, latin_hypercube

# members of an answer with many cases, such as a mean over message sizes: one of so many
_SWEEP_SHARE: Final = 3
_DURATION: Final = "2 s"
# where a number is a mean over many runs, each of them
_PRECISION: Final = "1 %"
_LONGEST: Final = "2 s"
MEMBER_TIMES: Final = ("", "300 ms", "200 ms")
_FIRST_SEED: Final = 1000
# cases whose draws are at hand: members of one case are asked for one after the other
_MOST_DRAWN: Final = 64


Numbers: TypeAlias = tuple[dict[str, float], dict[str, float], list[dict[str, float]]]
"""What is predicted, what members are compared with, and the members, each by key."""


@dataclass(frozen=True)
class Simulations:
    """What is simulated for one answer."""

    of: Answer  # the answer
    members: int  # the size of the ensemble, 0 for none
    duration: str | None = None  # of the prediction, where it is chosen

    @property
    def asks(self) -> list[Ask]:
        """The prediction, what members are compared with, and the members."""
        prediction = Ask(self.of, self._prediction)
        return [prediction, *(replace(one, like=prediction) for one in self.ensemble)]

    def numbers(self, done: Sequence[Results]) -> Numbers:
        """The numbers of results that are in the order of `asks`."""
        predicted = self.of.numbers(done[0])
        if self.of.ensemble or len(done) == 1:
            return predicted, predicted, [self.of.numbers(one) for one in done[1:]]
        return predicted, self.of.numbers(done[1]), [self.of.numbers(one) for one in done[2:]]

    def _prediction(self, case: Case) -> Member:
        if runs_to_completion(case):
            return Member(case)
        time = self.duration or (self.of.times[0] if self.of.times else None)
        if time or len(self.of.cases) == 1:
            return Member(case, duration=time or _DURATION)
        return Member(case, duration=_LONGEST, precision=_PRECISION)

    @property
    def ensemble(self) -> list[Ask]:
        """What members are compared with, and the members.

        Where the draws are those of a document, each is simulated as the prediction is, and
        compared with that.
        """
        if self.of.ensemble:
            return [Ask(self.of, draw.member) for draw in self.of.ensemble()[: self.members]]
        if not self.members:
            return []
        many = len(self.of.cases) > 1
        size = -(-self.members // _SWEEP_SHARE) if many else self.members
        return [Ask(self.of.shortened, self._drawn(number)) for number in range(size + 1)]

    def _drawn(self, number: int) -> Callable[[Case], Member]:
        _, duration, warm_up = self.of.times or MEMBER_TIMES

        def member(case: Case) -> Member:
            draw = _draws(case, self.members)[number]
            return replace(draw.member(case), duration=duration, warm_up=warm_up)

        return member


@lru_cache(maxsize=_MOST_DRAWN)
def _draws(case: Case, members: int) -> tuple[Draw, ...]:
    """The parameters of the prediction, and as many drawn ones as there are members."""
    points = [{}, *latin_hypercube(uncertain(case), members)]
    return tuple(Draw(_FIRST_SEED + number, point) for number, point in enumerate(points))


def consistent(name: str, of: Answer, numbers: Mapping[str, Numbers]) -> list[dict[str, float]]:
    """By which factors members differ from the prediction's parameters, as logarithms, by key.

    They are moved to where the members are as near to what was fitted as the prediction is, give or
    take the error of that.

    Args:
        name: of the measurement.
        of: its answer.
        numbers: by id, those of the measurement and of its anchors.
    """
    members = _factors(name, numbers)
    fitted = {anchor.id: _factors(anchor.id, numbers) for anchor in of.anchors}
    size = min([len(members), *map(len, fitted.values())])
    anchors = {
        f"{anchor.id}:{key}": Anchor(0.0, anchor.error)
        for anchor in of.anchors
        for key in anchor.keys
    }
    at_anchors = [
        {
            f"{anchor.id}:{key}": fitted[anchor.id][number][key]
            for anchor in of.anchors
            for key in anchor.keys
        }
        for number in range(size)
    ]
    return condition(members[:size], at_anchors, anchors)


def _factors(name: str, numbers: Mapping[str, Numbers]) -> list[dict[str, float]]:
    _, base, members = numbers[name]
    kinds = {key: kind_of(name, key) for key in base}
    return [
        {key: log_factor(member[key], base[key], kind) for key, kind in kinds.items()}
        for member in members
    ]
