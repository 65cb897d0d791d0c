"""Takes what was compared into the calibration of a user's host."""

from collections.abc import Sequence
from pathlib import Path

from simnet.errors import InputError
from simnet.scenario.scenarios import scenario_names
from simnet.study.calibrate.conditions import add
from simnet.study.compare.prediction import read_prediction


def kept(
    prediction: str,
    measured: Sequence[str],
    *,
    scenario: str | None = None,
    tunings: str | None = None,
    seconds: float | None = None,
    **_: object,
) -> Path:
    """Copy captures beside the scenario that was predicted from; return their folder.

    Raises:
        InputError: it is not known, has changed since, or comes with simnet.
    """
    case = read_prediction(prediction, scenario, tunings).case
    if case is None or case.scenario in scenario_names():
        expected = "expected a prediction from a scenario of one's own that has not changed since"
        raise InputError(expected, key="--update")
    return add(Path(case.scenario), case, measured, seconds)
