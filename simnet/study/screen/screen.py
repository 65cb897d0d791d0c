"""Which knobs matter in a scenario: `simnet screen`.

Every tuning and knob that the system takes is a factor. Paths through all of them turn one factor
at a time, in an order and from a start that chance draws; the change of a result at each step is an
elementary effect of that factor. Their mean size says how much the factor matters, their spread
whether that depends on the others. Source: Morris, Factorial sampling plans for preliminary
computational experiments, Technometrics 33 (1991) 161; mean sizes: Campolongo, Cariboni and
Saltelli, Environmental Modelling & Software 22 (2007) 1509. Sampling is SALib's.

All runs have the same seed, so what a factor leaves alone changes nothing at all.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from statistics import fmean, stdev
from typing import TYPE_CHECKING, Final, TypeAlias

import simnet
from simnet.errors import InputError
from simnet.study.run.arguments import (
    Names,
    Settings,
    count_of,
    names_of,
    seed_of,
    text_of,
)
from simnet.study.run.run import recorded
from simnet.study.run.validity import lengthened
from simnet.study.screen.document import Effect, Screen, Screened
from simnet.study.screen.factors import Factor, factors, turned
from simnet.study.whatif.plan import fingerprint
from simnet.study.whatif.verdict import CPU_PER_BYTE, TAIL, THROUGHPUT, ratios
from simnet.study.work.cases import (
    Case,
    Member,
    Progress,
    case_of,
    runs_to_completion,
    simulate_all,
)

if TYPE_CHECKING:
    from simnet.study.run.result import Result
    from simnet.study.work.store import Store

__all__ = ["METRICS", "screen"]

METRICS: Final = (THROUGHPUT, CPU_PER_BYTE, TAIL)
PATHS: Final = 4
DURATION: Final = "60 ms"
WARM_UP: Final = "60 ms"
_LEVELS: Final = 4
# seeds of the system as it is, which tell what chance does
_SEEDS: Final = 3
# paths that are drawn for each that is wanted: some steps of them do not go together
_SPARE: Final = 8

_Step: TypeAlias = "tuple[Factor, Case, Case]"


def screen(  # noqa: PLR0913 (what the command has options for)
    scenario: str | Path,
    *,
    knobs: Names = (),
    metric: str = THROUGHPUT,
    paths: int = PATHS,
    settings: Settings | None = None,
    tunings: str | Sequence[str] = (),
    apply: Names = (),
    seed: int = 1,
    duration: str | None = None,
    warm_up: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Screen:
    """Turn every tuning and knob of a scenario, and say which change its results, and how much.

    Args:
        scenario: a scenario's name, or the path of its file.
        knobs: names of what to turn; all that the system takes when empty.
        metric: what they are ranked by: `throughput`, `cpu_per_byte` or `latency_p99`.
        paths: how often each is turned.
        settings: knobs for all runs.
        tunings: tunings of the scenario for all runs.
        apply: files with what `lsattr -El`, `no -a` or `mmlsconfig` printed.
        seed: of all runs, and of what is drawn.
        duration: simulated time that is measured; 60 ms when None.
        warm_up: simulated time before that; when None 60 ms, later where something acts late.
        jobs: number of processes; one a CPU when None. Results don't depend on it.
        progress: called with the simulations done and in all.
        store: where results are kept; the user's when None.

    Raises:
        InputError: something of the above can't be used as given.
        SimulationError: a simulation can't go on.
    """
    if metric not in METRICS:
        raise InputError(f"expected one of {', '.join(METRICS)}, got {metric!r}", key="--metric")
    base = case_of(scenario, settings, tunings, apply)
    effective = Member(base).effective()
    if runs_to_completion(base):
        raise InputError("its jobs run to their end: too long for a screening", file=str(scenario))
    every = factors(base, names_of(knobs, "--knobs"))
    if not every:
        raise InputError("nothing of it can be turned", file=str(scenario))
    first = seed_of(seed)
    steps = list(_steps(base, every, count_of(paths, "--paths", 2, 1000), first))
    late = lengthened(WARM_UP, (effective,))[0]
    measured = text_of(duration, "--duration") or DURATION
    before = text_of(warm_up, "--warm-up") or late

    def member(case: Case, number: int = first) -> Member:
        return Member(case, seed=number, duration=measured, warm_up=before)

    seeds = [member(base, first + number) for number in range(_SEEDS)]
    members = [*seeds, *(member(case) for _, *ends in steps for case in ends)]
    done = simulate_all(members, jobs=jobs, progress=progress, store=store)
    results = dict(zip(members, done, strict=True))
    chance = _chance([results[one] for one in seeds])
    screened = [
        _screened(
            factor,
            [
                (results[member(start)], results[member(end)])
                for turned_one, start, end in steps
                if turned_one is factor
            ],
        )
        for factor in every
    ]
    ranked = sorted(screened, key=lambda one: -one.effect(metric).size)
    return Screen(
        scenario=effective.scenario,
        version=simnet.__version__,
        fingerprint=fingerprint(results.values()),
        settings=recorded(base.apply, base.settings),
        tunings=effective.tunings,
        metric=metric,
        runs=len(results),
        simulated_s=done[0].simulated_s,
        chance=chance,
        remarks=effective.remarks,
        factors=tuple(ranked),
    )


def _steps(base: Case, every: Sequence[Factor], paths: int, seed: int) -> Iterator[_Step]:
    """Turn one factor at a time, to a later of its values, where both cases are legal."""
    from SALib.sample import morris  # takes longer to load than a short run

    names = [str(number) for number in range(len(every))]
    problem = {"num_vars": len(every), "names": names, "bounds": [[0.0, 1.0]] * len(every)}
    points = morris.sample(problem, paths * _SPARE, num_levels=_LEVELS, seed=seed).tolist()
    left = dict.fromkeys(every, paths)
    for start in range(0, len(points), len(every) + 1):
        values = [_values(every, point) for point in points[start : start + len(every) + 1]]
        cases = [turned(base, every, one) for one in values]
        for number, ends in enumerate(pairwise(cases)):
            here, there = values[number], values[number + 1]
            place = next(n for n in range(len(every)) if here[n] != there[n])
            factor = every[place]
            low, high = ends
            if low is None or high is None or not left[factor]:
                continue
            left[factor] -= 1
            up = factor.values.index(here[place]) < factor.values.index(there[place])
            yield (factor, low, high) if up else (factor, high, low)
        if not any(left.values()):
            return


def _values(every: Sequence[Factor], point: Sequence[float]) -> list[str]:
    """The value of each factor at a point of the unit cube."""
    return [
        factor.values[min(int(share * len(factor.values)), len(factor.values) - 1)]
        for factor, share in zip(every, point, strict=True)
    ]


def _chance(results: Sequence[Result]) -> dict[str, float]:
    """By how much results of other seeds differ, in percent: one standard deviation."""
    found = {}
    for name, values in ratios([results[0]] * (len(results) - 1), results[1:]).items():
        if name in METRICS:
            found[name] = 100 * stdev([0.0, *map(math.log, values)])
    return found


def _screened(factor: Factor, pairs: Sequence[tuple[Result, Result]]) -> Screened:
    before, after = [one for one, _ in pairs], [one for _, one in pairs]
    found = ratios(before, after)
    effects = tuple(_effect(name, found[name]) for name in METRICS if name in found)
    same = all(one.work == other.work and one.ports == other.ports for one, other in pairs)
    return Screened(
        name=factor.name,
        description=factor.doc,
        values=factor.values,
        turns=len(pairs),
        idle=same and all(not one.size for one in effects),
        effects=effects,
    )


def _effect(metric: str, changes: Sequence[float]) -> Effect:
    percent = [100 * math.log(one) for one in changes if one > 0]
    if not percent:
        return Effect(metric=metric, size=0.0, spread=0.0, low=0.0, high=0.0)
    return Effect(
        metric=metric,
        size=fmean(map(abs, percent)),
        spread=stdev(percent) if len(percent) > 1 else 0.0,
        low=min(percent),
        high=max(percent),
    )
