"""Many simulations: each described by data, done in worker processes, none done twice.

To describe them takes no mechanism; what simulates is imported when something is simulated.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Container, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from os import PathLike
from typing import TYPE_CHECKING, Protocol, cast

from simnet.errors import InputError
from simnet.scenario.core.files import Run
from simnet.scenario.core.load import load
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.units import UnitError
from simnet.study.run.arguments import Names, Settings, names_of, settings_of
from simnet.study.work.ensemble import Range
from simnet.study.work.vary import ranged, with_values

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective
    from simnet.study.run.result import Result
    from simnet.study.work.store import Store
    from simnet.study.work.task import Task

# configurations before values and seeds: those of a grid take turns, and each takes 2 MB
_MOST_LOADED = 64

# attributes of a member that are keys of a scenario's table `run`
_TIMES = ("duration", "warm_up", "precision")


class Progress(Protocol):
    """Called with the number of simulations done and in all, of a phase if there are several."""

    def __call__(self, done: int, total: int, phase: str = "", /) -> None:
        """Show it."""


@dataclass(frozen=True)
class Case:
    """A scenario with tunings and knobs set: what a measurement was taken of.

    `apply` are files with the attributes of a machine, see `simnet.scenario.commands.captured`.
    """

    scenario: str
    settings: tuple[tuple[str, str], ...] = ()
    tunings: tuple[str, ...] = ()
    apply: tuple[str, ...] = ()


def case_of(
    scenario: str | PathLike[str], settings: Settings | None, tunings: Names, apply: Names
) -> Case:
    """The case that a call of the API or of the command describes.

    Raises:
        InputError: something of it can't be used as given.
    """
    chosen = tuple(settings_of(settings).items())
    return Case(str(scenario), chosen, names_of(tunings, "--tuning"), names_of(apply, "--apply"))


@dataclass(frozen=True)
class Member:
    """One simulation of a case; None stands for what the scenario says.

    `values` are other values for parameters of models, by name, in base units.
    """

    case: Case
    seed: int | None = None
    duration: str | None = None
    warm_up: str | None = None
    values: tuple[tuple[str, int], ...] = ()
    precision: str | None = None

    def effective(self) -> Effective:
        """The configuration to simulate; InputError for what can't be used."""
        effective = _loaded(self.case)
        timing = {} if self.seed is None else {"seed": self.seed}
        for option in _TIMES:
            text = getattr(self, option)
            if text is not None:
                timing |= _parsed(option, text)
        if timing:
            run = effective.run.model_copy(update=timing)
            effective = effective.model_copy(update={"run": run})
        return with_values(effective, dict(self.values))


@dataclass(frozen=True)
class Draw:
    """Values of parameters that are not known for certain, in base units by name, and a seed."""

    seed: int
    values: Mapping[str, int]

    def member(self, case: Case) -> Member:
        """The simulation of a case with it."""
        return Member(case, seed=self.seed, values=tuple(sorted(self.values.items())))

    def among(self, names: Container[str]) -> Draw:
        """The draw with those of its values that are so named."""
        return replace(self, values={n: v for n, v in self.values.items() if n in names})


def runs_to_completion(case: Case) -> bool:
    """Whether what runs ends: no time is measured of it, and none before."""
    return _loaded(case).lpars is not None


@lru_cache(maxsize=_MOST_LOADED)
def _loaded(case: Case) -> Effective:
    settings = dict(case.settings)
    return load(case.scenario, settings=settings, tunings=case.tunings, apply=case.apply)


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


def uncertain(case: Case, *, fitting: Container[str] = ()) -> list[Range]:
    """The ranges of all parameters of a case that are assumed, or calibrated with an interval.

    Numbers that fit each other or do not, such as those of which a storage is put together, are not
    drawn one by one, but for those that are named in `fitting`.
    """
    return [
        Range(p.name, p.low, p.high)
        for p in ranged(Member(case).effective())
        if not p.fits or p.name in fitting
    ]


def simulate_all(
    members: Sequence[Member],
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    lean: bool = False,
) -> list[Result]:
    """The results of all members, in their order; `simulate_each` says how."""
    done = simulate_each(members, jobs=jobs, progress=progress, store=store, lean=lean)
    found = dict(done)
    return [found[member] for member in members]


def simulate_each(
    members: Iterable[Member],
    *,
    jobs: int | None = None,
    scheduler: str | None = None,
    progress: Progress | None = None,
    store: Store | None = None,
    lean: bool = False,
) -> Iterator[tuple[Member, Result]]:
    """The result of each member as it is done, in no order.

    Every member is checked before the first is simulated. Equal ones are simulated once, and none
    that is in `store` (the user's when None). The process that simulates puts its result there at
    once: whatever ends the others, or the caller, loses no finished run, and one whose process was
    killed is done again; LostRunError says which ended its process every time. `jobs` is the number
    of processes, by default one a CPU; the results don't depend on it. With the address of a Dask
    `scheduler`, its workers simulate instead. `lean` leaves most of the effective configuration out
    of the results: thousands of them would fill the memory.
    """
    from simnet.study.work.store import Store
    from simnet.study.work.task import Task

    kept = store or Store.of_user()
    keys = {member: _key(member) for member in dict.fromkeys(members)}
    missing = []
    report = progress or _silent
    for member, key in keys.items():
        known = kept.get(key)
        if known is None:
            missing.append(member)
        else:
            yield member, _without_configuration(known) if lean else known
    count = len(keys) - len(missing)
    report(count, len(keys))
    tasks = (
        Task(number, member.effective(), member.case.settings, keys[member])
        for number, member in enumerate(missing)
    )
    if scheduler is None:
        done = _on_processes(tasks, len(missing), jobs=jobs, store=kept, lean=lean)
    else:
        from simnet.study.work.cluster import on_cluster  # optional, as is Dask

        done = on_cluster(tasks, scheduler, store=kept)
    with closing(done):
        for number, result in done:
            count += 1
            report(count, len(keys))
            yield missing[number], _without_configuration(result) if lean else result
    kept.prune(kept=frozenset(keys.values()))


def _on_processes(
    tasks: Iterable[Task], count: int, *, jobs: int | None, store: Store, lean: bool
) -> Generator[tuple[int, Result]]:
    from simnet.study.work.workers import cpus, done_by_workers

    work = partial(_work, store=store, lean=lean)
    # a worker costs more to start than one short simulation takes
    workers = min(jobs or cpus(), count)
    if workers > 1:
        return done_by_workers(work, tasks, workers, name=str)
    return (work(task) for task in tasks)


def _work(task: Task, *, store: Store, lean: bool) -> tuple[int, Result]:
    result = task.done(store)
    return task.number, _without_configuration(result) if lean else result


def _without_configuration(result: Result) -> Result:
    kept = {name: result.configuration.get(name) for name in ("workload", "run")}
    return result.model_copy(update={"configuration": kept})


def _key(member: Member) -> str:
    from simnet.study.work.store import sources_digest

    case = member.case
    document = [sources_digest(), member.effective().digest(), case.settings, case.tunings]
    text = json.dumps(document, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _silent(done: int, total: int, phase: str = "") -> None:
    """Report no progress."""
