"""Which CPUs, cores, packages, NUMA nodes and caches a host has.

CPUs are those that are on line and that the process which took the snapshot could use (its cpuset),
as hwloc counts them. Packages, cores and caches are sets of CPUs: the numbers that firmware gives
them repeat and have gaps.

Source: Documentation/admin-guide/cputopology.rst and Documentation/ABI/stable/sysfs-devices-node
of Linux.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Node:
    """A NUMA node."""

    number: int  # the kernel's
    cpus: frozenset[int]  # may be empty: memory only
    memory_bytes: int = 0  # 0 if it is not said


@dataclass(frozen=True)
class Cache:
    """A cache of data."""

    level: int  # 1 is the nearest to the core
    cpus: frozenset[int]  # that share it
    size_bytes: int = 0  # 0 if it is not said
    line_bytes: int = 0  # 0 if it is not said
    ways: int = 0  # of associativity; 0 if it is not said


@dataclass(frozen=True)
class Topology:
    """What a host's CPUs are."""

    cpus: frozenset[int]  # that count
    cores: tuple[frozenset[int], ...]  # as sets of CPUs, in the order of their first ones
    packages: tuple[frozenset[int], ...]  # as sets of CPUs
    nodes: tuple[Node, ...]  # by number; a host without NUMA has one
    caches: tuple[Cache, ...] = ()  # of data and unified ones, by level, then by first CPU
    # between nodes, in their order, as the firmware's table has them; may be empty
    distances: tuple[tuple[int, ...], ...] = ()
    offline: frozenset[int] = frozenset()  # CPUs that are there and off
    # CPUs on line that the snapshot's process could not use
    disallowed: frozenset[int] = frozenset()
    # the file, or kind of files, that it was read from
    source: str = field(default="", compare=False)
    # why what no file says is assumed: of `cpus`, `nodes`, `packages`, `cores` (which CPUs
    # share one), `threads` a core, `cores_per_socket`
    guessed: Mapping[str, str] = field(default_factory=dict, compare=False)

    def restricted(self, cpus: frozenset[int], numbers: frozenset[int] | None) -> Topology:
        """Return what is left with some CPUs and, if not None, some nodes."""
        cpus &= self.cpus
        caches = (replace(one, cpus=one.cpus & cpus) for one in self.caches)
        kept = [
            place
            for place, node in enumerate(self.nodes)
            if numbers is None or node.number in numbers
        ]
        return replace(
            self,
            cpus=cpus,
            cores=groups_of(core & cpus for core in self.cores),
            packages=groups_of(package & cpus for package in self.packages),
            nodes=tuple(
                replace(node, cpus=node.cpus & cpus) for node in (self.nodes[n] for n in kept)
            ),
            caches=tuple(cache for cache in caches if cache.cpus),
            distances=tuple(tuple(self.distances[row][n] for n in kept) for row in kept)
            if self.distances
            else (),
            disallowed=self.disallowed | (self.cpus - cpus),
        )


def groups_of(sets: Iterable[frozenset[int]]) -> tuple[frozenset[int], ...]:
    """Return sets of CPUs without empty and repeated ones, by their first CPU.

    A set that overlaps an earlier one without being equal contradicts it, and is left out.
    """
    found: list[frozenset[int]] = []
    taken: set[int] = set()
    for one in sorted({one for one in sets if one}, key=lambda one: (min(one), -len(one))):
        if taken.isdisjoint(one):
            found.append(one)
            taken |= one
    return tuple(found)
