"""Frozen predictions: what was predicted before the measured number was known.

A file of `validation/predictions/` is written once, by `freeze`, and never edited: it is the
record. Its name starts with the date, so the folder lists them in order.
"""

from __future__ import annotations

import datetime as dt
import re
from datetime import date
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError, model_validator

from simnet._share import folder
from simnet.errors import InputError
from simnet.faults import fault_in
from simnet.files import read_bytes, write_text
from simnet.rows import Printed, Row

_SCHEMA: Literal["simnet.predictions/1"] = "simnet.predictions/1"
_MOST_BYTES: Final = 16 << 20
_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")


class FrozenRow(Row):
    """One predicted number with its 95 % interval, in the unit that the id's definition says."""

    id: str
    key: str
    predicted: float
    low: float
    high: float

    @model_validator(mode="after")
    def _ordered(self) -> FrozenRow:
        if not self.low <= self.predicted <= self.high:
            message = "expected low <= predicted <= high"
            raise ValueError(message)
        return self


class Frozen(Printed):
    """Predictions that were made on one day with one version.

    `stage` says what the model knew: for example `before any fit to x460.table2.netserver`.
    """

    schema_: Literal["simnet.predictions/1"] = Field(default=_SCHEMA, alias="schema")
    date: date
    version: str
    stage: str = Field(min_length=1)
    rows: tuple[FrozenRow, ...]


def predictions(directory: Path | None = None) -> dict[str, Frozen]:
    """All frozen predictions by file name, oldest first.

    Raises InputError, naming file and key, for a file that does not have the expected form.
    """
    place = directory or folder("validation") / "predictions"
    return {path.name: _read(path) for path in sorted(place.glob("*.json"))}


def today() -> date:
    """The day that a record made now is of, in UTC."""
    return dt.datetime.now(tz=dt.UTC).date()


def record_path(name: str, day: date, directory: Path | None = None) -> Path:
    """Where the record `DAY-NAME.json` goes.

    Raises InputError for a name that is no plain file stem, and when the record exists already.
    """
    if not _NAME.fullmatch(name):
        expected = f"expected a name of letters, digits, - and _, got {name!r}"
        raise InputError(expected, key="--freeze")
    place = directory or folder("validation") / "predictions"
    path = place / f"{day.isoformat()}-{name}.json"
    if path.exists():
        raise _exists(path)
    return path


def freeze(frozen: Frozen, name: str, directory: Path | None = None) -> Path:
    """Write predictions to `record_path`, which says which names raise InputError."""
    path = record_path(name, frozen.date, directory)
    write_text(path, frozen.to_json() + "\n", exclusive=True)
    return path


def _exists(path: Path) -> InputError:
    message = "expected a new name: a frozen prediction is never overwritten"
    return InputError(message, file=path)


def _read(path: Path) -> Frozen:
    data = read_bytes(path, most_bytes=_MOST_BYTES, kind="record of predictions")
    try:
        return Frozen.model_validate_json(data)
    except ValidationError as error:
        raise fault_in(path, error) from error
