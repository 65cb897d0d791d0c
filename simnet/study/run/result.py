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
from typing import TYPE_CHECKING, Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, create_model

from simnet.errors import InputError, SimulationError
from simnet.host.ledger import MECHANISMS, PLACEMENT
from simnet.scenario.core.subject import columns
from simnet.study.run.activity import VmstatRow, idle_shares
from simnet.study.run.loss import (
    Drops,
    Latency,
    Messages,
    drops_of,
    latency_of,
    loss_of,
    messages_of,
    quantile_us,
)

if TYPE_CHECKING:
    import pandas as pd
    from _typeshed import DataclassInstance
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from simnet.scenario.system.system import CpuTimes, FlowCounts, PortCounts, Snapshot

__all__ = [
    "SCHEMA",
    "CpuTicks",
    "CpuUse",
    "Drops",
    "FlowRates",
    "Latency",
    "Messages",
    "PortInterrupts",
    "PortOrder",
    "PortRates",
    "Result",
    "WorkShare",
    "fingerprint",
    "quantile_us",
    "schema",
]

PS_PER_S = 10**12

SCHEMA: Literal["simnet.result/1"] = "simnet.result/1"
Percent = Annotated[float, Field(ge=0.0, le=100.0)]
Rate = Annotated[float, Field(ge=0.0)]

_REQUESTS = "tcp_rr"
_T = TypeVar("_T")
_TABLES = (
    *("cpus", "ticks", "work", "ports", "flows", "drops", "interrupts"),
    *(column.name for column in columns() if column.table),
)
_INDEX = {"cpus": "id", "ticks": "id", "work": "mechanism", "drops": "place"}


