"""AIX."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Path, Tree

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.aix.knobs import AIX

    return AIX


def _check(tree: Tree, place: Path, table: Table) -> None:
    from simnet.scenario.parts.aix.checks import check_aix

    check_aix(tree, place, table)


SUBJECT = Subject("aix", order=60, knobs=_knobs, check_host=_check)
