"""The numbers of a host's interrupts, and the CPUs that serve them, in the scenario.

A port of the model has consecutive interrupts, one a receive queue. It keeps the host's numbers
where those are consecutive, so that a command that simnet prints can be typed on the host.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import tomlkit

from simnet.importing.parser import Told
from simnet.scenario.core.knob import cpu_mask_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simnet.importing.host import ReadHost
    from simnet.importing.read_nic import ReadNic
    from simnet.importing.writing.tuning import Tuning

__all__ = ["PortLines", "number_interrupts", "place_interrupts", "renumbered"]

_FIRST: Final = 64
# of the models: see `Multiqueue`, and `irq` of a server's port
_MOST_QUEUES: Final = 63
_LAST_IRQ: Final = 4095
_MAP: Final = "host"
_ASSUMED: Final = "no file says it: a CPU of the port's node for each queue"


@dataclass(frozen=True)
class PortLines:
    """The interrupts of a port.

    Attributes:
        first: number of the first.
        queues: that are in use.
        most: queues that the model is to have.
    """

    first: int
    queues: int
    most: int


def number_interrupts(host: ReadHost, nics: Sequence[ReadNic]) -> dict[str, PortLines]:
    """Return the interrupts of each port."""
    own = {nic.name: _own_first(host, nic) for nic in nics}
    starts = [first for first in own.values() if first]
    free = (
        first
        for first in range(_FIRST, _LAST_IRQ, _MOST_QUEUES)
        if all(abs(first - other) >= _MOST_QUEUES for other in starts)
    )
    found = {}
    for nic in nics:
        queues = min(max(nic.number("rx_queues", 1), 1), _MOST_QUEUES)
        first = own[nic.name]
        room = min((other - first for other in starts if other > first), default=_MOST_QUEUES)
        if not first or room < queues or starts.count(first) > 1:
            first, room = next(free), _MOST_QUEUES
        most = max(min(nic.number("most_queues", queues), _MOST_QUEUES, room), queues)
        found[nic.name] = PortLines(first, queues, most)
    return found


def _own_first(host: ReadHost, nic: ReadNic) -> int:
    """Return the first number of a port's interrupts; 0 if they are scattered, or too large."""
    queues = host.interrupts.get(nic.name, {})
    numbers = [queues[queue].irq for queue in sorted(queues)]
    first = numbers[0] if numbers else 0
    fits = first + _MOST_QUEUES <= _LAST_IRQ
    return first if fits and numbers == list(range(first, first + len(numbers))) else 0


def renumbered(host: ReadHost, lines: Mapping[str, PortLines]) -> Iterator[str]:
    """Yield a line for each port whose interrupts have other numbers than on the host."""
    for port, own in lines.items():
        queues = host.interrupts.get(port, {})
        numbers = [queues[queue].irq for queue in sorted(queues)]
        here = range(own.first, own.first + len(numbers))
        if numbers != list(here):
            listed = ", ".join(map(str, numbers))
            yield (
                f"{port}: the interrupts of its queues are {listed} on the host,"
                f" and {here[0]} to {here[-1]} in the scenario"
            )


def place_interrupts(
    host: ReadHost,
    tuning: Tuning,
    lines: Mapping[str, PortLines],
    near: Mapping[str, frozenset[int]],
) -> str:
    """Set which CPU serves each interrupt.

    Args:
        host: as it was read.
        tuning: takes the settings, where no irqbalance runs.
        lines: the interrupts of each port.
        near: the CPUs of the node of each port.

    Returns:
        The table `[irqbalance]` of the scenario's file.
    """
    daemon = host.facts.get("irqbalance")
    if daemon is not None and daemon.value == "off":
        tuning.settings["irqbalance"] = Told("irqbalance", "off", daemon.source)
        tuning.settings |= {one.name: one for one in _affinities(host, lines, near, used=True)}
        return '[irqbalance]\nmap = "none"\n'
    tuning.placed += _affinities(host, lines, near, used=True)
    masks = list(_affinities(host, lines, near, used=False))
    read = {one.source for one in masks if one.state == "read"}
    source = f"read from {min(read)}" if read else _ASSUMED
    document = tomlkit.document()
    table = tomlkit.table()
    table["map"] = _MAP
    document["irqbalance"] = table
    chosen = tomlkit.table()
    chosen["description"] = "where the interrupts were when the files were collected"
    chosen["state"] = "measured" if read else "assumed"
    chosen["source"] = source
    chosen["smp_affinity"] = {one.name.split("/")[3]: one.raw for one in masks}
    table["maps"] = {_MAP: chosen}
    return tomlkit.dumps(document)


def _affinities(
    host: ReadHost,
    lines: Mapping[str, PortLines],
    near: Mapping[str, frozenset[int]],
    *,
    used: bool,
) -> Iterator[Told]:
    """Yield the CPUs of each interrupt of a port with several, and of others where they are read.

    Queues that are not in use, but could be, are placed as those of which nothing is said; `used`
    leaves them out.
    """
    for port, own in lines.items():
        read = host.interrupts.get(port, {})
        cpus = sorted(near[port])
        for queue in range(own.queues if used else own.most):
            name = f"/proc/irq/{own.first + queue}/smp_affinity"
            at = read.get(queue)
            there = at.cpus & host.topology.cpus if at is not None else frozenset()
            if at is not None and (len(there) == 1 or (there and own.most == 1)):
                yield Told(name, cpu_mask_text(tuple(sorted(there))), at.source)
            elif own.most > 1:
                allowed = sorted(there & near[port] or there) or cpus
                why = _ASSUMED if at is None or not there else f"one of those in {at.source}"
                cpu = allowed[queue % len(allowed)]
                yield Told(name, cpu_mask_text((cpu,)), why, "assumed")
