"""Draws of uncertain parameters, moved to where the measurement that the model was fitted to says.

See `ensemble`: drawn independently, most parameters would miss the anchor of the calibration.
Applies to systems that consist of the models that were calibrated, and of no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from simnet.study.run.result import Result
from simnet.study.validate.answers import ANCHOR, ANCHOR_ERROR, ANCHOR_KEYS, LISTING_1, answer
from simnet.study.validate.measurements import measurement
from simnet.study.work.cases import Case, Member
from simnet.study.work.ensemble import Anchor, condition

__all__ = ["anchor_of", "conditioned"]


def anchor_of(base: Case) -> Case | None:
    """The case whose results say how near a draw is to the measurement.

    It is `base` itself when `base` is what was measured, and None when `base` consists of other
    models than what was measured.
    """
    here, measured = Member(base).effective(), Member(LISTING_1).effective()
    if here.models != measured.models:
        return None
    same = here.model_dump(exclude={"run"}) == measured.model_dump(exclude={"run"})
    return base if same else LISTING_1


def conditioned(
    drawn: Mapping[str, Sequence[float]], at_anchor: Sequence[Result]
) -> dict[str, list[float]]:
    """Predictions by name, one a draw, given what the same draws predict for the anchor."""
    numbers = answer(ANCHOR).numbers
    fitted = measurement(ANCHOR).value
    moved = condition(
        [{name: values[n] for name, values in drawn.items()} for n in range(len(at_anchor))],
        [
            {key: value for key, value in numbers({"run": result}).items() if key in ANCHOR_KEYS}
            for result in at_anchor
        ],
        {key: Anchor(fitted[key], ANCHOR_ERROR * fitted[key]) for key in ANCHOR_KEYS},
    )
    return {name: [member[name] for member in moved] for name in drawn}
