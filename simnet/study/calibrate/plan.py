"""Which measurements on a host would tell most of its costs: `simnet calibrate HOST --plan`.

Each load that the scenario's kind of workload can have is simulated with draws of what is
uncertain: those kept beside the scenario, else from the ranges. To a first approximation its
numbers are y = S p with the sensitivity matrix S and the parameters' covariance P, so S P S' is
their covariance over the draws. With an error e of each number a set of loads has the information
ln det(1 + S P S' / e^2) / 2, and the loads are chosen one by one, each the one that adds most (a
greedy D-optimal design). Source: Atkinson, Donev and Tobias, "Optimum Experimental Designs, with
SAS", 2007, chapters 10 and 11.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np

from simnet.errors import InputError
from simnet.printable import typed
from simnet.scenario.core.files import STREAM_TYPES
from simnet.study.calibrate.calibrate import Runs
from simnet.study.calibrate.conditions import scenario_of, telling
from simnet.study.calibrate.host import ERROR, MEMBERS
from simnet.study.compare.metrics import kind_of, predicted
from simnet.study.statistics.leastsquares import Vector
from simnet.study.work.cases import Case, Draw, Member, simulate_all, uncertain
from simnet.study.work.ensemble import latin_hypercube
from simnet.study.work.kept import kept_beside

_FIRST_SEED: Final = 7000
_MOST: Final = 3
_NARROWED: Final = 3
# standard errors of a correlation that is nothing
_CHANCE: Final = 2.5
_TINY: Final = 1e-30
_MPSTAT: Final = "mpstat -P ALL -o JSON 30 1 > {folder}/mpstat.json & "


@dataclass(frozen=True)
class Load:
    """A load that a person can put on a host."""

    name: str  # of its folder below `measured`
    settings: tuple[tuple[str, str], ...]  # of the scenario that simulate it
    command: str  # what to type on the host, without mpstat beside it


_LOADS: Final = (
    Load("receive", (("test", "netserver"),), "iperf3 -c PEER -R -t 30 -J > {folder}/iperf3.json"),
    Load("send", (("test", "netperf"),), "iperf3 -c PEER -t 30 -J > {folder}/iperf3.json"),
    Load(
        "requests", (("test", "tcp_rr"),), "netperf -H PEER -t TCP_RR -l 30 > {folder}/netperf.txt"
    ),
    Load(
        "small-messages",
        (("test", "netperf"), ("message", "256 B")),
        "iperf3 -c PEER -l 256 -t 30 -J > {folder}/iperf3.json",
    ),
)
_AS_IT_IS: Final = Load("as-it-is", (), "echo 'put the load on the host, and what it printed here'")


@dataclass(frozen=True)
class Advice:
    """A load that is worth measuring."""

    load: Load  # which
    nats: float  # information that it adds to those before
    # parameters with the part of their spread that is left after it and those before, the
    # most narrowed first
    narrowed: tuple[tuple[str, float], ...]
    commands: tuple[str, ...]  # what to type on the host


def plan(
    host: str | Path, *, runs: Runs | None = None, members: int = MEMBERS, error: float = ERROR
) -> list[Advice]:
    """The loads that would tell most of a host's costs, the most telling first.

    Args:
        host: the folder that `simnet import` wrote, or a scenario's file.
        runs: how every load is simulated; the scenario's times when None.
        members: draws of what is uncertain.
        error: of a measured number, relative to the mean of its kind.
    """
    scenario = scenario_of(host)
    chosen = runs or Runs(duration=None, seeds=(1,))
    base = Case(str(scenario))
    streams = Member(base).effective().workload.type in STREAM_TYPES
    possible = [one for one in _LOADS if _takes(base, one)] if streams else []
    loads = {one.name: one for one in possible or [_AS_IT_IS]}
    draws = _draws(base, members)
    numbers = {
        name: _numbers(Case(str(scenario), one.settings), draws, chosen)
        for name, one in loads.items()
    }
    return [
        Advice(
            loads[name], nats, _narrowed(draws, together, error), _commands(loads[name], scenario)
        )
        for name, nats, together in _greedy(numbers, error)
    ]


def _takes(base: Case, load: Load) -> bool:
    """Whether the scenario can have a load: not all are simulated over a bond, for example."""
    try:
        Member(replace(base, settings=load.settings)).effective()
    except InputError:
        return False
    return True


def _draws(base: Case, members: int) -> list[Draw]:
    kept = list(kept_beside(base))[:members]
    if kept:
        return kept
    points = latin_hypercube(uncertain(base), members)
    return [Draw(_FIRST_SEED + number, point) for number, point in enumerate(points)]


def _numbers(case: Case, draws: Sequence[Draw], runs: Runs) -> Vector:
    """What a load's tools would print with each draw, relative to the mean of its kind."""
    members = [
        replace(draw.member(case), duration=runs.duration, warm_up=runs.warm_up) for draw in draws
    ]
    results = simulate_all(members, jobs=runs.jobs, progress=runs.progress, lean=True)
    rows = [telling(predicted(result)) for result in results]
    metrics = [metric for metric in rows[0] if all(metric in row for row in rows)]
    found: Vector = np.array([[row[metric] for metric in metrics] for row in rows])
    kinds = [kind_of(metric) for metric in metrics]
    means = np.abs(found).mean(axis=0)
    scale = {
        kind: max(
            float(np.mean([m for m, k in zip(means, kinds, strict=True) if k == kind])), _TINY
        )
        for kind in kinds
    }
    found /= np.array([scale[kind] for kind in kinds])
    found -= found.mean(axis=0)
    return found


