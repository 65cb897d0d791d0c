"""Draws of uncertain parameters, moved to where the measurement that the model was fitted to says.

See `ensemble`: drawn independently, most parameters would miss the anchor of the calibration.
Applies to systems that consist of the models that were calibrated, and of no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, answer, documents
from simnet.study.validate.measurements import measurement
from simnet.study.work.cases import Case, Member
from simnet.study.work.ensemble import Anchor, condition

__all__ = ["Held", "anchor_of"]


@dataclass(frozen=True)
class Held:
    """A case whose results say how near a draw is to a measurement."""

    case: Case
    to: Anchored

    def conditioned(
        self, drawn: Mapping[str, Sequence[float]], at_anchor: Sequence[Result]
    ) -> dict[str, list[float]]:
        """Predictions by name, one a draw, given what the same draws predict for the anchor."""
        of, fitted = answer(self.to.id), measurement(self.to.id).value
        moved = condition(
            [{name: values[n] for name, values in drawn.items()} for n in range(len(at_anchor))],
            [
                {key: value for key, value in numbers.items() if key in self.to.keys}
                for numbers in (of.numbers(dict.fromkeys(of.cases, one)) for one in at_anchor)
            ],
            {key: Anchor(fitted[key], self.to.error * fitted[key]) for key in self.to.keys},
        )
        return {name: [member[name] for member in moved] for name in drawn}


def anchor_of(base: Case) -> Held | None:
    """The case that says how near draws for `base` are to a measurement.

    It is `base` itself when `base` is what was measured. None when `base` consists of other models
    than anything that was measured.
    """
    here = Member(base).effective()
    for document in documents():
        if document.anchor is None:
            continue
        (case,) = answer(document.anchor.id).cases.values()
        measured = Member(case).effective()
        if here.models == measured.models:
            same = here.model_dump(exclude={"run"}) == measured.model_dump(exclude={"run"})
            return Held(base if same else case, document.anchor)
    return None
