"""The largest load within limits: `simnet capacity`.

`capacity_search` says which loads are tried, `capacity_verdict` whether one meets the limits;
`capacity_runs` simulates it, as long as the limits need.
"""

import hashlib
import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final

import simnet
from simnet.errors import InputError
from simnet.scenario.core.units import Kind, UnitError, parse_quantity
from simnet.study.capacity.document import Capacity, Interval, LoadResults, PortLoad, TriedLoad
from simnet.study.capacity.runs import Measured, Runner, Setting, rate_of, waits
from simnet.study.capacity.search import CONFIDENCE, LOOKS, Found, Judged, Plan, search
from simnet.study.capacity.verdict import Criterion, Limits
from simnet.study.run.arguments import Names, Settings, options_of, seed_of, text_of, time_us_of
from simnet.study.run.duration_text import latency_text
from simnet.study.run.loss import pooled
from simnet.study.run.machine import machine
from simnet.study.run.run import recorded
from simnet.study.work.cases import Member, Progress, case_of
from simnet.study.work.store import Store

PRECISION: Final = "5 %"

_SHARE: Final = Kind("a share", "ppm", "", "", "0.1 %", ("",), scale=1_000_000)
_PPM: Final = 1e-6
# from which ratio on a p99 is not by chance longer than that of a larger load
_LONGER: Final = 4


def capacity(  # noqa: PLR0913 (what the command has options for)
    scenario: str | Path,
    *,
    max_loss: str | float | None = None,
    max_p99: str | None = None,
    load: str = "",
    between: str | None = None,
    precision: str | float = PRECISION,
    settings: Settings | None = None,
    tunings: str | Sequence[str] = (),
    apply: Names = (),
    seed: int | None = None,
    duration: str | None = None,
    warm_up: str | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    on_judged: Callable[[Judged], None] | None = None,
    store: Store | None = None,
) -> Capacity:
    """Find the largest load of a scenario that meets limits on loss and latency.

    Finished runs are kept: what an interrupt leaves is found by the next call.

    Args:
        scenario: a scenario's name, or the path of its file; it has an open-loop load.
        max_loss: largest share of packets lost, such as `"0.1 %"`; None for any.
        max_p99: largest latency that 99 of 100 messages meet, such as `"5 ms"`; None for any.
        load: setting that is the load; a number, with which messages a second grow. If empty, what
            the load announces as its rate.
        between: smallest and largest load that is tried, such as `"10000..500000"`; its legal
            range when None. The search begins with the scenario's own load, or with what is taken
            of it where that is as much as a link carries.
        precision: relative width of the answer that is wanted, such as `"2 %"`.
        settings: knobs for all runs, over what a tuning says.
        tunings: tunings of the scenario that are applied.
        apply: files with what `lsattr -El`, `no -a` or `mmlsconfig` printed; see `captured`.
        seed: first of the seeds, which are the same at all loads; the scenario's when None.
        duration: simulated time that each run measures; long enough for the limits when None.
        warm_up: simulated time before that; the scenario's when None.
        jobs: number of processes, one a CPU when None. The answer doesn't depend on it.
        scheduler: address of a Dask scheduler whose workers simulate instead.
        progress: called with the number of simulations done and in all so far.
        on_judged: called with each load as it is judged.
        store: where results are kept; the user's when None.

    Raises:
        InputError: no limit is given, the scenario has no open-loop load, or something of the
            above can't be used as given.
        SimulationError: a simulation can't go on.
    """
    wanted = _share(precision, "--precision")
    limits = Limits(
        loss=None if max_loss is None else _share(max_loss, "--max-loss"),
        p99_us=None if max_p99 is None else time_us_of(max_p99, "--max-p99"),
        shortfall=wanted / 2,
    )
    if limits.count == 1:
        raise InputError("expected a limit: --max-loss, --max-p99, or both")
    base = case_of(scenario, settings, tunings, apply)
    chosen = dict(base.settings)
    plain = Member(base).effective()
    announced = rate_of(plain)
    if not load and not announced:
        raise waits(scenario, plain.workload.test)
    name, least = load or announced, 0 if load in {"", announced} else 1
    setting = Setting.find(scenario, name, chosen, base.tunings, base.apply, least=least)
    low, high = setting.range(text_of(between, "--between"))
    first = plain.run.seed if seed is None else seed_of(seed)
    runs = Member(base, first, text_of(duration, "--duration"), text_of(warm_up, "--warm-up"))
    runner = Runner(
        setting, runs, limits, jobs=jobs, scheduler=scheduler, progress=progress, store=store
    )
    runner.remarks += plain.remarks
    start = setting.value or runner.carried()
    plan = Plan(min(max(start, low), high), low, high, wanted, limits)
    runner.lengthen(plan)
    found = search(plan, runner.measure, on_judged)
    options = options_of(between=between, seed=seed, duration=duration, warm_up=warm_up)
    answer = _answer(found, setting, runner, recorded(base.apply, chosen), options)
    return answer.model_copy(update={"source": str(scenario), "machine": machine(plain)})


