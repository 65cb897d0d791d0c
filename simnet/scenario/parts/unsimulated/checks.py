"""What a load needs that is not simulated."""

from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.tree import Table, Tree


def check_unsimulated(tree: Tree, table: Table) -> None:
    """Refuse the test without the table that says what it is."""
    asks_for(tree, table, "unsimulated", "unsimulated")
