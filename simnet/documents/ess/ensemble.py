"""Workloads that are consistent with what was measured: the ensemble behind the `ess` predictions.

The Spectrum Scale document says what its workload is called, how many jobs it has and what they
add up to, and not what a job does. So many workloads are drawn: every value with a range, from a
Latin hypercube, and a seed for what remains to chance. Four values of each are then solved for, so
that the 20-test on one node comes out as measured: CPU time and data of a job, its pauses, and
what the daemon costs. A workload whose daemon would cost more or less than is plausible, whose
20-test misses anything by a tenth or more, or whose 30-test on four nodes does, is not one that
can have been measured. The others are kept, as data, and every prediction is made with each.
"""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING, Final

from simnet._share import folder
from simnet.files import read_text, write_text
from simnet.scenario.parts.scale.columns import totals
from simnet.study.validate.measurements import measurement
from simnet.study.work.cases import Case, Draw, Member, Progress, simulate_all, uncertain
from simnet.study.work.ensemble import latin_hypercube

if TYPE_CHECKING:
    from collections.abc import Container, Sequence
    from pathlib import Path

    from simnet.study.run.result import Result

__all__ = [
    "CALIBRATION",
    "WorkloadDraw",
    "consistent",
    "kept",
    "numbers",
    "of_length",
    "search",
    "solved",
    "workloads_for",
    "write",
]

_SCENARIO: Final = "ess-sas"
_ONE: Final = "ess.sas20_one_node_40gbe"
_FOUR: Final = "ess.sas30_four_nodes_40gbe"
CALIBRATION: Final[dict[str, Case]] = {
    _ONE: Case(_SCENARIO, (("test", "20-test"), ("nodes", "1"))),
    _FOUR: Case(_SCENARIO, (("test", "30-test"), ("nodes", "4"))),
}
_MINUTE: Final = 60.0
_GB: Final = 1e9
_WITHIN: Final = 0.1
_SCREENED: Final = 0.15
# how far above its range the daemon's cost may be before a workload is solved
_FIRST_GUESS: Final = 2
_CPU, _DATA, _PAUSE, _DAEMON = (
    "sas-mixed-analytics.cpu_ps",
    "sas-mixed-analytics.data_bytes",
    "sas-mixed-analytics.pause_permille",
    "ess-clients.daemon_mib_ps",
)
_FIRST, _EXTENT = "gnr-8-2p.first_permille", "gnr-8-2p.extent_permille"
_PLACE: Final = {_FIRST, _EXTENT}
# drawn, too: a workload whose tracks have no room on the disk is not kept
_LAYOUT: Final = {"gnr-8-2p.parity_strips", "gnr-8-2p.vdisks", *_PLACE}
_LEAST_PAUSE, _MOST_PAUSE = 0, 880
_FILE: Final = "ess-workloads.json"


class WorkloadDraw(Draw):
    """One workload: a seed, and values of models."""

    def among(self, names: Container[str]) -> WorkloadDraw:
        """The workload with those of its values that are so named.

        Where the file system begins and how far it reaches go together: none of one without the
        other, which may not leave room for it.
        """
        known = {n: v for n, v in self.values.items() if n in names}
        if not known.keys() >= _PLACE:
            known = {n: v for n, v in known.items() if n not in _PLACE}
        return WorkloadDraw(self.seed, known)


def of_length(member: Member, length: float) -> Member:
    """A simulation of a share of each job; of gpfsperf, which has none, all of it."""
    if length >= 1 or ("type", "gpfsperf") in member.case.settings:
        return member
    settings = (*member.case.settings, ("length", f"{length:g}"))
    return replace(member, case=replace(member.case, settings=settings))


def numbers(result: Result) -> dict[str, float]:
    """The document's numbers of a test, computed from a result and scaled to whole jobs."""
    permille = result.configuration["workload"]["length_permille"]
    found = totals(result.jobs, result.lpars)
    series = result.series
    whole = _MINUTE * permille / 1000
    return {
        "real_minutes": found.real_s / whole,
        "cpu_minutes": found.cpu_s / whole,
        "mean_gb_per_s": series.mean / _GB if series else 0.0,
        "peak_gb_per_s": series.peak / _GB if series else 0.0,
        "cpu_utilisation_percent": found.utilisation_percent,
    }


def consistent(result: Result, name: str, within: float = _WITHIN) -> bool:
    """Whether a result is within a tenth, or so, of everything that a measurement gives."""
    found = numbers(result)
    keys = {"mean": "mean_gb_per_s", "peak": "peak_gb_per_s"}
    return all(
        abs(found[keys.get(key, key)] / value - 1) < within
        for key, value in measurement(name).value.items()
    )


