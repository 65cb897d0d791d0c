"""Partitions of a hypervisor."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import ModelFiles, Part, Subject
from simnet.scenario.parts.partition.schema import Hypervisor, Pool

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.host.onset import Onset
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.knob import Knob
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Tree

__all__ = ["SUBJECT"]


def _knobs() -> tuple[Knob, ...]:
    from simnet.scenario.parts.partition.knobs import PARTITION

    return PARTITION


def _onsets(effective: Effective) -> Iterator[Onset]:
    from simnet.scenario.parts.partition.build import onsets

    return onsets(effective)


def _check(tree: Tree, table: Table) -> None:
    from simnet.scenario.parts.partition.checks import check_partitions

    check_partitions(tree, table)


SUBJECT = Subject(
    "partition",
    order=70,
    models=(ModelFiles("hypervisor", "hypervisors", Hypervisor, order=80),),
    parts=(
        Part(
            "hypervisor",
            Hypervisor,
            key="hypervisor",
            doc="hypervisor model; system and peers are its partitions then",
            kind="hypervisor",
            order=30,
        ),
        Part(
            "pool",
            Pool,
            key="pool",
            doc="the hypervisor's pool of processors",
            early=True,
            order=150,
        ),
    ),
    knobs=_knobs,
    onsets=_onsets,
    check=_check,
)
