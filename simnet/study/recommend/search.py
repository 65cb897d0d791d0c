"""Which changes might reach the goal: structure first, then values.

1. Each change alone: tunings and what subjects propose, then each knob two values up. A knob that
   changes nothing to the last bit is left out from then on, and so is a proposal that does what a
   tuning does.
2. Structure on structure: to the best list each other tuning or proposal is added, twice.
3. Values and structure together by a tree-structured Parzen estimator, which has seen all of the
   above (Bergstra, Bardenet, Bengio and Kegl, Algorithms for hyper-parameter optimization, NIPS
   2011; Optuna's). It proposes a few lists at a time, always as many, so the number of processes
   changes nothing.

It ends as soon as a list has nearly all that can be gained: more than an open-loop load offers is
never carried.

All runs of the search have one seed: what differs is the change. A list that breaks a limit stands
behind all that keep them, by how much it breaks it.
"""

import warnings
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Final

from simnet.study.recommend.bench import Bench, Change, Changes, Level, Trial
from simnet.study.recommend.reduce import SHARE
from simnet.study.screen.factors import Factor

_STEP: Final = 2
_ROUNDS: Final = 2
_AT_ONCE: Final = 4
# what the estimator sees of changes that do not go together, in the unit of gains
_WORST: Final = -1000.0


def search(bench: Bench, level: Level, runs: int, seed: int) -> list[Trial]:
    """What was tried, at most so many lists, best first."""
    structure = [one for one in bench.every if one.structure]
    knobs = [one for one in bench.every if not one.structure]
    alone = [(Change(one, _first(one)),) for one in (*structure, *knobs)]
    known = _Known(bench, level, runs)
    known.try_out(alone)
    (as_it_is,) = bench.trials([()], level)
    enough = SHARE * bench.goal.most(as_it_is.runs[0])
    idle = _idle(known.trials, as_it_is)
    structure = [one for one in structure if one not in idle]
    for _ in range(_ROUNDS):
        best = known.best
        if best is None or best.gain <= 0 or best.gain >= enough:
            break
        had = {change.factor for change in best.changes}
        more = [Change(one, _first(one)) for one in structure if one not in had]
        known.try_out([ordered(bench, (*best.changes, one)) for one in more])
    best = known.best
    if best is None or best.gain < enough:
        _by_estimator(known, [one for one in bench.every if one not in idle], seed)
    return sorted(known.trials, key=_score, reverse=True)


def _idle(alone: Sequence[Trial], as_it_is: Trial) -> set[Factor]:
    """Knobs that change nothing, and proposals that do what a tuning does: to the last bit."""
    found: set[Factor] = set()
    seen: list[Trial] = []
    for trial in alone:
        factor = trial.changes[0].factor
        if not trial.runs:
            continue
        if factor.proposed and any(trial.runs == one.runs for one in seen):
            found.add(factor)
        if not factor.structure and trial.runs == as_it_is.runs:
            found.add(factor)
        seen.append(trial)
    return found


class _Known:
    """What was tried so far."""

    def __init__(self, bench: Bench, level: Level, most: int) -> None:
        self.bench = bench
        self._level = level
        self._most = most
        self._found: dict[Changes, Trial] = {}

    @property
    def trials(self) -> tuple[Trial, ...]:
        return tuple(self._found.values())

    @property
    def left(self) -> int:
        return self._most - len(self._found)

    @property
    def best(self) -> Trial | None:
        allowed = [one for one in self._found.values() if one.allowed]
        return max(allowed, key=_score, default=None)

    def try_out(self, several: Iterable[Changes]) -> list[Trial]:
        """Simulate what is not known, as far as there are runs left."""
        fresh = [one for one in dict.fromkeys(several) if one and one not in self._found]
        fresh = list(islice(fresh, self.left))
        found = self.bench.trials(fresh, self._level)
        self._found |= dict(zip(fresh, found, strict=True))
        return found

    def of(self, changes: Changes) -> Trial | None:
        return self._found.get(changes)


def _by_estimator(known: _Known, every: Sequence[Factor], seed: int) -> None:
    """Spend the runs that are left on what the estimator proposes."""
    import optuna  # takes longer to load than a short run

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    spaces: Any = {
        str(n): optuna.distributions.CategoricalDistribution(one.values)
        for n, one in enumerate(every)
    }
    sampler = optuna.samplers.TPESampler(seed=seed, n_startup_trials=0, constant_liar=True)
    study = optuna.create_study(sampler=sampler, direction="maximize")
    places = {one: str(n) for n, one in enumerate(every)}
    usual = {str(n): one.usual for n, one in enumerate(every)}
    for trial in known.trials:
        if all(change.factor in places for change in trial.changes):
            chosen = {places[change.factor]: change.value for change in trial.changes}
            study.add_trial(
                optuna.trial.create_trial(
                    params=usual | chosen, distributions=spaces, value=_score(trial)
                )
            )
    rounds = 0
    while known.left > 0 and rounds * _AT_ONCE < 2 * known.left + _AT_ONCE:
        rounds += 1
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
            asked = [study.ask(spaces) for _ in range(_AT_ONCE)]
        lists = [_chosen(every, one.params) for one in asked]
        known.try_out(lists)
        for one, changes in zip(asked, lists, strict=True):
            found = known.of(changes)
            if changes and found is None:
                study.tell(one, state=optuna.trial.TrialState.FAIL)
            else:
                study.tell(one, 0.0 if found is None else _score(found))


def _chosen(every: Sequence[Factor], values: dict[str, str]) -> Changes:
    found = ((one, values[str(n)]) for n, one in enumerate(every))
    return tuple(Change(one, value) for one, value in found if value != one.usual)


def _first(factor: Factor) -> str:
    """On, or two values up; down where there are none above."""
    if factor.structure:
        return factor.values[-1]
    now = factor.values.index(factor.usual)
    up = min(now + _STEP, len(factor.values) - 1)
    return factor.values[up if up != now else max(now - _STEP, 0)]


def ordered(bench: Bench, changes: Changes) -> Changes:
    """The changes in the order of the factors: later tunings are meant to be on top."""
    return tuple(sorted(changes, key=lambda one: bench.every.index(one.factor)))


def _score(trial: Trial) -> float:
    """The gain; what breaks a limit is worse than what keeps them all, and worse than nothing."""
    if not trial.gains:
        return _WORST
    if trial.excess > 0:
        return max(min(trial.gain, 0.0) - 100.0 - trial.excess, _WORST)
    return max(trial.gain, _WORST)
