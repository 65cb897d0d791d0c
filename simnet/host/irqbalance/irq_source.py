"""What a daemon that places interrupts sees of a machine: CPUs in their tree, interrupt sources.

The tree is what the kernel shows in `/sys/devices/system/cpu`: packages (`core_siblings`), in them
cache domains, in them CPUs. The cache that counts is `index2`, the second level: the threads of a
core share it, on Pentium 4, Nehalem and what came after.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.host.cpu import Cpu
    from simnet.host.interrupt import IrqLine
    from simnet.host.machine import Machine

#: irqbalance's classes, from the least to the most important
CLASSES: Final = (
    "other",
    "legacy",
    "storage",
    "timer",
    "ethernet",
    "gbit-ethernet",
    "10gbit-ethernet",
)
_USER_HZ: Final = 100


class Traffic(Protocol):
    """What `/proc/net/dev` shows of an interface."""

    @property
    def rx_packets(self) -> int:
        """Received packets."""

    @property
    def tx_packets(self) -> int:
        """Sent packets."""


@dataclass(frozen=True)
class IrqSource:
    """One line of `/proc/interrupts` with what is known of its device."""

    line: IrqLine  # the interrupt line
    node: int = -1  # NUMA node of the device; -1 for none
    msix: bool = False  # a vector of MSI-X, of which the device's `irq` in sysfs says nothing
    port: Traffic | None = None  # the network interface; None for others
    device: str = "ethernet"  # class of the PCI device, one of `CLASSES`

    @property
    def by_name(self) -> int:
        """The class that irqbalance 0.55 reads from the name: eth0, eth0-rx-3, timer."""
        name = self.line.name
        if "eth" in name:
            if "-tx" in name:
                return CLASSES.index("10gbit-ethernet")
            return CLASSES.index("gbit-ethernet" if "-rx" in name else "ethernet")
        if "rtc" in name or "timer" in name or self.line.irq == 0:
            return CLASSES.index("timer")
        return CLASSES.index("other")


@dataclass
class Domain:
    """CPUs that share something: a node, package, cache domain or one CPU."""

    number: int  # of its first CPU; of a node its own
    mask: int = 0  # its CPUs as a bit mask
    cpu: Cpu | None = None  # that CPU, at the bottom
    parent: Domain | None = None  # the domain above
    children: list[Domain] = field(default_factory=list)  # the domains in it


@dataclass(frozen=True)
class CpuTree:
    """All domains of a machine, each level by number."""

    nodes: tuple[Domain, ...]
    packages: tuple[Domain, ...]
    caches: tuple[Domain, ...]
    cpus: tuple[Domain, ...]


def cpu_tree(machine: Machine, banned: frozenset[int] = frozenset()) -> CpuTree:
    """Return the tree of a machine's CPUs.

    Args:
        machine: its nodes, sockets, cores and threads.
        banned: CPUs that are left out (IRQBALANCE_BANNED_CPUS).
    """
    nodes: dict[int, Domain] = {}
    packages: dict[int, Domain] = {}
    caches: dict[int, Domain] = {}
    cpus: list[Domain] = []
    for cpu in machine.online:
        node = nodes.setdefault(cpu.node, Domain(cpu.node))
        node.mask |= 1 << cpu.cpu_id
        if cpu.cpu_id in banned:
            continue
        package = _child(packages, cpu.socket, node, cpu.cpu_id)
        cache = _child(caches, cpu.core, package, cpu.cpu_id)
        cpus.append(Domain(cpu.cpu_id, 1 << cpu.cpu_id, cpu, cache))
        cache.children.append(cpus[-1])
        package.mask |= 1 << cpu.cpu_id
        cache.mask |= 1 << cpu.cpu_id
    return CpuTree(
        tuple(nodes.values()), tuple(packages.values()), tuple(caches.values()), tuple(cpus)
    )


def _child(known: dict[int, Domain], key: int, parent: Domain, number: int) -> Domain:
    if key not in known:
        known[key] = Domain(number, parent=parent)
        parent.children.append(known[key])
    return known[key]


def busy_ticks(cpus: Sequence[Cpu], tick_ps: int) -> list[int]:
    """Return each CPU's `irq` and `softirq` of `/proc/stat`, in 1/100 s, as sampled at ticks.

    Args:
        cpus: the CPUs.
        tick_ps: between two samples, 1 / HZ.
    """
    found = []
    for cpu in cpus:
        times = cpu.times()
        irq, softirq = times["irq_ticks"] * tick_ps, times["softirq_ticks"] * tick_ps
        second_ps = 10**12
        found.append(irq * _USER_HZ // second_ps + softirq * _USER_HZ // second_ps)
    return found
