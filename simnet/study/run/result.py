"""What one run measured, as the document `simnet.result/1` (a JSON schema comes with it).

Two views of CPU time stand side by side. `cpus` is exact: integer picoseconds of every context
divided by the elapsed time. `ticks` is what the kernel's timer tick sampled, in the columns of sar
(sysstat up to 9: %system includes hard and soft interrupts), hence noisy in a short run. Their
expectations agree but for work that runs with interrupts disabled, which no tick can hit.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from pydantic import Field, create_model

from simnet.errors import InputError, SimulationError
from simnet.rows import Percent, Printed, Rate
from simnet.scenario.core.files import REQUEST_TESTS
from simnet.scenario.core.subject import columns
from simnet.study.figures import drawn
from simnet.study.run.activity import VmstatRow
from simnet.study.run.loss import (
    Drops,
    Latency,
    Messages,
    drops_of,
    kind_of,
    latency_of_all,
    loss_of,
    messages_of,
)
from simnet.study.run.rows import (
    CpuTicks,
    CpuUse,
    FlowRates,
    PortInterrupts,
    PortRates,
    WorkShare,
    busy_ps,
    cpu_ticks,
    cpu_use,
    flow_rates,
    per_s,
    port_interrupts,
    port_rates,
    work_shares,
)
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    import pandas as pd
    from _typeshed import DataclassInstance
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from simnet.scenario.system.system import Snapshot

SCHEMA: Literal["simnet.result/1"] = "simnet.result/1"

_T = TypeVar("_T")
_TABLES = (
    *("cpus", "ticks", "work", "ports", "flows", "drops", "interrupts"),
    *(column.name for column in columns() if column.table),
)
_INDEX = {"cpus": "id", "ticks": "id", "work": "mechanism", "drops": "place"}


class _Counted(Printed):
    schema_: Literal["simnet.result/1"] = Field(default=SCHEMA, alias="schema")
    scenario: str
    seed: int
    version: str
    fingerprint: str
    settings: dict[str, str] = Field(default={}, description="knobs set for this run")
    tunings: tuple[str, ...] = Field(default=(), description="tunings chosen for this run")
    source: str = Field(default="", description="the scenario as it was asked for, such as a path")
    machine: tuple[str, ...] = Field(
        default=(), description="machine and cards, and kernel and load: a line each"
    )
    remarks: tuple[str, ...] = Field(default=(), description="what to know of the configuration")
    configuration: dict[str, Any] = Field(
        default={}, description="effective values of the run, defaults included"
    )
    warmup_s: Rate
    simulated_s: float = Field(gt=0.0)
    half_width_percent: dict[str, Rate | None] = Field(
        default={},
        description="relative 95 % half widths, of a run that ends by precision; null: not known",
    )
    second_half: dict[str, float | None] = Field(
        default={},
        description="what was delivered and worked in the second half of the measured time, and the"
        " median latency there, as multiples of the first; null: only in the second",
    )
    throughput_bps: Rate
    cpu_busy_percent: Percent
    cpus: tuple[CpuUse, ...]
    ticks: tuple[CpuTicks, ...]
    work: tuple[WorkShare, ...] = Field(default=(), description="CPU time by mechanism")
    ports: tuple[PortRates, ...]
    interrupts: tuple[PortInterrupts, ...]
    flows: tuple[FlowRates, ...]
    drops: tuple[Drops, ...] = Field(default=(), description="packets dropped, by place")
    loss: float | None = Field(
        default=None, ge=0.0, le=1.0, description="share of the packets that came that was dropped"
    )
    messages: Messages | None = Field(default=None, description="of an open-loop load")
    latency_us: Latency | None = Field(
        default=None, description="of the messages of all flows together; null without any"
    )
    vmstat: tuple[VmstatRow, ...] = Field(
        default=(), description="one entry a second, of a partition or if asked for"
    )


if TYPE_CHECKING:

    class _WithColumns(_Counted):
        def __getattr__(self, column: str) -> Any: ...

else:
    _WithColumns = create_model(
        "_WithColumns",
        __base__=_Counted,
        **{
            one.name: (one.form, Field(default=one.default, description=one.doc))
            for one in columns()
        },
    )


class Result(_WithColumns):
    """The measured part of one simulation.

    Percentages are of one logical CPU, except `cpu_busy_percent`, the mean over all of them.
    Rates are per simulated second, `_bps` is bit/s. Equal scenario, seed and version give an
    equal `fingerprint` on every machine.
    """

    warnings: tuple[str, ...] = Field(default=(), description="what to know of these numbers")
    conclusive: bool = Field(
        default=True, description="false: the run was too short, no conclusion can be drawn"
    )
    silent: tuple[str, ...] = Field(
        default=(), description="flows that got nothing while others did"
    )
    full_peer: str = Field(
        default="",
        description="a CPU of a peer that was full while nothing of the system was; empty: none",
    )

    @property
    def latency_kind(self) -> str:
        """What the flows' latencies are: `one-way`, `round trip`, `response`, or several."""
        return kind_of(flow.latency_us.kind for flow in self.flows)

    def to_frame(self, table: str = "cpus") -> pd.DataFrame:
        """One table as a pandas data frame.

        `table` is `cpus`, `ticks`, `work`, `ports`, `flows`, `drops`, one of those that only some
        systems have, as `disks` (one row each), or `interrupts` (one row a CPU, one column a port,
        interrupts a second). Raises InputError for another.
        """
        import pandas as pd  # a run of the command needs no data frame

        if table not in _TABLES:
            expected = f"one of {', '.join(_TABLES)}, not {table!r}"
            raise InputError(expected, key="table")
        if table == "interrupts":
            columns = {entry.port: entry.by_cpu for entry in self.interrupts}
            frame = pd.DataFrame(columns, index=pd.Index([c.id for c in self.cpus], name="cpu"))
            return frame.fillna(0.0)
        rows = [
            dict(row) if isinstance(row, dict) else row.model_dump() for row in getattr(self, table)
        ]
        for row in rows:
            for quantile, value in row.pop("latency_us", {}).items():
                row[f"latency_us_{quantile}"] = value
        index = _INDEX.get(table, "name")
        return pd.DataFrame(rows, columns=None if rows else [index]).set_index(index)

    def plot(self, axes: Axes | None = None) -> Figure:
        """Stacked bars of CPU time by context, one bar a CPU; drawn into `axes` if given."""
        return drawn("result:cpu_bars", self, axes)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read what `to_json` wrote; raises pydantic's ValidationError for anything else."""
        return cls.model_validate_json(text)

    @classmethod
    def from_snapshots(  # noqa: PLR0913 (what was run, by its names)
        cls,
        start: Snapshot,
        end: Snapshot,
        *,
        scenario: str,
        seed: int,
        version: str,
        effective_digest: str = "",
        settings: Mapping[str, str] | None = None,
        configuration: Mapping[str, Any] | None = None,
        latency_kinds: Mapping[str, str] | None = None,
    ) -> Result:
        """Rates and shares between two snapshots of one simulation.

        `latency_kinds` says of flows what their latencies are.

        Raises SimulationError when a CPU's times do not add up to the elapsed time.
        """
        elapsed_ps = end.time_ps - start.time_ps
        if elapsed_ps <= 0:
            expected = "the end of the measurement must come after its start"
            raise SimulationError(expected, component="measurement", time_ps=end.time_ps)
        cpus = _pairs(start.cpus, end.cpus)
        ports = _pairs(start.ports, end.ports)
        flows = _pairs(start.flows, end.flows)
        worked_ps = sum(busy_ps(last) - busy_ps(first) for first, last in cpus)
        payload = sum(last.bytes - first.bytes for first, last in flows)
        given = dict(configuration or {})
        asks = given.get("workload", {}).get("test") in REQUEST_TESTS
        ways = {
            flow["name"]: "in" if flow["receives"] else "out"
            for flow in given.get("flows", ())
            if not asks and not flow["asks"]
        }
        kinds = latency_kinds or {}
        return cls(
            scenario=scenario,
            seed=seed,
            version=version,
            fingerprint=fingerprint(start, end, seed=seed, salt=f"{version} {effective_digest}"),
            settings=dict(settings or {}),
            configuration=dict(configuration or {}),
            warmup_s=start.time_ps / PS_PER_S,
            simulated_s=elapsed_ps / PS_PER_S,
            throughput_bps=per_s(8 * payload, elapsed_ps),
            cpu_busy_percent=100 * worked_ps / (elapsed_ps * len(cpus)) if cpus else 0.0,
            cpus=tuple(cpu_use(*pair, elapsed_ps, end.time_ps) for pair in cpus),
            ticks=tuple(cpu_ticks(*pair) for pair in cpus),
            work=work_shares(start.work_ps, end.work_ps, elapsed_ps),
            ports=tuple(port_rates(*pair, elapsed_ps) for pair in ports),
            interrupts=tuple(port_interrupts(*pair, elapsed_ps) for pair in ports),
            flows=tuple(
                flow_rates(
                    *pair,
                    elapsed_ps,
                    asks=asks,
                    latency_kind=kinds.get(pair[1].name, ""),
                    direction=ways.get(pair[1].name, ""),
                )
                for pair in flows
            ),
            drops=drops_of(start, end),
            loss=loss_of(start, end),
            messages=messages_of(start, end, kind_of(kinds.values())),
            latency_us=latency_of_all(start, end, kind_of(kinds.values())),
            **{column.name: column.value(start, end) for column in columns()},
        )


def schema() -> dict[str, Any]:
    """JSON schema of `simnet.result/1`."""
    return Result.model_json_schema(by_alias=True, mode="serialization")


def fingerprint(start: Snapshot, end: Snapshot, *, seed: int, salt: str) -> str:
    """Digest of every integer in two snapshots, the seed and `salt`: 32 hex digits.

    The counters travel through JSON with sorted keys, so neither the order of dictionaries nor
    the hash seed of the interpreter can enter.
    """
    document = [seed, salt, start.counters(), end.counters()]
    # The encoder asks for a group's numbers when it comes to it: `asdict` would copy each of them.
    text = json.dumps(document, sort_keys=True, separators=(",", ":"), default=_numbers)
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _numbers(group: DataclassInstance) -> dict[str, Any]:
    return {part.name: getattr(group, part.name) for part in fields(group)}


def _pairs(start: Sequence[_T], end: Sequence[_T]) -> list[tuple[_T, _T]]:
    return list(zip(start, end, strict=True))
