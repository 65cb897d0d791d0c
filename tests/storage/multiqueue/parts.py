"""A host whose CPUs submit to a drive of several queues, with round numbers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from simnet.host.cpu import Context, Cpu
from simnet.host.interrupt import IrqLine
from simnet.host.scheduler import Task
from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.storage.block.request import Bio, IoContext
from simnet.storage.disk.command import Command
from simnet.storage.disk.drive import Drive
from simnet.storage.disk.model import DiskModel
from simnet.storage.multiqueue.affinity import spread
from simnet.storage.multiqueue.costs import MqCosts
from simnet.storage.multiqueue.queue import MultiQueue
from simnet.storage.multiqueue.schedulers import SCHEDULERS
from tests.host.parts import make_costs, make_machine, make_memory

US = 10**6
MS = 10**9
CPUS = 4
MODEL = DiskModel(
    medium="flash",
    capacity_bytes=2**40,
    bus_rate_bps=10**12,
    command_overhead_ps=0,
    queue_depth=10**6,
    flash_channels=1,
    flash_page_bytes=4096,
    flash_read_ps=1,
    flash_program_ps=1,
)


class Slots(Drive):
    """Serves as many commands at a time as it has slots, each in the same time; logs the order."""

    def __init__(self, sim: Simulator, slots: int, service_ps: int, path: str = "drive") -> None:
        super().__init__(sim, path, MODEL)
        self.slots = slots
        self.service_ps = service_ps
        self.waiting: list[Command] = []
        self.serving: list[Command] = []
        self.busy = 0
        self.order: list[int] = []
        self.kinds: list[str] = []
        self.sizes: list[int] = []
        self.most = 0

    def submit(self, command: Command) -> bool:
        self.order.append(command.sector)
        self.kinds.append("w" if command.write else "r")
        self.sizes.append(command.sectors)
        self.waiting.append(command)
        self.most = max(self.most, self.busy + len(self.waiting))
        self.serve()
        return True

    def serve(self) -> None:
        while self.waiting and self.busy < self.slots:
            self.busy += 1
            self.serving.append(self.waiting.pop(0))
            self.sim.after(self.service_ps, self, 0, 0, WIRE)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        self.busy -= 1
        command = self.serving.pop(0)
        command.owner.command_done(command)
        self.serve()


class Worker(Task):
    """Submits lists of bios at times, on one CPU; goes on with the rest when it was woken."""

    def __init__(self, host: MqHost, number: int) -> None:
        cpu = host.machine.cpus[number]
        super().__init__(host.machine.scheduler, f"worker{number}", cpu, 0, frozenset({cpu.cpu_id}))
        self.host = host
        self.home = cpu
        self.slept = 0
        self.blocked = False
        self.bios: list[Bio] = []
        self.position = 0

    def step(self, cpu: Cpu) -> None:
        queue = self.host.queue
        self.position = queue.submit(
            self.bios, self.position, len(self.bios), cpu, self, polled=False
        )
        self.blocked = self.position < len(self.bios)
        self.slept += self.blocked
        self.sleep()


class _Call(Context):
    """Has a worker submit at a time."""

    def __init__(self, worker: Worker, bios: list[Bio], at: int) -> None:
        super().__init__(worker.sim, f"{worker.path}.{at}.{bios[0].sector}")
        self.worker = worker
        self.bios = bios
        worker.sim.at(at, self, 0, 0, 1)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        self.worker.bios = self.worker.bios[self.worker.position :] + self.bios
        self.worker.position = 0
        if not self.worker.blocked:
            self.worker.wake_on(self.worker.home)
            self.worker.home.kick()


class MqHost:
    """Four CPUs, two of which share a cache, before a drive."""

    def __init__(
        self,
        scheduler: str = "none",
        *,
        slots: int = 1,
        service_ps: int = MS,
        queues: int = CPUS,
        costs: MqCosts | None = None,
        cpu_ns: dict[str, int] | None = None,
        line_ps: int = 0,
        **options: Any,
    ) -> None:
        self.sim = Simulator()
        self.machine = make_machine(
            self.sim,
            costs=make_costs(**(cpu_ns or {})),
            memory=make_memory(same_bus_dirty_ps=line_ps),
            sockets_per_node=2,
            cores_per_socket=2,
        )
        self.drive = Slots(self.sim, slots, service_ps)
        groups = spread(self.machine.cpus, queues)
        lines: list[IrqLine | None] = [
            IrqLine(n, f"q{n}", self.machine.cpus, sum(1 << cpu.cpu_id for cpu in cpus))
            for n, cpus in enumerate(groups)
        ]
        self.queue = MultiQueue(
            self.sim,
            "nvme0n1",
            self.drive,
            machine=self.machine,
            costs=costs or MqCosts(),
            lines=lines,
            groups=groups,
            scheduler=SCHEDULERS[scheduler],
            **options,
        )
        self.workers = [Worker(self, number) for number in range(CPUS)]
        self.log: list[tuple[int, Any]] = []
        self.contexts: dict[str, IoContext] = {}

    def submit(
        self,
        *sectors: int,
        at: int = 0,
        cpu: int = 0,
        write: bool = False,
        size: int = 8,
        ioprio_class: str = "none",
        ioprio: int = 4,
    ) -> None:
        """Have bios submitted by one system call; one process a CPU and priority."""
        name = f"{cpu}.{ioprio_class}.{ioprio}"
        context = self.contexts.setdefault(
            name, IoContext(name, ioprio_class=ioprio_class, ioprio=ioprio)
        )
        bios = [
            Bio(one, size, write=write, context=context, done=self.done, sync=True)
            for one in sectors
        ]
        _Call(self.workers[cpu], bios, at)

    def done(self, bio: Bio) -> None:
        self.log.append((self.sim.now // US, bio.sector))

    def run(self, until_ps: int = 10**13) -> list[int]:
        """Run; return the first sectors of the commands, as the drive got them."""
        self.sim.run_until(until_ps)
        return self.drive.order

    @property
    def finished(self) -> Sequence[int]:
        return [sector for _, sector in self.log]
