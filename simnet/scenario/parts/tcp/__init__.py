"""TCP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Path, Tree

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.tcp.knobs import SYSCTLS

    return SYSCTLS


def _check(tree: Tree, place: Path, table: Table) -> None:
    from simnet.scenario.parts.tcp.checks import check_tcp

    check_tcp(tree, place, table)


SUBJECT = Subject("tcp", order=90, knobs=_knobs, check_host=_check)
