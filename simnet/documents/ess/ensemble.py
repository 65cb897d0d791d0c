"""Workloads that are consistent with what was measured: the ensemble behind the `ess` predictions.

The Spectrum Scale document says what its workload is called, how many jobs it has and what they
add up to, and not what a job does. So many workloads are drawn: every value with a range, from a
Latin hypercube, and a seed for what remains to chance. Four values of each are then solved for, so
that the 20-test on one node comes out as measured: CPU time and data of a job, its pauses, and
what the daemon costs. A workload is one that can have been measured if the daemon costs what is
plausible; if its 20-test and its 30-test on four nodes are within 11 % of everything measured;
and if a faster network gains within four points of what it gained, the rates then within
11 %. These are kept, as data, and every prediction is made with each.
"""

from __future__ import annotations

import json
from collections.abc import Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Final

from simnet._share import folder
from simnet.documents.ess.numbers import (
    FASTER,
    THIRTY,
    TWENTY,
    numbers,
    of_faster,
    of_thirty,
    of_twenty,
)
from simnet.files import read_text, write_text
from simnet.study.run.result import Result
from simnet.study.validate.measurements import measurement
from simnet.study.work.cases import Case, Draw, Member, Progress, simulate_all, uncertain
from simnet.study.work.ensemble import latin_hypercube
from simnet.time_units import PS_PER_S

_ONE: Final = "ess.sas20_one_node_40gbe"
_FOUR: Final = "ess.sas30_four_nodes_40gbe"
_FASTER: Final = "ess.56gbe"
_ANSWERS: Final = {
    _ONE: (TWENTY, of_twenty),
    _FOUR: (THIRTY, of_thirty),
    _FASTER: (FASTER, of_faster),
}
_FOUR_NODES: Final = tuple(name for name in FASTER if "four_nodes" in name)
_GPFSPERF: Final = tuple(name for name in FASTER if "gpfsperf" in name)
# a tenth, and what numbers such as 4.0 GB/s are rounded to
_WITHIN: Final = 0.11
# gains are printed as whole percents, of tests that are not the same twice
_GAIN_WITHIN: Final = 0.04
# how much more a share of each job may be off than whole ones
_SCREENED: Final = 1.5
# how far above its range the daemon's cost may be before a workload is solved
_FIRST_GUESS: Final = 2
_CPU, _DATA, _PAUSE, _DAEMON = (
    "sas-mixed-analytics.cpu_ps",
    "sas-mixed-analytics.data_bytes",
    "sas-mixed-analytics.pause_permille",
    "ess-clients.daemon_mib_ps",
)
_MERGED, _THREAD = "sas-mixed-analytics.merge_share_permille", "ess-clients.receive_mib_ps"
# beyond these the 30-test on four nodes gains nothing
_MOST_MERGED: Final = 500
_FASTEST_PS: Final = 250 * 10**6
_FIRST, _EXTENT = "gnr-8-2p.first_permille", "gnr-8-2p.extent_permille"
_PLACE: Final = {_FIRST, _EXTENT}
# drawn, too: a workload whose tracks have no room on the disk is not kept
_LAYOUT: Final = {"gnr-8-2p.parity_strips", "gnr-8-2p.vdisks", *_PLACE}
_LEAST_PAUSE, _MOST_PAUSE = 0, 880
_FILE: Final = "ess-workloads.json"
# of which a third is consistent with all but the faster network
_DRAWN: Final = 60


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


def consistent(found: Mapping[str, float], name: str, wider: float = 1.0) -> bool:
    """Whether numbers are within 11 %, a gain within four points, of what a measurement gives.

    Args:
        found: by key, not necessarily all that was measured.
        name: id of the measurement.
        wider: so many times that far off is allowed.
    """
    measured = measurement(name).value
    off = {key: one - measured[key] for key, one in found.items()}
    return all(
        abs(by) < wider * (_GAIN_WITHIN if key.endswith("gain") else _WITHIN * measured[key])
        for key, by in off.items()
    )


