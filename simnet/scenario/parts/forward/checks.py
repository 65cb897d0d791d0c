"""What forwarding needs, and which of its settings nothing reads."""

from collections.abc import Iterator
from typing import Final, NoReturn

from simnet.host.release import release
from simnet.scenario.core.checks import asks_for
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.subject import Need
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.nic.schema import UDP_HEADERS_BYTES, Nic

FIRST: Final = (4, 12)
"""The first version whose early_drop this is."""
# as measured: what a build of so many more has taken
_FLOW_BYTES: Final = 400
_FLOW_PS: Final = 4 * 10**6
_PORTS: Final = 2
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


def check_forward(tree: Tree, table: Table) -> None:
    """Refuse a load without its table or its ports, and what is not modelled of forwarding."""
    if not asks_for(tree, table, "forward", "forward"):
        return
    path: Path = ("workload", "test")

    def refuse(message: str, *more: Path) -> NoReturn:
        raise table.error(path, "workload.test", f"forward: {message}", *more)

    ports = tree.get(("host", "ports"))[:_PORTS]
    if len(ports) < _PORTS:
        refuse("expected two ports, by which packets come and leave", ("host", "ports"))
    drivers = {name for name, one in Nic.variants().items() if one.forwards}
    for number, port in enumerate(ports):
        driver = port["nic"]["driver"]
        if driver not in drivers:
            known = ", ".join(sorted(drivers))
            called = port["nic"].get("stands_in_for") or driver
            message = f"{called} is not modelled: expected one of {known}"
            refuse(message, ("host", "ports", number, "nic", "driver"))
    kernel = tree.get(("host", "kernel"))
    if kernel["system"] != "linux" or release(kernel["version"]) < FIRST:
        message = f"{kernel['system']} {kernel['version']} is not modelled: expected Linux 4.12 on"
        refuse(message, ("host", "kernel"))
    _check_load(tree, table)


def _check_load(tree: Tree, table: Table) -> None:
    """Refuse packets and tables that do not fit together."""
    given = tree.get(("forward",))

    def refuse(field: str, key: str, message: str, *more: Path) -> NoReturn:
        raise table.error(("forward", field), f"forward.{key}", message, *more)

    nics = [port["nic"] for port in tree.get(("host", "ports"))[:_PORTS]]
    room = min(nic["mtu_bytes"] for nic in nics) - UDP_HEADERS_BYTES
    for key in ("size", "answer_size"):
        if given[f"{key}_bytes"] > room:
            message = f"a packet has room for {room} B, and fragments are not modelled"
            refuse(f"{key}_bytes", key, message, ("host", "ports", 0, "nic", "mtu_bytes"))
    drop = given["drop"]
    if drop != "none" and not given[f"{drop}_rules"]:
        refuse("drop", "drop", f"a rule of {drop} drops: expected {drop}_rules of 1 or more")
    if given["nat_rules"] and not given["conntrack"]:
        refuse("nat_rules", "nat_rules", "nat tracks connections: expected conntrack = true")
    if given["flow_offload"] and not given["conntrack"]:
        message = "a flow table takes tracked connections: expected conntrack = true"
        refuse("flow_offload", "flow_offload", message)
    if given["destinations"] > given["prefixes"]:
        message = f"expected at most the {given['prefixes']} prefixes of the table"
        refuse("destinations", "destinations", message, ("forward", "prefixes"))
    queues = max(nic.get("rx_queues", 1) for nic in (nics if given["answers"] else nics[:1]))
    if given["spread"] == "even" and given["flows"] < queues:
        message = f"each of {queues} receive queues has a flow: expected {queues} or more"
        refuse("flows", "flows", message)


def needs(tree: Tree) -> Iterator[Need]:
    """Yield what the flows take."""
    if "forward" in tree.values:
        place, count = ("forward", "flows"), tree.get(("forward", "flows"))
        yield Need(place, count, count, "flows", _FLOW_BYTES, _FLOW_PS)


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
