"""Clients of a parallel file system."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.scale.knobs import SCALE

    return SCALE


SUBJECT = Subject("scale", order=80, knobs=_knobs)
