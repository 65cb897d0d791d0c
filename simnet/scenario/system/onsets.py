"""Mechanisms that act only after some time, as each subject announces them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from simnet.scenario.core.subject import subjects

if TYPE_CHECKING:
    from simnet.host.onset import Onset
    from simnet.scenario.core.effective import Effective

__all__ = ["onsets"]


def onsets(effective: Effective) -> tuple[Onset, ...]:
    """All of them, the first one first."""
    found = chain.from_iterable(subject.onsets(effective) for subject in subjects())
    return tuple(sorted(found, key=lambda one: (one.after_ps, one.name)))
