"""Many simulations: each described by data, done in worker processes, none done twice."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

from simnet.study.ensemble import Range
from simnet.study.run import effective_of, simulate
from simnet.study.store import Store, sources_digest
from simnet.study.vary import ranged, with_values

if TYPE_CHECKING:
    from simnet.scenario.effective import Effective
    from simnet.study.result import Result

Progress = Callable[[int, int], None]
"""Called with the number of simulations done and in all."""


@dataclass(frozen=True)
class Case:
    """A scenario with tunings and knobs set: what a measurement was taken of."""

    scenario: str
    settings: tuple[tuple[str, str], ...] = ()
    tunings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Member:
    """One simulation of a case; None stands for what the scenario says.

    `values` are other values for parameters of models, by name, in base units.
    """

    case: Case
    seed: int | None = None
    duration: str | None = None
    warmup: str | None = None
    values: tuple[tuple[str, int], ...] = ()

    def effective(self) -> Effective:
        """The configuration to simulate."""
        effective = _loaded(self.case, self.duration, self.warmup)
        if self.seed is not None:
            run = effective.run.model_copy(update={"seed": self.seed})
            effective = effective.model_copy(update={"run": run})
        return with_values(effective, dict(self.values))


@cache
def _loaded(case: Case, duration: str | None, warmup: str | None) -> Effective:
    return effective_of(
        case.scenario,
        settings=dict(case.settings),
        tunings=case.tunings,
        duration=duration,
        warmup=warmup,
    )


def uncertain(case: Case) -> list[Range]:
    """The ranges of all parameters of a case that are assumed, or calibrated with an interval."""
    return [Range(p.name, p.low, p.high) for p in ranged(Member(case).effective())]


def simulate_all(
    members: Sequence[Member],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
) -> list[Result]:
    """The results of all members, in their order.

    Equal members are simulated once, and none that is in `store` (the user's when None). `jobs`
    is the number of processes, by default one a CPU; the results don't depend on it.
    """
    import joblib  # one simulation needs no workers

    store = store or Store.of_user()
    keys = {member: _key(member) for member in dict.fromkeys(members)}
    found = {member: store.get(key) for member, key in keys.items()}
    missing = [member for member, result in found.items() if result is None]
    report = progress or _silent
    report(len(found) - len(missing), len(found))
    # a worker costs more to start than one short simulation takes
    workers = min(jobs or joblib.cpu_count(), len(missing))
    pool = joblib.Parallel(n_jobs=max(workers, 1), return_as="generator")
    done = pool(joblib.delayed(_simulate)(member) for member in missing)
    for number, (member, new) in enumerate(zip(missing, done, strict=True), start=1):
        store.put(keys[member], new)
        found[member] = new
        report(len(found) - len(missing) + number, len(found))
    store.prune()
    return [result for member in members if (result := found[member]) is not None]


def _simulate(member: Member) -> Result:
    return simulate(member.effective(), settings=dict(member.case.settings))


def _key(member: Member) -> str:
    case = member.case
    document = [sources_digest(), member.effective().digest(), case.settings, case.tunings]
    text = json.dumps(document, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _silent(done: int, total: int) -> None:
    """Report progress to nobody."""
