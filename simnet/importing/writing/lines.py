"""The numbers of a host's interrupts, and the CPUs that serve them, in the scenario.

A port of the model has an interrupt for each receive queue, with the host's number, so that a
command that simnet prints can be typed on the host. Queues that are not in use get free numbers.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import tomlkit

from simnet.importing.kind import Told
from simnet.scenario.core.knob import cpu_mask_text
from simnet.scenario.parts.host.schema import MOST_IRQS
from simnet.scenario.parts.nic.schema import MOST_QUEUES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from simnet.importing.host import ReadHost
    from simnet.importing.read_nic import ReadNic
    from simnet.importing.writing.tuning import Tuning

_FIRST: Final = 64
_MAP: Final = "host"
_ASSUMED: Final = "no file says it: a CPU of the port's node for each queue"


@dataclass(frozen=True)
class PortLines:
    """The interrupts of a port."""

    numbers: tuple[int, ...]  # of each queue that the model is to have
    queues: int  # that are in use

    @property
    def most(self) -> int:
        """Queues that the model is to have."""
        return len(self.numbers)

    @property
    def follow(self) -> bool:
        """Whether the numbers follow each other."""
        first = self.numbers[0]
        return self.numbers == tuple(range(first, first + self.most))


def number_interrupts(host: ReadHost, nics: Sequence[ReadNic]) -> dict[str, PortLines]:
    """Return the interrupts of each port: the host's own, and others for queues without one."""
    taken: set[int] = set()
    own: dict[str, dict[int, int]] = {}
    for nic in nics:
        own[nic.name] = {}
        for queue, at in sorted(host.interrupts.get(nic.name, {}).items()):
            if 0 < at.irq < MOST_IRQS and at.irq not in taken:
                own[nic.name][queue] = at.irq
                taken.add(at.irq)
    found = {}
    for nic in nics:
        queues = min(max(nic.number("rx_queues", 1), 1), MOST_QUEUES)
        most = max(min(nic.number("most_queues", queues), MOST_QUEUES), queues)
        read = own[nic.name]
        # those behind the last one, where they are free
        free = itertools.chain(
            range(max(read.values(), default=_FIRST - 1) + 1, MOST_IRQS), range(_FIRST, MOST_IRQS)
        )
        numbers = []
        for queue in range(most):
            number = read.get(queue) or next(one for one in free if one not in taken)
            taken.add(number)
            numbers.append(number)
        found[nic.name] = PortLines(tuple(numbers), queues)
    return found


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


def spread(
    lines: Mapping[str, PortLines], near: Mapping[str, frozenset[int]], why: str
) -> Iterator[Told]:
    """Yield a CPU of the port's node for each queue in use, as a host without a fault has it."""
    for port, own in lines.items():
        cpus = sorted(near[port])
        for queue in range(own.queues):
            name = f"/proc/irq/{own.numbers[queue]}/smp_affinity"
            yield Told(name, cpu_mask_text((cpus[queue % len(cpus)],)), why, "assumed")


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
            name = f"/proc/irq/{own.numbers[queue]}/smp_affinity"
            at = read.get(queue)
            there = at.cpus & host.topology.cpus if at is not None else frozenset()
            if at is not None and (len(there) == 1 or (there and own.most == 1)):
                yield Told(name, cpu_mask_text(tuple(sorted(there))), at.source)
            elif own.most > 1:
                allowed = sorted(there & near[port] or there) or cpus
                why = _ASSUMED if at is None or not there else f"one of those in {at.source}"
                cpu = allowed[queue % len(allowed)]
                yield Told(name, cpu_mask_text((cpu,)), why, "assumed")
