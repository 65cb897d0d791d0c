"""What holds a scenario back, and what would be next: `simnet explain`.

One simulation, the same as `simnet run` makes. Utilisations are differences of counters, exact;
what flows wait for is looked at at drawn instants. See `bottleneck` for what follows from them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

from simnet.errors import InputError
from simnet.kernel.random import stream
from simnet.rows import Printed, Row
from simnet.scenario.core.knobs import KNOBS
from simnet.scenario.core.load import load
from simnet.scenario.system.resource import Resource
from simnet.study.explain.bottleneck import Limit, ResourceUse, WaitShare, limit_of, merged
from simnet.study.explain.lift import Lift, lifted_results, not_lifted
from simnet.study.explain.timeline import Recorder, Timeline
from simnet.study.figures import drawn
from simnet.study.run.arguments import Names, Settings, names_of, settings_of, text_of
from simnet.study.run.loss import Drops, latencies_of
from simnet.study.run.machine import machine
from simnet.study.run.result import Result
from simnet.study.run.rows import WorkShare
from simnet.study.run.run import recorded, simulate
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from simnet.scenario.core.effective import Effective
    from simnet.scenario.system.resource import Wait
    from simnet.scenario.system.system import System

SCHEMA: Literal["simnet.explanation/1"] = "simnet.explanation/1"
_LOOKS: Final = 240
# whose work passes a CPU changes slowly
_LOOKS_PER_READING: Final = 12
_TABLES: Final = ("resources", "limits", "lifted", "knobs", "work", "drops")


class KnobSet(Row):
    """A knob that the scenario or the caller set."""

    name: str
    value: str
    modelled: bool = Field(description="false: it is accepted and changes nothing")
    note: str
    source: str


class Explanation(Printed):
    """Where a scenario's time goes and what limits it, as the document `simnet.explanation/1`."""

    schema_: Literal["simnet.explanation/1"] = Field(default=SCHEMA, alias="schema")
    scenario: str
    machine: tuple[str, ...] = Field(
        default=(), description="machine and cards, and kernel and load: a line each"
    )
    seed: int
    version: str
    fingerprint: str = Field(description="that of the run, as `simnet run` prints it")
    settings: dict[str, str]
    tunings: tuple[str, ...]
    warmup_s: float
    simulated_s: float
    throughput_bps: float
    resources: tuple[ResourceUse, ...] = Field(description="that were used, the fullest first")
    limits: tuple[Limit, ...] = Field(description="what holds the flows back")
    work: tuple[WorkShare, ...] = Field(description="CPU time by mechanism, the largest first")
    drops: tuple[Drops, ...] = Field(description="packets dropped, by place")
    lifted: tuple[Lift, ...] = Field(
        default=(), description="what is gained by lifting each sort of part, where that was tried"
    )
    not_lifted: tuple[str, ...] = Field(
        default=(), description="what holds flows back or would be next, and was not lifted"
    )
    knobs: tuple[KnobSet, ...] = Field(description="that are set")
    modelled_knobs: tuple[str, ...] = Field(
        description="that this system has and a simulation depends on"
    )
    ignored_knobs: tuple[str, ...] = Field(
        description="that this system has, accepted, without an effect here"
    )
    remarks: tuple[str, ...] = Field(description="what to know of the configuration")
    warnings: tuple[str, ...] = Field(description="what to know of these numbers")

    def to_frame(self, table: str = "resources") -> pd.DataFrame:
        """One table as a data frame.

        `table` is `resources`, `limits`, `lifted`, `knobs`, `work` or `drops`.

        Raises InputError for another.
        """
        import pandas as pd  # the command needs no data frame

        if table not in _TABLES:
            raise InputError(f"one of {', '.join(_TABLES)}, not {table!r}", key="table")
        rows = [row.model_dump() for row in getattr(self, table)]
        for row in rows:
            for name, share in row.pop("split", {}).items():
                row[name] = share
            if table == "limits":
                row["waits"] = ", ".join(f"{w['reason']} {w['share']:.2f}" for w in row["waits"])
        frame = pd.DataFrame(rows)
        return frame.set_index("name") if table in {"resources", "knobs"} and rows else frame

    def plot(self, axes: Axes | None = None) -> Figure:
        """Bars of utilisation, the fullest resource on top; drawn into `axes` if given."""
        return drawn("explain:utilisations", self, axes)


def schema() -> dict[str, Any]:
    """JSON schema of `simnet.explanation/1`."""
    return Explanation.model_json_schema(by_alias=True, mode="serialization")


