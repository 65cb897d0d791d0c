"""Tunings that no scenario has to define: what subjects propose for a system, by short names.

Which there are follows from the system: without a second node there is no ``processes-on-node``.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from simnet.scenario.core.subject import Proposal, subjects

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective

_NUMBER: Final = "{number}"
_PROFILE: Final = "tuned-adm profile "
READY: Final = re.compile(r"([a-z][a-z0-9-]*)(?:=(\d{1,6}))?")
"""What a name may look like, with a number or without."""


def named(text: str) -> str:
    """Return a name as typed, or that of the proposal that a command of TuneD stands for."""
    return text.replace(_PROFILE, "tuned-") if text.startswith(_PROFILE) else text


def ready_tuning(name: str, effective: Effective) -> Proposal | None:
    """Return what a name stands for on a system, as ``affinity`` or ``queues=4``; None if nothing.

    Args:
        name: of a proposal, or its short name; with ``=`` and a number where it takes one.
        effective: the system without it.
    """
    typed = READY.fullmatch(name)
    wanted, number = (typed[1], typed[2] or "") if typed else (name, "")
    for one in _proposals(effective):
        if wanted in {one.name, one.short} and bool(number) == one.numbered:
            settings = tuple((knob, value.replace(_NUMBER, number)) for knob, value in one.settings)
            return Proposal(name, one.doc, settings)
    return None


def ready_names(effective: Effective) -> tuple[str, ...]:
    """Return the names on a system, the short ones where there are such."""
    return tuple(f"{one.short or one.name}{'=N' * one.numbered}" for one in _proposals(effective))


def _proposals(effective: Effective) -> tuple[Proposal, ...]:
    return tuple(one for subject in subjects() for one in subject.proposals(effective))
