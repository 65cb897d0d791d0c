"""What to change on a system, told nothing but a goal: `simnet recommend`.

A search tries lists of changes in short runs (`search`), the best of them are simulated longer and
made as short as can be (`reduce`), and what is left is judged as `whatif` does. Each stage has
seeds of its own: the best of many looks better than it is, and only fresh seeds tell by how much.
"""

from collections.abc import Sequence
from pathlib import Path
from statistics import fmean
from typing import Final

import simnet
from simnet.errors import InputError
from simnet.extras import require
from simnet.scenario.core.effective import Effective
from simnet.study.recommend.bench import Bench, Changes, Level, Trial
from simnet.study.recommend.document import Recommendation, Step, Tried
from simnet.study.recommend.goals import GOALS, Goal, Numbers, goals_of, limits_of
from simnet.study.recommend.judge import judged
from simnet.study.recommend.reduce import finalists, reduced
from simnet.study.recommend.search import ordered, search
from simnet.study.recommend.space import space
from simnet.study.recommend.why import why
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
from simnet.study.run.measures import CPU_PER_BYTE, RATE, TAIL
from simnet.study.run.run import recorded
from simnet.study.run.validity import lengthened
from simnet.study.screen.document import in_percent
from simnet.study.whatif.aim import load_of
from simnet.study.whatif.plan import DISK_TIMES, MEMBERS, TIMES, fingerprint_of
from simnet.study.whatif.verdict import MARGIN_PERCENT, Verdict, exit_status, student
from simnet.study.whatif.whatif import whatif
from simnet.study.work.cases import Member, Progress, case_of, runs_to_completion
from simnet.study.work.store import Store

RUNS: Final = 90
_SHORT: Final = "100 ms"
# seeds after the first: those that choose, those that share out, the first that confirms
_CHOOSING: Final = (1, 2)
_SHARING: Final = (3, 4, 5, 6)
_CONFIRMING: Final = 100
# pairs of runs with equal seeds that confirm, at most; draws are as many as of a what-if
_PAIRS: Final = 5
# runs that choose what the search found best, and make it shorter: about as many were seen
_CHOICE: Final = 30


