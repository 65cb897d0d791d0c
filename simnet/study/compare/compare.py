"""A prediction beside what was measured afterwards: `simnet compare`.

Each metric is a ministat of two: the prediction with its 95 % interval, made of chance, parameters
and how far off the model has been (`intervals`), and the mean of what was measured, with Student's
interval where there are several captures. Where the two overlap, no difference is proven. With
captures from before a change, the change is compared instead (`change`).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal

from pydantic import Field

import simnet
from simnet.errors import InputError
from simnet.importing.measured.reader import Capture, captures
from simnet.rows import Printed
from simnet.spelling import nearest
from simnet.study.compare.change import Moved, changed
from simnet.study.compare.meaning import meaning
from simnet.study.compare.metrics import kind_of, predicted
from simnet.study.compare.prediction import Prediction, Saved, before_change, drawn, read_prediction
from simnet.study.compare.row import Row
from simnet.study.run.arguments import Names, count_of, names_of
from simnet.study.validate.intervals import discrepancy, hull, parameters
from simnet.study.validate.kinds import log_factor
from simnet.study.validate.residuals import residuals
from simnet.study.whatif.verdict import student

if TYPE_CHECKING:
    import pandas as pd

    from simnet.study.work.cases import Progress

SCHEMA: Literal["simnet.compare/1"] = "simnet.compare/1"
MEMBERS: Final = 24
_SEVERAL: Final = 2
_SINGLE: Final = "one capture does not tell what chance does: several before and after would"


class Comparison(Printed):
    """A prediction beside measurements, as the document `simnet.compare/1`."""

    schema_: Literal["simnet.compare/1"] = Field(default=SCHEMA, alias="schema")
    scenario: str
    version: str
    settings: dict[str, str]
    tunings: tuple[str, ...]
    captures: tuple[str, ...] = Field(description="files that were compared")
    before: tuple[str, ...] = Field(
        default=(), description="files of the system before a change, where that is compared"
    )
    members: int = Field(description="runs with drawn parameters behind the intervals")
    rows: tuple[Row, ...]
    says: tuple[str, ...] = Field(description="what that says about the model")
    remarks: tuple[str, ...] = Field(description="what to know of the comparison itself")
    exit_status: int = Field(description="0: all inside; 1: something outside; 3: cannot tell")

    def to_frame(self) -> pd.DataFrame:
        """One row a metric."""
        import pandas as pd  # the command needs no data frame

        return pd.DataFrame([row.model_dump() for row in self.rows]).set_index("metric")


def compare(  # noqa: PLR0913 (what the command has options for)
    prediction: str | Path | Prediction,
    measured: Names,
    *,
    scenario: str | Path | None = None,
    tunings: str | None = None,
    before: Names = (),
    seconds: float | None = None,
    members: int = MEMBERS,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Comparison:
    """Compare a prediction with what tools printed on the real host.

    Args:
        prediction: a result or a what-if, or the file that `simnet run --json` or `simnet whatif
            --json` wrote.
        measured: files: sar, mpstat, sadf, iostat, iperf3, netperf, mutilate, or metrics in TOML
            or CSV; of `/proc/interrupts` and `/proc/net/softnet_stat` two each.
        scenario: what was predicted from, for the intervals; when None the scenario of the
            prediction's name, that of simnet or the file beside the prediction.
        tunings: of a what-if: the one that was applied; may be None where it has only one.
        before: files like `measured`, of the host before the tuning was applied: then the change
            is compared.
        seconds: between two listings of counts.
        members: runs with drawn parameters behind each interval; 0 for none.
        jobs: number of processes; one a CPU when None.
        progress: called with the simulations done and in all.

    Raises:
        InputError: a file can't be read, or nothing in it is a metric of the prediction.
    """
    if seconds is not None and not seconds > 0:
        raise InputError(f"expected a time above 0, got {seconds!r}", key="--seconds")
    saved = read_prediction(prediction, scenario, tunings, jobs=jobs, progress=progress)
    found = captures(names_of(measured, "CAPTURE"), seconds)
    if not found:
        raise InputError("expected at least one file", key="CAPTURE")
    earlier = captures(names_of(before, "--before"), seconds)
    was = before_change(prediction, scenario, jobs=jobs, progress=progress) if earlier else None
    numbers = predicted(saved.result)
    values = _values(found, numbers)
    size = count_of(members, "--members")
    moved = drawn(saved, size, jobs=jobs, progress=progress)
    if was is None:
        rows = tuple(
            _row(metric, numbers[metric], some, [one[metric] for one in moved if metric in one])
            for metric, some in values.items()
        )
    else:
        rows = _changes(
            Moved(
                (predicted(was.result), numbers),
                (drawn(was, size, jobs=jobs, progress=progress), moved),
            ),
            _values(earlier, numbers),
            values,
        )
    single = was is not None and any(row.captures < _SEVERAL for row in rows)
    return Comparison(
        scenario=saved.result.scenario,
        version=simnet.__version__,
        settings=saved.result.settings,
        tunings=saved.result.tunings,
        captures=tuple(one.source for one in found),
        before=tuple(one.source for one in earlier),
        members=len(moved),
        rows=rows,
        says=meaning(rows, max((cpu.busy for cpu in saved.result.cpus), default=0.0)),
        remarks=(*saved.remarks, *_left_out(found, numbers), *([_SINGLE] if single else ())),
        exit_status=_status(saved, rows, single=single),
    )


def schema() -> dict[str, Any]:
    """JSON schema of `simnet.compare/1`."""
    return Comparison.model_json_schema(by_alias=True, mode="serialization")


def _values(found: Sequence[Capture], numbers: Mapping[str, float]) -> dict[str, list[float]]:
    """What was measured of each metric that is predicted, in the prediction's order."""
    for one in found:
        for metric in one.numbers if one.reader.named else ():
            if metric not in numbers:
                expected = f"the prediction has no such metric{nearest(metric, numbers)}"
                raise InputError(expected, file=one.source, key=metric)
    values = {
        metric: [one.numbers[metric] for one in found if metric in one.numbers]
        for metric in numbers
    }
    known = {metric: some for metric, some in values.items() if some}
    if not known:
        listed = ", ".join(name for name in numbers if not name.startswith("cpu."))
        expected = f"nothing in it is predicted; there are CPU shares and {listed}"
        raise InputError(expected, file=found[0].source)
    return known


