"""What steering of packets needs, and which settings of RFS nothing reads."""

from collections.abc import Iterator
from typing import Final

from simnet.errors import InputError
from simnet.net.steering.version import steering_rules
from simnet.scenario.core.effective import Effective
from simnet.scenario.core.places import Places
from simnet.scenario.core.subject import Need
from simnet.scenario.core.tree import Path, Table, Tree

# of an entry: CPU, tail and filter of a flow; and what filling it with its first value takes
_ENTRY_BYTES: Final = 24
_ENTRY_PS: Final = 2_000


def needs(tree: Tree) -> Iterator[Need]:
    """Yield what the flow tables of all receive queues take."""
    places = Places(tree)
    for place in (*places.hosts(peers=False), *places.hosts(peers=True)):
        for number, port in enumerate(tree.get((*place, "ports"))):
            if sum(port["rps_flow_cnt"]):
                where: Path = (*place, "ports", number, "rps_flow_cnt")
                most, count = max(port["rps_flow_cnt"]), sum(port["rps_flow_cnt"])
                yield Need(where, most, count, "entries of flow tables", _ENTRY_BYTES, _ENTRY_PS)


def check_steering(tree: Tree, place: Path, table: Table) -> None:
    """Refuse a hash of a packet that has no place in a map."""
    path: Path = (*place, "kernel")
    kernel = tree.get(path)
    if kernel["system"] != "linux":
        return
    bits, shift = (*path, "rxhash_bits"), (*path, "rps_index_shift")
    given = kernel["rxhash_bits"], kernel["rps_index_shift"]
    try:
        rules = steering_rules(kernel["version"], *given)
    except InputError as error:
        raise table.error(shift, "system", error.message, bits) from error
    if kernel["rps"] and not rules.hash_bits:
        message = f"Linux {kernel['version']} has no hash of its own: RPS needs 1 to 32 bits"
        raise table.error(bits, "system", message, (*path, "rps"))


def idle(effective: Effective) -> Iterator[tuple[str, str]]:
    """Yield places of values that nothing reads in a configuration, and why."""
    for place, host in effective.places.items():
        if not any(any(port.rps_flow_cnt) for port in host.ports):
            why = "rps_flow_cnt is 0 for all queues, so RFS is off"
            yield f"{place}.kernel.rps_sock_flow_entries", why
        if not host.kernel.rps_sock_flow_entries:
            for number in range(len(host.ports)):
                why = "net.core.rps_sock_flow_entries is 0, so RFS is off"
                yield f"{place}.ports[{number}].rps_flow_cnt", why
