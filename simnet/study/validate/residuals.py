"""Residuals as data: how far off predictions were whose configuration was left out of the fit.

`validation/residuals/DOCUMENT.json` is written by `simnet calibrate DOCUMENT --cross-validate
--keep`. Files of an earlier calibration stay valid until that is done again: they say of which
parameters they are.
"""

from __future__ import annotations

from datetime import date
from functools import cache
from pathlib import Path
from typing import Final, Literal

from pydantic import Field, ValidationError, field_validator

from simnet._share import folder
from simnet.faults import fault_in
from simnet.files import read_bytes, write_text
from simnet.rows import Printed, Row
from simnet.study.validate.kinds import KINDS, error, log_factor

_SCHEMA: Literal["simnet.residuals/1"] = "simnet.residuals/1"
_MOST_BYTES: Final = 16 << 20


class Residual(Row):
    """A measured number and what was predicted of it when its configuration was left out."""

    id: str
    key: str
    kind: str
    configuration: str
    measured: float
    fitted: float
    left_out: float
    looked_at: bool = False  # whether the number was known while mechanisms were chosen

    @field_validator("kind")
    @classmethod
    def _known(cls, kind: str) -> str:
        if kind not in KINDS:
            message = f"expected one of {', '.join(KINDS)}"
            raise ValueError(message)
        return kind

    @property
    def log(self) -> float:
        """How far what was measured is from what was predicted, on the scale of its kind."""
        return log_factor(self.measured, self.left_out, self.kind)

    @property
    def error(self) -> float | None:
        """By which share of what was measured the prediction is off; of a gain, by how much."""
        return error(self.left_out, self.measured, self.kind)


class Residuals(Printed):
    """Those of one document, of one set of parameters."""

    schema_: Literal["simnet.residuals/1"] = Field(default=_SCHEMA, alias="schema")
    document: str
    date: date
    version: str
    parameters: str = Field(description="digest of names, values and ranges")
    rows: tuple[Residual, ...]


def keep(found: Residuals, directory: Path | None = None) -> Path:
    """Write a document's residuals over those that were kept before; return their file."""
    path = path_of(found.document, directory)
    write_text(path, found.to_json(indent=1) + "\n")
    residuals.cache_clear()
    return path


def path_of(document: str, directory: Path | None = None) -> Path:
    """The file of a document's residuals."""
    return (directory or _directory()) / f"{document}.json"


@cache
def residuals(directory: Path | None = None) -> tuple[Residual, ...]:
    """All residuals, of all documents.

    Raises InputError, naming the file and the key, for one that does not have the expected form.
    """
    files = sorted((directory or _directory()).glob("*.json"))
    return tuple(row for file in files for row in _read(file).rows)


def _directory() -> Path:
    return folder("validation") / "residuals"


def _read(path: Path) -> Residuals:
    try:
        return Residuals.model_validate_json(
            read_bytes(path, most_bytes=_MOST_BYTES, kind="list of residuals")
        )
    except ValidationError as error:
        raise fault_in(path, error) from error
