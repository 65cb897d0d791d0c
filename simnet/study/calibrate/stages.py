"""Stages of a calibration as data: `validation/calibration/*.toml`.

A stage says what is fitted to which measurements, and how every point is simulated. A later stage
uses more measurements; what it could not know before is predicted first and frozen.
"""

from functools import cache
from pathlib import Path

from pydantic import Field, ValidationError

from simnet._share import folder
from simnet.errors import InputError
from simnet.faults import first_fault
from simnet.rows import Row
from simnet.scenario.core import toml
from simnet.spelling import nearest
from simnet.study.calibrate.calibrate import DURATION, SEEDS, Runs
from simnet.study.validate.measurements import measurement


class Stage(Row):
    """One stage."""

    name: str  # as after `--stage`
    description: str  # one line
    against: tuple[str, ...] = Field(min_length=1)  # measurements, each as `ID` or `ID:KEY,KEY`
    parameters: tuple[str, ...] = Field(min_length=1)  # names by model
    # message sizes for ratios that are means over sizes; all when empty
    messages: tuple[str, ...] = ()
    duration: str = DURATION  # simulated time that is measured at every point
    warm_up: str | None = None  # simulated time before
    seeds: tuple[int, ...] = Field(default=SEEDS, min_length=1)  # of every point

    @property
    def runs(self) -> Runs:
        """How its points are simulated."""
        return Runs(self.duration, self.warm_up, self.seeds, self.messages)


class _File(Row):
    document: str
    scenario: str
    stage: tuple[Stage, ...]


@cache
def stages(directory: Path | None = None) -> dict[str, dict[str, Stage]]:
    """All stages by scenario and name, from `validation/calibration` or another directory.

    Raises InputError, naming file and key, for an entry that does not have the expected form.
    """
    found: dict[str, dict[str, Stage]] = {}
    for path in sorted((directory or folder("validation") / "calibration").glob("*.toml")):
        document = toml.read(path, str(path))
        try:
            form = _File.model_validate(document.data)
        except ValidationError as error:
            raise document.error(*first_fault(error)) from error
        found.setdefault(form.scenario, {}).update({one.name: one for one in form.stage})
    return found


def stage(scenario: str, name: str) -> Stage:
    """One stage of a scenario's calibration; raises InputError that names the nearest."""
    known = stages().get(scenario, {})
    if name not in known:
        legal = f"expected one of {', '.join(known)}" if known else "the scenario has no stages"
        raise InputError(f"{legal}{nearest(name, known)}", file="--stage", key=name)
    return known[name]


def stage_keys(name: str) -> set[str]:
    """The keys of a measurement that any stage fits to."""
    chosen = [
        keys
        for known in stages().values()
        for one in known.values()
        for against, _, keys in (text.partition(":") for text in one.against)
        if against == name
    ]
    if "" in chosen:
        return set(measurement(name).value)
    return {key for keys in chosen for key in keys.split(",")}