def _share(text: str | float, option: str) -> float:
    try:
        ppm = parse_quantity(text, _SHARE)
    except UnitError as error:
        raise InputError(str(error), key=option) from error
    if not 0 < ppm <= 500_000:  # noqa: PLR2004 (a half)
        raise InputError(f"expected a share above 0 and at most 50 %, got {text!r}", key=option)
    return ppm * _PPM


def _answer(
    found: Found,
    setting: Setting,
    runner: Runner,
    settings: Mapping[str, str],
    options: Mapping[str, str],
) -> Capacity:
    plan = found.plan
    order = sorted(runner.results, key=lambda run: (run.load, run.short, run.number))
    every = [runner.results[run] for run in order]
    doubts = [run.doubt for run in every if run.doubt]
    digest = hashlib.blake2b(" ".join(run.fingerprint for run in every).encode(), digest_size=16)
    loads = tuple(_tried(one, runner.replications(one)) for one in found.judged)
    return Capacity(
        scenario=every[0].scenario,
        version=simnet.__version__,
        fingerprint=digest.hexdigest(),
        settings=dict(settings),
        options=dict(options),
        tunings=every[0].tunings,
        setting=setting.name,
        unit=setting.spec.unit,
        meaning=setting.spec.doc,
        max_loss=plan.limits.loss,
        max_p99_us=plan.limits.p99_us,
        max_shortfall=plan.limits.shortfall,
        precision=plan.precision,
        confidence=CONFIDENCE,
        low=found.low,
        high=found.high,
        precise=found.narrow,
        undecided=found.undecided,
        exceptions=found.exceptions,
        simulations=len(every),
        conclusive=not doubts,
        remarks=(*runner.remarks, *_remarks(found), *_latency(loads), *dict.fromkeys(doubts)),
        exit_status=3 if doubts else _exit_status(found),
        loads=loads,
    )


def _exit_status(found: Found) -> int:
    if found.low is None:
        return 3 if found.undecided else 1
    at_top = found.low == found.plan.highest
    return 0 if found.narrow or at_top else 3


def _remarks(found: Found) -> list[str]:
    remarks = []
    if found.exceptions:
        loads = ", ".join(f"{load:,}" for load in found.exceptions)
        remarks.append(f"not monotone: {loads} exceeds a limit although a larger load meets all")
    if found.low == found.plan.highest:
        remarks.append("the largest load that was allowed meets the limits: there may be more")
    elif found.ended:
        remarks.append(f"the search ended after {len(found.judged)} loads")
    if found.undecided:
        loads = ", ".join(f"{load:,}" for load in found.undecided)
        most = LOOKS[-1]
        remarks.append(f"{most} runs cannot tell whether {loads} meets the limits")
    return remarks


def _latency(loads: Sequence[TriedLoad]) -> list[str]:
    """Say where a load that passes waits much longer than a larger one that passes."""
    passed = [
        (one.load, one.carried.latency_us.p99)
        for one in loads
        if one.verdict == "pass" and one.carried.latency_us.p99
    ]
    for number, (load, late_us) in enumerate(passed):
        larger, least_us = min(passed[number:], key=lambda one: one[1])
        if late_us > _LONGER * least_us:
            at_low = f"{latency_text(late_us, ',.0f')} at {load:,.0f}"
            at_high = f"{latency_text(least_us, ',.0f')} at {larger:,.0f}"
            return [f"p99 falls where the load grows: {at_low}, {at_high}; both meet the limits"]
    return []


def _tried(judged: Judged, runs: Sequence[Measured]) -> TriedLoad:
    return TriedLoad(
        load=judged.load,
        verdict=judged.verdict,
        runs=judged.runs,
        simulated_s=runs[0].simulated_s,
        intervals=tuple(_interval(one) for one in judged.criteria),
        carried=_carried(runs),
    )


def _interval(found: Criterion) -> Interval:
    ends = {name: getattr(found, name) for name in ("limit", "mean", "low", "high")}
    return Interval(name=found.name, verdict=found.verdict, **ends)


def _carried(runs: Sequence[Measured]) -> LoadResults:
    def mean(values: Sequence[float]) -> float:
        return math.fsum(values) / len(values)

    ports = tuple(
        PortLoad(
            name=port, **{name: mean([run.ports[port][name] for run in runs]) for name in rates}
        )
        for port, rates in runs[0].ports.items()
    )
    places = dict.fromkeys(place for run in runs for place in run.drops)
    return LoadResults(
        offered_per_s=mean([run.messages.offered_per_s for run in runs]),
        delivered_per_s=mean([run.messages.delivered_per_s for run in runs]),
        **{name: mean([run.rates[name] for run in runs]) for name in runs[0].rates},
        rx_bps=math.fsum(port.rx_bps for port in ports),
        rx_packets_per_s=math.fsum(port.rx_packets_per_s for port in ports),
        latency_us=pooled([run.messages for run in runs]),
        ports=ports,
        drops={place: mean([run.drops.get(place, 0) for run in runs]) for place in places},
    )
