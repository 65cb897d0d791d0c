"""What to type for a flow table: a table of its own, with both ports and the rule that fills it.

Source: Documentation/networking/nf_flowtable.rst of Linux 5.15; nft(8), flowtables.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from simnet.scenario.commands.together import Together
from simnet.scenario.core.effective import Effective

_TABLE: Final = "inet simnet"
NO_FLOW_TABLE: Final = f"nft delete table {_TABLE}"
"""What takes back what `flow_table` says."""
_OFF: Final = "# nft: take out the rules with 'flow add'; connections in the table stay there"
_KEEP: Final = f"# in /etc/nftables.conf: what 'nft list table {_TABLE}' shows"
_PORTS: Final = 2


def typed(base: Effective, tuned: Effective) -> Iterator[Together]:
    """Yield what puts connections into a flow table, or no longer, if a tuning changes that."""
    if not base.forward or not tuned.forward:
        return
    before, after = base.forward.flow_offload, tuned.forward.flow_offload
    if before == after:
        return
    names = [port.name for port in tuned.host.ports[:_PORTS]]
    if after:
        yield Together(first=(flow_table(names),), first_undo=(NO_FLOW_TABLE,), keep=(_KEEP,))
    else:
        yield Together(first=(_OFF,), first_undo=(flow_table(names),))


def flow_table(ports: Iterable[str]) -> str:
    """Return what makes a flow table of these ports, and a rule that puts connections into it."""
    devices = ", ".join(ports)
    parts = (
        f"add table {_TABLE}",
        f"add flowtable {_TABLE} ft {{ hook ingress priority 0; devices = {{ {devices} }}; }}",
        f"add chain {_TABLE} forward {{ type filter hook forward priority 0; }}",
        f"add rule {_TABLE} forward meta l4proto {{ tcp, udp }} flow add @ft",
    )
    return f"nft '{'; '.join(parts)}'"
