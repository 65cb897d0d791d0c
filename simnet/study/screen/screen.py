"""Which knobs matter in a scenario: `simnet screen`.

Every tuning and knob that the system takes is a factor. Paths through all of them turn one factor
at a time (`simnet.study.screen.paths`); the change of a result at each step is an elementary effect
of that factor. Their mean size says how much the factor matters, their spread
whether that depends on the others. Source: Morris, Technometrics 33 (1991)
161; mean sizes: Campolongo, Cariboni and Saltelli, Environmental Modelling & Software 22 (2007)
1509.

Of what matters, `simnet.study.screen.shares` estimates by how much it accounts for what the results
vary, if that is asked for.

All runs have the same seed, so what a factor leaves alone changes nothing at all.
"""

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Final

import simnet
from simnet.errors import InputError
from simnet.printable import few
from simnet.study.run.arguments import (
    Names,
    Settings,
    check_one_of,
    count_of,
    names_of,
    options_of,
    seed_of,
    text_of,
)
from simnet.study.run.machine import machine
from simnet.study.run.measures import RATE, SCREENED
from simnet.study.run.result import Result
from simnet.study.run.run import recorded
from simnet.study.run.validity import inconclusive, lengthened
from simnet.study.screen.document import WITHIN, Effect, Screen, Screened, Share
from simnet.study.screen.factors import Factor, factors
from simnet.study.screen.paths import Turn, alone, same, turns
from simnet.study.screen.shares import shares
from simnet.study.whatif.plan import fingerprint
from simnet.study.whatif.same import of_this_load, unexplained, why_same
from simnet.study.whatif.verdict import ratios
from simnet.study.work.cases import (
    Case,
    Member,
    Progress,
    case_of,
    runs_to_completion,
    simulate_all,
)
from simnet.study.work.store import Store

PATHS: Final = 3
DURATION: Final = "60 ms"
WARM_UP: Final = "60 ms"
# seeds of the system as it is, which tell what chance does
_SEEDS: Final = 3
# the first ones, whose ranks readers go by
_RANKED: Final = 5
_LEAST_POINTS: Final = 8
_MOST_POINTS: Final = 4096


