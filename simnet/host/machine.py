"""A machine: CPUs with their softirqs, memory and scheduler, put together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from simnet.host.apic import Apic
from simnet.host.cpu import Cpu
from simnet.host.scheduler import Scheduler
from simnet.host.softirq.ksoftirqd import Ksoftirqd
from simnet.host.softirq.softirq import SoftirqNetRx
from simnet.host.softirq.version import SoftirqRules

if TYPE_CHECKING:
    from simnet.host.costs import Costs
    from simnet.host.memory import Memory
    from simnet.kernel.simulator import Simulator

__all__ = ["Layout", "Machine"]


@dataclass(frozen=True)
class Layout:
    """How many of what, and the constants of the kernel that runs on it.

    CPUs are numbered node by node, socket by socket, core by core; the threads of a core are
    neighbours.
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

    @property
    def cpus_per_socket(self) -> int:
        """Logical CPUs of a socket."""
        return self.cores_per_socket * self.threads_per_core


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
        self.cpus: list[Cpu] = []
        sockets_per_bus = layout.sockets_per_node // layout.buses_per_node or 1
        for number in range(layout.nodes * layout.sockets_per_node * layout.cpus_per_socket):
            socket = number // layout.cpus_per_socket
            self.cpus.append(
                Cpu(
                    sim,
                    f"{path}.cpu{number}",
                    number,
                    socket // layout.sockets_per_node,
                    socket,
                    socket // sockets_per_bus,
                    layout.smt_slowdown_permille,
                    layout.tick_ps,
                )
            )
        if layout.threads_per_core == 2:  # noqa: PLR2004 - siblings come in pairs
            for cpu in self.cpus:
                cpu.sibling = self.cpus[cpu.cpu_id ^ 1]
        self.apic = Apic(self.cpus)
        self.scheduler = Scheduler(
            sim,
            f"{path}.scheduler",
            self.cpus,
            costs,
            layout.tick_ps,
            layout.timeslice_ps,
            idle_balance=layout.idle_balance,
        )
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
