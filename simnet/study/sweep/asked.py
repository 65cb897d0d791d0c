"""What a sweep is asked to simulate, checked before anything is.

Nothing is imported here that simulates: who mistypes a name waits for neither.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from simnet.errors import InputError
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.entries import stands_for, tuning_names
from simnet.study.run.arguments import (
    Given,
    Names,
    Settings,
    axes_of,
    count_of,
    names_of,
    seed_of,
    settings_of,
    text_of,
)
from simnet.study.sweep.grid import axis, combinations, size
from simnet.study.work.cases import Case, Member

AS_IT_IS: Final = "none"
"""Stands for the scenario without a tuning, among several."""
_OVER: Final = "--over"
_SEED: Final = "seed"
_MOST_DIGITS: Final = 100

_Cell = tuple[str, tuple[tuple[str, str], ...], int | None]


@dataclass(frozen=True)
class Grid:
    """What a sweep simulates."""

    scenario: str  # a name, or the path of a file
    axes: Mapping[str, Sequence[str]]  # the values of each knob that varies
    tunings: tuple[str, ...]  # as given; empty for the scenario as it is where they don't vary
    fixed: Mapping[str, str]  # knobs that are the same in all runs
    apply: tuple[str, ...]  # files that are the same in all runs
    run: Member  # says how long each runs
    # of the runs of each combination; None stands for the scenario's
    seeds: tuple[int | None, ...] = (None,)

    def __len__(self) -> int:
        return size(self.axes) * len(self.tunings) * len(self.seeds)

    def members(self) -> Iterator[tuple[_Cell, Member]]:
        """Tuning, values and seed of each run, and the simulation; made one by one."""
        for tuning in self.tunings:
            names = () if tuning in {"", AS_IT_IS} else tuning_names([tuning])
            for row in combinations(self.axes):
                case = Case(self.scenario, (*self.fixed.items(), *row), names, self.apply)
                for seed in self.seeds:
                    yield (tuning, row, seed), replace(self.run, case=case, seed=seed)

    def corners(self) -> Grid:
        """The first and the last value of every axis: enough to find most mistakes at once."""
        ends = {name: dict.fromkeys((values[0], values[-1])) for name, values in self.axes.items()}
        return replace(self, axes={name: tuple(values) for name, values in ends.items()})


def asked(
    scenario: str | Path,
    over: Mapping[str, Given | Sequence[Given]],
    *,
    tunings: str | Sequence[str],
    settings: Settings | None,
    apply: Names,
    replications: int,
    seed: int | None,
    times: Mapping[str, str | float | None],
) -> tuple[Grid, list[Effective]]:
    """The grid that the arguments of `sweep` describe, and the configurations of its corners."""
    if not over and not tunings and replications == 1:
        raise InputError("expected something to vary: KNOB=VALUES, or tunings", key=_OVER)
    axes = {
        name: axis(values, name) if isinstance(values, str) else values
        for name, values in axes_of(over).items()
    }
    seeds = axes.pop(_SEED, None)
    if seeds is not None and replications != 1:
        raise InputError("--over seed=... says already which seeds", key="--replications")
    fixed = {name: value for name, value in settings_of(settings).items() if name not in axes}
    run = Member(
        Case(str(scenario)),
        duration=text_of(times["duration"], "--duration"),
        warm_up=text_of(times["warm_up"], "--warm-up"),
        precision=text_of(times["precision"], "--precision"),
    )
    compared = names_of(tunings, "--tuning") or ("",)
    grid = Grid(str(scenario), axes, compared, fixed, names_of(apply, "--apply"), run)
    count_of(replications, "--replications", 1)
    with naming_the_axis(axes):
        loaded = [member.effective() for _, member in grid.corners().members()]
    first = loaded[0].run.seed if seed is None else seed_of(seed)
    chosen = _seeds(seeds) if seeds else tuple(range(first, first + replications))
    return replace(grid, seeds=chosen), loaded


def _seeds(texts: Sequence[str]) -> tuple[int, ...]:
    for text in texts:
        if not text.isdecimal() or len(text) > _MOST_DIGITS:
            raise InputError(f"expected whole numbers, got {text!r}", file=_OVER, key=_SEED)
    return tuple(map(int, texts))


@contextmanager
def naming_the_axis(axes: Mapping[str, Sequence[str]]) -> Iterator[None]:
    """Say of a value that a scenario refuses which option had it."""
    try:
        yield
    except InputError as error:
        name = error.key or ""
        if error.file == "--set" and any(stands_for(axis, name) for axis in axes):
            raise InputError(error.message, file=_OVER, key=error.key) from error
        raise
