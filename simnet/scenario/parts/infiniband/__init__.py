"""IP over InfiniBand."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import ModelFiles, Part, Subject
from simnet.scenario.parts.infiniband.schema import Fabric

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Tree

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.infiniband.knobs import IPOIB

    return IPOIB


def _check(tree: Tree, table: Table) -> None:
    from simnet.scenario.parts.infiniband.checks import check_fabric

    check_fabric(tree, table)


SUBJECT = Subject(
    "infiniband",
    order=40,
    models=(ModelFiles("fabric", "fabrics", Fabric, order=50),),
    parts=(
        Part(
            "fabric",
            Fabric,
            key="fabric",
            doc="InfiniBand fabric model, in place of the switch; none if absent",
            kind="fabric",
            order=20,
        ),
    ),
    knobs=_knobs,
    check=_check,
)
