"""Simulates lists of changes, each beside the system as it is, with equal seeds."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import TypeAlias

from simnet.study.recommend.goals import Goal, Limit, Numbers, numbers
from simnet.study.run.loss import kind_of
from simnet.study.run.result import Result
from simnet.study.screen.factors import Factor, turned
from simnet.study.work.cases import Case, Member, Progress, simulate_all
from simnet.study.work.store import Store


@dataclass(frozen=True)
class Change:
    """A factor with another value than the system has."""

    factor: Factor
    value: str

    @property
    def text(self) -> str:
        """As a person names it."""
        return self.factor.name if self.factor.structure else f"{self.factor.name}={self.value}"


Changes: TypeAlias = tuple[Change, ...]
"""What is changed together, in the order of the factors."""


@dataclass(frozen=True)
class Level:
    """How long runs are, and their seeds."""

    duration: str
    warm_up: str
    seeds: tuple[int, ...]


@dataclass(frozen=True)
class Trial:
    """What some changes did."""

    changes: Changes  # together
    # numbers of each seed; none where the changes do not go together, or say nothing
    runs: tuple[Numbers, ...]
    gains: tuple[float, ...]  # of each seed, see `Goal.gain`
    excess: float  # by how much a limit is broken; 0 or less where all are kept
    broken: str = ""  # which limit that is, and what there is instead; empty where all are kept

    @property
    def gain(self) -> float:
        """The mean over the seeds."""
        return fmean(self.gains) if self.gains else -math.inf

    @property
    def allowed(self) -> bool:
        """Whether it has numbers and keeps the limits."""
        return bool(self.gains) and self.excess <= 0 and math.isfinite(self.gain)


class Bench:
    """Simulates, and remembers.

    Args:
        base: the system as it is.
        every: what can be changed.
        goal: what is wanted.
        limits: what must be kept.
        jobs: number of processes.
        progress: called with the runs done and expected in all.
        store: where results are kept.
    """

    def __init__(
        self,
        base: Case,
        every: Sequence[Factor],
        goal: Goal,
        limits: Sequence[Limit],
        *,
        jobs: int | None,
        progress: Progress | None,
        store: Store | None,
    ) -> None:
        self.base = base
        self.every = tuple(every)
        self.goal = goal
        self.limits = limits
        self.fingerprints: list[str] = []  # of all runs so far
        self.latency_kind = ""  # what latencies of the runs are; empty before the first
        self._jobs = jobs
        self._progress = progress
        self._phase, self._before, self._expected = "", 0, 0
        self._store = store
        self._known: dict[Member, Numbers | None] = {}
        self._refused: list[Trial] = []

    def left_out(self, gain: float) -> Trial | None:
        """What gained most in all trials, if that is more than `gain` and a limit forbids it."""
        best = max(self._refused, key=lambda one: one.gain, default=None)
        return best if best and math.isfinite(best.gain) and best.gain > max(gain, 0.0) else None

    def case(self, changes: Changes) -> Case | None:
        """The system with the changes; None where they do not go together."""
        values = {change.factor: change.value for change in changes}
        return turned(self.base, self.every, [values.get(one, one.usual) for one in self.every])

    def begin(self, phase: str, expected: int) -> None:
        """Say what the runs that come now are for, and about how many there may be."""
        self._phase, self._before, self._expected = phase, len(self.fingerprints), expected

    def report(self, done: int, total: int, phase: str = "") -> None:
        """Tell how many runs of a phase, or of a `phase` of it, are done."""
        if self._progress is None:
            return
        if phase:
            self._progress(done, total, f"{self._phase}: {phase}")
            return
        before = len(self.fingerprints) - self._before
        self._progress(before + done, max(self._expected, before + total), self._phase)

    def results(self, cases: Iterable[Case], level: Level) -> list[list[Result]]:
        """Of each case the results of all seeds."""
        members = [_members(case, level) for case in cases]
        flat = [member for several in members for member in several]
        found = self._simulate(flat, lean=False)
        return [[found[member] for member in several] for several in members]

    def trials(self, several: Sequence[Changes], level: Level) -> list[Trial]:
        """What each list of changes does."""
        cases = [self.case(changes) for changes in several]
        wanted = [case for case in (self.base, *cases) if case is not None]
        members = [member for case in wanted for member in _members(case, level)]
        left = list(dict.fromkeys(member for member in members if member not in self._known))
        if left:
            for member, result in self._simulate(left, lean=True).items():
                self._known[member] = numbers(result) if result.conclusive else None
        before = [self._known[member] for member in _members(self.base, level)]
        return [
            self._trial(changes, before, [self._known[m] for m in _members(case, level)])
            if case is not None
            else Trial(changes, (), (), 0.0)
            for changes, case in zip(several, cases, strict=True)
        ]

    def _simulate(self, members: Sequence[Member], *, lean: bool) -> dict[Member, Result]:
        done = simulate_all(
            members, jobs=self._jobs, progress=self.report, store=self._store, lean=lean
        )
        self.fingerprints += [result.fingerprint for result in done]
        self.latency_kind = kind_of(result.latency_kind for result in done)
        return dict(zip(members, done, strict=True))

    def _trial(
        self, changes: Changes, before: Sequence[Numbers | None], after: Sequence[Numbers | None]
    ) -> Trial:
        was = [one for one in before if one is not None]
        now = [one for one in after if one is not None]
        if len(was) != len(before) or len(now) != len(was):
            return Trial(changes, (), (), 0.0)
        gains = tuple(map(self.goal.gain, was, now))
        worst = max(self.limits, key=lambda limit: limit.excess(was, now), default=None)
        excess = worst.excess(was, now) if worst else 0.0
        if worst is None or excess <= 0:
            return Trial(changes, tuple(now), gains, excess)
        trial = Trial(changes, tuple(now), gains, excess, worst.broken(was, now))
        self._refused.append(trial)
        return trial


def _members(case: Case, level: Level) -> list[Member]:
    return [Member(case, seed, level.duration, level.warm_up) for seed in level.seeds]
