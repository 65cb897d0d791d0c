"""Bonds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.host.onset import Onset
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Path, Tree

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.bonding.knobs import BONDING

    return BONDING


def _onsets(effective: Effective) -> Iterator[Onset]:
    from simnet.scenario.parts.bonding.build import onsets

    return onsets(effective)


def _check(tree: Tree, place: Path, table: Table) -> None:
    from simnet.scenario.parts.bonding.checks import check_bond

    check_bond(tree, place, table)


SUBJECT = Subject("bonding", order=30, knobs=_knobs, onsets=_onsets, check_host=_check)
