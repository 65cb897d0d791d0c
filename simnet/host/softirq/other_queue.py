"""A receive queue of another device of the machine: packets come by chance, and are polled.

A host's other devices, such as the port of its management network, have NAPI instances of their
own. What they receive is not simulated beyond this: an interrupt, or the instance's timer where
interrupts are deferred, and polls that take what is there.
"""

from __future__ import annotations

import cython

from simnet.host.accounting import SOFT_LEVEL
from simnet.host.costs import Costs
from simnet.host.cpu import Cpu
from simnet.host.softirq.napi_instance import NapiInstance
from simnet.host.softirq.softirq import Napi, SoftirqNetRx
from simnet.host.softirq.verdict import POLL_CONTINUES, POLL_DONE, POLL_MORE
from simnet.kernel.priority import NIC
from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator

_WEIGHT = 64


@cython.final
@cython.cclass
class OtherQueue(Napi):
    """One queue, whose interrupt goes to one CPU.

    Args:
        sim: the simulation.
        path: component path.
        cpu: that its interrupt goes to.
        costs: of the machine's CPUs.
        gap_ps: mean time from a packet to the next; they are independent.
        stream: random numbers.
    """

    instance: NapiInstance = None  # its NAPI instance
    cpu: Cpu = None
    costs: Costs = None
    gap_ps: cython.longlong = 0
    stream: RandomStream = None
    waiting: cython.int = 0  # packets that no poll has taken
    taken: cython.int = 0
    limit: cython.int = 0
    armed: cython.bint = False

    def __init__(
        self,
        sim: Simulator,
        path: str,
        cpu: Cpu,
        costs: Costs,
        gap_ps: int,
        stream: RandomStream,
    ) -> None:
        super().__init__(sim, path, _WEIGHT)
        self.instance = NapiInstance(self, costs)
        self.cpu = cpu
        self.costs = costs
        self.gap_ps = gap_ps
        self.stream = stream
        self.armed = True
        self._await()

    def _await(self) -> cython.int:
        self.sim.after(self.stream.exponential_ps(self.gap_ps), self, 0, 0, NIC)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A packet has come."""
        self.waiting += 1
        if self.armed:
            self._interrupt()
        self._await()

    def _interrupt(self) -> cython.int:
        self.armed = False
        self.instance.interrupts += 1
        self.costs.ledger.hardirq += self.costs.hardirq_ps
        self.cpu.raise_irq(self, self.costs.hardirq_ps)
        return 0

    def step(self, cpu: Cpu) -> None:
        """The handler."""
        self.instance.schedule(cpu)

    def poll_begin(
        self, cpu: Cpu, softirq: SoftirqNetRx, budget: cython.int, work_ps: cython.longlong
    ) -> cython.int:
        """Take what is there."""
        self.limit = budget
        self.taken = min(self.waiting, budget)
        self.waiting -= self.taken
        work_ps += self.costs.poll_ps + self.taken * self.costs.driver_rx_ps
        self.costs.ledger.softirq += work_ps
        cpu.run(SOFT_LEVEL, softirq, work_ps, softirq.mode)
        return POLL_CONTINUES

    def poll_step(self, cpu: Cpu, softirq: SoftirqNetRx) -> cython.int:
        """The poll is over: `napi_complete_done`, unless its whole weight was used up."""
        softirq.charge(self.taken)
        self.instance.polled(self.taken, self.limit)
        if self.taken >= self.limit:
            return POLL_MORE
        self.instance.completing(self.taken, False)
        if self.instance.completed(cpu, softirq):
            self.armed = True
            if self.waiting > 0:
                self._interrupt()
        return POLL_DONE
