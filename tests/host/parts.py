"""Parts of a host whose costs are round numbers of nanoseconds."""

from collections.abc import Callable
from functools import partial
from typing import Any

from simnet.host.accounting import PROCESS_LEVEL, USER
from simnet.host.costs import COST_NAMES, Costs, Memory, distances
from simnet.host.cpu import Context, Cpu
from simnet.host.machine import Layout, Machine
from simnet.host.scheduler import Task
from simnet.host.softirq.version import SoftirqRules
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator

NS = 1000
US = 10**6
MS = 10**9
LINE_BYTES = 128


def make_costs(copy_overlap: int = 1, **cost_ns: int) -> Costs:
    """Costs in ns, zero unless named; `stores_overlap`, unless that is 0."""
    stores_overlap = bool(cost_ns.pop("stores_overlap", 0))
    cycles = dict.fromkeys(COST_NAMES, 0) | cost_ns
    return Costs(cycles, 10**9, LINE_BYTES, copy_overlap, stores_overlap=stores_overlap)


def make_memory(nodes: int = 1, links: list[tuple[int, int]] | None = None, **ps: int) -> Memory:
    """Memory that costs nothing, unless named; nodes in a row. Costs include a local line."""
    if links is None:
        links = [(n, n + 1) for n in range(nodes - 1)]
    free: dict[str, Any] = dict.fromkeys(
        (
            "local_ps",
            "same_bus_dirty_ps",
            "same_node_dirty_ps",
            "remote_ps",
            "remote_dirty_ps",
            "hop_ps",
            "mmio_write_ps",
            "mmio_hop_ps",
        ),
        0,
    )
    return Memory(
        distances(nodes, links),
        interconnect=None,
        **(free | {"included_ps": ps.get("local_ps", 0)} | ps),
    )


def make_machine(
    sim: Simulator,
    path: str = "host",
    costs: Costs | None = None,
    memory: Memory | None = None,
    rules: SoftirqRules | None = None,
    **layout: Any,
) -> Machine:
    """A small machine: one CPU unless `layout` says more."""
    usual: dict[str, Any] = {
        "nodes": 1,
        "sockets_per_node": 1,
        "buses_per_node": 1,
        "cores_per_socket": 1,
        "threads_per_core": 1,
        "smt_slowdown_permille": 2000,
        "tick_ps": 4 * MS,
        "timeslice_ps": 100 * MS,
        "netdev_budget": 300,
        "max_softirq_restart": 10,
        "net_rx_time_limit_jiffies": 1,
    }
    plan = Layout(**(usual | layout), softirq_rules=rules or SoftirqRules())
    return Machine(sim, path, plan, costs or make_costs(), memory or make_memory(plan.nodes))


class Agenda(Component):
    """Does things at given times, before anything else that happens then."""

    def __init__(self, sim: Simulator, path: str = "agenda") -> None:
        super().__init__(sim, path)
        self.things: list[Callable[[], object]] = []

    def at(self, time_ps: int, thing: Callable[..., object], *arguments: object) -> None:
        """Call `thing(*arguments)` at `time_ps`."""
        self.things.append(partial(thing, *arguments))
        self.sim.at(time_ps, self, 0, len(self.things) - 1, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - the interface of components
        self.things[arg]()


class Job(Context):
    """Pieces of work, one after the other, at one level; logs when each is done."""

    def __init__(
        self, sim: Simulator, path: str, level: int, mode: int, pieces: list[int] | None = None
    ) -> None:
        super().__init__(sim, path)
        self.level = level
        self.mode = mode
        self.pieces = list(pieces or [])
        self.done_ps: list[int] = []

    def start(self, cpu: Cpu, *pieces: int) -> None:
        """Ask for the first piece."""
        self.pieces += pieces
        cpu.run(self.level, self, self.pieces.pop(0), self.mode)

    def step(self, cpu: Cpu) -> None:
        self.done_ps.append(self.sim.now)
        if self.pieces:
            cpu.run(self.level, self, self.pieces.pop(0), self.mode)


class Handler(Context):
    """An interrupt handler: logs when it ends, then does `then(cpu)`."""

    def __init__(
        self, sim: Simulator, path: str, then: Callable[[Cpu], object] | None = None
    ) -> None:
        super().__init__(sim, path)
        self.then = then
        self.done_ps: list[int] = []

    def step(self, cpu: Cpu) -> None:
        self.done_ps.append(self.sim.now)
        if self.then is not None:
            self.then(cpu)


class Busy(Task):
    """Computes until it is told to stop."""

    stop = False

    def step(self, cpu: Cpu) -> None:
        if self.stop:
            self.sleep()
        elif not self.yield_if_needed(cpu):
            cpu.run(PROCESS_LEVEL, self, 100 * US, USER)


class Once(Task):
    """Computes for 1 ms whenever it is woken; logs on which CPU it was when it started."""

    def __init__(self, *arguments: object, **options: object) -> None:
        super().__init__(*arguments, **options)  # type: ignore[arg-type]
        self.log: list[tuple[int, int]] = []
        self.running = False

    def step(self, cpu: Cpu) -> None:
        if self.running:
            self.running = False
            self.sleep()
        else:
            self.running = True
            self.log.append((self.sim.now, cpu.cpu_id))
            cpu.run(PROCESS_LEVEL, self, MS, USER)