def explain(
    scenario: str | Path,
    *,
    settings: Settings | None = None,
    tunings: str | Sequence[str] = (),
    seed: int | None = None,
    duration: str | None = None,
    warm_up: str | None = None,
    apply: Names = (),
    lift: bool = False,
) -> Explanation:
    """Simulate a scenario and return what holds it back and what would be next.

    Args:
        scenario: a scenario's name, or the path of its file.
        settings: knobs by name; see `simnet.run`.
        tunings: names of the scenario's tunings, applied before the settings.
        seed: seed of all random numbers; the scenario's when None.
        duration: simulated time that is measured; the scenario's when None.
        warm_up: simulated time before that; the scenario's when None.
        apply: files with what `lsattr -El`, `no -a` or `mmlsconfig` printed; see `captured`.
        lift: simulate again with each sort of part lifted, for what is gained.

    Raises:
        InputError: something of the above can't be used as given.
        SimulationError: the simulation can't go on.
    """
    chosen, files = settings_of(settings), names_of(apply, "--apply")
    effective = load(
        scenario,
        settings=chosen,
        tunings=names_of(tunings, "--tuning"),
        seed=seed,
        duration=text_of(duration, "--duration"),
        warm_up=text_of(warm_up, "--warm-up"),
        apply=files,
    )
    return explained(effective, settings=recorded(files, chosen), lift=lift)


def explained(
    effective: Effective, *, settings: Mapping[str, str] | None = None, lift: bool = False
) -> Explanation:
    """Simulate an effective configuration and explain it; `settings` are for the record.

    With `lift` it is simulated again with each sort of part lifted.
    """
    return observed(effective, settings=settings, lift=lift).explanation


@dataclass(frozen=True)
class Observed:
    """One simulation, explained; latencies are of all flows: upper edge in us and number."""

    result: Result
    explanation: Explanation
    latencies: tuple[tuple[float, int], ...]
    timeline: Timeline | None = None


def observed(
    effective: Effective,
    *,
    settings: Mapping[str, str] | None = None,
    lift: bool = False,
    over_time: bool = False,
) -> Observed:
    """Simulate as `explained` does, and return all that was seen; on request over time, too."""
    looks = _Sampler(effective.run.seed, over_time=over_time)
    plain = effective.model_copy(
        update={"run": effective.run.model_copy(update={"precision_permille": 0})}
    )
    result = simulate(plain, settings=settings, watch=looks)
    resources = looks.uses()
    limits = _limits(result, resources, looks)
    lifted = lifted_results(plain, result) if lift else ()
    modelled, ignored = _knobs_of(effective)
    explanation = Explanation(
        scenario=result.scenario,
        machine=machine(effective),
        seed=result.seed,
        version=result.version,
        fingerprint=result.fingerprint,
        settings=result.settings,
        tunings=result.tunings,
        warmup_s=result.warmup_s,
        simulated_s=result.simulated_s,
        throughput_bps=result.throughput_bps,
        resources=tuple(one for one in resources if one.used_per_s or one.drops),
        limits=limits,
        work=tuple(
            sorted((one for one in result.work if one.percent), key=lambda one: -one.percent)
        ),
        drops=result.drops,
        lifted=lifted,
        not_lifted=not_lifted(limits, resources, lifted) if lift else (),
        knobs=tuple(
            KnobSet(name=k.name, value=k.value, modelled=k.modelled, note=k.note, source=k.source)
            for k in effective.applied
        ),
        modelled_knobs=modelled,
        ignored_knobs=ignored,
        remarks=effective.remarks,
        warnings=(*result.warnings, *_warnings(resources, _LOOKS if result.jobs else looks.count)),
    )
    return Observed(result, explanation, looks.latencies, looks.timeline)


