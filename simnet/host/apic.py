"""Which CPUs of a mask an interrupt goes to: the mode that a kernel drives its APICs in.

Linux chooses the mode once, at boot, from the CPUs that its firmware lists. Of a mask of several
CPUs physical modes program one; logical modes program all of them, and the chipset takes one for
each interrupt. MSI and MSI-X messages carry the same destination as an entry of the IO-APIC.

Sources, by version:

- up to 2.6.20: arch/x86_64/kernel/genapic.c, genapic_flat.c, genapic_cluster.c of 2.6.18;
- RHEL 5 (2.6.18-EL): its genapic.c, which asks `apic_is_clustered_box` instead of counting itself;
- 2.6.21 to 2.6.26: genapic.c with `cpu_possible_map`; 2.6.27 to 2.6.31: `max_physical_apicid`;
- 2.6.32 and later: arch/x86/kernel/apic/probe_64.c, apic_flat_64.c, x2apic_cluster.c, x2apic_phys.c
  of 2.6.32-el6; from 3.6 the x2APIC's cluster is one destination;
- 4.15 and later: every interrupt has one CPU (commit a31e58e129f7), chosen by kernel/irq/matrix.c
  (`matrix_find_best_cpu`: of the mask the CPU with the fewest vectors). One whose mask is the
  default goes to a CPU of its device's node if there is any (arch/x86/kernel/apic/vector.c of 4.15
  `assign_irq_vector_any_locked`). Vectors of devices that are not simulated do not count;
- 6.12 and later: without x2APIC, physical always (commit 838ba7733e4e).
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from simnet.errors import SimulationError
from simnet.host.interrupt import NO_NODE, Arbiter, IrqLine

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.host.cpu import Cpu

_CLUSTER_SHIFT: Final = 4
_FLAT_CPUS: Final = 8
_MULTI_CHASSIS: Final = 2

_POSSIBLE_CPUS: Final = (2, 6, 21)
_LARGEST_ID: Final = (2, 6, 27)
_PROBE: Final = (2, 6, 32)
_CLUSTER_DOMAIN: Final = (3, 6)
_ONE_TARGET: Final = (4, 15)
_NO_FLAT: Final = (6, 12)


@dataclass(frozen=True)
class ApicMode:
    """How the interrupts of a machine find their CPU."""

    name: str  # as the kernel prints it: "Setting APIC routing to flat"
    # which CPUs of a mask are programmed: ``"first"``; ``"all"``; ``"cluster"``, those in the
    # first one's cluster of 16 APIC ids; ``"fewest"``, the one with the fewest interrupts,
    # unless the present one is in the mask
    destination: str

    def meaning(self, cpus: Sequence[int]) -> str:
        """Say, for people, what a mask of several CPUs does."""
        why = f"interrupts are delivered in {self.name} mode"
        return {
            "first": f"only CPU {cpus[0]}, the first of the mask, is used: {why}",
            "fewest": f"only one of the {len(cpus)} CPUs is used, that with the fewest interrupts:"
            " Linux 4.15 and later program no more",
            "all": f"packets of one connection visit all {len(cpus)} CPUs: {why}",
            "cluster": "packets of one connection visit all CPUs of the mask that are in one"
            f" cluster with CPU {cpus[0]}: {why}",
        }[self.destination]


@dataclass(frozen=True)
class Firmware:
    """What the kernel finds when it chooses."""

    apic_ids: tuple[int, ...]  # of the CPUs that are there, by Linux's number
    possible_cpus: int  # entries of the MADT, CPUs that could be plugged in included
    vendor: str = "intel"  # of the CPUs, ``"intel"`` or ``"amd"``
    # the FADT asks for physical destinations, or the OEM tables are IBM's "EXA"
    force_physical: bool = False
    x2apic: bool = False  # the CPUs have x2APICs and interrupts can be remapped
    hotplug_cpu: bool = True  # the kernel has CONFIG_HOTPLUG_CPU


def apic_ids(sockets: int, cpus_per_socket: int, ids_per_socket: int = 0) -> tuple[int, ...]:
    """Return the APIC id of each CPU, numbered socket by socket.

    Args:
        sockets: of the machine.
        cpus_per_socket: logical CPUs of a socket.
        ids_per_socket: distance between the first ids of two sockets; 0 for the power of two that
            just holds a socket's CPUs.
    """
    step = max(ids_per_socket, 1 << (cpus_per_socket - 1).bit_length())
    return tuple(
        socket * step + number for socket in range(sockets) for number in range(cpus_per_socket)
    )


def apic_mode(version: str, firmware: Firmware, distribution: str = "") -> ApicMode:
    """Return the mode that Linux `version` chooses on x86-64.

    Args:
        version: upstream version, as in ``"2.6.18"``.
        firmware: what it finds.
        distribution: ``"rhel"`` for Red Hat's kernel of that version.
    """
    release = _numbers(version)
    if release < _POSSIBLE_CPUS:
        if distribution == "rhel" and release >= (2, 6, 18):
            return _by_chassis(firmware)
        return _by_clusters(firmware)
    if firmware.x2apic and release >= _LARGEST_ID:
        return _x2apic(release, firmware)
    if release < _LARGEST_ID:
        physical = firmware.possible_cpus > _FLAT_CPUS
    elif release < _PROBE:
        physical = max(firmware.apic_ids) >= _FLAT_CPUS
    else:
        physical = firmware.possible_cpus > _FLAT_CPUS or release >= _NO_FLAT
    if physical or firmware.force_physical:
        return ApicMode("physical flat", "fewest" if release >= _ONE_TARGET else "first")
    return ApicMode("flat", "fewest" if release >= _ONE_TARGET else "all")


def physical_mode(version: str) -> ApicMode:
    """Return the mode of a machine whose messages go to one CPU, whatever the kernel probes."""
    return ApicMode("physical", "fewest" if _numbers(version) >= _ONE_TARGET else "first")


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(number) for number in re.findall(r"\d+", version)[:3])


def _by_clusters(firmware: Firmware) -> ApicMode:
    """2.6.18: flat for one cluster of at most eight CPUs, and no hotplug."""
    clusters = Counter(apic_id >> _CLUSTER_SHIFT for apic_id in firmware.apic_ids)
    if firmware.force_physical:
        return ApicMode("clustered", "first")
    if firmware.vendor == "amd":
        flat = not firmware.hotplug_cpu and max(firmware.apic_ids) <= _FLAT_CPUS
        return ApicMode("flat", "all") if flat else ApicMode("physical flat", "first")
    if len(clusters) > 1 or not 0 < clusters[0] <= _FLAT_CPUS:
        return ApicMode("clustered", "first")
    if firmware.hotplug_cpu:
        return ApicMode("physical flat", "first")
    return ApicMode("flat", "all")


def _by_chassis(firmware: Firmware) -> ApicMode:
    """RHEL 5: clustered from the third cluster on; holes between clusters count."""
    clusters = max(firmware.apic_ids) >> _CLUSTER_SHIFT
    if clusters + 1 > _MULTI_CHASSIS:
        return ApicMode("clustered", "first")
    small = firmware.vendor == "amd" and max(firmware.apic_ids) <= _FLAT_CPUS
    if firmware.hotplug_cpu and not small:
        return ApicMode("physical flat", "first")
    return ApicMode("flat", "all")


def _x2apic(release: tuple[int, ...], firmware: Firmware) -> ApicMode:
    if release >= _ONE_TARGET:
        destination = "fewest"
    elif firmware.force_physical or release < _CLUSTER_DOMAIN:
        destination = "first"
    else:
        destination = "cluster"
    return ApicMode("physical x2apic" if firmware.force_physical else "cluster x2apic", destination)


class Apic:
    """The interrupt lines of a machine, and how each finds its CPU.

    Args:
        cpus: the machine's CPUs by number.
        mode: the kernel's choice; by default the first CPU of a mask.
        arbiter: the chipset's choice among several CPUs; by default one after the other.
        ids: APIC id of each CPU; their numbers by default.
    """

    def __init__(
        self,
        cpus: list[Cpu],
        mode: ApicMode | None = None,
        arbiter: Arbiter | None = None,
        ids: Sequence[int] | None = None,
    ) -> None:
        self.cpus = cpus
        self.mode = mode or ApicMode("physical flat", "first")
        self.arbiter = arbiter or Arbiter("rotating")
        self.ids = tuple(ids or range(len(cpus)))
        self.lines: list[IrqLine] = []
        self._interrupts: Counter[int] = Counter()

    def line(self, irq: int, name: str, mask: int, node: int = NO_NODE) -> IrqLine:
        """Return another line of the machine.

        Args:
            irq: Linux's number.
            name: as in `/proc/interrupts`.
            mask: smp_affinity as a bit mask.
            node: of its device; -1 for none.

        Raises:
            SimulationError: the mask names no CPU of the machine.
        """
        line = IrqLine(irq, name, self.cpus, mask, self, node)
        self.lines.append(line)
        return line

    def program(self, irq: int, mask: int, now: Sequence[Cpu], node: int = NO_NODE) -> list[Cpu]:
        """Return the CPUs that a mask of an interrupt is programmed to.

        Args:
            irq: Linux's number, for the error.
            mask: smp_affinity as a bit mask.
            now: the CPUs that the interrupt is programmed to; none when it is new.
            node: of its device; -1 for none.
        """
        named = [cpu for cpu in self.cpus if cpu.online and mask >> cpu.cpu_id & 1]
        if not named:
            message = f"irq {irq}: smp_affinity names none of the machine's {len(self.cpus)} CPUs"
            raise SimulationError(message)
        first = named[0]
        if self.mode.destination == "all":
            return named
        if self.mode.destination == "cluster":
            cluster = self.ids[first.cpu_id] >> _CLUSTER_SHIFT
            return [c for c in named if self.ids[c.cpu_id] >> _CLUSTER_SHIFT == cluster]
        if self.mode.destination == "fewest":
            return [self._fewest(named if now else self._near(named, node), now)]
        return [first]

    def _near(self, named: list[Cpu], node: int) -> list[Cpu]:
        """Of the default mask, which has all CPUs, those of the node of a device."""
        if len(named) < sum(cpu.online for cpu in self.cpus):
            return named
        return [cpu for cpu in named if cpu.node == node] or named

    def _fewest(self, named: list[Cpu], now: Sequence[Cpu]) -> Cpu:
        """`assign_vector_locked`, `matrix_find_best_cpu`: stay, or go where most are free."""
        if now and now[0] in named:
            return now[0]
        chosen = min(named, key=lambda cpu: (self._interrupts[cpu.cpu_id], cpu.cpu_id))
        for cpu in now:
            self._interrupts[cpu.cpu_id] -= 1
        self._interrupts[chosen.cpu_id] += 1
        return chosen