class _Row(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class CpuUse(_Row):
    """Exact shares of the measured time of one logical CPU, in percent; they add up to 100."""

    id: int
    node: int
    user: Percent
    system: Percent
    softirq: Percent
    irq: Percent
    iowait: Percent
    steal: Percent
    idle: Percent

    @property
    def busy(self) -> float:
        """Percent of the time in which the CPU worked (not idle, not stolen, no wait for I/O)."""
        return self.user + self.system + self.softirq + self.irq


class CpuTicks(_Row):
    """Shares of the timer ticks of one logical CPU in sar's columns, in percent."""

    id: int
    node: int
    user: Percent
    nice: Percent
    system: Percent
    iowait: Percent
    steal: Percent
    idle: Percent
    count: int = Field(ge=0, description="number of ticks that were sampled")


class WorkShare(_Row):
    """CPU time of one mechanism, in percent of one logical CPU, summed over all CPUs.

    It is the work asked for; executing it takes longer where SMT siblings slow each other.
    """

    mechanism: str
    percent: Rate
    placement: bool = Field(description="whether it is a cost of where things are")


class PortRates(_Row):
    """Rates of one network port; `drops` is the number of frames dropped while measured."""

    name: str
    node: int
    rx_bps: Rate
    tx_bps: Rate
    rx_packets_per_s: Rate
    tx_packets_per_s: Rate
    interrupts_per_s: Rate
    drops: int = Field(ge=0)


class PortOrder(_Row):
    """Packets behind one with a higher number, before and after a port's reorder window."""

    port: str
    out_of_order_before: int = Field(ge=0)
    out_of_order_after: int = Field(ge=0)


class PortInterrupts(_Row):
    """One column of /proc/interrupts: interrupts a second of one port's IRQ by CPU id."""

    port: str
    irq: int
    by_cpu: dict[int, Rate]


class FlowRates(_Row):
    """Payload that one flow delivered to its reader, in bit/s, and its latency.

    Of requests and responses: what netperf got, half of the time from request to request, and how
    many transactions that were.
    """

    name: str
    port: str
    goodput_bps: Rate
    latency_us: Latency
    transactions_per_s: Rate | None = Field(default=None, description="null for a stream")


class _Counted(_Row):
    schema_: Literal["simnet.result/1"] = Field(default=SCHEMA, alias="schema")
    scenario: str
    seed: int
    version: str
    fingerprint: str
    settings: dict[str, str] = Field(default={}, description="knobs set for this run")
    tunings: tuple[str, ...] = Field(default=(), description="tunings chosen for this run")
    configuration: dict[str, Any] = Field(
        default={}, description="effective values of the run, defaults included"
    )
    warmup_s: Rate
    simulated_s: float = Field(gt=0.0)
    half_width_percent: dict[str, Rate | None] = Field(
        default={},
        description="relative 95 % half widths, of a run that ends by precision; null: not known",
    )
    throughput_bps: Rate
    cpu_busy_percent: Percent
    cpus: tuple[CpuUse, ...]
    ticks: tuple[CpuTicks, ...]
    work: tuple[WorkShare, ...] = Field(default=(), description="CPU time by mechanism")
    ports: tuple[PortRates, ...]
    interrupts: tuple[PortInterrupts, ...]
    flows: tuple[FlowRates, ...]
    reordering: tuple[PortOrder, ...] = Field(
        default=(), description="one entry a port with a reorder window"
    )
    drops: tuple[Drops, ...] = Field(default=(), description="packets dropped, by place")
    loss: float | None = Field(
        default=None, ge=0.0, le=1.0, description="share of the packets that came that was dropped"
    )
    messages: Messages | None = Field(default=None, description="of an open-loop load")
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

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    def to_json(self, *, indent: int | None = 2) -> str:
        """The document as `simnet run --json` prints it."""
        return self.model_dump_json(by_alias=True, indent=indent)

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
        from simnet.study.figures import (
            result as figure,  # matplotlib takes longer to load than a short run
        )

        return figure.cpu_bars(self, axes)

    @classmethod
    def from_json(cls, text: str) -> Result:
        """Read what `to_json` wrote; raises pydantic's ValidationError for anything else."""
        return cls.model_validate_json(text)

    @classmethod
    def from_snapshots(
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
    ) -> Result:
        """Rates and shares between two snapshots of one simulation.

        Raises SimulationError when a CPU's times do not add up to the elapsed time.
        """
        elapsed_ps = end.time_ps - start.time_ps
        if elapsed_ps <= 0:
            expected = "the end of the measurement must come after its start"
            raise SimulationError(expected, component="measurement", time_ps=end.time_ps)
        cpus = _pairs(start.cpus, end.cpus)
        ports = _pairs(start.ports, end.ports)
        flows = _pairs(start.flows, end.flows)
        busy_ps = sum(_busy_ps(last) - _busy_ps(first) for first, last in cpus)
        payload = sum(last.bytes - first.bytes for first, last in flows)
        asks = dict(configuration or {}).get("workload", {}).get("test") == _REQUESTS
        return cls(
            scenario=scenario,
            seed=seed,
            version=version,
            fingerprint=fingerprint(start, end, seed=seed, salt=f"{version} {effective_digest}"),
            settings=dict(settings or {}),
            configuration=dict(configuration or {}),
            warmup_s=start.time_ps / PS_PER_S,
            simulated_s=elapsed_ps / PS_PER_S,
            throughput_bps=_per_s(8 * payload, elapsed_ps),
            cpu_busy_percent=100 * busy_ps / (elapsed_ps * len(cpus)) if cpus else 0.0,
            cpus=tuple(_cpu_use(*pair, elapsed_ps, end.time_ps) for pair in cpus),
            ticks=tuple(_cpu_ticks(*pair) for pair in cpus),
            work=_work(start.work_ps, end.work_ps, elapsed_ps),
            ports=tuple(_port_rates(*pair, elapsed_ps) for pair in ports),
            interrupts=tuple(_port_interrupts(*pair, elapsed_ps) for pair in ports),
            reordering=tuple(_port_order(*pair) for pair in ports if pair[1].out_of_order),
            flows=tuple(_flow_rates(*pair, elapsed_ps, asks=asks) for pair in flows),
            drops=drops_of(start, end),
            loss=loss_of(start, end),
            messages=messages_of(start, end),
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


def _per_s(amount: int, elapsed_ps: int) -> float:
    return amount * PS_PER_S / elapsed_ps


def _busy_ps(cpu: CpuTimes) -> int:
    return cpu.user_ps + cpu.system_ps + cpu.softirq_ps + cpu.irq_ps


def _cpu_use(first: CpuTimes, last: CpuTimes, elapsed_ps: int, time_ps: int) -> CpuUse:
    contexts = ("user", "system", "softirq", "irq", "iowait", "steal", "idle")
    spent = {name: getattr(last, f"{name}_ps") - getattr(first, f"{name}_ps") for name in contexts}
    total = sum(spent.values())
    if total != elapsed_ps or min(spent.values()) < 0:
        message = f"CPU time must add up to {elapsed_ps} ps, but {spent} is {total} ps"
        raise SimulationError(message, component=f"cpu{last.id}", time_ps=time_ps)
    shares = {name: 100 * value / elapsed_ps for name, value in spent.items()}
    return CpuUse(id=last.id, node=last.node, **shares)


def _cpu_ticks(first: CpuTimes, last: CpuTimes) -> CpuTicks:
    contexts = ("user", "system", "softirq", "irq", "idle")
    spent = {
        name: getattr(last, f"{name}_ticks") - getattr(first, f"{name}_ticks") for name in contexts
    }
    count = sum(spent.values())
    kernel = spent["system"] + spent["softirq"] + spent["irq"]
    iowait_ps = last.iowait_ps - first.iowait_ps
    idle, iowait = idle_shares(
        100 * spent["idle"] / count if count else 100.0,
        idle_ps=last.idle_ps - first.idle_ps + iowait_ps,
        iowait_ps=iowait_ps,
    )
    return CpuTicks(
        id=last.id,
        node=last.node,
        user=100 * spent["user"] / max(count, 1),
        nice=0.0,
        system=100 * kernel / max(count, 1),
        iowait=iowait,
        steal=0.0,
        idle=idle,
        count=count,
    )


def _work(
    start: Mapping[str, int], end: Mapping[str, int], elapsed_ps: int
) -> tuple[WorkShare, ...]:
    # a packet's variation is booked with what its CPU does itself, not with the lines it waits for:
    # of few packets that may come out below nothing
    return tuple(
        WorkShare(
            mechanism=MECHANISMS[name],
            percent=max(0.0, 100 * (end[name] - start.get(name, 0)) / elapsed_ps),
            placement=name in PLACEMENT,
        )
        for name in end
    )


def _port_rates(first: PortCounts, last: PortCounts, elapsed_ps: int) -> PortRates:
    return PortRates(
        name=last.name,
        node=last.node,
        rx_bps=_per_s(8 * (last.rx_bytes - first.rx_bytes), elapsed_ps),
        tx_bps=_per_s(8 * (last.tx_bytes - first.tx_bytes), elapsed_ps),
        rx_packets_per_s=_per_s(last.rx_packets - first.rx_packets, elapsed_ps),
        tx_packets_per_s=_per_s(last.tx_packets - first.tx_packets, elapsed_ps),
        interrupts_per_s=_per_s(last.interrupts - first.interrupts, elapsed_ps),
        drops=last.drops - first.drops,
    )


def _port_interrupts(first: PortCounts, last: PortCounts, elapsed_ps: int) -> PortInterrupts:
    before = first.interrupts_by_cpu
    rates = {
        cpu: _per_s(count - before.get(cpu, 0), elapsed_ps)
        for cpu, count in sorted(last.interrupts_by_cpu.items())
    }
    return PortInterrupts(port=last.name, irq=last.irq, by_cpu=rates)


def _port_order(first: PortCounts, last: PortCounts) -> PortOrder:
    before, after = (b - a for a, b in zip(first.out_of_order, last.out_of_order, strict=True))
    return PortOrder(port=last.name, out_of_order_before=before, out_of_order_after=after)


def _flow_rates(first: FlowCounts, last: FlowCounts, elapsed_ps: int, *, asks: bool) -> FlowRates:
    goodput_bps = _per_s(8 * (last.bytes - first.bytes), elapsed_ps)
    # there is one sample of latency for each transaction
    samples = sum(count for _, count in last.latency) - sum(count for _, count in first.latency)
    return FlowRates(
        name=last.name,
        port=last.port,
        goodput_bps=goodput_bps,
        latency_us=latency_of(first.latency, last.latency),
        transactions_per_s=_per_s(samples, elapsed_ps) if asks else None,
    )
