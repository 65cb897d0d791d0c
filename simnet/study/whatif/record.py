"""The record of changes: what a measured change was said to be, by a fit that had not seen it.

Nothing is simulated. Changes are those of which both sides were measured and predicted
(`validate.changes`). The interval is the one that `simnet whatif` gives a change for the errors of
the model, learned without both configurations. Chance and unknown parameters, which make the
interval of an answer wider, are left out: this is the model alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, computed_field

from simnet.errors import InputError
from simnet.spelling import nearest_or_all
from simnet.study.figures import drawn
from simnet.study.run.arguments import names_of
from simnet.study.validate.changes import KnownChange, discrepancy_of_changes, known_changes
from simnet.study.validate.document import Sort
from simnet.study.whatif.verdict import LITTLE_PERCENT, Interval, modelled

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Outcome: TypeAlias = Literal["right", "abstained", "wrong"]
OUTCOMES: Final[tuple[Outcome, ...]] = ("right", "abstained", "wrong")


class ScoredChange(BaseModel):
    """A change that was measured, and what was said of it. Changes are in percent.

    Of shares of a CPU, a percent is one of 100 points more than the share.

    Attributes:
        before, after: ids of the numbers; equal where the number itself is a ratio or a gain.
        key: of the number.
        kind: of the quantity.
        sort: of what differs: a setting, the load or hardware.
        measured, predicted: the change.
        low, high: the interval of the prediction.
        looked_at: whether a side was known while mechanisms were chosen.
    """

    model_config = ConfigDict(frozen=True)

    before: str
    after: str
    key: str
    kind: str
    sort: Sort
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

        The same: as far as the interval says. Abstained: nothing was said.
        """
        simulated, came = (Interval(low=one, high=one) for one in (self.predicted, self.measured))
        interval = Interval(low=self.low, high=self.high)
        said = interval.direction(simulated)
        if said == "same" or (said == "unknown" and interval.within(LITTLE_PERCENT)):
            return "right" if self.covered else "wrong"
        if said == "unknown":
            return "abstained"
        return "right" if came.direction(came) == said else "wrong"


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
    known = known_changes()
    found = ChangeRecord(tuple(_scored(one, known) for one in known))
    wanted = names_of(ids, "ids")
    for name in wanted:
        if name not in found.systems:
            hint = nearest_or_all(name, found.systems)
            raise InputError(f"no change of it was measured{hint}", key=name)
    if not wanted:
        return found
    return ChangeRecord(tuple(one for one in found.changes if one.system in wanted))


def _scored(change: KnownChange, known: Sequence[KnownChange]) -> ScoredChange:
    """A change with the interval that is learned without both of its configurations."""
    others = [one for one in known if not one.configurations & change.configurations]
    measured, predicted = (100 * math.expm1(one) for one in (change.measured, change.predicted))
    interval = modelled(predicted, discrepancy_of_changes(others, change.kind, change.sort))
    return ScoredChange(
        before=change.before.id,
        after=change.after.id,
        key=change.before.key,
        kind=change.kind,
        sort=change.sort,
        measured=measured,
        predicted=predicted,
        low=interval.low,
        high=interval.high,
        looked_at=change.looked_at,
    )
