"""Work of a kernel that a device or another process asks for: interrupts, kernel threads.

Both execute what they were given in order, each after its time on a CPU. Sources:
kernel/workqueue.c and arch/ppc64/kernel/irq.c of Linux 2.6.16.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.cpu import Context
from simnet.host.interrupt import IrqLine
from simnet.host.scheduler import Task

if TYPE_CHECKING:
    from collections.abc import Callable

    from simnet.host.cpu import Cpu
    from simnet.host.machine import Machine


class _Handler(Context):
    """Handlers of a device's interrupt on one CPU, in order."""

    def __init__(self, device: DeviceInterrupt, path: str) -> None:
        super().__init__(device.sim, path)
        self.device = device
        self.then: deque[Callable[[], None]] = deque()

    def step(self, cpu: Cpu) -> None:
        """One is through."""
        self.device.cpu = cpu
        self.then.popleft()()


class DeviceInterrupt:
    """The interrupt of a device, with the work that its handler does for each piece of news.

    Args:
        machine: that is interrupted.
        path: component path.
        irq: its number; it goes to any CPU that the machine's interrupt hardware chooses.
    """

    def __init__(self, machine: Machine, path: str, irq: int) -> None:
        self.sim = machine.sim
        cpus = machine.cpus
        # its interrupt line, which counts interrupts
        self.line = IrqLine(irq, path, cpus, (1 << len(cpus)) - 1, machine.apic)
        self.ledger = machine.costs.ledger
        self.cpu: Cpu = cpus[0]  # which served it last
        self._handlers = [_Handler(self, f"{path}.{cpu.path}") for cpu in cpus]

    def interrupt(self, work_ps: int, then: Callable[[], None]) -> None:
        """Interrupt a CPU; call `then` when the handler has worked so long."""
        self._run(self.line.route(), work_ps, then)

    def follow(self, work_ps: int, then: Callable[[], None]) -> None:
        """Call `then` after work in the context of a handler, which nothing interrupts."""
        self._run(self.cpu, work_ps, then)

    def _run(self, cpu: Cpu, work_ps: int, then: Callable[[], None]) -> None:
        handler = self._handlers[cpu.cpu_id]
        handler.then.append(then)
        self.ledger.storage += work_ps
        cpu.raise_irq(handler, work_ps)


class WorkQueue(Task):
    """A kernel thread that does one piece of work after the other, such as kblockd.

    Args:
        machine: on which it runs.
        path: component path.
        cpu: where it starts.
    """

    def __init__(self, machine: Machine, path: str, cpu: Cpu) -> None:
        super().__init__(machine.scheduler, path, cpu)
        self.ledger = machine.costs.ledger
        self._waiting: deque[tuple[int, Callable[[], None]]] = deque()
        self._then: Callable[[], None] | None = None

    def schedule(self, waker: Cpu, work_ps: int, then: Callable[[], None]) -> None:
        """Have `then` called after work of this length, asked for by code on `waker`."""
        self._waiting.append((work_ps, then))
        if self.sleeping:
            self.wake_on(waker)
            self.cpu.kick()

    def step(self, cpu: Cpu) -> None:
        """A piece of work is done, or the first begins."""
        then, self._then = self._then, None
        if then is not None:
            then()
        if not self._waiting:
            self.sleep()
            return
        work_ps, self._then = self._waiting.popleft()
        self.ledger.storage += work_ps
        cpu.run(PROCESS_LEVEL, self, work_ps, SYSTEM)
