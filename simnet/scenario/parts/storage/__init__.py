"""Disks of a host, and virtual SCSI."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Part, Subject
from simnet.scenario.parts.storage.schema import FfsbGroup, Vscsi

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.host.onset import Onset
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.knob import Knob

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.storage.knobs import STORAGE

    return STORAGE


def _onsets(effective: Effective) -> Iterator[Onset]:
    from simnet.scenario.parts.storage.build import onsets

    return onsets(effective)


SUBJECT = Subject(
    "storage",
    order=50,
    parts=(
        Part("vscsi", Vscsi, key="vscsi", doc="how the peer's disks are the system's", order=120),
        Part(
            "ffsb",
            FfsbGroup,
            key="ffsb",
            doc="thread groups of FFSB, with test = files",
            several=True,
            order=130,
        ),
    ),
    knobs=_knobs,
    onsets=_onsets,
)
