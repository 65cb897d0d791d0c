"""Network interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import ModelFiles, Subject
from simnet.scenario.parts.nic.schema import Nic

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.nic.knobs import ETHTOOL

    return ETHTOOL


SUBJECT = Subject(
    "nic",
    order=20,
    models=(ModelFiles("nic", "nics", Nic, order=30),),
    knobs=_knobs,
)