class _Sampler:
    """Runs the measured part of a simulation and looks at it on the way."""

    def __init__(self, seed: int, *, over_time: bool) -> None:
        self._seed = seed
        self._over_time = over_time
        self._first: dict[str, Resource] = {}
        self._last: tuple[Resource, ...] = ()
        self._flows: dict[str, dict[str, None] | None] = {}
        self._waits: dict[str, list[Wait]] = {}
        self._elapsed_ps = 0
        self.count = 0
        self.latencies: tuple[tuple[float, int], ...] = ()
        self.timeline: Timeline | None = None

    def run(self, system: System, duration_ps: int) -> None:
        """Simulate `duration_ps`, with looks at drawn instants."""
        self._first = {one.name: one for one in self._read(system)}
        start = system.snapshot()
        draw = stream(self._seed, "explain.looks")
        # jobs count what they wait for, and may end long before the time that they are given
        looks = 0 if system.ends else _LOOKS
        instants = sorted({draw.below(duration_ps) for _ in range(looks)} - {0})
        begin = system.env.sim.now
        recorder = Recorder(system, duration_ps) if self._over_time else None
        run = recorder.run if recorder else system.run
        for number, instant in enumerate(instants):
            run(instant - (system.env.sim.now - begin))
            self.count += 1
            for wait in system.waits():
                self._waits.setdefault(wait.flow, []).append(wait)
            if number % _LOOKS_PER_READING == 0:
                self._read(system)
        run(duration_ps - (system.env.sim.now - begin))
        if recorder is not None:
            self.timeline = recorder.timeline()
        self._last = self._read(system)
        self._elapsed_ps = system.env.sim.now - begin
        self.latencies = latencies_of(start, system.snapshot())

    def _read(self, system: System) -> tuple[Resource, ...]:
        found = system.resources()
        for one in found:
            if one.flows is None:
                self._flows[one.name] = None
                continue
            known = self._flows.setdefault(one.name, {})
            if known is not None:
                known.update(dict.fromkeys(one.flows))
        return found

    def uses(self) -> list[ResourceUse]:
        """All resources, the fullest first."""
        found = [self._use(self._first.get(one.name), one) for one in self._last]
        return sorted(found, key=lambda one: (-one.utilisation, one.name))

    def _use(self, before: Resource | None, after: Resource) -> ResourceUse:
        scale = PS_PER_S / self._elapsed_ps
        split = dict(before.split) if before else {}
        used = after.used_per_s(before.used if before else 0, self._elapsed_ps)
        share = used / after.capacity_per_s
        if after.simulated:
            # what is posted to a transmitter counts at once, and leaves later
            share = min(share, 1.0)
        base = after.capacity_per_s if after.unit == "ps" else 1
        flows = self._flows.get(after.name)
        per_s = PS_PER_S if after.unit == "ps" else 1
        return ResourceUse(
            name=after.name,
            kind=after.kind,
            unit="s" if after.unit == "ps" else after.unit,
            used_per_s=used / per_s,
            capacity_per_s=after.capacity_per_s / per_s,
            utilisation=share,
            headroom=1 / share - 1 if share else None,
            drops=after.drops - (before.drops if before else 0),
            split={
                name: (amount - split.get(name, 0)) * scale / base for name, amount in after.split
            },
            flows=None if flows is None else tuple(flows),
            group=after.group,
            simulated=after.simulated,
        )

    def shares(self, flow: str) -> list[WaitShare]:
        """What a flow was seen to wait for, the most frequent first."""
        seen = self._waits.get(flow, [])
        counts = Counter(wait.reason for wait in seen)
        found = []
        for reason, count in counts.most_common():
            same = [wait for wait in seen if wait.reason == reason]
            found.append(
                WaitShare(
                    reason=reason,
                    share=count / len(seen),
                    bound=same[0].bound,
                    limit=sum(wait.limit for wait in same) / count,
                    unit=same[0].unit,
                )
            )
        return sorted(found, key=lambda one: (-one.share, one.reason))


def _limits(result: Result, resources: Sequence[ResourceUse], looks: _Sampler) -> tuple[Limit, ...]:
    messages = result.messages
    if messages is not None or result.xdp is not None or not result.flows:
        delivered = None
        if messages is not None:
            delivered = messages.delivered / messages.offered if messages.offered else 1.0
        found = limit_of(None, result.throughput_bps, resources, (), delivered=delivered)
        return (_after_losses(result, found),)
    each = merged(
        limit_of(
            flow.name,
            flow.goodput_bps,
            resources,
            _shares_of_jobs(result, flow.name) if result.jobs else looks.shares(flow.name),
        )
        for flow in result.flows
    )
    return tuple(_after_losses(result, one) for one in each)


def _after_losses(result: Result, found: Limit) -> Limit:
    """What limits a load that nobody sends again, after what it has lost and where."""
    lost = result.udp or result.forward or result.xdp
    if lost is None:
        return found
    return found.model_copy(update={"sentence": f"{lost.sentence}; {found.sentence}"})


def _shares_of_jobs(result: Result, node: str) -> list[WaitShare]:
    """What the jobs of a partition spend their real times on, all together; counted."""
    jobs = [job for job in result.jobs if job.node == node]
    total = sum(
        result.simulated_s - job.start_s if job.real_s is None else job.real_s for job in jobs
    )
    if not total:
        return []
    waited, computed = sum(job.io_wait_s for job in jobs), sum(job.cpu_s for job in jobs)
    times = {"blocks": waited, "computing": computed, "pauses": max(total - waited - computed, 0.0)}
    found = [
        WaitShare(reason=reason, share=time / total, bound=False, limit=0.0, unit="")
        for reason, time in times.items()
    ]
    return sorted(found, key=lambda one: (-one.share, one.reason))


def _knobs_of(effective: Effective) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names of the knobs that the system has: what is modelled, and what is not."""
    system = effective.kernel.system
    nics = [port.nic for port in effective.ports]
    had = [
        knob
        for knob in KNOBS
        if knob.system == system
        and (
            (not knob.drivers and knob.scope != "nic")
            or any(knob.fits(nic.driver, type(nic).model_fields) for nic in nics)
        )
    ]
    return (
        tuple(knob.name for knob in had if knob.modelled),
        tuple(knob.name for knob in had if not knob.modelled),
    )


def _warnings(resources: Sequence[ResourceUse], looks: int) -> list[str]:
    found = [
        f"{one.name}: {100 * one.utilisation:.0f} % of what its data sheet says, and nothing here"
        " waits for it: the prediction is too high"
        for one in resources
        if not one.simulated and one.utilisation > 1
    ]
    if looks < _LOOKS // 2:
        found.append(f"only {looks} looks at what flows wait for: measure longer")
    return found