def search(
    count: int,
    *,
    without: str | None = None,
    length: float = 0.06,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> tuple[list[WorkloadDraw], int]:
    """Draw `count` workloads and return those that are consistent, and how many were solvable.

    Those that merge much, or have fast threads, are left out at once, then those with which
    gpfsperf, which has no jobs, gains something else than was measured.
    A workload is solved with a share of each job: at first with so little that jobs have a single
    step, in the last round with four times as much. With that the ones that are too far off
    are left out. Whole tests decide about the others.

    Args:
        count: how many are drawn.
        without: id of a measurement, not of the 20-test, with which nothing is compared.
        length: share of each job that is simulated at first.
        jobs: number of processes, one a CPU when None.
        progress: called with the simulations of a round done and in all.
    """
    (one,) = TWENTY.values()
    ranges = uncertain(one, fitting=_LAYOUT)
    known = {name: _value(one, name) for name in (_CPU, _DATA, _PAUSE, _DAEMON)}
    low, high = next((r.low, r.high) for r in ranges if r.path == _DAEMON)
    drawn = [
        WorkloadDraw(1000 + number, _possible({**point, **known}))
        for number, point in enumerate(latin_hypercube(ranges, count))
    ]
    trials = _Trials(jobs, progress)
    if without != _FASTER:
        drawn = [w for w in drawn if _may_gain(w)]
        drawn = trials.consistent(drawn, _FASTER, 1.0, _GPFSPERF)
    for share in (length, length, 4 * length):
        done = trials.results(drawn, TWENTY, share)
        drawn = [solved(w, r["run"]) for w, r in zip(drawn, done, strict=True)]
        drawn = [w for w in drawn if low <= w.values[_DAEMON] <= _FIRST_GUESS * high]
    drawn = [w for w in drawn if w.values[_DAEMON] <= high]
    drawn = trials.consistent(drawn, _ONE, 4 * length)
    solvable = len(drawn)
    for name, labels in ((_FOUR, ()), (_FASTER, _FOUR_NODES)):
        if name != without:
            drawn = trials.consistent(drawn, name, 4 * length, labels)
    for name in (_ONE, _FOUR, _FASTER):
        if name != without:
            drawn = trials.consistent(drawn, name, 1.0)
    return drawn, solvable


def _may_gain(workload: WorkloadDraw) -> bool:
    """Whether a faster network may bring anything."""
    values = workload.values
    return values[_MERGED] <= _MOST_MERGED and values[_THREAD] >= _FASTEST_PS


def _without_faster(jobs: int | None, progress: Progress | None) -> list[WorkloadDraw]:
    return search(_DRAWN, without=_FASTER, jobs=jobs, progress=progress)[0]


SEARCHES: Final = {_FASTER: _without_faster}
"""What finds the workloads that are consistent with all but one measurement, by its id."""


@dataclass(frozen=True)
class _Trials:
    """Simulations of many workloads: `jobs` and `progress` as in `search`."""

    jobs: int | None
    progress: Progress | None

    def results(
        self, workloads: Sequence[WorkloadDraw], cases: Mapping[str, Case], share: float
    ) -> list[dict[str, Result]]:
        """The results by label of each workload, with a share of each job."""
        members = [of_length(w.member(case), share) for w in workloads for case in cases.values()]
        found = simulate_all(members, jobs=self.jobs, progress=self.progress, lean=True)
        done = iter(found)
        return [{label: next(done) for label in cases} for _ in workloads]

    def consistent(
        self, workloads: Sequence[WorkloadDraw], name: str, share: float, labels: Sequence[str] = ()
    ) -> list[WorkloadDraw]:
        """Those that are consistent with a measurement; with `labels`, with a part of it."""
        cases, of = _ANSWERS[name]
        some = {label: case for label, case in cases.items() if not labels or label in labels}
        wider = 1.0 if share >= 1 else _SCREENED
        each = zip(workloads, self.results(workloads, some, share), strict=True)
        return [w for w, found in each if consistent(of(found), name, wider)]


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
    daemon_s = values[_DAEMON] / PS_PER_S * moved_mib
    jobs_s = found["cpu_utilisation_percent"] / 100 * core_s - daemon_s
    busy_s = wanted["cpu_utilisation_percent"] / 100 * core_s * ratio["real_minutes"]
    left_s = busy_s - jobs_s * ratio["cpu_minutes"]
    values[_DAEMON] = max(int(left_s / (moved_mib * data) * PS_PER_S), 0)
    return WorkloadDraw(workload.seed, values)


# of all job time, what programs for I/O have
_IO_SHARE: Final = 0.4
# of a core, what one thread is
_PURR: Final = 0.6
_PERMILLE: Final = 1000


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
