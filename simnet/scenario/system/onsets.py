"""What of a configuration acts only after a while, as each subject announces it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from simnet.scenario.parts.bonding import build as build_bond
from simnet.scenario.parts.interrupts import build as build_interrupts
from simnet.scenario.parts.partition import build as build_partition
from simnet.scenario.parts.storage import build as build_storage

if TYPE_CHECKING:
    from simnet.host.onset import Onset
    from simnet.scenario.core.effective import Effective

__all__ = ["onsets"]

_SUBJECTS = (build_bond, build_interrupts, build_partition, build_storage)


def onsets(effective: Effective) -> tuple[Onset, ...]:
    """All of them, the first one first."""
    found = chain.from_iterable(subject.onsets(effective) for subject in _SUBJECTS)
    return tuple(sorted(found, key=lambda one: (one.after_ps, one.name)))
