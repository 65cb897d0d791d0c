"""A relay of small messages."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.subject import Part, Subject
from simnet.scenario.parts.relay.schema import Relay

if TYPE_CHECKING:
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Tree

__all__ = ["SUBJECT"]


def _check(tree: Tree, table: Table) -> None:
    from simnet.scenario.parts.relay.checks import check_relay

    check_relay(tree, table)


SUBJECT = Subject(
    "relay",
    parts=(Part("relay", Relay, key="relay", doc="what is relayed, with test = relay", order=110),),
    check=_check,
)
