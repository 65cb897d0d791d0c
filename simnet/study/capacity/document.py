"""What `simnet capacity` answers: the document `simnet.capacity/1`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

from simnet.rows import Row, Study
from simnet.study.capacity.verdict import Verdict
from simnet.study.figures import drawn
from simnet.study.run.loss import Latency
from simnet.study.run.rows import RxPackets, RxRate, TxPackets, TxRate

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

SCHEMA: Literal["simnet.capacity/1"] = "simnet.capacity/1"
_CONDITION: Final = re.compile(r"[,;(]| that ")


class PortLoad(Row):
    """What one port carried: means over the runs."""

    name: str
    rx_bps: RxRate
    tx_bps: TxRate
    rx_packets_per_s: RxPackets
    tx_packets_per_s: TxPackets


class LoadResults(Row):
    """What a load was made of: means over its runs, and the latencies of all of them together."""

    offered_per_s: float = Field(description="messages")
    delivered_per_s: float = Field(description="messages")
    goodput_bps: float = Field(description="payload delivered")
    rx_bps: float = Field(description="received on all ports, frames as the driver counts them")
    rx_packets_per_s: float = Field(description="received on all ports")
    cpu_busy_percent: float = Field(description="mean over all logical CPUs")
    latency_us: Latency
    ports: tuple[PortLoad, ...]
    drops: dict[str, float] = Field(description="packets a run by place, as in `backlog cpu3`")


class Interval(Row):
    """A limited share at one load, and the interval that decides."""

    name: str = Field(description="loss of packets; late or shortfall of messages")
    limit: float
    mean: float
    low: float
    high: float
    verdict: Verdict


class TriedLoad(Row):
    """One load: whether it meets the limits, and by what."""

    load: float = Field(description="in the unit of the setting")
    verdict: Verdict
    runs: int
    simulated_s: float = Field(description="measured time of each run")
    intervals: tuple[Interval, ...]
    carried: LoadResults


class Capacity(Study):
    """The largest load that meets the limits, between `low` and `high`."""

    schema_: Literal["simnet.capacity/1"] = Field(default=SCHEMA, alias="schema")
    tunings: tuple[str, ...] = Field(description="tunings of the scenario that were applied")
    setting: str = Field(description="what sets the load")
    unit: str = Field(description="of the loads; empty for a plain number")
    meaning: str = Field(default="", description="what the setting is")
    max_loss: float | None = Field(description="largest share of packets lost")
    max_p99_us: float | None = Field(description="largest latency of 99 of 100 messages")
    max_shortfall: float = Field(description="largest share of messages that may pile up")
    precision: float = Field(description="relative width of the answer that was asked for")
    confidence: float = Field(description="that the capacity lies between low and high")
    low: float | None = Field(description="largest load that meets the limits; null: none does")
    high: float | None = Field(description="smallest load above it that does not; null: none")
    precise: bool = Field(description="whether the two are as close as was asked for")
    undecided: tuple[float, ...] = Field(description="loads between of which nothing can be said")
    exceptions: tuple[float, ...] = Field(
        description="loads that exceed a limit although a larger one meets all"
    )
    simulations: int = Field(description="runs behind the answer")
    conclusive: bool = Field(description="false: runs were too short, the answer means nothing")
    remarks: tuple[str, ...]
    exit_status: int = Field(
        description="0: found; 1: no load meets the limits; 3: not precise, or not conclusive"
    )
    loads: tuple[TriedLoad, ...] = Field(description="every load that was tried, ascending")

    @property
    def counted(self) -> str:
        """What loads are numbers of: a unit, or what the setting means without its conditions."""
        return self.unit or _CONDITION.split(self.meaning)[0].strip()

    @property
    def carried(self) -> LoadResults | None:
        """What the largest load that meets the limits is made of."""
        return next((one.carried for one in self.loads if one.load == self.low), None)

    def to_frame(self) -> pd.DataFrame:
        """One row a load: verdict, intervals, rates and latency, units in the columns' names."""
        import pandas as pd  # the command needs no data frame

        rows = []
        for one in self.loads:
            row: dict[str, Any] = {
                "load": one.load,
                "verdict": one.verdict,
                "runs": one.runs,
                "simulated_s": one.simulated_s,
            }
            for found in one.intervals:
                row[found.name] = found.mean
                row[f"{found.name}_low"] = found.low
                row[f"{found.name}_high"] = found.high
            row |= one.carried.model_dump(exclude={"latency_us", "ports", "drops"})
            for quantile, value in one.carried.latency_us.model_dump().items():
                row[f"latency_us_{quantile}"] = value
            for port in one.carried.ports:
                for name, value in port.model_dump(exclude={"name"}).items():
                    row[f"{port.name}_{name}"] = value
            row["dropped_packets"] = sum(one.carried.drops.values())
            rows.append(row)
        return pd.DataFrame(rows).set_index("load")

    def plot(self) -> Figure:
        """Each limited quantity over the load, with intervals, its limit, and the answer."""
        return drawn("capacity:curves", self)


def schema() -> dict[str, Any]:
    """JSON schema of `simnet.capacity/1`."""
    return Capacity.model_json_schema(by_alias=True, mode="serialization")
