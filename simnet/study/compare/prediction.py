"""A saved result, and how far drawn parameters would have moved its numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeAlias

from pydantic import ValidationError

import simnet
from simnet.errors import InputError
from simnet.faults import first_fault
from simnet.files import read_bytes
from simnet.scenario.core.library import read_scenario
from simnet.scenario.scenarios import SCENARIO_FILE, called, scenario_names
from simnet.spelling import nearest
from simnet.study.compare.metrics import predicted
from simnet.study.run.result import Result
from simnet.study.validate.asking import simulated
from simnet.study.validate.document import Answer, draws_for
from simnet.study.validate.members import MEMBER_TIMES, Simulations
from simnet.study.whatif.tuning import read_tuning
from simnet.study.whatif.whatif import SCHEMA as WHATIF
from simnet.study.whatif.whatif import WhatIf
from simnet.study.work.cases import Case, Member, Progress, simulate_all

Prediction: TypeAlias = Result | WhatIf

_MOST_BYTES: Final = 64 << 20
# of a document, with its schema
_HEAD_BYTES: Final = 200
# the file that an import writes; the host's name stands in it
_MOST_S: Final = (0.3, 0.2)
_NOT_FOUND: Final = (
    "the intervals hold the model's own error only: give the scenario that was predicted from"
    " (--scenario) and they hold its uncertain parameters, too"
)
_CHANGED: Final = (
    "the scenario has changed since the prediction, so the intervals hold the model's own error"
    " only: predict again"
)


@dataclass(frozen=True)
class Saved:
    """A prediction."""

    result: Result  # as it was saved
    case: Case | None  # what was simulated; None where it is not known or has changed since
    remarks: tuple[str, ...] = ()  # one line each


def read_prediction(
    given: str | Path | Prediction,
    scenario: str | Path | None = None,
    tunings: str | None = None,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Saved:
    """Read a prediction, and find what it was made from.

    Args:
        given: a result or a what-if, or the file of one.
        scenario: what it was made from, if known.
        tunings: of a what-if: the one that was applied.
        jobs: number of processes, one a CPU when None.
        progress: called with the simulations done and in all.

    Raises:
        InputError: the file is no saved result, or the scenario cannot be read.
    """
    beside = Path(given).parent if isinstance(given, str | Path) else Path()
    result = _read(Path(given)) if isinstance(given, str | Path) else given
    if isinstance(result, WhatIf):
        case = tuned(result, tunings, _scenario_of(result, scenario, beside))
        again, remark = predicted_again(result, case, jobs=jobs, progress=progress)
        return Saved(again, case, (*again.warnings, remark))
    if tunings is not None:
        raise InputError("only of a what-if: this is the result of one run", key="--tuning")
    remarks = result.warnings
    place = str(scenario) if scenario is not None else _found(result.scenario, beside)
    if place is None:
        return Saved(result, None, (*remarks, _NOT_FOUND))
    case = case_of(result, place)
    if not _same(case, result):
        return Saved(result, None, (*remarks, _CHANGED))
    return Saved(result, case, remarks)


def before_change(
    given: str | Path | Prediction,
    scenario: str | Path | None = None,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Saved:
    """What a what-if predicts of the system before any of its tunings; see `read_prediction`.

    Raises:
        InputError: it is no what-if, or its scenario was not found.
    """
    beside = Path(given).parent if isinstance(given, str | Path) else Path()
    found = _read(Path(given)) if isinstance(given, str | Path) else given
    if not isinstance(found, WhatIf):
        expected = "a change is predicted by what simnet whatif --json writes, got one run"
        raise InputError(expected, key="--before")
    case = untuned(found, _scenario_of(found, scenario, beside))
    again, _ = predicted_again(found, case, jobs=jobs, progress=progress)
    return Saved(again, case)


def _scenario_of(found: WhatIf, scenario: str | Path | None, beside: Path) -> str:
    place = str(scenario) if scenario is not None else _found(found.scenario, beside)
    if place is None:
        expected = "the scenario of the what-if was not found: expected its file"
        raise InputError(expected, key="--scenario")
    return place


def case_of(result: Result, scenario: str) -> Case:
    """What was simulated, of a scenario."""
    return _case(scenario, result.settings, result.tunings)


def drawn(
    saved: Saved, members: int, *, jobs: int | None, progress: Progress | None
) -> list[dict[str, float]]:
    """Numbers of short runs: of the parameters as predicted, then of each draw; none if unknown."""
    if saved.case is None or not members:
        return []
    kept = draws_for(saved.case)
    of = Answer(
        {"run": saved.case},
        lambda results: predicted(results["run"]),
        times=("", *_times(saved.result)),
        ensemble=(lambda: kept) if kept else None,
    )
    asks = Simulations(of, members).ensemble
    found = [of.numbers(one) for one in simulated(asks, jobs=jobs, progress=progress)]
    return [predicted(saved.result), *found] if kept else found


def _times(result: Result) -> tuple[str, str]:
    """Duration and warm-up of a draw's run: the prediction's, if that is short."""
    duration, warm_up = (
        f"{round(seconds * 1e6)} us" if seconds < most else text
        for seconds, most, text in zip(
            (result.simulated_s, result.warmup_s), _MOST_S, MEMBER_TIMES[1:], strict=True
        )
    )
    return duration, warm_up


def _read(path: Path) -> Prediction:
    data = read_bytes(path, most_bytes=_MOST_BYTES, kind="saved result")
    form = WhatIf if WHATIF.encode() in data[:_HEAD_BYTES] else Result
    try:
        return form.model_validate_json(data)
    except ValidationError as error:
        message, keys = first_fault(error)
        where = ".".join(map(str, keys)) or None
        expected = f"expected what simnet run or whatif --json writes: {message}"
        raise InputError(expected, file=path, key=where) from error


def _found(scenario: str, beside: Path) -> str | None:
    if scenario in scenario_names():
        return scenario
    files = (beside / f"{scenario}.toml", Path(f"{scenario}.toml"))
    own = (beside / SCENARIO_FILE, Path(SCENARIO_FILE))
    there = (file for file in (*files, *own) if file.is_file())
    return next((str(file) for file in there if _named(file, scenario)), None)


def _named(file: Path, name: str) -> bool:
    """Whether a scenario's results have a name."""
    return name in {file.stem, called(file), read_scenario(file)[0].name}


