"""Partitions of a hypervisor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.partition.knobs import PARTITION

    return PARTITION


SUBJECT = Subject("partition", order=70, knobs=_knobs)
