"""Grids of any size: workers write rows to Parquet files in a folder, and nobody holds them all.

The folder says which sweep it is of and how many runs a file has. So a batch has the same file
whenever it is simulated: after any process has ended, the same call simulates what has no file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

import simnet
from simnet.errors import InputError
from simnet.extras import require
from simnet.files import read_bytes, write_text
from simnet.scenario.scenarios import scenario_names
from simnet.study.run.arguments import Given, Names, Settings, options_of
from simnet.study.run.loss import kind_of
from simnet.study.run.measures import LATENCY_KIND, THROUGHPUT, TRANSACTIONS, measure, named
from simnet.study.sweep.asked import Grid, asked, naming_the_axis
from simnet.study.sweep.effort import ask, at_a_time, seconds_of
from simnet.study.work.batch import OPTION, Batch, Cell, done, is_whole
from simnet.study.work.store import sources_digest
from simnet.study.work.workers import done_by_workers

if TYPE_CHECKING:
    import pandas as pd

    from simnet.study.work.cases import Member, Progress

_NAME: Final = "_sweep.json"  # readers of data sets leave such names out
_MOST_BYTES: Final = 1 << 20
_BATCH_S: Final = 5.0
_BATCHES_A_WORKER: Final = 4
_FEWEST_FILES: Final = 64
_MOST_FILES: Final = 5_000
_SEEDS: Final = 1 << 63


class _Folder(BaseModel):
    """What the rows of a folder are of."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    schema_: Literal["simnet.rows/1"] = Field(default="simnet.rows/1", alias="schema")
    sweep: str
    scenario: str
    version: str
    settings: dict[str, str]
    options: dict[str, str]
    knobs: tuple[str, ...]
    runs: int = Field(ge=1)
    runs_per_file: int = Field(ge=1)


@dataclass(frozen=True)
class Rows:
    """The rows of a large sweep, in files."""

    folder: Path  # where they are
    scenario: str  # the scenario's name
    names: tuple[str, ...]  # columns that tell runs apart, the seed left out
    runs: int  # how many rows there are
    remarks: tuple[str, ...] = ()  # what to know of the configurations, one line each

    @property
    def files(self) -> list[Path]:
        """The files, in the order of the grid."""
        return sorted(self.folder.glob("part-*.parquet"))

    def to_frame(self, columns: Sequence[str] | None = None) -> pd.DataFrame:
        """The rows as a pandas data frame, or some columns of them; `Sweep.to_frame` has more."""
        import pyarrow.dataset

        found = pyarrow.dataset.dataset([str(path) for path in self.files], format="parquet")
        table = found.to_table(columns=None if columns is None else list(columns))
        frame: pd.DataFrame = table.to_pandas()
        return frame

    def best(self, by: str | None = None) -> tuple[str, dict[str, str], float, int]:
        """Measure, values and mean of the best combination, and the number of its runs.

        Raises InputError for a name that is no measure, or one that was not measured.
        """
        frame = self.to_frame([*self.names, *((TRANSACTIONS, THROUGHPUT) if by is None else (by,))])
        if by is None:
            by = TRANSACTIONS if frame[TRANSACTIONS].notna().any() else THROUGHPUT
        largest = measure(by).largest
        if not frame[by].notna().all():
            raise InputError("not measured in these runs", file="--best", key=by)
        groups = frame.groupby(list(self.names), sort=False)[by] if self.names else None
        if groups is None:
            return by, {}, float(frame[by].mean()), len(frame)
        means = groups.mean()
        place = int((means if largest else -means).to_numpy().argmax())
        found = means.index[place]
        values = dict(zip(self.names, found if len(self.names) > 1 else [found], strict=True))
        return by, values, float(means.iloc[place]), int(groups.size().iloc[place])

    def doubts(self) -> list[str]:
        """How many runs have a warning or are inconclusive, with the first one's text."""
        frame = self.to_frame(["conclusive", "warning"])
        warned = frame["warning"].notna()
        kinds = ((warned & frame["conclusive"], "have a warning"),
                 (~frame["conclusive"], "are inconclusive"))  # fmt: skip
        return [
            f"{which.sum():,} of {self.runs:,} runs {what}: {frame['warning'][which].iloc[0]}"
            for which, what in kinds
            if which.any()
        ]

    def sentence(self, by: str | None = None) -> str:
        """How much there is and where the best lies."""
        by, values, mean, runs = self.best(by)
        shown = named(by, kind_of(self._latency_kinds()))
        where = " ".join(f"{name}={value}" for name, value in values.items())
        at = f" at {where}" if where else ""
        of = "one run" if runs == 1 else f"mean of {runs:,} runs"
        return (
            f"{self.runs:,} runs in {len(self.files):,} files in {self.folder}\n"
            f"best {shown.label}: {shown.shown(mean)}{at}, {of}\n"
        )

    def _latency_kinds(self) -> list[str]:
        """What the latencies are; nothing where the files do not say."""
        import pyarrow.parquet

        if LATENCY_KIND not in pyarrow.parquet.read_schema(self.files[0]).names:
            return []
        return list(self.to_frame([LATENCY_KIND])[LATENCY_KIND].dropna().unique())

    def to_json(self, *, indent: int | None = 2, by: str | None = None) -> str:
        """What the folder has and where the best lies, as a document."""
        by, values, mean, runs = self.best(by)
        document = {
            "schema": "simnet.rows/1",
            "scenario": self.scenario,
            "folder": str(self.folder),
            "runs": self.runs,
            "files": len(self.files),
            "best": {**values, "measure": by, "mean": mean, "runs": runs},
            "remarks": [*self.remarks, *self.doubts()],
        }
        return json.dumps(document, indent=indent)