def _same(case: Case, result: Result) -> bool:
    """Whether the case still is what was simulated."""
    now = Member(case).effective().model_dump(mode="json")
    then: Mapping[str, object] = result.configuration
    return {**now, "run": None} == {**then, "run": None}


def tuned(found: WhatIf, tuning: str | None, scenario: str) -> Case:
    """What is simulated of a tuning.

    Args:
        found: the what-if.
        tuning: which one; may be None where there is only one.
        scenario: its name or file.

    Raises:
        InputError: it is not one of those that were asked about, or which one is not said.
    """
    names = [one.tuning for one in found.tunings]
    if tuning is None and len(names) > 1:
        expected = f"which tuning was applied? expected one of {', '.join(sorted(names))}"
        raise InputError(expected, key="--tuning")
    name = names[0] if tuning is None else tuning
    if name not in names:
        expected = f"the what-if has {', '.join(sorted(names))}{nearest(name, names)}"
        raise InputError(expected, file="--tuning", key=name)
    return read_tuning(scenario, name).on(untuned(found, scenario))


def untuned(found: WhatIf, scenario: str) -> Case:
    """What is simulated of the system before any tuning."""
    return _case(scenario, found.settings, found.base_tunings)


def _case(scenario: str, recorded: Mapping[str, str], tunings: tuple[str, ...]) -> Case:
    """The simulation that a record of its settings is of."""
    settings = dict(recorded)
    apply = settings.pop("--apply", "")
    return Case(scenario, tuple(settings.items()), tunings, tuple(apply.split()))


def predicted_again(
    found: WhatIf, case: Case, *, jobs: int | None, progress: Progress | None
) -> tuple[Result, str]:
    """The result of a tuning, and a line that says how it was made."""
    (result,) = simulate_all([Member(case)], jobs=jobs, progress=progress)
    version = "" if found.version == simnet.__version__ else f", which version {found.version} made"
    return result, f"the tuning of the what-if{version} is simulated again as the scenario is now"