def _greedy(numbers: Mapping[str, Vector], error: float) -> list[tuple[str, float, Vector]]:
    """Names of loads in the order of what each adds, with that, and all numbers so far."""
    left = dict(numbers)
    together = np.zeros((len(next(iter(left.values()))), 0))
    had = 0.0
    chosen: list[tuple[str, float, Vector]] = []
    while left and len(chosen) < _MOST:
        gains = {name: _nats(np.hstack([together, own]), error) for name, own in left.items()}
        best = max(gains, key=lambda name: gains[name])
        together = np.hstack([together, left.pop(best)])
        chosen.append((best, gains[best] - had, together))
        had = gains[best]
    return chosen


def _nats(numbers: Vector, error: float) -> float:
    covariance = numbers.T @ numbers / max(len(numbers) - 1, 1)
    _, logarithm = np.linalg.slogdet(np.eye(len(covariance)) + covariance / error**2)
    return float(logarithm) / 2


def _narrowed(
    draws: Sequence[Draw], numbers: Vector, error: float
) -> tuple[tuple[str, float], ...]:
    """The parameters that numbers would narrow most; not what they seem to by chance."""
    covariance = numbers.T @ numbers / max(len(numbers) - 1, 1) + error**2 * np.eye(
        numbers.shape[1]
    )
    found = {}
    for name in sorted(set.intersection(*(set(draw.values) for draw in draws))):
        values = np.array([draw.values[name] for draw in draws], dtype=float)
        values -= values.mean()
        cross = numbers.T @ values / max(len(values) - 1, 1)
        variance = float(values @ values) / max(len(values) - 1, 1)
        scales = np.sqrt(np.maximum(np.diag(covariance) * variance, _TINY))
        if np.max(np.abs(cross) / scales) > _CHANCE / math.sqrt(len(values)):
            told = float(cross @ np.linalg.solve(covariance, cross)) / variance
            found[name] = math.sqrt(max(1.0 - told, 0.0))
    return tuple(sorted(found.items(), key=lambda item: item[1])[:_NARROWED])


def _commands(load: Load, scenario: Path) -> tuple[str, ...]:
    folder = scenario.parent / "measured" / load.name
    place = typed(folder)
    settings = "".join(f'{name} = "{value}"\\n' for name, value in load.settings)
    return (
        f"mkdir -p {place}",
        f"printf '[settings]\\n{settings}' > {place}/case.toml",
        (_MPSTAT + load.command).format(folder=place),
    )
