"""What `simnet recommend` answers: the document `simnet.recommend/1`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from simnet.rows import Row, Study
from simnet.study.figures import drawn
from simnet.study.whatif.verdict import Answer, Interval
from simnet.study.whatif.whatif import WhatIf

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SCHEMA: Literal["simnet.recommend/1"] = "simnet.recommend/1"


class Step(Row):
    """One change, on top of those before it."""

    change: str = Field(description="a tuning, a proposal, or a knob with its value")
    description: str
    settings: dict[str, str] = Field(description="knobs that it sets, but for those of a tuning")
    share: float = Field(description="percent of the whole gain that it adds")
    interval: Interval | None = Field(description="95 % of the share")
    why: str


class Tried(Row):
    """A list of changes that the search simulated: changes in percent of the system as it is."""

    changes: tuple[str, ...]
    allowed: bool = Field(description="whether it keeps the limits")
    percent: dict[str, float]


class Recommendation(Study):
    """The shortest list of changes that has most of the best gain found."""

    schema_: Literal["simnet.recommend/1"] = Field(default=SCHEMA, alias="schema")
    base_tunings: tuple[str, ...] = Field(description="tunings that are part of what is")
    goal: str
    metric: str = Field(description="the metric of the goal")
    latency_kind: str = Field(
        default="", description="what latencies are: one-way of transfers, round trip of requests"
    )
    limits: tuple[str, ...]
    runs: int
    verdict: Answer
    reason: str
    exit_status: int = Field(description="0: recommended; 1: nothing is; 3: cannot tell")
    remarks: tuple[str, ...]
    left_out: str = Field(
        default="", description="what gained more, and the limit that forbids it; empty if nothing"
    )
    best: tuple[str, ...] = Field(description="the list with the largest gain, however long")
    steps: tuple[Step, ...] = Field(description="what is recommended, what is missed most first")
    confirmed: WhatIf | None = Field(description="the list, with seeds that chose nothing")
    tried: tuple[Tried, ...]

    def to_frame(self) -> pd.DataFrame:
        """One row a change: its share of the gain with the interval, in percent, and why."""
        import pandas as pd  # the command needs no data frame

        rows: list[dict[str, Any]] = [
            {
                "change": one.change,
                "share": one.share,
                "low": None if one.interval is None else one.interval.low,
                "high": None if one.interval is None else one.interval.high,
                "why": one.why,
            }
            for one in self.steps
        ]
        names = ["change", "share", "low", "high", "why"]
        return pd.DataFrame(rows, columns=names).set_index("change")

    def plot(self) -> Figure:
        """All that was tried: the goal against p99 latency and CPU time, and the best of both."""
        return drawn("recommend:pareto", self)


def schema() -> dict[str, Any]:
    """JSON schema of `simnet.recommend/1`."""
    return Recommendation.model_json_schema(by_alias=True, mode="serialization")
