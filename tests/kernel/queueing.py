"""A service station for any of the textbook queues, and the confidence of what it measures."""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from scipy import stats

from simnet.host.accounting import HARD_LEVEL, PROCESS_LEVEL, SOFT_LEVEL, SOFTIRQ, USER
from simnet.host.cpu import Context, Cpu
from simnet.kernel.component import Component
from simnet.kernel.priority import CPU, WIRE
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator

ARRIVAL, DEPARTURE = 0, 1
SEED = 1
MODES = {PROCESS_LEVEL: USER, SOFT_LEVEL: SOFTIRQ}


@dataclass
class Customers:
    """A class of customers: Poisson arrivals, any service. Those first in a list go first.

    `sojourn_ps` and `lost` (0 or 1) have an entry for each that left, and each that arrived.
    """

    mean_gap_ps: int
    service_ps: Callable[[], int]
    sojourn_ps: list[int] = field(default_factory=list)
    lost: list[int] = field(default_factory=list)


@dataclass
class Customer:
    """One customer, with what is left of its service."""

    kind: int
    arrived_ps: int
    left_ps: int


class Station(Component):
    """Servers before one queue for each class of customers.

    Args:
        sim: the simulation.
        path: the component's path.
        classes: of customers, the most urgent first.
        servers: how many; 1 if preemptive.
        capacity: customers in service and queue together; more are lost. None is unlimited.
        preemptive: whether urgent customers interrupt others, who resume later.
    """

    def __init__(
        self,
        sim: Simulator,
        path: str,
        classes: Sequence[Customers],
        *,
        servers: int = 1,
        capacity: int | None = None,
        preemptive: bool = False,
    ) -> None:
        super().__init__(sim, path)
        self.classes = classes
        self.capacity = capacity
        self.preemptive = preemptive
        self.queues: list[deque[Customer]] = [deque() for _ in classes]
        self.idle = list(range(servers))
        self.serving: list[Customer | None] = [None] * servers
        self.timers = [0] * servers
        self.population = 0
        self.gaps = [stream(SEED, f"{path}.{number}") for number in range(len(classes))]
        self.customer_ps = 0
        self.changed_ps = 0
        for number in range(len(classes)):
            self.await_arrival(number)

    def await_arrival(self, kind: int) -> None:
        gap_ps = self.gaps[kind].exponential_ps(self.classes[kind].mean_gap_ps)
        self.sim.after(gap_ps, self, ARRIVAL, kind, WIRE)

    def on_event(self, kind: int, arg: int) -> None:
        self.customer_ps += self.population * (self.sim.now - self.changed_ps)
        self.changed_ps = self.sim.now
        if kind == ARRIVAL:
            self.arrive(arg)
            self.await_arrival(arg)
        else:
            self.depart(arg)

    def arrive(self, kind: int) -> None:
        lost = self.population == self.capacity
        self.classes[kind].lost.append(int(lost))
        if lost:
            return
        self.population += 1
        customer = Customer(kind, self.sim.now, self.classes[kind].service_ps())
        if self.idle:
            self.serve(self.idle.pop(), customer)
            return
        served = self.serving[0]
        if self.preemptive and served is not None and kind < served.kind:
            self.interrupt(served)
            self.serve(0, customer)
        else:
            self.queues[kind].append(customer)

    def interrupt(self, customer: Customer) -> None:
        assert self.sim.cancel(self.timers[0])
        customer.left_ps -= self.sim.now - self.started_ps
        self.queues[customer.kind].appendleft(customer)

    def serve(self, server: int, customer: Customer) -> None:
        self.serving[server] = customer
        self.started_ps = self.sim.now
        self.timers[server] = self.sim.after(customer.left_ps, self, DEPARTURE, server, CPU)

    def depart(self, server: int) -> None:
        customer = self.serving[server]
        assert customer is not None
        self.population -= 1
        self.classes[customer.kind].sojourn_ps.append(self.sim.now - customer.arrived_ps)
        self.serving[server] = None
        for queue in self.queues:
            if queue:
                self.serve(server, queue.popleft())
                return
        self.idle.append(server)


class CpuQueue(Context):
    """Customers whose service is work for a CPU at one level, one at a time.

    Args:
        sim: the simulation.
        path: the component's path.
        cpu: that executes the work, among that of other levels.
        level: PROCESS_LEVEL, SOFT_LEVEL or HARD_LEVEL.
        classes: of customers, the most urgent first; they do not interrupt each other.
    """

    def __init__(
        self, sim: Simulator, path: str, cpu: Cpu, level: int, classes: Sequence[Customers]
    ) -> None:
        super().__init__(sim, path)
        self.cpu = cpu
        self.level = level
        self.classes = classes
        self.queues: list[deque[Customer]] = [deque() for _ in classes]
        self.gaps = [stream(SEED, f"{path}.{number}") for number in range(len(classes))]
        self.served: Customer | None = None
        for number in range(len(classes)):
            self.await_arrival(number)

    def await_arrival(self, kind: int) -> None:
        gap_ps = self.gaps[kind].exponential_ps(self.classes[kind].mean_gap_ps)
        self.sim.after(gap_ps, self, ARRIVAL, kind, WIRE)

    def on_event(self, _kind: int, arg: int) -> None:
        self.queues[arg].append(Customer(arg, self.sim.now, self.classes[arg].service_ps()))
        self.await_arrival(arg)
        if self.served is None:
            self.serve_next()

    def serve_next(self) -> None:
        for queue in self.queues:
            if queue:
                self.served = queue.popleft()
                # The CPU reckons in whole ns.
                work_ps = self.served.left_ps // 1000 * 1000
                if self.level == HARD_LEVEL:
                    self.cpu.raise_irq(self, work_ps)
                else:
                    self.cpu.run(self.level, self, work_ps, MODES[self.level])
                return

    def step(self, _cpu: Cpu) -> None:
        assert self.served is not None
        sojourn_ps = self.sim.now - self.served.arrived_ps
        self.classes[self.served.kind].sojourn_ps.append(sojourn_ps)
        self.served = None
        self.serve_next()


def mean_and_halfwidth(series: Sequence[float], batches: int = 40) -> tuple[float, float]:
    """Return the mean of a stationary series and half of its 99.9 % confidence interval.

    The first tenth is warm-up. Means of long batches are nearly independent and normal, so that
    Student's t gives the interval.
    """
    steady = series[len(series) // 10 :]
    length = len(steady) // batches
    means = [sum(steady[i * length : (i + 1) * length]) / length for i in range(batches)]
    mean = sum(means) / batches
    variance = sum((value - mean) ** 2 for value in means) / (batches - 1)
    quantile = float(stats.t.ppf(0.9995, batches - 1))
    return mean, quantile * math.sqrt(variance / batches)
