"""What the drivers of network interfaces refuse."""

from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.nic.schema import Given, Nic


def check_nics(tree: Tree, place: Path, table: Table) -> None:
    """Set what the driver of each port of a host has of its own, and refuse what it refuses."""
    for number, port in enumerate(tree.get((*place, "ports"))):
        given = Given(tree, place, (*place, "ports", number), table)
        driver = Nic.variants()[port["nic"]["driver"]]
        driver.settle(given)
        driver.check(given)
