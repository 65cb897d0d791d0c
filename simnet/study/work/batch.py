"""Simulations in batches: whoever simulates one writes its rows to a Parquet file at once.

A batch is described by data, as a member is, and its file has a name that only it has. So a batch
that is done twice, because a process was thought lost, is in one file all the same; and a file that
is there is whole, because it takes its name when it is.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError
from simnet.extras import require
from simnet.files import write_bytes
from simnet.study.run.measures import LATENCY_KIND, MEASURES, measures
from simnet.study.run.run import simulate

if TYPE_CHECKING:
    import pyarrow as pa

    from simnet.study.work.cases import Case, Member

_SWEEP: Final = b"simnet.sweep"
_NUMBERS: Final = (*MEASURES, "packets_per_s", "warmup_s", "simulated_s")
OPTION: Final = "--into"


@dataclass(frozen=True)
class Cell:
    """Runs that differ in their seed only."""

    labels: tuple[tuple[str, str], ...]  # what tells them from others, by column
    case: Case  # what is simulated
    seeds: tuple[int, ...]  # of the runs


@dataclass(frozen=True)
class Batch:
    """Some runs of a sweep, described in few bytes: a scheduler holds many."""

    path: str  # of the file for their rows, the same wherever they are simulated
    sweep: str  # digest of what the whole sweep is
    cells: tuple[Cell, ...]  # the runs
    first: Member  # the first simulation of the sweep; the others last as long
    digest: str  # of that one's configuration, as the caller reads it

    def __len__(self) -> int:
        """How many runs there are."""
        return sum(len(cell.seeds) for cell in self.cells)

    def __str__(self) -> str:
        """The first run, as a person would set it, and how many there are."""
        cell = self.cells[0]
        given = ", ".join(f"{name}={value}" for name, value in cell.labels)
        return f"{len(self)} runs from {f'{given}, ' if given else ''}seed {cell.seeds[0]} on"

    def runs(self) -> Iterator[tuple[dict[str, Any], Member]]:
        """What tells each run from the others, and the simulation."""
        for cell in self.cells:
            for seed in cell.seeds:
                member = replace(self.first, case=cell.case, seed=seed)
                yield {**dict(cell.labels), "seed": seed}, member


def done(batch: Batch) -> int:
    """Simulate what is not in the batch's file yet; return how many runs that has.

    Raises:
        InputError: scenario or models are not what the caller reads, or the file can't be written.
    """
    require("pyarrow", asked_by=OPTION)
    path = Path(batch.path)
    if not is_whole(path, batch.sweep, len(batch)):
        _require_same(batch.first, batch.digest)
        rows = [{**labels, **_measured(member)} for labels, member in batch.runs()]
        _write(path, rows, batch)
        gc.collect()  # systems of short runs are large for the few objects that they have
    return len(batch)


def is_whole(path: Path, sweep: str, runs: int) -> bool:
    """Whether a file has all rows of a batch."""
    import pyarrow.parquet as pq

    try:
        found = pq.read_metadata(path)
    except (OSError, ValueError):  # not there, or no Parquet
        return False
    return found.num_rows == runs and (found.metadata or {}).get(_SWEEP) == sweep.encode()


@cache
def _require_same(first: Member, digest: str) -> None:
    if first.effective().digest() != digest:
        message = f"{first.case.scenario} or its models are not the same for a worker"
        raise InputError(message, file=OPTION)


def _measured(member: Member) -> dict[str, Any]:
    result = simulate(member.effective(), settings=dict(member.case.settings))
    warning = result.warnings[0] if result.warnings else None
    return {**measures(result), "conclusive": result.conclusive, "warning": warning}


def _write(path: Path, rows: list[dict[str, Any]], batch: Batch) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    data = BytesIO()
    pq.write_table(pa.Table.from_pylist(rows, schema=_schema(batch)), data)
    write_bytes(path, data.getbuffer())


def _schema(batch: Batch) -> pa.Schema:
    """The same for all batches of a sweep, also where one has no value of a column."""
    import pyarrow as pa

    columns = {
        **{name: pa.string() for name, _ in batch.cells[0].labels},
        "seed": pa.int64(),
        **dict.fromkeys(_NUMBERS, pa.float64()),
        LATENCY_KIND: pa.string(),
        "fingerprint": pa.string(),
        "conclusive": pa.bool_(),
        "warning": pa.string(),
    }
    return pa.schema(list(columns.items()), metadata={_SWEEP: batch.sweep.encode()})
