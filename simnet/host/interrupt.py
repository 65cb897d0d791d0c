"""Interrupt lines: which CPU serves an interrupt, and when another affinity takes effect.

A line is a pin of an IO-APIC or a vector of MSI or MSI-X. Which CPUs of its mask it is programmed
to is the mode's affair (`simnet.host.apic`). With one, that one serves every interrupt: physical
destination, fixed delivery. With several, the chipset arbitrates: logical destination, lowest
priority. A write to `/proc/irq/N/smp_affinity` is kept as pending and programmed when the interrupt
next fires; that interrupt itself is still served by a CPU that it went to.

Sources: kernel/irq/migration.c and arch/x86_64/kernel/io_apic.c of Linux 2.6.18; Intel's Software
Developer's Manual, volume 3, "Lowest Priority Delivery Mode". Linux leaves all CPUs at priority 0,
so that arbitration is always between equals; how a chipset resolves that is not published.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.host.cpu import Cpu
from simnet.kernel.compiled import Public

NO_NODE: cython.int = -1
"""The node of a device that is attached to none."""

#: one CPU of the mask after the other, whichever line it is for; always the first; any
ARBITRATIONS = ("rotating", "first", "random")

_ROTATING: cython.int = 0
_FIRST: cython.int = 1


@cython.final
@cython.cclass
class Arbiter:
    """Lowest-priority arbitration between CPUs of equal priority; a chipset has one."""

    rule: cython.int = 0  # one of `ARBITRATIONS`
    last: cython.int = 0
    random: Any = None  # for "random": has `below(count)`

    def __init__(self, rule: str, random: Any = None) -> None:
        self.rule = ARBITRATIONS.index(rule)
        self.last = -1
        self.random = random

    def choose(self, targets: list[Any]) -> Cpu:
        """Return the CPU that accepts an interrupt for `targets`, which ascend by number."""
        cpu: Cpu = targets[0]
        if self.rule == _FIRST:
            return cpu
        if self.rule != _ROTATING:
            cpu = targets[self.random.below(len(targets))]
            self.last = cpu.cpu_id
            return cpu
        for cpu in targets:
            if cpu.cpu_id > self.last:
                self.last = cpu.cpu_id
                return cpu
        cpu = targets[0]
        self.last = cpu.cpu_id
        return cpu


@cython.cclass
class IrqLine:
    """One interrupt line."""

    irq: Public[cython.int] = 0  # Linux's number
    name: str = None  # device name
    cpus: list[Any] = None  # the machine's CPUs by number
    apic: Any = None  # programs masks; by default the first CPU of each
    node: cython.int = -1  # of its device
    arbiter: Arbiter = None
    targets: list[Cpu] = None
    target: Cpu = None
    several: cython.bint = False
    mask: Any = None  # smp_affinity as a bit mask
    pending_mask: Any = None
    counts: Public[list[Any]] = None
    total: Public[cython.longlong] = 0
    # called with each mask that is written (`irq_set_affinity_notifier`)
    affinity_notify: Public[Any] = None

    def __init__(
        self,
        irq: int,
        name: str,
        cpus: list[Cpu],
        mask: int,
        apic: Any = None,
        node: int = NO_NODE,
    ) -> None:
        self.irq = irq
        self.name = name
        self.cpus = cpus
        self.apic = apic
        self.node = node
        self.arbiter = apic.arbiter if apic is not None else None
        self.targets = []
        self.counts = [0] * len(cpus)
        self._program(mask)

    @property
    def smp_affinity(self) -> int:
        """The mask as `/proc/irq/N/smp_affinity` shows it."""
        return int(self.mask if self.pending_mask is None else self.pending_mask)

    @smp_affinity.setter
    def smp_affinity(self, mask: int) -> None:
        _first_cpu(mask, len(self.cpus), self.irq)
        self.pending_mask = _existing(mask, len(self.cpus))
        if self.affinity_notify is not None:
            self.affinity_notify(self.pending_mask)

    def current_target(self) -> Cpu:
        """The CPU that the next interrupt goes to; the first of several."""
        return self.target

    def route(self) -> Cpu:
        """Count an interrupt and return the CPU that serves it."""
        cpu: Cpu = self.arbiter.choose(self.targets) if self.several else self.target
        self.counts[cpu.cpu_id] += 1
        self.total += 1
        if self.pending_mask is not None:
            self._program(self.pending_mask)
            self.pending_mask = None
        return cpu

    def _program(self, mask: int) -> None:
        self.mask = _existing(mask, len(self.cpus))
        if self.apic is None:
            self.targets = [self.cpus[_first_cpu(mask, len(self.cpus), self.irq)]]
        else:
            self.targets = self.apic.program(self.irq, self.mask, self.targets, self.node)
        self.target = self.targets[0]
        self.several = len(self.targets) > 1


def _existing(mask: int, cpus: int) -> int:
    return mask & ((1 << cpus) - 1)


def _first_cpu(mask: int, cpus: int, irq: int) -> int:
    mask = _existing(mask, cpus)
    if mask == 0:
        message = f"irq {irq}: smp_affinity names none of the machine's {cpus} CPUs"
        raise SimulationError(message)
    return (mask & -mask).bit_length() - 1
