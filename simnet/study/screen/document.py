"""What `simnet screen` answers: the document `simnet.screen/1`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

from simnet.rows import Row, Study
from simnet.study.figures import drawn

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SCHEMA: Literal["simnet.screen/1"] = "simnet.screen/1"

WITHIN: Final = 2
"""So many standard deviations of chance matter."""


def in_percent(hundredths: float) -> float:
    """A change in percent, of a hundred times the logarithm of a ratio."""
    return 100 * math.expm1(hundredths / 100)


class Effect(Row):
    """What turning a factor to a later of its values does: a hundred times logarithms of ratios."""

    metric: str
    size: float = Field(description="mean size of the changes")
    spread: float = Field(description="their standard deviation: large where others matter for it")
    low: float
    high: float


class Screened(Row):
    """A tuning or a knob, and what it changed."""

    name: str
    description: str
    values: tuple[str, ...] = Field(description="what it was turned to")
    turns: int = Field(description="how often; 0 where it goes with no values of the others")
    idle: bool = Field(description="whether it never changed anything")
    why: str = Field(default="", description="why it never did; empty if it did")
    effects: tuple[Effect, ...]

    def effect(self, metric: str) -> Effect:
        """What it does to a metric; nothing where the runs have no such number."""
        none = Effect(metric=metric, size=0.0, spread=0.0, low=0.0, high=0.0)
        return next((one for one in self.effects if one.metric == metric), none)


class Share(Row):
    """Which share of the variance of a result's logarithm a factor accounts for, from 0 to 1.

    An estimate from a sample: less than 0 or more than 1 is chance, as `..._within` says.
    """

    name: str
    metric: str
    first: float = Field(default=0.0, description="alone: Sobol's first-order index")
    first_within: float = Field(default=0.0, description="half of its 95 % interval")
    total: float = Field(default=0.0, description="also with others: Sobol's total index")
    total_within: float = Field(default=0.0, description="half of its 95 % interval")


class Screen(Study):
    """What matters, most first."""

    schema_: Literal["simnet.screen/1"] = Field(default=SCHEMA, alias="schema")
    tunings: tuple[str, ...] = Field(description="tunings of the scenario for all runs")
    metric: str = Field(description="what the factors are ranked by")
    latency_kind: str = Field(
        default="", description="what latencies are: one-way of transfers, round trip of requests"
    )
    runs: int
    simulated_s: float = Field(description="measured time of each run")
    chance: dict[str, float] = Field(
        description="standard deviation over seeds of the system as it is, in the unit of effects"
    )
    remarks: tuple[str, ...]
    factors: tuple[Screened, ...]
    shares: tuple[Share, ...] = Field(
        default=(), description="of what matters, where a sample was asked for"
    )
    unshared: tuple[str, ...] = Field(
        default=(),
        description="what matters and is not in that sample: too many, or they do not go together",
    )

    @property
    def tells(self) -> bool:
        """Whether it is known what chance does to the metric."""
        return self.metric in self.chance

    def matters(self, one: Screened) -> bool:
        """Whether a factor changes the metric by more than two standard deviations of chance."""
        return self.tells and one.effect(self.metric).size > WITHIN * self.chance[self.metric]

    def to_frame(self) -> pd.DataFrame:
        """One row a factor and metric, with the effect's numbers."""
        import pandas as pd  # the command needs no data frame

        rows: list[dict[str, Any]] = [
            {"name": one.name, **effect.model_dump()}
            for one in self.factors
            for effect in one.effects
        ]
        return pd.DataFrame(rows).set_index(["name", "metric"])

    def plot(self) -> Figure:
        """A tornado: the least and the largest change by each factor, what matters most on top.

        Beside it the shares, where there are some.
        """
        return drawn("screen:tornado", self)


def schema() -> dict[str, Any]:
    """JSON schema of `simnet.screen/1`."""
    return Screen.model_json_schema(by_alias=True, mode="serialization")
