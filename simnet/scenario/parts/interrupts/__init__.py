"""What delivers and places interrupts."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.host.onset import Onset
    from simnet.scenario.core.effective import Effective

__all__ = ["SUBJECT"]


def _onsets(effective: Effective) -> Iterator[Onset]:
    from simnet.scenario.parts.interrupts.build import onsets

    return onsets(effective)


SUBJECT = Subject("interrupts", onsets=_onsets)