def screen(  # noqa: PLR0913 (what the command has options for)
    scenario: str | Path,
    *,
    knobs: Names = (),
    metric: str = RATE,
    paths: int = PATHS,
    sobol: int = 0,
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
        paths: how often each is turned, at most: twice where that is within chance.
        sobol: points of the sample from which the shares of variance of what matters are
            estimated, a power of two; 0 for none. So many runs for each of up to five factors and
            two more, but equal combinations are simulated once.
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
    check_one_of(metric, SCREENED, "--metric")
    _check(sobol)
    # refused before anything is tried
    most, first = count_of(paths, "--paths", 2, 1000), seed_of(seed)
    base = case_of(scenario, settings, tunings, apply)
    effective = Member(base).effective()
    if runs_to_completion(base):
        raise InputError("its jobs run to their end: too long for a screening", file=str(scenario))
    every = factors(base, names_of(knobs, "--knobs"))
    if not every:
        raise InputError("nothing of it can be turned", file=str(scenario))
    runs = _Runs(duration, warm_up, jobs, progress, store)
    seeds = [Member(base, seed=first + number) for number in range(_SEEDS)]
    chance = _chance(runs.of(seeds))

    def simulated(cases: Sequence[Case]) -> dict[Case, Result]:
        members = [Member(case, seed=first) for case in cases]
        return dict(zip(cases, runs.of(members), strict=True))

    def within(found: Sequence[Turn]) -> bool:
        return _effect_of(metric, found).size <= WITHIN * chance.get(metric, 0.0)

    found = turns(base, every, most, first, simulated, within)
    if simulated([base])[base].conclusive:
        # from and to what delivers nothing there is no ratio
        found = {
            one: [turn for turn in made if turn.before.conclusive and turn.after.conclusive]
            for one, made in found.items()
        }
    void = [one for one in every if all(same(turn.before, turn.after) for turn in found[one])]
    if void:
        found |= {
            one: by_itself
            for one, by_itself in alone(base, every, void, simulated).items()
            if not found[one] or any(not same(turn.before, turn.after) for turn in by_itself)
        }
    screened = [_screened(factor, found[factor]) for factor in every]
    screened = [
        one.model_copy(update={"why": why_idle(base, factor)}) if one.turns and one.idle else one
        for factor, one in zip(every, screened, strict=True)
    ]
    ranked = sorted(screened, key=lambda one: -one.effect(metric).size)
    shared: tuple[Share, ...] = ()
    unshared: tuple[str, ...] = ()
    if sobol:
        named = {factor.name: factor for factor in every}
        limit = WITHIN * chance.get(metric, 0.0)
        matter = [named[o.name] for o in ranked if o.turns and o.effect(metric).size > limit]
        known = [name for name in SCREENED if name in chance]
        shared, unshared = shares(base, matter, sobol, first, known, simulated)
    return Screen(
        scenario=effective.scenario,
        version=simnet.__version__,
        fingerprint=fingerprint(runs.results.values()),
        settings=recorded(base.apply, base.settings),
        options=options_of(
            seed=None if first == 1 else first,
            paths=most,
            sobol=sobol or None,
            knobs=";".join(names_of(knobs, "--knobs")) or None,
            duration=duration,
            warm_up=warm_up,
        ),
        source=str(scenario),
        machine=machine(effective),
        tunings=effective.tunings,
        metric=metric,
        latency_kind=runs.of(seeds)[0].latency_kind,
        runs=len(runs.results),
        simulated_s=runs.of(seeds)[0].simulated_s,
        chance=chance,
        remarks=(
            *effective.remarks,
            *_doubts(runs.results.values()),
            *_uncertain_ranks(ranked, metric, most),
        ),
        factors=tuple(ranked),
        shares=shared,
        unshared=unshared,
    )


def _uncertain_ranks(ranked: Sequence[Screened], metric: str, paths: int) -> Iterator[str]:
    """Say that ranks are luck where the mean of so few turns is."""
    doubtful = []
    for one in ranked[:_RANKED]:
        effect = one.effect(metric)
        if one.turns and 2 * effect.spread > effect.size * math.sqrt(one.turns):
            doubtful.append(one.name)
    if 2 * len(doubtful) > _RANKED:
        yield (
            f"ranks are uncertain after {paths} paths: {few(doubtful)} did much more in some"
            f" combinations than in others; --paths {3 * paths} ranks better"
        )


def _check(points: int) -> None:
    """Refuse a sample that Sobol's sequence cannot have."""
    if points and (points & (points - 1) or not _LEAST_POINTS <= points <= _MOST_POINTS):
        expected = f"a power of two from {_LEAST_POINTS} to {_MOST_POINTS}, or 0 for none"
        raise InputError(f"expected {expected}, got {points}", key="--sobol")


class _Runs:
    """The simulations so far."""

    def __init__(
        self,
        duration: str | None,
        warm_up: str | None,
        jobs: int | None,
        progress: Progress | None,
        store: Store | None,
    ) -> None:
        self.results: dict[Member, Result] = {}
        self._measured = text_of(duration, "--duration") or DURATION
        self._before = text_of(warm_up, "--warm-up")
        self._jobs, self._progress, self._store = jobs, progress, store

    def of(self, members: Sequence[Member]) -> list[Result]:
        """Their results; what was simulated before is not simulated again."""
        timed = [self._timed(member) for member in members]
        missing = [member for member in dict.fromkeys(timed) if member not in self.results]
        if missing:
            done = simulate_all(
                missing, jobs=self._jobs, progress=self._counted, store=self._store, lean=True
            )
            self.results |= zip(missing, done, strict=True)
        return [self.results[member] for member in timed]

    def _timed(self, member: Member) -> Member:
        """With a longer warm-up where something of its own acts late."""
        before = self._before or lengthened(WARM_UP, (member.effective(),))[0]
        return replace(member, duration=self._measured, warm_up=before)

    def _counted(self, done: int, total: int, phase: str = "") -> None:
        if self._progress is not None:
            self._progress(len(self.results) + done, len(self.results) + total, phase)


def _doubts(results: Collection[Result]) -> Iterator[str]:
    count, why = inconclusive(results)
    if count:
        yield f"{count} of {len(results)} runs are inconclusive: {why}"


def _chance(results: Sequence[Result]) -> dict[str, float]:
    """By how much results of other seeds differ, in percent: one standard deviation.

    Without what is 0 with one of the seeds: there is no telling.
    """
    found = {}
    for name, values in ratios([results[0]] * (len(results) - 1), results[1:]).items():
        if name in SCREENED and all(value > 0 for value in values):
            found[name] = 100 * stdev([0.0, *map(math.log, values)])
    return found


def _screened(factor: Factor, found: Sequence[Turn]) -> Screened:
    changed = _ratios(found)
    return Screened(
        name=factor.name,
        description=factor.doc,
        values=factor.values,
        turns=len(found),
        idle=all(same(turn.before, turn.after) for turn in found),
        effects=tuple(_effect(name, changed[name]) for name in SCREENED if name in changed),
    )


def _ratios(found: Sequence[Turn]) -> dict[str, list[float]]:
    return ratios([turn.before for turn in found], [turn.after for turn in found])


def _effect_of(metric: str, found: Sequence[Turn]) -> Effect:
    return _effect(metric, _ratios(found).get(metric, []))


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


def why_idle(base: Case, factor: Factor) -> str:
    """What is known of why turning a factor changes nothing."""
    now = Member(base).effective()
    ends = dict.fromkeys((factor.values[0], factor.values[-1]))
    others = [value for value in ends if value != factor.usual]
    turned = [
        Member(factor.on(base, value)).effective() for value in others if factor.goes(base, value)
    ]
    idle = why_same(now, turned)
    shown = unexplained(now, turned) if of_this_load(idle) else ""
    return f"{idle}, and {shown}" if shown else idle
