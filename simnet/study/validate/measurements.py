"""Measurements as data: `validation/measurements/*.toml`, numbers that documents print."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Literal, TypeAlias, TypeVar

from pydantic import BaseModel, Field, ValidationError, field_validator

from simnet._share import folder
from simnet.errors import InputError
from simnet.faults import first_fault
from simnet.rows import Row
from simnet.scenario.core import toml
from simnet.spelling import nearest

Use: TypeAlias = Literal["calibrate", "predict", "blind"]


class Measurement(Row):
    """One entry: the values by key, and what they may be used for.

    `use` is `calibrate` (parameters may be fitted to it) or `predict` (it only scores). What is
    marked `predict first, then calibrate` or `predicted before known` counts as `predict`: before
    one fits to it, the prediction made without it must have been frozen. `predict, looked at` was
    known while mechanisms were chosen: it is not fitted to, and no prediction of it was blind. So
    were the keys that `seen` names, where others became known later.
    """

    id: str = Field(min_length=1)
    where: str
    setup: dict[str, str | int] = Field(default={})
    use: Literal[
        "calibrate",
        "predict",
        "predict, looked at",
        "predict first, then calibrate",
        "predicted before known",
    ]
    unit: str
    value: dict[str, float]
    seen: tuple[str, ...] = ()
    note: str = ""
    derived: bool = False

    @field_validator("value", mode="before")
    @classmethod
    def _keyed(cls, value: object) -> object:
        """A measurement of one number: its key is `value`."""
        return {"value": value} if isinstance(value, int | float) else value

    @property
    def never_fitted(self) -> bool:
        """Whether parameters may not be fitted to it, whatever has been frozen."""
        return self.use in {"predict", "predict, looked at"}

    def looked_at(self, key: str) -> bool:
        """Whether it was known while mechanisms were chosen, though nothing was fitted to it."""
        return self.use == "predict, looked at" or key in self.seen

    def blind(self, key: str) -> bool:
        """Whether what was predicted of it was predicted without knowing it."""
        return self.use != "calibrate" and not self.looked_at(key)

    @property
    def role(self) -> Use:
        """What the numbers may be used for, as `simnet validate --json` says it."""
        return "calibrate" if self.use == "calibrate" else "predict"


class Wanted(Row):
    """What is to be predicted, but not known as a measurement: its numbers' keys."""

    id: str = Field(min_length=1)
    quantity: str
    keys: tuple[str, ...]


class _File(Row):
    document: str
    measurement: tuple[Measurement, ...]


class _WantedFile(Row):
    prediction: tuple[Wanted, ...]


_Form = TypeVar("_Form", bound=BaseModel)


@cache
def measurements(directory: Path | None = None) -> dict[str, Measurement]:
    """All measurements by id, from `validation/measurements` or another directory.

    Raises InputError, naming file and key, for an entry that does not have the expected form.
    """
    found: dict[str, Measurement] = {}
    for path in sorted((directory or folder("validation") / "measurements").glob("*.toml")):
        for entry in _read(path, _File).measurement:
            if entry.id in found:
                expected = "expected every id once, but it is defined twice"
                raise InputError(expected, file=path, key=entry.id)
            found[entry.id] = entry
    return found


def measurement(name: str) -> Measurement:
    """The measurement with this id; raises InputError that names the nearest one."""
    known = measurements()
    if name in wanted() and name not in known:
        raise InputError("expected a measurement: this can only be predicted", key=name)
    if name not in known:
        raise InputError(f"expected a measurement{nearest(name, known)}", key=name)
    return known[name]


@cache
def wanted() -> dict[str, Wanted]:
    """All predictions that are wanted, by id, from `validation/predictions/wanted.toml`.

    Raises InputError, naming file and key, for an entry that does not have the expected form.
    """
    path = folder("validation") / "predictions" / "wanted.toml"
    return {entry.id: entry for entry in _read(path, _WantedFile).prediction}


def _read(path: Path, form: type[_Form]) -> _Form:
    document = toml.read(path, str(path))
    try:
        return form.model_validate(document.data)
    except ValidationError as error:
        raise document.error(*first_fault(error)) from error
