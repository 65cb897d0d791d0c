"""Socket buffers that change hands: what their cache lines and the slab cost.

A buffer is written by the CPU that allocates it and by those that pass it on, freed by its last
user, and used again: its lines travel to each of them. Source: mm/slab.c of Linux 2.6.18: what is
freed goes to the front of an array and is the next to be allocated; `cache_free_alien` gives back
what came from another node, and writes that node's array and slab descriptors.
"""

from __future__ import annotations

import cython

from simnet.host.cpu import Cpu
from simnet.host.ledger import Ledger
from simnet.host.memory import Memory


@cython.final
@cython.cclass
class Buffers:
    """The buffers of one machine.

    Args:
        memory: the machine's memory.
        ledger: where the work is booked.
        skb_lines: cache lines of one `sk_buff` and its headers.
        slab_lines: of the slab, when a buffer is freed on another node than it came from.
    """

    memory: Memory = None
    ledger: Ledger = None
    skb_lines: cython.int = 0
    slab_lines: cython.int = 0

    def __init__(self, memory: Memory, ledger: Ledger, skb_lines: int, slab_lines: int) -> None:
        self.memory = memory
        self.ledger = ledger
        self.skb_lines = skb_lines
        self.slab_lines = slab_lines

    def allocated_ps(self, cpu: Cpu, freer: Cpu) -> cython.longlong:
        """Use a buffer on `cpu` that `freer` has freed; None: it was never used."""
        work: cython.longlong
        if freer is None or freer is cpu:
            return 0
        work = self.memory.dirty_lines_ps(cpu, freer, self.skb_lines)
        self.ledger.skb_lines += work
        return work

    def freed_ps(self, cpu: Cpu, toucher: Cpu) -> cython.longlong:
        """Read and free a buffer on `cpu` that `toucher` has allocated and written."""
        lines: cython.longlong = self.skb_lines
        work: cython.longlong
        if toucher is None or toucher is cpu:
            return 0
        if toucher.node != cpu.node:
            lines += self.slab_lines
        work = self.memory.dirty_lines_ps(cpu, toucher, lines)
        self.ledger.skb_lines += work
        return work
