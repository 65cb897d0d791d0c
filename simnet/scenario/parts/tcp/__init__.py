"""TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.tcp.knobs import SYSCTLS

    return SYSCTLS


SUBJECT = Subject("tcp", order=90, knobs=_knobs)