def search(
    count: int, *, length: float = 0.06, jobs: int | None = None, progress: Progress | None = None
) -> tuple[list[WorkloadDraw], int]:
    """Draw `count` workloads and return those that are consistent, and how many were solvable.

    A workload is solved with a share of each job: at first with so little that jobs have a single
    step, in the last round with four times as much. With that the ones that are off by 15 %
    are left out. Whole tests decide about the others.

    Args:
        count: how many are drawn.
        length: share of each job that is simulated at first.
        jobs: number of processes, one a CPU when None.
        progress: called with the simulations of a round done and in all.
    """
    one = CALIBRATION[_ONE]
    ranges = uncertain(one, fitting=_LAYOUT)
    known = {name: _value(one, name) for name in (_CPU, _DATA, _PAUSE, _DAEMON)}
    low, high = next((r.low, r.high) for r in ranges if r.path == _DAEMON)
    drawn = [
        WorkloadDraw(1000 + number, _possible({**point, **known}))
        for number, point in enumerate(latin_hypercube(ranges, count))
    ]

    def results(case: Case, share: float) -> list[Result]:
        members = [of_length(w.member(case), share) for w in drawn]
        return simulate_all(members, jobs=jobs, progress=progress, lean=True)

    def among(name: str, share: float, within: float) -> list[WorkloadDraw]:
        found = results(CALIBRATION[name], share)
        return [w for w, r in zip(drawn, found, strict=True) if consistent(r, name, within)]

    for share in (length, length, 4 * length):
        drawn = [solved(w, r) for w, r in zip(drawn, results(one, share), strict=True)]
        drawn = [w for w in drawn if low <= w.values[_DAEMON] <= _FIRST_GUESS * high]
    drawn = [w for w in drawn if w.values[_DAEMON] <= high]
    drawn = among(_ONE, 4 * length, _SCREENED)
    solvable = len(drawn)
    for name, share, within in (
        (_FOUR, 4 * length, _SCREENED),
        (_ONE, 1.0, _WITHIN),
        (_FOUR, 1.0, _WITHIN),
    ):
        drawn = among(name, share, within)
    return drawn, solvable


def _possible(values: dict[str, int]) -> dict[str, int]:
    """The values, with the tracks of the file system on the disk: they end where it ends."""
    values[_FIRST] = min(values[_FIRST], _PERMILLE - values[_EXTENT])
    return values


def _value(case: Case, name: str) -> int:
    effective = Member(case).effective()
    model, _, attribute = name.partition(".")
    place = next(place for place, known in effective.models.items() if known == model)
    return int(getattr(getattr(effective, place), attribute))


def solved(workload: WorkloadDraw, result: Result) -> WorkloadDraw:
    """The workload with its four values moved to where the result should be as measured.

    CPU time in proportion. Data, too, but in all, since the rate changes with the time that the
    jobs take. What of the real time is still missing is pauses of the programs for I/O; what of
    the cores' busy time is missing then is the daemon's.
    """
    wanted, found = measurement(_ONE).value, numbers(result)
    ratio = {key: value / found[key] for key, value in wanted.items()}
    data = ratio["mean_gb_per_s"] * ratio["real_minutes"]
    values = dict(workload.values)
    values[_CPU] = int(values[_CPU] * ratio["cpu_minutes"])
    values[_DATA] = int(values[_DATA] * data)
    missing = {key: wanted[key] - found[key] for key in ("real_minutes", "cpu_minutes")}
    pauses = (missing["real_minutes"] - missing["cpu_minutes"]) / wanted["real_minutes"]
    pause = values[_PAUSE] + round(_PERMILLE * pauses / _IO_SHARE)
    values[_PAUSE] = min(max(pause, _LEAST_PAUSE), _MOST_PAUSE)
    core_s = sum(lpar.cores for lpar in result.lpars) * result.simulated_s / _PURR
    moved_mib = sum(job.read_bytes + job.written_bytes for job in result.jobs) / (1 << 20)
    daemon_s = values[_DAEMON] / _PS_PER_S * moved_mib
    jobs_s = found["cpu_utilisation_percent"] / 100 * core_s - daemon_s
    busy_s = wanted["cpu_utilisation_percent"] / 100 * core_s * ratio["real_minutes"]
    left_s = busy_s - jobs_s * ratio["cpu_minutes"]
    values[_DAEMON] = max(int(left_s / (moved_mib * data) * _PS_PER_S), 0)
    return WorkloadDraw(workload.seed, values)


# of all job time, what programs for I/O have
_IO_SHARE: Final = 0.4
# of a core, what one thread is
_PURR: Final = 0.6
_PERMILLE: Final = 1000
_PS_PER_S: Final = 10**12


def write(workloads: Sequence[WorkloadDraw], drawn: int, path: Path | None = None) -> Path:
    """Keep workloads as data; `drawn` is how many were tried."""
    place = path or folder("validation") / "calibration" / _FILE
    document = {
        "drawn": drawn,
        "workloads": [
            {"seed": w.seed, "values": dict(sorted(w.values.items()))} for w in workloads
        ],
    }
    write_text(place, json.dumps(document, indent=1) + "\n")
    return place


@cache
def kept() -> tuple[WorkloadDraw, ...]:
    """The workloads that are consistent with what was measured."""
    text = read_text(folder("validation") / "calibration" / _FILE, kind="list of workloads")
    return tuple(WorkloadDraw(one["seed"], one["values"]) for one in json.loads(text)["workloads"])


def workloads_for(case: Case) -> tuple[WorkloadDraw, ...]:
    """The kept workloads, if a case has the models that they are values of; else none."""
    models = tuple(f"{model}." for model in set(Member(case).effective().models.values()))
    fit = all(name.startswith(models) for workload in kept() for name in workload.values)
    return kept() if fit else ()