def sweep_into(  # noqa: D417, PLR0913 (what `sweep` takes)
    folder: str | Path,
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
) -> Rows:
    """Simulate a grid of any size, with a row of each run in Parquet files of a folder.

    Workers simulate runs in batches of seconds and write a file for each. They read the scenario
    and write to the folder, so both are where all of them see them. Nothing else is kept: neither
    this process nor a scheduler grows with the number of runs. The same call goes on where it was
    ended. The other arguments are those of `sweep`.

    Args:
        folder: for the files; made if it is not there.

    Raises:
        InputError: as `sweep`; or the folder can't be used, or is of another sweep.
        LostRunError: a batch has ended its workers, or the scheduler is gone.
    """
    require("pyarrow", asked_by=OPTION)
    times = {"duration": duration, "warm_up": warm_up, "precision": precision}
    grid, loaded = asked(
        _seen_by_all(scenario),
        over,
        tunings=tunings,
        settings=settings,
        apply=apply,
        replications=replications,
        seed=seed,
        times=times,
    )
    grid = replace(grid, apply=tuple(_absolute(file) for file in grid.apply))
    if any(one is not None and one >= _SEEDS for one in grid.seeds):
        raise InputError("expected seeds below 2**63, as Parquet has them", key="--seed")
    place = Path(folder).resolve()
    _, first = next(grid.members())
    workers = at_a_time(jobs, scheduler)
    of = _digest(grid, [one.digest() for one in loaded])
    found = _opened(place)
    if found is None:
        each_s = seconds_of(first)
        ask(len(grid), each_s, workers, confirm)
        names = (*grid.axes, *(("tuning",) if grid.tunings != ("",) else ()))
        found = _Folder(
            sweep=of,
            scenario=loaded[0].scenario,
            version=simnet.__version__,
            settings=dict(grid.fixed),
            options=options_of(**times),
            knobs=names,
            runs=len(grid),
            runs_per_file=_runs_per_file(len(grid), each_s, workers),
        )
        write_text(place / _NAME, found.model_dump_json(by_alias=True, indent=1) + "\n")
    elif found.sweep != of:
        message = "has rows of another sweep, or of another version of scenario or simnet"
        raise InputError(message, file=OPTION, key=str(folder))
    with naming_the_axis(grid.axes):
        batches = _batches(grid, found, place, first, first.effective().digest())
        _simulate(batches, found.runs, workers, scheduler, progress)
    remarks = tuple(dict.fromkeys(remark for one in loaded for remark in one.remarks))
    return Rows(Path(folder), found.scenario, found.knobs, found.runs, remarks)