def recommend(  # noqa: PLR0913 (what the command has options for)
    scenario: str | Path,
    *,
    goal: str = "",
    limit: str | Sequence[str] = (),
    max_p99: str | None = None,
    knobs: Names = (),
    runs: int = RUNS,
    settings: Settings | None = None,
    tunings: str | Sequence[str] = (),
    apply: Names = (),
    seed: int = 1,
    duration: str | None = None,
    warm_up: str | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> Recommendation:
    """Search the tunings and knobs of a scenario for the shortest list that has most of the gain.

    Args:
        scenario: a scenario's name, or the path of its file.
        goal: `throughput` (more), `p99` (lower) or `cpu` (less CPU time per byte); what counts
            first for the load if empty, and a lower p99 where an offered load is carried as it is.
        limit: one or several, such as `"latency_p99<=2 ms"` or `"cpu_per_byte<=+10 %"`; a value
            with a sign is a change. Without one p99 may be at most twice as long where it counts
            for the load, loss may rise by 1 percentage point, Jain's index of the flows fall by
            10 %, throughput fall by 1 %, or by 5 % of requests that wait for answers.
        max_p99: the largest p99 latency, such as `"5 ms"`: a limit, too.
        knobs: names of what may be changed; all that the system takes when empty.
        runs: how many lists of changes the search tries.
        settings: knobs for all runs.
        tunings: tunings of the scenario that are part of what is.
        apply: files with what `lsattr -El`, `no -a` or `mmlsconfig` printed.
        seed: first of the seeds, and of what is proposed.
        duration: simulated time that is measured in every run; when None 100 ms in the search,
            else as in a what-if.
        warm_up: simulated time before that, likewise; later where something acts late.
        jobs: number of processes; one a CPU when None. Results don't depend on it.
        progress: called with the simulations done, and those expected, phase by phase.
        store: where results are kept; the user's when None.

    Raises:
        InputError: something of the above can't be used as given, or Optuna is not installed.
        SimulationError: a simulation can't go on.
    """
    if goal:
        check_one_of(goal, GOALS, "--goal")
    typed = (limit,) if isinstance(limit, str) else tuple(limit)
    most_p99 = text_of(max_p99, "--max-p99")
    base = case_of(scenario, settings, tunings, apply)
    plain = Member(base).effective()
    if runs_to_completion(base):
        raise InputError("its jobs run to their end: too long for a search", file=str(scenario))
    load = load_of(plain.workload.test)
    goals = [GOALS[goal]] if goal else goals_of(load)
    # refused before anything is tried
    limits = limits_of(typed, goals[0], most_p99, load)
    most, first = count_of(runs, "--runs", 1), seed_of(seed)
    require("optuna", asked_by="recommend")
    bench = Bench(
        base,
        space(base, names_of(knobs, "--knobs")),
        goals[0],
        limits,
        jobs=jobs,
        progress=progress,
        store=store,
    )
    if not bench.every:
        raise InputError("nothing of it can be changed", file=str(scenario))
    times = text_of(duration, "--duration"), text_of(warm_up, "--warm-up")
    short, longer, remarks = _times(plain, *times)
    bench.begin("searching", most + 1)
    as_it_is = _as_it_is(bench, Level(*short, (first,)), str(scenario), typed)
    wanted, *others = _told(goals, as_it_is)
    if others and wanted.most(as_it_is) <= MARGIN_PERCENT:
        wanted = others[0]
    bench.goal, bench.limits = wanted, limits_of(typed, wanted, most_p99, load)
    spare = wanted.most(as_it_is) > MARGIN_PERCENT
    found = search(bench, Level(*short, (first,)), most, first) if spare else []
    bench.begin("choosing the shortest list", _CHOICE)
    choosing = Level(*longer, tuple(first + one for one in _CHOOSING))
    best, changes = reduced(bench, finalists(found), choosing)
    sharing = Level(*longer, tuple(first + one for one in _SHARING))
    bench.begin("sharing out the gain", 0)
    steps = _shared(bench, changes, sharing)
    changes = tuple(one for step in steps for one in changes if one.text == step.change)
    nothing = _nothing(found) if spare else "nothing to gain: it carries all that is offered"
    decided, confirmed = Verdict("no", wanted.metric, nothing), None
    if steps:
        bench.begin("confirming", 0)
        confirmed = whatif(
            base.scenario,
            _typed(bench, changes),
            settings=dict(base.settings),
            base_tunings=base.tunings,
            apply=base.apply,
            seed=first + _CONFIRMING,
            seeds=_PAIRS,
            members=MEMBERS,
            duration=times[0],
            warm_up=times[1],
            goal=wanted.name,
            jobs=jobs,
            progress=bench.report,
            store=store,
        )
        decided = judged(confirmed.tunings[0], wanted, bench.limits, load)
    return Recommendation(
        scenario=plain.scenario,
        version=simnet.__version__,
        fingerprint=fingerprint_of(
            [*bench.fingerprints, *([confirmed.fingerprint] if confirmed else [])]
        ),
        settings=recorded(base.apply, base.settings),
        options=options_of(
            seed=None if first == 1 else first,
            runs=None if most == RUNS else most,
            knobs=";".join(names_of(knobs, "--knobs")) or None,
            duration=duration,
            warm_up=warm_up,
        ),
        source=str(scenario),
        machine=machine(plain),
        base_tunings=plain.tunings,
        goal=wanted.name,
        metric=wanted.metric,
        latency_kind=bench.latency_kind,
        limits=tuple(one.text for one in bench.limits),
        runs=len(bench.fingerprints),
        verdict=decided.answer,
        reason=decided.sentence,
        exit_status=exit_status([decided.answer]),
        remarks=(*plain.remarks, *remarks),
        left_out=_left_out(bench, changes, sharing),
        best=tuple(one.text for one in best.changes) if steps else (),
        steps=steps,
        confirmed=confirmed,
        tried=tuple(_tried(one, as_it_is) for one in found if one.runs),
    )


def _times(
    plain: Effective, duration: str | None, warm_up: str | None
) -> tuple[tuple[str, str], tuple[str, str], tuple[str, ...]]:
    """Measured time and warm-up of a search and of what follows, and what made them longer."""
    usual = (DISK_TIMES if plain.ffsb else TIMES)[:2]
    short = (_SHORT, _SHORT) if not plain.ffsb else DISK_TIMES[2:]
    late = [lengthened(one[1], (plain,)) for one in (short, usual)]
    searching, after = (
        (duration or one[0], warm_up or needed)
        for one, (needed, _) in zip((short, usual), late, strict=True)
    )
    return searching, after, () if warm_up else late[0][1]


def _as_it_is(bench: Bench, level: Level, scenario: str, limits: Sequence[str]) -> Numbers:
    """The numbers of the system as it is.

    Raises:
        InputError: there are none, or they say nothing of one of the limits that were typed.
    """
    (trial,) = bench.trials([()], level)
    if not trial.runs:
        message = f"a run of {level.duration} after {level.warm_up} says nothing: longer, please"
        raise InputError(message, file="--duration", key=scenario)
    for one in bench.limits:
        if one.text in limits and one.metric not in trial.runs[0]:
            raise InputError(f"its runs have no {one.metric}", file="--limit", key=one.text)
    return trial.runs[0]


def _told(goals: Sequence[Goal], as_it_is: Numbers) -> list[Goal]:
    """Those goals of which runs tell something: what drops all packets has no latency.

    Raises:
        InputError: they tell of none.
    """
    told = [one for one in goals if as_it_is.get(one.metric, 0.0) > 0]
    if not told:
        first = goals[0]
        raise InputError(f"its runs have no {first.label()}", file="--goal", key=first.name)
    return told


def _left_out(bench: Bench, changes: Changes, level: Level) -> str:
    """What gained more than what is recommended, and which limit forbids it; empty if nothing."""
    (kept,) = bench.trials([ordered(bench, changes)], level)
    best = bench.left_out(kept.gain if changes else 0.0)
    if best is None:
        return ""
    gain = in_percent(best.gain if bench.goal.more else -best.gain)
    names = " + ".join(one.text for one in best.changes)
    said = f"{bench.goal.label(bench.latency_kind)} {gain:+.1f} %"
    return f"{names}: {said} in a short run, but it breaks the limit {best.broken}"


def _shared(bench: Bench, changes: Changes, level: Level) -> tuple[Step, ...]:
    """What each change adds, most first; without those that may add nothing."""
    while True:
        steps = _steps(bench, changes, level)
        idle = [one for one in steps if one.interval is None or one.interval.low <= 0]
        if len(steps) <= 1 or not idle:
            break
        least = min(idle, key=lambda one: one.share).change
        changes = tuple(one for one in changes if one.text != least)
    return tuple(sorted(steps, key=lambda one: -one.share))


def _steps(bench: Bench, changes: Changes, level: Level) -> tuple[Step, ...]:
    """What each change adds to those before it; none if all add nothing."""
    if not changes:
        return ()
    lists = [ordered(bench, changes[:count]) for count in range(len(changes) + 1)]
    gains = [trial.gains for trial in bench.trials(lists, level)]
    whole = student(gains[-1])
    if whole is None or whole.low <= 0 or fmean(gains[-1]) <= MARGIN_PERCENT:
        return ()
    cases = [case for one in lists if (case := bench.case(one)) is not None]
    results = bench.results(cases, level)
    steps = []
    for number, change in enumerate(changes, start=1):
        added = [
            100 * (now - was) / fmean(gains[-1])
            for was, now in zip(gains[number - 1], gains[number], strict=True)
        ]
        steps.append(
            Step(
                change=change.text,
                description=change.factor.doc,
                settings=dict(change.factor.settings(change.value)),
                share=fmean(added),
                interval=student(added),
                why=why(results[number - 1], results[number]),
            )
        )
    return tuple(steps)


def _typed(bench: Bench, changes: Changes) -> str:
    """The changes as a tuning of a what-if."""
    listed = ordered(bench, changes)
    names = [one.factor.name for one in listed if one.factor.is_tuning]
    knobs = [f"{name}={value}" for one in listed for name, value in one.factor.settings(one.value)]
    return "+".join([*names, *([",".join(knobs)] if knobs else [])])


def _nothing(found: Sequence[Trial]) -> str:
    """That nothing was found, and of how much."""
    kept = sum(one.allowed for one in found)
    return f"nothing found: of {len(found)} lists of changes {kept} keep the limits, none is better"


def _tried(trial: Trial, as_it_is: Numbers) -> Tried:
    percent = {
        name: 100 * (trial.runs[0][name] / as_it_is[name] - 1)
        for name in (RATE, CPU_PER_BYTE, TAIL)
        if as_it_is.get(name) and name in trial.runs[0]
    }
    changes = tuple(one.text for one in trial.changes)
    return Tried(changes=changes, allowed=trial.allowed, percent=percent)
