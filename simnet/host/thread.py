"""A process of a machine whose program is a SimPy process.

The program says what it does in its own order: so much work on a CPU, then wait for this. Where it
runs is the scheduler's affair; work waits for a CPU, costs a context switch after sleep, and is
suspended by interrupts like any other's::

    def program(thread, disk):
        yield thread.work(system_ps=2_000_000)
        yield thread.sleep_io(disk.read())
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.host.accounting import PROCESS_LEVEL, SYSTEM
from simnet.host.scheduler import Task

if TYPE_CHECKING:
    from simnet.host.cpu import Cpu
    from simnet.host.iowait import IowaitClock
    from simnet.host.machine import Machine
    from simnet.kernel.environment import Environment, Event


class Thread(Task):
    """A process that asks for CPU time by SimPy events.

    Args:
        env: the simulation's environment.
        machine: on which it runs.
        path: component path.
        cpu: where it starts.
        iowait: of the machine.

    Attributes:
        waker: the CPU that runs what ends its sleep; itself decides unless it is set.
    """

    def __init__(
        self, env: Environment, machine: Machine, path: str, cpu: Cpu, iowait: IowaitClock
    ) -> None:
        super().__init__(machine.scheduler, path, cpu)
        self.env = env
        self.iowait = iowait
        self.waker: Cpu | None = None
        self._event: Any = None
        self._system_ps = self._user_ps = 0
        self._begun = False
        self._slept_on: Cpu | None = None

    def work(self, system_ps: int = 0, user_ps: int = 0) -> Event:
        """Return an event for when a CPU has done this for it; whole nanoseconds, above 0 in all.

        A process that sleeps is woken first, by code on `waker`.
        """
        self._awake()
        self._event = event = self.env.event()
        self._system_ps, self._user_ps, self._begun = system_ps, user_ps, False
        if self.sleeping:
            waker, self.waker = self.waker or self.cpu, None
            self.wake_on(waker)
            self.cpu.kick()
        else:
            self._begin(self.cpu)
        return event

    def sleep_io(self, event: Any) -> Any:
        """Leave the CPU until the event, in `io_schedule`; return the event."""
        self._awake()
        if not event.triggered:
            self._slept_on = self.cpu
            self.iowait.sleeps(self.cpu)
            self._leave()
        return event

    def rest(self, event: Any) -> Any:
        """Leave the CPU until the event, for something that is no I/O; return the event."""
        self._awake()
        self._leave()
        return event

    def step(self, cpu: Cpu) -> None:
        """Work that was asked for begins, or has been done."""
        if not self._begun:
            self._begin(cpu)
            return
        event, self._event = self._event, None
        event.succeed()

    def _begin(self, cpu: Cpu) -> None:
        self._begun = True
        if self._user_ps:
            cpu.run_to_user(self, self._system_ps, self._user_ps)
        else:
            cpu.run(PROCESS_LEVEL, self, self._system_ps, SYSTEM)

    def _leave(self) -> None:
        if not self.sleeping:
            self.sleep()
            self.cpu.kick()

    def _awake(self) -> None:
        """What it slept for is there, whether it has anything to do on a CPU then or not."""
        if self._slept_on is not None:
            self.iowait.wakes(self._slept_on)
            self._slept_on = None
