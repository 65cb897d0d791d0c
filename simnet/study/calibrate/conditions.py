"""What was measured on a user's host, and under which conditions.

The folder `measured` beside the scenario holds captures: files there are of the scenario as it is,
those in a folder of it are of what the folder's `case.toml` says: `settings`, `tunings`, and the
`seconds` between two listings of counts.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
import tomlkit
from pydantic import Field, ValidationError

from simnet.errors import InputError
from simnet.faults import first_fault
from simnet.files import read_bytes, write_bytes, write_text
from simnet.importing.measured.reader import MOST_BYTES, Capture, Numbers, captures, means
from simnet.rows import Row
from simnet.scenario.core import toml
from simnet.scenario.scenarios import SCENARIO_FILE, is_folder
from simnet.spelling import nearest
from simnet.study.calibrate.calibrate import Target
from simnet.study.compare.metrics import is_metric, kind_of, predicted
from simnet.study.validate.document import Answer
from simnet.study.work.cases import Case, Member

_FOLDER: Final = "measured"
_CASE: Final = "case.toml"
_MOST_FOLDERS: Final = 1000
_MOST_FILES: Final = 1000
# what tells something of its own: shares of single CPUs depend on where processes happen to run
_TELLING: Final = (
    *("throughput_bps", "requests_per_s", "transactions_per_s", "latency_us.p50"),
    *(f"cpu.all.{name}" for name in ("user", "system", "softirq", "irq", "kernel")),
    *(f"workers.{name}" for name in ("user", "system", "softirq")),
    *("interrupts_per_s", "polls_per_s"),
)


class _CaseFile(Row):
    settings: dict[str, str | int | float] = Field(default={})
    tunings: tuple[str, ...] = ()
    seconds: float | None = Field(default=None, gt=0)


@dataclass(frozen=True)
class Condition:
    """What was measured in one go."""

    name: str  # of its folder; empty for the scenario as it is
    case: Case  # what it was measured of
    captures: tuple[Capture, ...]  # what tools printed


def is_host(name: str) -> bool:
    """Whether a name is that of a user's host: a folder with a scenario, or a scenario's file."""
    return name.endswith(".toml") or is_folder(name)


def scenario_of(host: str | Path) -> Path:
    """The scenario's file of a host."""
    path = Path(host)
    return path / SCENARIO_FILE if path.is_dir() else path


def conditions(scenario: Path) -> list[Condition]:
    """Read everything that lies in `measured` beside a scenario.

    Raises:
        InputError: a file cannot be read or is of no known format.
    """
    root = scenario.parent / _FOLDER
    folders = [root, *(one for one in _inside(root) if one.is_dir())]
    found = []
    for folder in folders:
        said = _said(folder / _CASE)
        files = [one for one in _inside(folder) if one.is_file() and one.name != _CASE]
        if files:
            settings = tuple((name, str(value)) for name, value in said.settings.items())
            case = Case(str(scenario), settings, said.tunings)
            _check_case(case, folder / _CASE)
            name = "" if folder == root else folder.name
            found.append(Condition(name, case, tuple(captures(files, said.seconds))))
    return found


def _check_case(case: Case, path: Path) -> None:
    """Load a case, so that a wrong name in its file is told of that file."""
    if not (case.settings or case.tunings):
        return
    try:
        Member(case).effective()
    except InputError as error:
        raise InputError(error.message, file=path, key=error.key) from error


def add(scenario: Path, case: Case, files: Iterable[str | Path], seconds: float | None) -> Path:
    """Copy captures to where `conditions` finds them; return their folder."""
    chosen = "+".join((*case.tunings, *("-".join(pair) for pair in case.settings)))
    plain = "".join(letter if letter.isalnum() or letter in "-+._" else "-" for letter in chosen)
    root = scenario.parent / _FOLDER
    folder = next(
        one
        for number in range(1, _MOST_FOLDERS + 1)
        if not (one := root / f"{plain[:100] or 'as-it-is'}-{number}").exists()
    )
    document = tomlkit.document()
    document.update({"settings": dict(case.settings), "tunings": list(case.tunings)})
    if seconds is not None:
        document["seconds"] = seconds
    data = [read_bytes(Path(file), most_bytes=MOST_BYTES, kind="output") for file in files]
    try:
        folder.mkdir(parents=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=folder) from error
    write_text(folder / _CASE, tomlkit.dumps(document))
    for number, (file, content) in enumerate(zip(files, data, strict=True)):
        write_bytes(folder / f"{number}-{Path(file).name}", content)
    return folder


def targets_of(found: Sequence[Condition]) -> tuple[Target, ...]:
    """What to fit to: of each condition, a target for what is of the same kind.

    Raises:
        InputError: nothing in it tells anything of costs.
    """
    targets = []
    for one in found:
        by_kind: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for capture in one.captures:
            _check_names(capture)
        for metric, value in telling(
            means(pair for capture in one.captures for pair in capture.numbers.items())
        ).items():
            by_kind[kind_of(metric)][metric] = value
        for kind, values in by_kind.items():
            numbers = np.array(list(values.values()))
            if np.any(numbers):
                name = f"{one.name or 'measured'}: {kind}"
                targets.append(Target(name, tuple(values), numbers, _answer(one.case)))
    if not targets:
        listed = ", ".join(_TELLING)
        places = {str(Path(c.source).parent) for one in found for c in one.captures}
        where = min(places, default=_FOLDER)
        raise InputError(f"expected captures with one of {listed}", file=where)
    return tuple(targets)


def _check_names(capture: Capture) -> None:
    """Refuse a metric that a person named and that no result has."""
    for metric in capture.numbers if capture.reader.named else ():
        if not is_metric(metric):
            known = nearest(metric, _TELLING)
            raise InputError(f"unknown metric{known}", file=capture.source, key=metric)


def _answer(case: Case) -> Answer:
    return Answer({"run": case}, lambda results: predicted(results["run"]))


def telling(numbers: Numbers) -> dict[str, float]:
    """Those that tell something of costs; not sar's %system where its parts are known."""
    found = {metric: numbers[metric] for metric in _TELLING if metric in numbers}
    if "cpu.all.softirq" in found:
        found.pop("cpu.all.kernel", None)
    return found


def _inside(folder: Path) -> list[Path]:
    try:
        found = sorted(one for one in folder.iterdir() if not one.name.startswith("."))
    except OSError as error:
        expected = f"expected a folder with captures: {error.strerror}"
        raise InputError(expected, file=folder) from error
    if len(found) > _MOST_FILES:
        raise InputError(f"expected at most {_MOST_FILES} files", file=folder)
    return found


def _said(path: Path) -> _CaseFile:
    if not path.is_file():
        return _CaseFile()
    document = toml.read(path)
    try:
        return _CaseFile.model_validate(document.data)
    except ValidationError as error:
        raise document.error(*first_fault(error)) from error
