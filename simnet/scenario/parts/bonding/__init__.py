"""Bonds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.bonding.knobs import BONDING

    return BONDING


SUBJECT = Subject("bonding", order=30, knobs=_knobs)
