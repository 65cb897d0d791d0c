"""What partitions, their hypervisor and its pool of processors have to fulfil together."""

from typing import Any, Final

from simnet.errors import InputError
from simnet.scenario.core.checks import refuse_ends
from simnet.scenario.core.tree import Path, Table, Tree, dotted
from simnet.scenario.parts.nic.schema import Nic

_PERMILLE: Final = 1000
_THREADS: Final = 2


def check_partitions(tree: Tree, table: Table) -> None:
    """Check partitions.

    Raises:
        InputError: a partition without a hypervisor, or the other way round; an entitlement that
            the hypervisor does not give; more than the pool has.
    """
    places: list[Path] = [("host",), *(("peers", n) for n in range(len(tree.get(("peers",)))))]
    hypervisor = tree.values.get("hypervisor")
    if hypervisor:
        refuse_ends(tree, table, "the ends are partitions of one machine")
    partitions = [place for place in places if "partition" in tree.get(place)]
    for place in places:
        _check_ports(tree, place, table, there=place in partitions)
    if hypervisor is None:
        if partitions:
            key = _key(partitions[0])
            message = "a partition needs a hypervisor: system.hypervisor names its model"
            raise table.error((*partitions[0], "partition"), key, message)
        if "pool" in tree.values:
            raise table.error(("pool",), "pool", "a pool needs a hypervisor")
        return
    for place in places:
        if place not in partitions:
            name = tree.get((*place, "name"))
            key = "system" if place == ("host",) else "system.peers"
            message = f"{name} is no partition: a hypervisor's partitions have a table partition"
            raise table.error(place, key, message)
        _check_partition(tree, place, table, hypervisor)
    _check_pool(tree, partitions, table, hypervisor)


def _key(place: Path, value: str = "") -> str:
    start = "system" if place == ("host",) else f"system.peers.{place[1]}"
    return f"{start}.partition.{value}".rstrip(".")


def _units(permille: int) -> str:
    return f"{permille / _PERMILLE:g}"


def _check_ports(tree: Tree, place: Path, table: Table, *, there: bool) -> None:
    """Refuse ports of the hypervisor's LAN elsewhere, and others on it."""
    for number, port in enumerate(tree.get((*place, "ports"))):
        path: Path = (*place, "ports", number)
        driver = port["nic"]["driver"]
        virtual = Nic.variants()[driver].network == "hypervisor"
        if there and not virtual:
            message = f"{port['name']} is on the hypervisor's LAN, its driver {driver} is not"
            raise table.error(path, "system", message)
        if virtual and not there:
            message = f"{port['name']} is a port of a hypervisor's LAN: only in a partition"
            raise table.error(path, "system", message)


def _check_partition(tree: Tree, place: Path, table: Table, hypervisor: dict[str, Any]) -> None:
    host = tree.get(place)
    partition = host["partition"]

    def error(field: str, message: str) -> InputError:
        path = (*place, "partition", field)
        return table.error(path, _key(place, field.removesuffix("_permille")), message)

    units, procs = partition["proc_units_permille"], partition["procs"]
    least = hypervisor["min_entitlement_permille"] * procs
    step = hypervisor["entitlement_step_permille"]
    changed = "proc_units_permille"
    if dotted((*place, "partition", "procs")) in table.origins:
        changed = "procs"
    if units < least:
        message = (
            f"{_units(units)} processors for {procs} virtual ones: expected at least"
            f" {_units(least)}, {_units(hypervisor['min_entitlement_permille'])} for each"
        )
        raise error(changed, message)
    if units > procs * _PERMILLE:
        message = f"{_units(units)} processors need more than {procs} virtual ones"
        raise error(changed, message)
    if units % step:
        message = f"expected steps of {_units(step)} processors, got {_units(units)}"
        raise error("proc_units_permille", message)
    if partition["smt"] and host["cpu"]["threads_per_core"] != _THREADS:
        raise error("smt", f"the processor has {host['cpu']['threads_per_core']} threads")
    if host["machine"]["nodes"] != 1:
        raise error("procs", f"a partition is simulated on machines of one node: {host['name']}")
    if partition["phase_ps"] >= hypervisor["dispatch_window_ps"]:
        raise error("phase_ps", "expected less than a dispatch window")


def _check_pool(
    tree: Tree, partitions: list[Path], table: Table, hypervisor: dict[str, Any]
) -> None:
    """Refuse entitlements that the hypervisor does not give, or the pool cannot honour."""
    names = {tree.get((*place, "name")) for place in partitions}
    if len(names) > 1:
        message = (
            f"partitions of one machine are on the same server, not on {', '.join(sorted(names))}"
        )
        raise table.error(("peers",), "system.peers", message)
    machine, cpu = tree.get(("host", "machine")), tree.get(("host", "cpu"))
    there = machine["nodes"] * machine["sockets_per_node"] * cpu["cores_per_socket"]
    pool = tree.values.get("pool") or {"processors": 0, "others": 0}
    processors = pool["processors"] or there
    if processors > there:
        message = f"{processors} processors: the server has {there}"
        raise table.error(("pool", "processors"), "pool.processors", message)
    wanted = [tree.get((*place, "partition", "proc_units_permille")) for place in partitions]
    others = pool["others"] * pool.get("others_proc_units_permille", 0)
    if pool["others"]:
        least, each = hypervisor["min_entitlement_permille"], pool["others_proc_units_permille"]
        step = hypervisor["entitlement_step_permille"]
        message = ""
        if each < least:
            message = f"{_units(each)} processors: expected at least {_units(least)}"
        elif each % step:
            message = f"expected steps of {_units(step)} processors, got {_units(each)}"
        if message:
            path: Path = ("pool", "others_proc_units_permille")
            raise table.error(path, "pool.others_proc_units", message)
        if pool["others_phase_ps"] >= hypervisor["dispatch_window_ps"]:
            message = "expected less than a dispatch window"
            raise table.error(("pool", "others_phase_ps"), "pool.others_phase", message)
    total = sum(wanted) + others
    if total > processors * _PERMILLE:
        changed = [
            (place, "proc_units_permille")
            for place in partitions
            if dotted((*place, "partition", "proc_units_permille")) in table.origins
        ]
        place, field = changed[0] if changed else (partitions[0], "proc_units_permille")
        message = (
            f"the partitions are entitled to {_units(total)} processors, the pool has {processors}"
        )
        raise table.error((*place, "partition", field), _key(place, "proc_units"), message)
