"""Receive packet steering."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.steering.knobs import STEERING

    return STEERING


SUBJECT = Subject("steering", order=100, knobs=_knobs)
