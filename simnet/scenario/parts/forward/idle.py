"""Which settings of forwarding nothing reads in a configuration."""

from collections.abc import Iterator
from typing import Final

from simnet.scenario.core.effective import Effective

_OF_TRACKING: Final = (
    "nf_conntrack_max",
    "nf_conntrack_buckets",
    "conntrack_make_cycles",
    "conntrack_find_cycles",
    "conntrack_lines",
)
_OF_FLOW_TABLE: Final = ("flow_table_cycles", "flow_table_lines")
_OF_OUTPUT: Final = ("output_cycles", "xmit_cycles", "security_rules")
_OF_ROUTES: Final = ("route_cycles", "prefixes", "destinations", "ttl", "ip_forward")


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    given = effective.forward
    if given is None:
        return
    if not given.conntrack or given.drop == "raw":
        for field in _OF_TRACKING:
            yield f"forward.{field}", "connections are not tracked"
    if not given.flow_offload:
        for field in _OF_FLOW_TABLE:
            yield f"forward.{field}", "no rule puts connections into a flow table"
    if not given.answers:
        yield "forward.answer_size_bytes", "no packets go the other way"
        if given.flow_offload:
            yield "forward.flow_offload", "without an answer no connection enters the flow table"
    if given.drop != "none":
        for field in _OF_OUTPUT:
            yield f"forward.{field}", "each packet is dropped before it is sent"
    if given.drop == "raw":
        for field in _OF_ROUTES:
            yield f"forward.{field}", "each packet is dropped before it is routed"
