"""What guests and their host have to fulfil together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.scenario.core.checks import refuse_ends
from simnet.scenario.parts.nic.schema import Nic

if TYPE_CHECKING:
    from simnet.scenario.core.settings import Table
    from simnet.scenario.core.tree import Path, Tree

__all__ = ["check_guests"]

_PINS: Final = ("vcpupin", "emulatorpin")


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
    for place in places:
        host = tree.get(place)
        if place not in guests:
            message = f"{host['name']} is no guest: guests of a host have a table guest"
            raise table.error(place, _key(place), message)
        if host["name"] != tree.get(("host", "name")):
            message = f"guests of one host are on the same server, not on {host['name']}, too"
            raise table.error(place, "system.peers", message)
        _check_pins(tree, place, table)


def _key(place: Path) -> str:
    return "system.guest" if place == ("host",) else f"system.peers.{place[1]}.guest"


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
        last = max(tree.get((*place, "guest"))[field])
        if last >= there:
            message = f"CPU {last}: the host has CPUs 0 to {there - 1}"
            raise table.error((*place, "guest", field), f"{_key(place)}.{field}", message)
