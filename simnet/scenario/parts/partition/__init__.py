"""Partitions of a hypervisor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import ModelFiles, Subject
from simnet.scenario.parts.partition.schema import Hypervisor

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.partition.knobs import PARTITION

    return PARTITION


SUBJECT = Subject(
    "partition",
    order=70,
    models=(ModelFiles("hypervisor", "hypervisors", Hypervisor, order=80),),
    knobs=_knobs,
)
