"""Draws of uncertain parameters, moved to where the measurement that the model was fitted to says.

See `ensemble`: drawn independently, most parameters would miss the anchor of the calibration.
Applies to systems that consist of the models that were calibrated, and of no others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from simnet.study.run.result import Result
from simnet.study.validate.document import Anchored, answer, documents, kind_of
from simnet.study.validate.kinds import log_factor
from simnet.study.work.cases import Case, Member
from simnet.study.work.ensemble import Anchor, condition


@dataclass(frozen=True)
class Held:
    """A case whose results say how near a draw is to a measurement."""

    case: Case
    to: Anchored

    def conditioned(
        self, drawn: Mapping[str, Sequence[float]], at_anchor: Sequence[Result]
    ) -> dict[str, list[float]]:
        """Logarithms of factors by name, one a draw, moved to where the anchor is as fitted.

        Args:
            drawn: as many a name as there are draws.
            at_anchor: results at the anchor, with the parameters as fitted and with each draw.
        """
        of = answer(self.to.id)
        fitted, *others = (of.numbers(dict.fromkeys(of.cases, one)) for one in at_anchor)
        kinds = {key: kind_of(self.to.id, key) for key in self.to.keys}
        moved = condition(
            [{name: values[n] for name, values in drawn.items()} for n in range(len(others))],
            [
                {key: log_factor(one[key], fitted[key], kind) for key, kind in kinds.items()}
                for one in others
            ],
            dict.fromkeys(kinds, Anchor(0.0, self.to.error)),
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
