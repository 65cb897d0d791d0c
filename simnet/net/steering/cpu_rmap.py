"""Which receive queue is nearest to a CPU: `rx_cpu_rmap` of a network device.

Source: lib/cpu_rmap.c of Linux 6.12 (`alloc_cpu_rmap`, `cpu_rmap_update`, `cpu_rmap_copy_neigh`).
A queue is where its interrupt may go. A CPU that no interrupt goes to takes the queue of one on its
core, else on its socket, else on its node; at first all CPUs have queues in turn, at an infinite
distance, and keep those where nothing is near.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.host.cpu import Cpu

_INFINITE: Final = 0xFFFF


class CpuRmap:
    """The reverse map of a port's interrupts.

    Args:
        cpus: of the machine, by number.
        queues: how many the port has.
    """

    def __init__(self, cpus: Sequence[Cpu], queues: int) -> None:
        self._cpus = tuple(cpus)
        self._index = [cpu.cpu_id % queues for cpu in cpus]
        self._distance = [_INFINITE] * len(cpus)
        self._near = tuple(_by_place(cpus, place) for place in ("core", "socket", "node"))

    def queue(self, cpu: int) -> int:
        """`cpu_rmap_lookup_index`: the queue of a CPU."""
        return self._index[cpu]

    def update(self, queue: int, mask: int) -> None:
        """`cpu_rmap_update`: a queue's interrupt has another affinity.

        Args:
            queue: its number.
            mask: CPUs that it may go to, as bits.
        """
        stale = {
            cpu.cpu_id for cpu in self._cpus if cpu.online and self._index[cpu.cpu_id] == queue
        }
        for number in stale:
            self._distance[number] = _INFINITE
        for cpu in self._cpus:
            if mask >> cpu.cpu_id & 1:
                self._index[cpu.cpu_id] = queue
                self._distance[cpu.cpu_id] = 0
                stale.update(self._near[-1][cpu.cpu_id])
        for number in sorted(stale):
            self._copy_nearest(number)

    def _copy_nearest(self, cpu: int) -> None:
        """Take over from neighbours: threads of the core, CPUs of the socket, of the node."""
        for distance, near in enumerate(self._near, 1):
            if self._distance[cpu] <= distance:
                return
            if any(self._copied(cpu, neighbour, distance) for neighbour in near[cpu]):
                return

    def _copied(self, cpu: int, neighbour: int, distance: int) -> bool:
        """`cpu_rmap_copy_neigh`, of one neighbour."""
        if self._distance[neighbour] > distance:
            return False
        self._index[cpu] = self._index[neighbour]
        self._distance[cpu] = distance
        return True


def _by_place(cpus: Sequence[Cpu], place: str) -> list[list[int]]:
    """For each CPU the numbers of those at the same place, itself included, in their order."""
    groups: dict[int, list[int]] = {}
    for cpu in cpus:
        groups.setdefault(getattr(cpu, place), []).append(cpu.cpu_id)
    return [groups[getattr(cpu, place)] for cpu in cpus]
