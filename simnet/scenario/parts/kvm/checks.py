"""What guests and their host have to fulfil together."""

from typing import Final

from simnet.scenario.core.checks import refuse_ends
from simnet.scenario.core.subject import setup_of
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.nic.schema import Nic

_PINS: Final = ("vcpupin", "emulatorpin", "uplink_cpus")


def check_guests(tree: Tree, table: Table) -> None:
    """Check guests.

    Raises:
        InputError: a guest without a host, or the other way round; guests of several hosts; a
            port that is not theirs; a pin to a CPU that the host does not have.
    """
    places: list[Path] = [("host",), *(("peers", n) for n in range(len(tree.get(("peers",)))))]
    guests = [place for place in places if tree.get(place).get("guest")]
    for place in places:
        _check_ports(tree, place, table, there=place in guests)
    if tree.values.get("kvm") is None:
        if guests:
            message = "a guest needs a host with KVM: system.kvm names its model"
            raise table.error((*guests[0], "guest"), _key(guests[0]), message)
        return
    refuse_ends(tree, table, "the ends are guests of one host")
    test = tree.get(("workload", "test"))
    if setup_of(test, tree.values.__contains__):
        message = f"{test} reaches no guest here: expected netserver, netperf or tcp_rr"
        raise table.error(("workload", "test"), "workload.test", message)
    for place in places:
        host = tree.get(place)
        if place not in guests:
            _check_outside(tree, place, table)
            continue
        if host["name"] != tree.get(("host", "name")):
            message = f"guests of one host are on the same server, not on {host['name']}, too"
            raise table.error(place, "system.peers", message)
        _check_pins(tree, place, table)


def _key(place: Path) -> str:
    return "system.guest" if place == ("host",) else f"system.peers.{place[1]}.guest"


def _check_outside(tree: Tree, place: Path, table: Table) -> None:
    """Refuse a peer that is no guest, unless the host has a port and CPUs for it."""
    served = (tree.get(("host",)).get("guest") or {}).get("uplink_cpus")
    host = tree.get(place)
    if place == ("host",) or not served:
        message = f"{host['name']} is no guest: guests of a host have a table guest"
        outside = "; for a peer outside, guest.uplink_cpus says which CPUs serve the host's port"
        raise table.error(place, _key(place), message + (outside if place != ("host",) else ""))
    if len(tree.get(("peers",))) > 1:
        message = "a host has one port here: expected one peer outside, or guests"
        raise table.error(place, "system.peers", message)
    taken = {cpu for pins in _PINS[:2] for cpu in tree.get(("host", "guest", pins))}
    for cpu in served:
        if cpu in taken:
            message = f"CPU {cpu} has a thread of the guest: the host's port needs another"
            path = ("host", "guest", "uplink_cpus")
            raise table.error(path, "system.guest.uplink_cpus", message)


def _check_ports(tree: Tree, place: Path, table: Table, *, there: bool) -> None:
    """Refuse virtio devices elsewhere, and other devices in a guest."""
    for number, port in enumerate(tree.get((*place, "ports"))):
        driver = port["nic"]["driver"]
        virtual = Nic.variants()[driver].network == "bridge"
        if virtual == there:
            continue
        message = f"{port['name']} has the driver {driver}: only in a guest"
        if there:
            message = f"{port['name']} is a guest's, its driver {driver} is none of a guest"
        raise table.error((*place, "ports", number), "system", message)


def _check_pins(tree: Tree, place: Path, table: Table) -> None:
    machine, cpu = tree.get((*place, "machine")), tree.get((*place, "cpu"))
    sockets = machine["nodes"] * machine["sockets_per_node"]
    there = sockets * cpu["cores_per_socket"] * cpu["threads_per_core"]
    for field in _PINS:
        last = max(tree.get((*place, "guest"))[field], default=0)
        if last >= there:
            message = f"CPU {last}: the host has CPUs 0 to {there - 1}"
            raise table.error((*place, "guest", field), f"{_key(place)}.{field}", message)
