"""A grid of simulations: every combination of some knobs' values and of tunings."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import simnet
from simnet.errors import InputError
from simnet.scenario.entries import tuning_names
from simnet.study.cases import Case, Member, Progress, simulate_all
from simnet.study.grid import axis, combinations
from simnet.study.result import Result

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["AS_IT_IS", "Point", "Sweep", "sweep"]

_OVER: Final = "--over"
SCHEMA: Final = "simnet.sweep/1"
AS_IT_IS: Final = "none"
"""Stands for the scenario without a tuning, among several."""


@dataclass(frozen=True)
class Point:
    """One run of the grid.

    Attributes:
        settings: the values of the knobs that vary.
        tuning: the tuning's name as given; empty where tunings don't vary.
        result: what was measured, without the effective configuration.
    """

    settings: Mapping[str, str]
    tuning: str
    result: Result


@dataclass(frozen=True)
class Sweep:
    """All runs of a grid, the last knob's value changing first, then the tuning."""

    scenario: str
    knobs: tuple[str, ...]
    points: tuple[Point, ...]

    @property
    def tuned(self) -> bool:
        """Whether tunings vary."""
        return any(point.tuning for point in self.points)

    def rows(self) -> list[dict[str, Any]]:
        """One flat row a run: knobs, tuning, and the totals of the result with units in names."""
        return [_row(point, tuned=self.tuned) for point in self.points]

    def to_json(self, *, indent: int | None = 2) -> str:
        """The rows as a document `simnet.sweep/1`."""
        document = {
            "schema": SCHEMA,
            "scenario": self.scenario,
            "version": simnet.__version__,
            "knobs": list(self.knobs),
            "rows": self.rows(),
        }
        return json.dumps(document, indent=indent)

    def to_frame(self) -> pd.DataFrame:
        """The rows as a pandas data frame."""
        import pandas as pd

        return pd.DataFrame(self.rows())

    def plot(self) -> Figure:
        """Throughput and CPU time over the knob with the most values, a line for all else."""
        from simnet.study.sweepfigure import lines

        return lines(self)


def sweep(  # noqa: PLR0913 (what `run` takes, and the grid)
    scenario: str | Path,
    over: Mapping[str, str | Sequence[str]],
    *,
    tunings: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
    seed: int | None = None,
    duration: str | None = None,
    warmup: str | None = None,
    precision: str | None = None,
    jobs: int | None = None,
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
        seed: of all random numbers; the scenario's when None.
        duration: measured simulated time of each run; the scenario's when None.
        warmup: simulated time before that; the scenario's when None.
        precision: end each run when its intervals are this narrow, such as `"1 %"`; see `run`.
        jobs: number of processes, one a CPU when None.
        progress: called with the number of simulations done and in all.

    Raises:
        InputError: nothing varies, or a knob, a value or a tuning can't be used.
    """
    if not over and not tunings:
        raise InputError("something to vary was expected: KNOB=VALUES, or tunings", key=_OVER)
    axes = {
        name: axis(values, name) if isinstance(values, str) else tuple(values)
        for name, values in over.items()
    }
    fixed = {name: value for name, value in (settings or {}).items() if name not in axes}
    cells = [(tuning, row) for tuning in tunings or ("",) for row in combinations(axes)]
    members = [
        Member(
            Case(str(scenario), (*fixed.items(), *row), _tunings(tuning)),
            seed=seed,
            duration=duration,
            warmup=warmup,
            precision=precision,
        )
        for tuning, row in cells
    ]
    name = _checked(members, axes)
    results = simulate_all(members, jobs=jobs, progress=progress, lean=True)
    points = [
        Point(dict(row), tuning, result)
        for (tuning, row), result in zip(cells, results, strict=True)
    ]
    return Sweep(name, tuple(axes), tuple(points))


def _tunings(given: str) -> tuple[str, ...]:
    return () if given in {"", AS_IT_IS} else tuning_names([given])


def _checked(members: Sequence[Member], axes: Mapping[str, Sequence[str]]) -> str:
    """Load every configuration before anything is simulated; return the scenario's name."""
    name = ""
    for member in members:
        try:
            name = member.effective().scenario
        except InputError as error:
            if error.file == "--set" and error.key in axes:
                raise InputError(error.message, file=_OVER, key=error.key) from error
            raise
    return name


def _row(point: Point, *, tuned: bool) -> dict[str, Any]:
    result = point.result
    latencies = [flow.latency_us for flow in result.flows]
    return {
        **point.settings,
        **({"tuning": point.tuning} if tuned else {}),
        "throughput_bps": result.throughput_bps,
        "cpu_busy_percent": result.cpu_busy_percent,
        "interrupts_per_s": sum(port.interrupts_per_s for port in result.ports),
        "drops": sum(port.drops for port in result.ports),
        "latency_us_p50": max((q.p50 for q in latencies if q.p50 is not None), default=None),
        "latency_us_p99": max((q.p99 for q in latencies if q.p99 is not None), default=None),
        "simulated_s": result.simulated_s,
        "fingerprint": result.fingerprint,
    }
