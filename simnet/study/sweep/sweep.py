"""A grid of simulations: every combination of some knobs' values, of tunings and of seeds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import simnet
from simnet.study.figures import drawn
from simnet.study.run.arguments import (
    Given,
    Names,
    Settings,
    check_one_of,
    options_of,
)
from simnet.study.run.measures import THROUGHPUT, TRANSACTIONS, measures
from simnet.study.statistics.optimum import Cell, Optimum, cells, optimum
from simnet.study.sweep.asked import asked, naming_the_axis
from simnet.study.sweep.effort import check
from simnet.study.work.cases import Member, Progress, simulate_each

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure


_DIGEST: Final = "fingerprint"
SCHEMA: Final = "simnet.sweep/1"
PICTURES: Final = {
    "values": "sweep:figure",
    "latency": "sweep:latency",
    "pareto": "pareto:of_sweep",
}


@dataclass(frozen=True)
class Point:
    """One run of the grid."""

    settings: Mapping[str, str]  # the values of the knobs that vary
    tuning: str  # the tuning's name as given; empty where tunings don't vary
    seed: int  # of all its random numbers
    measured: Mapping[str, Any]  # what was measured, by name with unit; None for what was not


@dataclass(frozen=True)
class Sweep:
    """All runs of a grid: by tuning, then the last knob's value changes first, then the seed.

    `settings` are the same in all runs, and so are `options`, which said how they are made.
    `remarks` are what to know of the configurations and of the
    runs, one line each; where one was too short, `conclusive` is False and the optimum is none.
    """

    scenario: str
    knobs: tuple[str, ...]
    points: tuple[Point, ...]
    remarks: tuple[str, ...] = ()
    conclusive: bool = True
    settings: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, str] = field(default_factory=dict)

    @property
    def tuned(self) -> bool:
        """Whether tunings vary."""
        return any(point.tuning for point in self.points)

    @property
    def names(self) -> tuple[str, ...]:
        """What differs between cells: the knobs, and `tuning` where tunings vary."""
        return (*self.knobs, *(("tuning",) if self.tuned else ()))

    def rows(self) -> list[dict[str, Any]]:
        """One flat row a run: knobs, tuning, seed, and what was measured with units in names.

        What no run has, as transactions where there are streams, is in none of them.
        """
        tuned = self.tuned
        measured = {n for point in self.points for n, v in point.measured.items() if v is not None}
        return [
            {
                **point.settings,
                **({"tuning": point.tuning} if tuned else {}),
                "seed": point.seed,
                **{name: value for name, value in point.measured.items() if name in measured},
            }
            for point in self.points
        ]

    @property
    def compared_by(self) -> str:
        """The measure that decides unless another is named: transactions, else throughput."""
        asks = any(cell.estimate(TRANSACTIONS) for cell in self.cells)
        return TRANSACTIONS if asks else THROUGHPUT

    @cached_property
    def cells(self) -> tuple[Cell, ...]:
        """The runs of equal values together, each cell with means and 95 % intervals."""
        return cells(self.rows(), self.names)

    def optimum(self, by: str | None = None) -> Optimum:
        """The cell that is best by a measure, and those that may be the best as well.

        More throughput and more transactions are better; of everything else, less. None stands for
        `compared_by`. Raises InputError for a name that is no measure, or one that was not
        measured.
        """
        return optimum(self.cells, by or self.compared_by)

    def to_json(self, *, indent: int | None = 2, by: str | None = None) -> str:
        """Rows, cells and optimum as a document `simnet.sweep/1`."""
        document = {
            "schema": SCHEMA,
            "scenario": self.scenario,
            "version": simnet.__version__,
            "settings": dict(self.settings),
            "options": dict(self.options),
            "knobs": list(self.knobs),
            "rows": self.rows(),
            "cells": [cell.document() for cell in self.cells],
            "optimum": self.optimum(by).document(),
            "conclusive": self.conclusive,
            "remarks": list(self.remarks),
        }
        return json.dumps(document, indent=indent)

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas data frame; the knobs' values are texts, as they were given."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def plot(self, by: str | None = None, *, picture: str = "values") -> Figure:
        """The measure over the knobs, and the CPU time beside it, with the optimum marked.

        A heat map over two knobs; else curves with 95 % intervals over the knob with the most
        values, a line for each combination of the others. With the `picture` `latency` the panels
        are median and 99th percentile; with `pareto` they show what more of the measure costs in
        CPU time and in latency. Raises InputError for another picture, and for what was not
        measured.
        """
        check_one_of(picture, PICTURES, "picture")
        return drawn(PICTURES[picture], self, by or self.compared_by)


def sweep(  # noqa: PLR0913 (what `run` takes, and the grid)
    scenario: str | Path,
    over: Mapping[str, Given | Sequence[Given]],
    *,
    tunings: str | Sequence[str] = (),
    settings: Settings | None = None,
    apply: Names = (),
    replications: int = 1,
    seed: int | None = None,
    duration: str | None = None,
    warm_up: str | None = None,
    precision: str | float | None = None,
    jobs: int | None = None,
    scheduler: str | None = None,
    confirm: Callable[[str], bool] | None = None,
    progress: Progress | None = None,
) -> Sweep:
    """Simulate every combination of values, in parallel; none that was done before.

    Results are kept as they are done: what an interrupt leaves is found by the next call.

    Args:
        scenario: a scenario's name, or the path of its file.
        over: values by knob: a sequence, or a text such as `"1,2,4"` or `"10 us..50 us:10 us"`.
        tunings: tunings to compare, each as `simnet run --tuning` takes it; `"none"` is the
            scenario as it is.
        settings: knobs that are the same in all runs.
        apply: files with what `lsattr -El`, `no -a` or `mmlsconfig` printed, the same in all runs;
            see `captured`.
        replications: runs of every combination, each with another seed, all with the same ones.
        seed: of all random numbers, or the first of them; the scenario's when None.
        duration: measured simulated time of each run; the scenario's when None.
        warm_up: simulated time before that; the scenario's when None.
        precision: end each run when its intervals are this narrow, such as `"1 %"`; see `run`.
        jobs: number of processes, one a CPU when None.
        scheduler: address of a Dask scheduler whose workers simulate instead.
        confirm: asked before more than 10,000 simulations, with a sentence that says how long they
            take; None refuses them.
        progress: called with the number of simulations done and in all.

    Raises:
        InputError: nothing varies, a knob, a value or a tuning can't be used, the cluster can't be
            reached, or the grid is large and not confirmed.
    """
    grid, loaded = asked(
        scenario,
        over,
        tunings=tunings,
        settings=settings,
        apply=apply,
        replications=replications,
        seed=seed,
        times={"duration": duration, "warm_up": warm_up, "precision": precision},
    )
    axes = grid.axes
    measured: dict[Member, dict[str, Any]] = {}
    doubts: dict[Member, str] = {}
    warned: dict[Member, str] = {}
    with naming_the_axis(axes):
        _, one = next(grid.members())
        check(one, len(grid), confirm, jobs=jobs, scheduler=scheduler)
        members = dict(grid.members())
        done = simulate_each(
            members.values(), jobs=jobs, scheduler=scheduler, progress=progress, lean=True
        )
        for member, result in done:
            measured[member] = measures(result)
            if result.warnings:
                (warned if result.conclusive else doubts)[member] = result.warnings[0]
    points = [
        Point(dict(row), tuning, cast("int", member.seed), measured[member])
        for (tuning, row, _), member in members.items()
    ]
    remarks = dict.fromkeys(remark for one in loaded for remark in one.remarks)
    for name in _idle(axes, points):
        remarks[f"{name}: changes nothing here: equal results with each of its values"] = None
    # what decides that nothing can be told comes last
    for which, what in ((warned, "have a warning"), (doubts, "are inconclusive")):
        first_text = next((which[member] for member in members.values() if member in which), "")
        if first_text:
            remarks[f"{len(which)} of {len(points)} runs {what}: {first_text}"] = None
    scenario = loaded[0].scenario
    given = options_of(duration=duration, warm_up=warm_up, precision=precision)
    return Sweep(
        scenario, tuple(axes), tuple(points), tuple(remarks), not doubts, grid.fixed, given
    )


def _idle(axes: Mapping[str, Sequence[str]], points: Sequence[Point]) -> Iterator[str]:
    """The knobs with several values whose value changes no number of any run."""
    for name in (name for name, values in axes.items() if len(values) > 1):
        found: dict[tuple[Any, ...], dict[str, Any]] = {}
        for point in points:
            others = tuple(value for other, value in point.settings.items() if other != name)
            numbers = {key: one for key, one in point.measured.items() if key != _DIGEST}
            if found.setdefault((point.tuning, others, point.seed), numbers) != numbers:
                break
        else:
            yield name
