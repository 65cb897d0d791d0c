"""What a relay needs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from simnet.scenario.core.tree import Path, Table, Tree


__all__ = ["check_relay"]

_PORTS: Final = 2


def check_relay(tree: Tree, table: Table) -> None:
    """Refuse a relay without a load, two ports, or the hosts behind them."""
    if tree.get(("workload", "test")) != "relay":
        return
    path: Path = ("workload", "test")
    if "relay" not in tree.values:
        raise table.error(path, "workload.test", "relay: the scenario has no table [relay]")
    if len(tree.get(("host", "ports"))) < _PORTS or len(tree.get(("peers",))) != _PORTS:
        message = "relay: expected two ports, and a peer behind each"
        raise table.error(path, "workload.test", message)
