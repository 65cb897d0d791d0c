"""IO-APIC delivery in physical, fixed mode: one interrupt goes to the first CPU of its mask.

Source: arch/x86_64/kernel/genapic.c and io_apic.c of Linux 2.6.18: more than eight CPUs, or
more than one APIC cluster, select physical delivery, and `cpu_mask_to_apicid` takes the first
CPU of the mask. A write to `/proc/irq/N/smp_affinity` is kept as pending and programmed when
the interrupt next fires; that interrupt itself is still served by the CPU it went to.
"""

from __future__ import annotations

from typing import Any

import cython

from simnet.errors import SimulationError
from simnet.host.cpu import Cpu

__all__ = ["IrqLine"]


@cython.cclass
class IrqLine:
    """One interrupt line.

    Args:
        irq: Linux's number.
        name: device name.
        cpus: the machine's CPUs by number.
        mask: smp_affinity as a bit mask.
    """

    irq: cython.int
    name: str
    cpus: list[Cpu]
    target: Cpu
    pending_mask: Any
    counts: list[int]
    total: cython.longlong

    def __init__(self, irq: int, name: str, cpus: list[Cpu], mask: int) -> None:
        self.irq = irq
        self.name = name
        self.cpus = cpus
        self.target = cpus[_first_cpu(mask, len(cpus), irq)]
        self.pending_mask = None
        self.counts = [0] * len(cpus)
        self.total = 0

    @property
    def smp_affinity(self) -> int:
        """The mask as `/proc/irq/N/smp_affinity` shows it."""
        if self.pending_mask is not None:
            return int(self.pending_mask)
        return 1 << self.target.cpu_id

    @smp_affinity.setter
    def smp_affinity(self, mask: int) -> None:
        _first_cpu(mask, len(self.cpus), self.irq)
        self.pending_mask = mask

    @cython.ccall
    def current_target(self) -> Cpu:
        """The CPU that the next interrupt goes to."""
        return self.target

    @cython.ccall
    def route(self) -> Cpu:
        """Count an interrupt and return the CPU that serves it."""
        cpu: Cpu = self.target
        self.counts[cpu.cpu_id] += 1
        self.total += 1
        if self.pending_mask is not None:
            self.target = self.cpus[_first_cpu(self.pending_mask, len(self.cpus), self.irq)]
            self.pending_mask = None
        return cpu


def _first_cpu(mask: int, cpus: int, irq: int) -> int:
    mask &= (1 << cpus) - 1
    if mask == 0:
        message = f"irq {irq}: smp_affinity names none of the machine's {cpus} CPUs"
        raise SimulationError(message)
    return (mask & -mask).bit_length() - 1
