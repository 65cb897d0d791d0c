"""Sockets and routes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.sockets.knobs import SOCKETS

    return SOCKETS


SUBJECT = Subject("sockets", order=110, knobs=_knobs)
