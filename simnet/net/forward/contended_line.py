"""A cache line that several CPUs change: a counter, or a lock and what it guards.

One CPU has the line at a time. Another waits until it has come over, and those that ask meanwhile
wait behind it, so that all CPUs together change it no more often than it can travel.
"""

import cython

from simnet.host.costs import Memory
from simnet.host.cpu import Cpu


@cython.final
@cython.cclass
class ContendedLine:
    """One line."""

    memory: Memory = None
    owner: Cpu = None
    free_ps: cython.longlong = 0
    moves: cython.longlong = 0  # how often it went to another CPU
    waited_ps: cython.longlong = 0  # by all CPUs, for others

    def __init__(self, memory: Memory) -> None:
        self.memory = memory

    def change(self, cpu: Cpu, now: cython.longlong, held_ps: cython.longlong) -> cython.longlong:
        """Change it on `cpu`; return what the CPU waits for it.

        `held_ps`: how long it lets nobody else have it, beyond the change.
        """
        wait_ps: cython.longlong = 0
        move_ps: cython.longlong = 0
        if self.owner is not None and self.owner is not cpu:
            if self.free_ps > now:
                wait_ps = self.free_ps - now
            move_ps = self.memory.dirty_lines_ps(cpu, self.owner, 1)
            self.moves += 1
            self.waited_ps += wait_ps
        self.owner = cpu
        self.free_ps = now + wait_ps + move_ps + held_ps
        return wait_ps + move_ps
