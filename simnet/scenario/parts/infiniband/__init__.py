"""IP over InfiniBand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.infiniband.knobs import IPOIB

    return IPOIB


SUBJECT = Subject("infiniband", order=40, knobs=_knobs)
