"""What a relay needs."""

from collections.abc import Iterator
from typing import Final

from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.subject import Need
from simnet.scenario.core.tree import Table, Tree

_PORTS: Final = 2

# as measured: what a build of so many more has taken
_CONNECTION_BYTES: Final = 19 << 10
_CONNECTION_PS: Final = 30 * 10**6


def check_relay(tree: Tree, table: Table) -> None:
    """Refuse a relay without a load, two ports, or the hosts behind them."""
    if not asks_for(tree, table, "relay", "relay"):
        return
    if len(tree.get(("host", "ports"))) < _PORTS or len(tree.get(("peers",))) != _PORTS:
        message = "relay: expected two ports, and a peer behind each"
        raise table.error(("workload", "test"), "workload.test", message)


def needs(tree: Tree) -> Iterator[Need]:
    """Yield what the connections take, each with the one behind it."""
    if "relay" in tree.values:
        place, count = ("relay", "connections"), tree.get(("relay", "connections"))
        yield Need(place, count, count, "connections", _CONNECTION_BYTES, _CONNECTION_PS)
