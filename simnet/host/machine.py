"""A machine: CPUs with their softirqs, memory and scheduler, put together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simnet.host.apic import Apic
from simnet.host.cpu import Cpu
from simnet.host.fair.fair_scheduler import FairScheduler
from simnet.host.fair.rules import fair_rules
from simnet.host.scheduler import Scheduler
from simnet.host.softirq.ksoftirqd import Ksoftirqd
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.version import SoftirqRules

if TYPE_CHECKING:
    from simnet.host.costs import Costs, Memory
    from simnet.host.dma.iommu import DmaDomain
    from simnet.kernel.simulator import Simulator


@dataclass(frozen=True)
class Place:
    """Where a logical CPU is."""

    node: int = 0  # number of its node
    socket: int = 0  # number of its socket in the machine
    core: int = -1  # number of its core in the machine; -1 if the CPU is off line


@dataclass(frozen=True)
class Layout:
    """How many of what, and the constants of the kernel that runs on it.

    CPUs are numbered node by node, socket by socket, core by core, and the threads of a core are
    neighbours, unless `places` says where each one is. `fair` is the version of Linux whose fair
    scheduler it has; empty for the O(1) scheduler.
    """

    nodes: int
    sockets_per_node: int
    buses_per_node: int
    cores_per_socket: int
    threads_per_core: int
    smt_slowdown_permille: int
    tick_ps: int
    timeslice_ps: int
    netdev_budget: int
    max_softirq_restart: int
    net_rx_time_limit_jiffies: int
    idle_balance: bool = False
    softirq_rules: SoftirqRules = field(default_factory=SoftirqRules)
    fair: str = ""
    places: tuple[Place, ...] = ()

    @property
    def cpus_per_socket(self) -> int:
        """Logical CPUs of a socket."""
        return self.cores_per_socket * self.threads_per_core

    def every_place(self) -> tuple[Place, ...]:
        """Return where each CPU is, by number."""
        return self.places or tuple(
            Place(socket // self.sockets_per_node, socket, number // self.threads_per_core)
            for number in range(self.nodes * self.sockets_per_node * self.cpus_per_socket)
            for socket in (number // self.cpus_per_socket,)
        )


class Machine:
    """One host.

    Its interrupts go to the first CPU of their masks, unless `apic` is replaced by another.

    Args:
        sim: the simulation.
        path: component path of the host.
        layout: sizes and constants.
        costs: of its CPUs.
        memory: its latencies.
    """

    def __init__(
        self, sim: Simulator, path: str, layout: Layout, costs: Costs, memory: Memory
    ) -> None:
        self.sim = sim
        self.path = path
        self.layout = layout
        self.costs = costs
        self.memory = memory
        self.cpus: list[Cpu] = []  # by number; those off line, too
        cores: dict[int, list[Cpu]] = {}
        for number, place in enumerate(layout.every_place()):
            cpu = Cpu(
                sim,
                f"{path}.cpu{number}",
                number,
                place.node,
                place.socket,
                self._bus(place, layout),
                layout.smt_slowdown_permille,
                layout.tick_ps,
            )
            cpu.core = place.core
            cpu.online = place.core >= 0
            self.cpus.append(cpu)
            if cpu.online:
                cores.setdefault(place.core, []).append(cpu)
        self.online = [cpu for cpu in self.cpus if cpu.online]  # those that run
        for threads in cores.values():
            if len(threads) == 2:  # noqa: PLR2004 - siblings come in pairs
                threads[0].sibling, threads[1].sibling = threads[1], threads[0]
        self.apic = Apic(self.cpus)
        # where buffers are mapped for devices, by their names; none without an IOMMU
        self.domains: dict[str, DmaDomain] = {}
        self.scheduler = self._scheduler(layout)
        for cpu in self.cpus:
            SoftirqNetRx(
                sim,
                f"{cpu.path}.softirq",
                cpu,
                costs.softirq_entry_ps,
                layout.netdev_budget,
                layout.max_softirq_restart,
                layout.net_rx_time_limit_jiffies,
                layout.tick_ps,
                layout.softirq_rules,
                costs.ipi_ps,
                costs.ledger,
            )
            Ksoftirqd(self.scheduler, cpu)

    def _scheduler(self, layout: Layout) -> Scheduler:
        path = f"{self.path}.scheduler"
        if layout.fair:
            rules = fair_rules(layout.fair)
            return FairScheduler(self.sim, path, self.cpus, self.costs, layout.tick_ps, rules)
        return Scheduler(
            self.sim,
            path,
            self.cpus,
            self.costs,
            layout.tick_ps,
            layout.timeslice_ps,
            idle_balance=layout.idle_balance,
        )

    def _bus(self, place: Place, layout: Layout) -> int:
        """Number of a CPU's front-side bus in the machine."""
        if layout.places:
            # a node's controller is behind one bus
            return place.node
        return place.socket // (layout.sockets_per_node // layout.buses_per_node or 1)