def _row(metric: str, value: float, measured: Sequence[float], moved: Sequence[float]) -> Row:
    kind = kind_of(metric)
    off = discrepancy(kind, residuals())
    logarithms = [log_factor(one, moved[0], kind) for one in moved[1:]]
    low, high = hull(value, (parameters(logarithms), (-off, off)), kind)
    if kind == "CPU share":
        high = min(high, max(100.0, value))
    mean = sum(measured) / len(measured)
    interval = student(measured)
    below, above = (mean, mean) if interval is None else (interval.low, interval.high)
    return Row(
        metric=metric,
        kind=kind,
        predicted=value,
        low=low,
        high=high,
        measured=mean,
        captures=len(measured),
        measured_low=below,
        measured_high=above,
        difference=mean - value,
        percent=100 * (mean / value - 1) if value else None,
        inside=below <= high and above >= low,
    )


def _changes(
    moved: Moved, before: Mapping[str, Sequence[float]], after: Mapping[str, Sequence[float]]
) -> tuple[Row, ...]:
    """A row for each metric that was measured before and after the change.

    Raises:
        InputError: there is none.
    """
    rows = tuple(
        changed(metric, moved, before[metric], some)
        for metric, some in after.items()
        if metric in before and metric in moved.predicted[0]
    )
    if not rows:
        raise InputError("nothing in it was measured after the change, too", key="--before")
    return rows


def _left_out(found: Iterable[Capture], numbers: Mapping[str, float]) -> list[str]:
    """One line for metrics of tools that the prediction lacks."""
    unknown = {
        metric
        for one in found
        if not one.reader.counts
        for metric in one.numbers
        if metric not in numbers
    }
    if not unknown:
        return []
    some = ", ".join(sorted(unknown)[:_SEVERAL])
    more = f" and {len(unknown) - _SEVERAL} more" if len(unknown) > _SEVERAL else ""
    return [f"not compared, because the prediction has none: {some}{more}"]


def _status(saved: Saved, rows: Iterable[Row], *, single: bool) -> int:
    if not saved.result.conclusive:
        return 3
    if all(row.inside for row in rows):
        return 0
    return 3 if single else 1
