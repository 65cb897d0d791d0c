"""Mechanisms that act only after some time, as each subject announces them."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from simnet.scenario.core.subject import subjects

if TYPE_CHECKING:
    from simnet.host.delayed_action import DelayedAction
    from simnet.scenario.core.effective import Effective


def delayed_actions(effective: Effective) -> tuple[DelayedAction, ...]:
    """All of them, the first one first."""
    found = chain.from_iterable(subject.delayed_actions(effective) for subject in subjects())
    return tuple(sorted(found, key=lambda one: (one.after_ps, one.name)))