def _simulate(
    batches: Iterator[Batch],
    total: int,
    workers: int,
    scheduler: str | None,
    progress: Progress | None,
) -> None:
    """Have every batch simulated that has no file."""
    count = 0

    def missing() -> Iterator[Batch]:
        nonlocal count
        for batch in batches:
            if is_whole(Path(batch.path), batch.sweep, len(batch)):
                count += len(batch)
            else:
                yield batch

    for runs in _done(missing(), workers, scheduler):
        count += runs
        if progress is not None:
            progress(count, total)


def _done(batches: Iterator[Batch], workers: int, scheduler: str | None) -> Iterator[int]:
    if scheduler is not None:
        from simnet.study.work.cluster import done_on_cluster  # optional, as is Dask

        with closing(done_on_cluster(done, batches, scheduler)) as answers:
            yield from (runs for _, runs in answers)
    elif workers > 1:
        with closing(done_by_workers(done, batches, workers, name=str)) as counts:
            yield from counts
    else:
        yield from map(done, batches)


def _batches(
    grid: Grid, about: _Folder, place: Path, first: Member, digest: str
) -> Iterator[Batch]:
    runs = grid.members()
    number = 0
    while some := list(islice(runs, about.runs_per_file)):
        cells = tuple(
            Cell(
                (*row, *((("tuning", tuning),) if tuning else ())),
                case,
                tuple(member.seed or 0 for _, member in alike),
            )
            for (tuning, row, case), alike in groupby(
                some, lambda run: (run[0][0], run[0][1], run[1].case)
            )
        )
        path = place / f"part-{number:06d}.parquet"
        yield Batch(str(path), about.sweep, cells, first, digest)
        number += 1


def _runs_per_file(count: int, each_s: float, workers: int) -> int:
    """Seconds of work, unless that leaves workers without any or makes too many files.

    More workers may come later, and the less a file has, the less is lost with a worker.
    """
    seconds = round(_BATCH_S / max(each_s, 1e-6))
    fair = -(-count // max(_FEWEST_FILES, _BATCHES_A_WORKER * workers))
    return max(1, min(seconds, fair), -(-count // _MOST_FILES))


def _opened(place: Path) -> _Folder | None:
    """What a folder says that it has; None for an empty one, which is made if it is not there."""
    try:
        place.mkdir(parents=True, exist_ok=True)
        empty = not any(place.iterdir())
    except OSError as error:
        message = f"cannot be used: {error.strerror}"
        raise InputError(message, file=OPTION, key=str(place)) from error
    if empty:
        return None
    path = place / _NAME
    if not path.is_file():
        message = "expected an empty folder, or one with rows of this sweep"
        raise InputError(message, file=OPTION, key=str(place))
    try:
        data = read_bytes(path, most_bytes=_MOST_BYTES, kind="description of a sweep")
        return _Folder.model_validate_json(data)
    except ValidationError as error:
        raise InputError("is no description of a sweep", file=path) from error


def _digest(grid: Grid, corners: Sequence[str]) -> str:
    """Of all that rows depend on."""
    document = [
        *(sources_digest(), corners, grid.scenario, list(grid.axes.items()), grid.tunings),
        *(list(grid.fixed.items()), grid.apply, list(grid.seeds)),
        *(grid.run.duration, grid.run.warm_up, grid.run.precision),
    ]
    return hashlib.blake2b(json.dumps(document).encode(), digest_size=16).hexdigest()


def _seen_by_all(scenario: str | Path) -> str:
    """A scenario by a name that means the same to a worker: its own, or a whole path."""
    return str(scenario) if str(scenario) in scenario_names() else _absolute(str(scenario))


def _absolute(file: str) -> str:
    return str(Path(file).resolve())
