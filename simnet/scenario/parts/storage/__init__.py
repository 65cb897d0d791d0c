"""Disks of a host, and virtual SCSI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.storage.knobs import STORAGE

    return STORAGE


SUBJECT = Subject("storage", order=50, knobs=_knobs)
