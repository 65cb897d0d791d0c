"""The record: what was predicted before a number was known, beside the number.

Nothing is simulated: the rows are those of `validation/predictions/` that were frozen without their
number, and a frozen row never changes.
"""

from __future__ import annotations

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, computed_field

from simnet.errors import InputError
from simnet.spelling import nearest
from simnet.study.figures import drawn
from simnet.study.run.arguments import names_of
from simnet.study.validate.measurements import measurements
from simnet.study.validate.predictions import predictions

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Score(BaseModel):
    """A frozen prediction and the number that became known later, in the unit of the measurement.

    Attributes:
        file: where it is frozen.
        stage: what the model had been fitted to.
        id, key: of the number.
        predicted, low, high: the prediction and its 95 % interval.
        measured: the number.
    """

    model_config = ConfigDict(frozen=True)

    file: str
    stage: str
    id: str
    key: str
    predicted: float
    low: float
    high: float
    measured: float

    @property
    def system(self) -> str:
        """The system that was measured: the first part of the id."""
        return self.id.partition(".")[0]

    @property
    def error(self) -> float | None:
        """Relative error of the prediction; None where 0 was measured."""
        return self.predicted / self.measured - 1 if self.measured else None

    @computed_field  # type: ignore[prop-decorator]
    @property
    def covered(self) -> bool:
        """Whether the number lies inside the interval."""
        return self.low <= self.measured <= self.high


@dataclass(frozen=True)
class Record:
    """Predictions that were frozen without their number, oldest file first."""

    scores: tuple[Score, ...]

    def last(self) -> tuple[Score, ...]:
        """The newest score of each number, in the order of their ids."""
        newest = {(score.id, score.key): score for score in self.scores}
        order = {name: place for place, name in enumerate(measurements())}
        return tuple(sorted(newest.values(), key=lambda score: order.get(score.id, len(order))))

    def of(self, system: str) -> Record:
        """What is about one system."""
        return Record(tuple(score for score in self.scores if score.system == system))

    @property
    def systems(self) -> tuple[str, ...]:
        """The systems, in the order of their ids."""
        return tuple(dict.fromkeys(score.system for score in self.last()))

    @property
    def coverage(self) -> float:
        """Share of the numbers inside their interval, by each one's newest prediction."""
        last = self.last()
        return sum(score.covered for score in last) / len(last)

    @property
    def median_error(self) -> float:
        """Median of the relative errors without their signs, by each number's newest prediction."""
        return median(abs(score.error) for score in self.last() if score.error is not None)

    def to_json(self) -> list[dict[str, Any]]:
        """Each score as `simnet validate --frozen --json` prints it."""
        return [score.model_dump() for score in self.scores]

    def plot(self) -> Figure:
        """Predicted over measured, with intervals, by system; see `figures.record`."""
        return drawn("record:scores", self)


def record(ids: str | Sequence[str] = ()) -> Record:
    """Return the record of some numbers, of all by default.

    Args:
        ids: of measurements; a pattern, such as `x460.*`, may stand for several.

    Raises:
        InputError: an id of which nothing was frozen before its number was known.
    """
    known = measurements()
    found = tuple(
        Score(
            file=file, stage=frozen.stage, **row.model_dump(), measured=known[row.id].value[row.key]
        )
        for file, frozen in predictions().items()
        for row in frozen.rows
        if row.id in known and row.key in known[row.id].value and known[row.id].blind(row.key)
    )
    scored = list(dict.fromkeys(score.id for score in found))
    wanted = names_of(ids, "ids") or ("*",)
    for name in wanted:
        if not fnmatch.filter(scored, name):
            expected = "expected a number that was predicted before it was known"
            raise InputError(f"{expected}{nearest(name, scored)}", key=name)
    kept = {one for name in wanted for one in fnmatch.filter(scored, name)}
    return Record(tuple(score for score in found if score.id in kept))
