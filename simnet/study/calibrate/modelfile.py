"""Fitted values into the files of models and scenarios, everything else in them left as it is."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from simnet import _share
from simnet.errors import InputError
from simnet.files import NewFile, read_text
from simnet.scenario.core.library import find_model, parse_model, parse_scenario
from simnet.scenario.core.schema import ModelKind
from simnet.scenario.scenarios import find_scenario

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.parameter import Parameter
    from simnet.study.calibrate.calibrate import Calibration
    from simnet.study.statistics.leastsquares import Estimate

_KIND_OF_PLACE: Final[Mapping[str, ModelKind]] = {"machine": "server"}
_DIGITS: Final = 3
_RANGE: Final = "; range: "


@dataclass(frozen=True)
class Written:
    """A value that was changed, as a person writes it."""

    name: str
    file: Path
    before: str
    after: str


def write_fitted(
    found: Calibration, effective: Effective, scenario: str | None = None
) -> list[Written]:
    """Write the fitted values to where a configuration has them, as `calibrated`.

    That is a model, or the scenario where it sets the value itself. Ranges stay: they are what is
    known without the fit. The source names measurements and date.
    Of a user's `scenario`, the file of one, simnet's own models are never changed.

    Raises:
        InputError: a parameter that the data don't fix, or that no file holds, or a file that
            can't be written; then nothing is changed.
    """
    unidentified = [one.name for one in found.fit.estimates if not one.identified]
    if unidentified:
        expected = "nothing is written: the data don't fix this parameter; leave it out"
        raise InputError(expected, key=unidentified[0])
    import tomlkit

    texts: dict[Path, tuple[ModelKind | None, Any]] = {}
    changes = []
    for estimate in found.fit.estimates:
        path = found.base[estimate.name].paths[0]
        kind, file, keys = _place(effective, path, scenario or effective.scenario)
        if scenario and file.resolve().is_relative_to(_share.folder("models").resolve()):
            expected = "expected a model beside the scenario: this one comes with simnet"
            raise InputError(expected, file=file, key=estimate.name)
        if file not in texts:
            texts[file] = (kind, tomlkit.parse(read_text(file)))
        entry = texts[file][1]
        try:
            for key in keys:
                entry = entry[key]
        except KeyError:
            expected = "expected a value of a model or of the scenario"
            raise InputError(expected, file=file, key=path) from None
        changes.append(_change(entry, estimate, effective.provenance[path], file, found))
    with ExitStack() as stack:
        for file, (kind, document) in texts.items():
            text = tomlkit.dumps(document)
            if kind is None:
                parse_scenario(text, str(file))
            else:
                parse_model(kind, text, str(file))
            new = NewFile(file)
            stack.enter_context(new).write(text.encode())
            new.sync()
    return changes


def _place(
    effective: Effective, path: str, scenario: str
) -> tuple[ModelKind | None, Path, tuple[str, ...]]:
    """Kind and file of the model that holds a value, None for the scenario, and the keys there."""
    owner = path
    while owner and owner not in effective.models:
        owner = owner.rpartition(".")[0]
    keys = path.removeprefix(f"{owner}.").split(".")
    keys[-1] = keys[-1].removesuffix(effective.provenance[path].suffix)
    if not owner:
        return None, find_scenario(scenario), tuple(keys)
    place = owner.rpartition(".")[2]
    kind = _KIND_OF_PLACE.get(place, place)
    file = find_model(kind, effective.models[owner], beside=find_scenario(scenario))
    machine = effective.models.get(f"{owner.partition('.')[0]}.machine")
    if not file.is_file() and machine is not None:
        # the server's model names it
        server = find_model("server", machine, beside=find_scenario(scenario))
        file = find_model(kind, effective.models[owner], beside=server)
    return kind, file, tuple(keys)


def _change(
    entry: Any, estimate: Estimate, parameter: Parameter, file: Path, found: Calibration
) -> Written:
    after = parameter.as_text(_rounded(estimate.value))
    low, high = (parameter.as_text(_rounded(end)) for end in (estimate.low, estimate.high))
    ids = ", ".join(dict.fromkeys(target.id for target in found.targets))
    today = datetime.now(tz=UTC).date().isoformat()
    before = str(entry["source"])
    reason = before.partition(_RANGE)[2] or before
    entry["value"] = int(after) if isinstance(entry["value"], int) else after
    entry["state"] = "calibrated"
    entry["source"] = f"{ids}, {today}; 95 %: {low} to {high}{_RANGE}{reason}"
    return Written(estimate.name, file, parameter.text, after)


def _rounded(value: float) -> int:
    """To three digits: a fit knows no more."""
    whole = round(value)
    return round(whole, _DIGITS - len(str(abs(whole)))) if abs(whole) >= 10**_DIGITS else whole
