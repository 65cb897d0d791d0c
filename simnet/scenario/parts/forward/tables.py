"""What netfilter's tables cost a packet at one hook."""

from typing import Protocol

from simnet.host.costs import cycles_ps


class _Given(Protocol):
    """A section with what a table, and a rule in it, cost."""

    @property
    def table_cycles(self) -> int:
        """Entering a table."""

    @property
    def rule_cycles(self) -> int:
        """Comparing with a rule."""


def tables_ps(given: _Given, clock_hz: int, *rules: int) -> int:
    """Work on a packet that is compared with so many rules of each table; 0: no table."""
    cycles = (given.table_cycles + number * given.rule_cycles for number in rules if number)
    return sum(cycles_ps(one, clock_hz) for one in cycles)
