"""Many simulations: each described by data, done in worker processes, none done twice."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, cast

from simnet.errors import InputError
from simnet.scenario.files import Run
from simnet.scenario.schema import spec_of
from simnet.scenario.units import UnitError
from simnet.study.ensemble import Range
from simnet.study.run import effective_of, simulate
from simnet.study.store import Store, sources_digest
from simnet.study.vary import ranged, with_values
from simnet.study.worker import deaf_children, working_for

if TYPE_CHECKING:
    from simnet.scenario.effective import Effective
    from simnet.study.result import Result

# configurations before values and seeds: those of a grid take turns, and each takes 2 MB
_MOST_LOADED = 64

# attributes of a member by the keys of a scenario's table `run`
_TIMES = {"duration": "duration", "warm_up": "warmup", "precision": "precision"}

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
    precision: str | None = None

    def effective(self) -> Effective:
        """The configuration to simulate; InputError for what can't be used."""
        effective = _loaded(self.case)
        timing = {} if self.seed is None else {"seed": self.seed}
        for option, attribute in _TIMES.items():
            text = getattr(self, attribute)
            if text is not None:
                timing |= _parsed(option, text)
        if timing:
            run = effective.run.model_copy(update=timing)
            effective = effective.model_copy(update={"run": run})
        return with_values(effective, dict(self.values))


@lru_cache(maxsize=_MOST_LOADED)
def _loaded(case: Case) -> Effective:
    return effective_of(case.scenario, settings=dict(case.settings), tunings=case.tunings)


def _parsed(option: str, text: str) -> dict[str, int]:
    """The run's attribute that an option stands for, and its value in base units."""
    for attribute in Run.model_fields:
        spec = spec_of(Run, attribute)
        if spec and spec.key(attribute) == option:
            try:
                return {attribute: cast("int", spec.parse(text))}
            except UnitError as error:
                where = f"--{option.replace('_', '-')}"
                raise InputError(str(error), file=where, key=option) from error
    raise LookupError(option)


def uncertain(case: Case) -> list[Range]:
    """The ranges of all parameters of a case that are assumed, or calibrated with an interval."""
    return [Range(p.name, p.low, p.high) for p in ranged(Member(case).effective())]


def simulate_all(
    members: Sequence[Member],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    lean: bool = False,
) -> list[Result]:
    """The results of all members, in their order.

    Equal members are simulated once, and none that is in `store` (the user's when None). The
    process that simulates puts its result there at once: whatever ends the others, or the caller,
    loses no finished run. `jobs` is the number of processes, by default one a CPU; the results
    don't depend on it. `lean` leaves most of the effective configuration out of the results:
    thousands of them would fill the memory.
    """
    import joblib  # one simulation needs no workers

    store = store or Store.of_user()
    keys = {member: _key(member) for member in dict.fromkeys(members)}
    found = {}
    for member, key in keys.items():
        if (known := store.get(key)) is not None:
            found[member] = _lean(known) if lean else known
    missing = [member for member in keys if member not in found]
    report = progress or _silent
    report(len(found), len(keys))
    # a worker costs more to start than one short simulation takes
    workers = min(jobs or joblib.cpu_count(), len(missing))
    pool = joblib.Parallel(
        n_jobs=max(workers, 1),
        return_as="generator_unordered",
    )
    work = joblib.delayed(_simulate)
    caller = os.getpid()
    with deaf_children():
        done = pool(
            work(number, member, keys[member], store, caller=caller, lean=lean)
            for number, member in enumerate(missing)
        )
    for number, result in done:
        found[missing[number]] = result
        report(len(found), len(keys))
    store.prune()
    return [found[member] for member in members]


def _simulate(
    number: int, member: Member, key: str, store: Store, *, caller: int, lean: bool
) -> tuple[int, Result]:
    with working_for(caller):
        result = simulate(member.effective(), settings=dict(member.case.settings))
        store.put(key, result)
    return number, _lean(result) if lean else result


def _lean(result: Result) -> Result:
    kept = {name: result.configuration.get(name) for name in ("workload", "run")}
    return result.model_copy(update={"configuration": kept})


def _key(member: Member) -> str:
    case = member.case
    document = [sources_digest(), member.effective().digest(), case.settings, case.tunings]
    text = json.dumps(document, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _silent(done: int, total: int) -> None:
    """Report progress to nobody."""
