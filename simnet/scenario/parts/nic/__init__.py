"""Network interfaces."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import ModelFiles, Subject
from simnet.scenario.parts.nic.schema import Nic

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Path, Tree

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.nic.knobs import ETHTOOL

    return ETHTOOL


def _check(tree: Tree, place: Path, table: Table) -> None:
    from simnet.scenario.parts.nic.checks import check_nics

    check_nics(tree, place, table)


SUBJECT = Subject(
    "nic",
    order=20,
    models=(ModelFiles("nic", "nics", Nic, order=30),),
    unread=("tx_wake_threshold", "tagged_status", "copybreak_bytes", "dma_latency_ps"),
    knobs=_knobs,
    check_host=_check,
)
