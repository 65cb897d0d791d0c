"""The cells of a grid, their means over seeds, and where the best lies."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from simnet.errors import InputError
from simnet.scenario.core.subject import Measure
from simnet.study.run.loss import kind_of
from simnet.study.run.measures import LATENCY_KIND, MEASURES, measure, named

_CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Estimate:
    """A mean over runs with different seeds, and half of its 95 % interval (Student's t).

    `half_width` is None for one run: it says nothing about others.
    """

    mean: float
    half_width: float | None

    @classmethod
    def of(cls, values: Sequence[float]) -> Estimate:
        """The estimate from independent runs."""
        mean = math.fsum(values) / len(values)
        if len(values) == 1:
            return cls(mean, None)
        from scipy.special import stdtrit

        freedom = len(values) - 1
        variance = math.fsum((value - mean) ** 2 for value in values) / freedom
        quantile = float(stdtrit(freedom, (1 + _CONFIDENCE) / 2))
        return cls(mean, quantile * math.sqrt(variance / len(values)))


@dataclass(frozen=True)
class Cell:
    """One combination of values."""

    settings: Mapping[str, str]  # the values by knob, `tuning` among them where tunings vary
    # each measure of every run, seeds in the same order in all cells
    values: Mapping[str, tuple[float, ...]]
    latency_kind: str = ""  # what latencies of these runs are

    def estimate(self, measure: str) -> Estimate | None:
        """The mean of a measure; None when it was not measured."""
        return Estimate.of(self.values[measure]) if measure in self.values else None

    def document(self) -> dict[str, Any]:
        """Settings, number of runs, and means with half widths of what was measured, for JSON."""
        runs = len(next(iter(self.values.values())))
        found: dict[str, Any] = {**self.settings, "runs": runs}
        for name, values in self.values.items():
            estimate = Estimate.of(values)
            found[name] = estimate.mean
            found[f"{name}_half_width"] = estimate.half_width
        return found


def cells(rows: Sequence[Mapping[str, Any]], names: Sequence[str]) -> tuple[Cell, ...]:
    """The rows of equal values together, in the order in which they come first."""
    found: dict[tuple[str, ...], list[Mapping[str, Any]]] = {}
    for row in rows:
        found.setdefault(tuple(row[name] for name in names), []).append(row)
    return tuple(
        Cell(
            dict(zip(names, key, strict=True)),
            {
                name: tuple(float(run[name]) for run in runs)
                for name in MEASURES
                if all(run.get(name) is not None for run in runs)
            },
            kind_of(run.get(LATENCY_KIND) or "" for run in runs),
        )
        for key, runs in found.items()
    )


@dataclass(frozen=True)
class Optimum:
    """The best cell by one measure, and the set of those that may be as good."""

    measure: str  # name of the measure, a key of `MEASURES`
    best: int  # number of the cell with the best mean
    # numbers of the cells that may be the best, with 95 % confidence; None when there is one
    # run of each: nothing says how much they vary
    members: tuple[int, ...] | None
    # how far from the best a mean in the set may be, in the unit of the measure
    within: float | None
    axes: Mapping[str, tuple[str, ...]]  # the values of every knob, in order
    cells: tuple[Cell, ...]  # all cells

    @property
    def equals(self) -> tuple[int, ...]:
        """Numbers of the cells whose runs have the same values as the best, itself among them."""
        best = self.cells[self.best].values[self.measure]
        return tuple(n for n, cell in enumerate(self.cells) if cell.values[self.measure] == best)

    def named(self, measure: str) -> Measure:
        """A measure, called after what the latencies of the runs are."""
        return named(measure, kind_of(cell.latency_kind for cell in self.cells))

    def document(self) -> dict[str, Any]:
        """Everything for JSON, cells as their values."""
        chosen = (
            None if self.members is None else [dict(self.cells[i].settings) for i in self.members]
        )
        return {
            "measure": self.measure,
            "best": dict(self.cells[self.best].settings),
            "not_distinguishable": chosen,
            "within": self.within,
        }

    def sentence(self) -> str:
        """Where the best lies and how flat it is there."""
        shown = self.named(self.measure)
        best = self.cells[self.best]
        values = " ".join(f"{name}={value}" for name, value in best.settings.items())
        estimate = Estimate.of(best.values[self.measure])
        mean = shown.shown(estimate.mean)
        if len(self.cells) == 1:
            width = estimate.half_width
            spread = "" if width is None else f" ±{shown.shown(width)} (95 %)"
            return f"{shown.label}: {mean}{spread}"
        equal = len(self.equals)
        if equal == len(self.cells):
            return f"{shown.label}: {mean}, the same with all {equal} combinations"
        sentence = f"best {shown.label}: {mean} at {values}"
        if self.members is None:
            others = f" and {equal - 1} more that equal it" if equal > 1 else ""
            sentence += others
            return f"{sentence}; one run of each says nothing about how sure that is"
        if len(self.members) == 1:
            return f"{sentence}; all others are worse (95 %)"
        return f"{sentence}; not distinguishable from it (95 %): {self._named()}"

    def _named(self) -> str:
        """The set in few words: ranges along one axis; how many, and between which values."""
        members = self.members or ()
        if len(members) == len(self.cells):
            return f"all {len(members)}"
        varied = [name for name, values in self.axes.items() if len(values) > 1]
        places = {
            name: sorted({self.axes[name].index(self.cells[i].settings[name]) for i in members})
            for name in varied
        }
        spans = [f"{name} {_spans(self.axes[name], places[name])}" for name in varied]
        if len(varied) == 1:
            return spans[0]
        return f"{len(members)} of {len(self.cells)} points, with {' and '.join(spans)}"


def _spans(values: Sequence[str], places: Sequence[int]) -> str:
    """Neighbours as `A to B`, others one by one."""
    groups: list[list[int]] = []
    for place in places:
        if groups and place == groups[-1][-1] + 1:
            groups[-1].append(place)
        else:
            groups.append([place])
    texts = [
        values[group[0]] if len(group) == 1 else f"{values[group[0]]} to {values[group[-1]]}"
        for group in groups
    ]
    return ", ".join(texts)


def optimum(found: tuple[Cell, ...], by: str) -> Optimum:
    """The optimum by a measure; InputError for one that there is not."""
    import numpy as np

    from simnet.study.statistics.best import contenders

    chosen_measure = measure(by)
    if any(by not in cell.values for cell in found):
        raise InputError("not measured in these runs", file="--best", key=by)
    values = np.array([cell.values[by] for cell in found])
    largest = chosen_measure.largest
    means = values.mean(axis=1) * (1 if largest else -1)
    best = int(means.argmax())
    chosen = contenders(values, largest=largest)
    axes = {
        name: tuple(dict.fromkeys(cell.settings[name] for cell in found))
        for name in found[0].settings
    }
    if chosen is None:
        return Optimum(by, best, None, None, axes, found)
    return Optimum(by, chosen.best, chosen.members, chosen.within, axes, found)
