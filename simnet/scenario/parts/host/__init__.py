"""A host: machine, ports, sockets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.host.knobs import CONSTANTS

    return CONSTANTS


SUBJECT = Subject("host", order=120, knobs=_knobs)
