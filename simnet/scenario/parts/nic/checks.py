"""What the drivers of network interfaces refuse."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.parts.nic.schema import Given, Nic

if TYPE_CHECKING:
    from simnet.scenario.core.tree import Path, Table, Tree


__all__ = ["check_nics"]


def check_nics(tree: Tree, place: Path, table: Table) -> None:
    """Refuse what the driver of a port of a host refuses."""
    for number, port in enumerate(tree.get((*place, "ports"))):
        given = Given(tree, place, (*place, "ports", number), table)
        Nic.variants()[port["nic"]["driver"]].check(given)
