"""The record of changes: what a measured change was said to be, by a fit that had not seen it.

Nothing is simulated. Where the configurations of two measured numbers differ in one thing (their
ids in one part, or in one of the names that a plus puts together), one divided by the other is a
change, and so is each number that was measured as a ratio or as a gain. Each side was predicted
with its configuration left out of the fit (`validate.residuals`); of systems of which nothing was
left out, it was predicted and frozen before one of the two numbers was known (`validate.record`).
The interval is the one that `simnet whatif` gives a change for the errors of the model, learned
without both configurations. Chance and unknown parameters, which make the interval of an answer
wider, are left out: this is the model alone.
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, computed_field

from simnet.errors import InputError
from simnet.spelling import nearest
from simnet.study.figures import drawn
from simnet.study.run.arguments import names_of
from simnet.study.validate.document import kind_of
from simnet.study.validate.intervals import discrepancy_of_changes
from simnet.study.validate.kinds import log_factor
from simnet.study.validate.measurements import measurements
from simnet.study.validate.predictions import predictions
from simnet.study.validate.residuals import Residual, residuals
from simnet.study.whatif.verdict import Interval, modelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Outcome: TypeAlias = Literal["right", "abstained", "wrong"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("right", "abstained", "wrong")
_CHANGES: Final = frozenset({"ratio", "gain"})
# what a configuration is called to which nothing was added
_NOTHING: Final = "none"


class ScoredChange(BaseModel):
    """A change that was measured, and what was said of it. Changes are in percent.

    Of shares of a CPU, a percent is one of 100 points more than the share.

    Attributes:
        before, after: ids of the numbers; equal where the number itself is a ratio or a gain.
        key: of the number.
        kind: of the quantity.
        measured, predicted: the change.
        low, high: the interval of the prediction.
        looked_at: whether a side was known while mechanisms were chosen.
    """

    model_config = ConfigDict(frozen=True)

    before: str
    after: str
    key: str
    kind: str
    measured: float
    predicted: float
    low: float
    high: float
    looked_at: bool

    @property
    def system(self) -> str:
        """The system that was measured: the first part of the ids."""
        return self.before.partition(".")[0]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def covered(self) -> bool:
        """Whether the change lies inside the interval."""
        return self.low <= self.measured <= self.high

    @computed_field  # type: ignore[prop-decorator]
    @property
    def outcome(self) -> Outcome:
        """Whether it was said to become more, less or the same, and whether it did.

        Abstained: the interval reaches from less to more.
        """
        said = Interval(low=self.low, high=self.high).direction
        if said == "unknown":
            return "abstained"
        came = Interval(low=self.measured, high=self.measured).direction
        return "right" if said == came else "wrong"


@dataclass(frozen=True)
class ChangeRecord:
    """Changes with what was said of them, by system."""

    changes: tuple[ScoredChange, ...]

    def of(self, system: str) -> ChangeRecord:
        """What is about one system."""
        return ChangeRecord(tuple(one for one in self.changes if one.system == system))

    @property
    def unseen(self) -> ChangeRecord:
        """Those whose numbers nobody knew while mechanisms were chosen."""
        return ChangeRecord(tuple(one for one in self.changes if not one.looked_at))

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order of their names."""
        return tuple(sorted({one.system for one in self.changes}))

    def count(self, outcome: Outcome) -> int:
        """How many changes had this outcome."""
        return sum(one.outcome == outcome for one in self.changes)

    @property
    def coverage(self) -> float:
        """Share of the changes inside their interval."""
        return sum(one.covered for one in self.changes) / len(self.changes)

    def to_json(self) -> list[dict[str, Any]]:
        """Each change as `simnet validate --changes --json` prints it."""
        return [one.model_dump() for one in self.changes]

    def plot(self) -> Figure:
        """Predicted beside measured changes, by outcome; see `figures.record`."""
        return drawn("record:changes", self)


def record_of_changes(ids: str | Sequence[str] = ()) -> ChangeRecord:
    """Return the record of some systems, of all by default.

    Args:
        ids: first parts of ids of measurements, such as `memcached`.

    Raises:
        InputError: a system of which no two numbers differ in one thing.
    """
    known = residuals()
    left_out = tuple(_scored(known))
    others = _frozen(known, {one.system for one in left_out})
    found = ChangeRecord((*left_out, *others))
    wanted = names_of(ids, "ids")
    for name in wanted:
        if name not in found.systems:
            hint = nearest(name, found.systems)
            raise InputError(f"no change of it was measured{hint}", key=name)
    if not wanted:
        return found
    return ChangeRecord(tuple(one for one in found.changes if one.system in wanted))


def _scored(known: Sequence[Residual]) -> Iterator[ScoredChange]:
    for one in known:
        if one.kind in _CHANGES:
            base = 1.0 if one.kind == "ratio" else 0.0
            logs = [log_factor(value, base, one.kind) for value in (one.measured, one.left_out)]
            yield _change(one, one, logs, known)
    pairs = combinations((one for one in known if one.kind not in _CHANGES), 2)
    for before, after in pairs:
        if before.key == after.key and _differ_in_one(before.id, after.id):
            yield _between(before, after, known)


def _frozen(known: Sequence[Residual], systems: Container[str]) -> Iterator[ScoredChange]:
    """Changes of other systems, of what the newest file says of both sides."""
    sides: dict[tuple[str, str], Residual] = {}
    blind = set()
    for frozen in predictions().values():
        for row in frozen.rows:
            one = measurements().get(row.id)
            if one is None or row.key not in one.value or row.id.partition(".")[0] in systems:
                continue
            if one.blind(row.key):
                blind.add((row.id, row.key))
            sides[row.id, row.key] = Residual(
                id=row.id, key=row.key, kind=kind_of(row.id, row.key), configuration=row.id,
                measured=one.value[row.key], fitted=row.predicted, left_out=row.predicted,
                looked_at=one.looked_at(row.key),
            )  # fmt: skip
    for (name, key), before in sides.items():
        for (other, others_key), after in sides.items():
            if key == others_key and _adds_one(name, other) and {(name, key), (other, key)} & blind:
                yield _between(before, after, known)


def _between(before: Residual, after: Residual, known: Sequence[Residual]) -> ScoredChange:
    logs = [
        log_factor(after.measured, before.measured, before.kind),
        log_factor(after.left_out, before.left_out, before.kind),
    ]
    return _change(before, after, logs, known)


def _change(
    before: Residual, after: Residual, logs: Sequence[float], known: Sequence[Residual]
) -> ScoredChange:
    own = {before.configuration, after.configuration}
    part = discrepancy_of_changes([one for one in known if one.configuration not in own])
    measured, predicted = (100 * math.expm1(one) for one in logs)
    interval = modelled(predicted, part)
    return ScoredChange(
        before=before.id,
        after=after.id,
        key=before.key,
        kind=before.kind,
        measured=measured,
        predicted=predicted,
        low=interval.low,
        high=interval.high,
        looked_at=before.looked_at or after.looked_at,
    )


def _differ_in_one(one: str, other: str) -> bool:
    parts = one.split("."), other.split(".")
    return len(parts[0]) == len(parts[1]) and sum(a != b for a, b in zip(*parts, strict=True)) == 1


def _adds_one(one: str, other: str) -> bool:
    """Whether the configuration of an id is that of another and one thing more."""
    (system, _, fewer), (same, _, more) = one.partition("."), other.partition(".")
    before, after = (frozenset(names.split("+")) - {_NOTHING} for names in (fewer, more))
    return system == same and before < after and len(after - before) == 1
