"""Where interrupts and processes are."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.placement.knobs import PLACEMENT

    return PLACEMENT


SUBJECT = Subject("placement", order=10, unread=("preferred_node",), knobs=_knobs)
