"""Disks with round numbers, and somebody who sends commands."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from simnet.kernel.component import Component
from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.storage.block.queue import RequestQueue
from simnet.storage.block.request import Bio, IoContext
from simnet.storage.disk.command import Command, Target
from simnet.storage.disk.disk import Disk
from simnet.storage.disk.model import DiskModel

US = 10**6
MS = 10**9
SECTOR = 512

# 10 ms a revolution of 10 sectors: a sector passes in 1 ms. Seeks take no time unless named.
ROUND = DiskModel(
    medium="magnetic",
    capacity_bytes=200 * 10 * SECTOR,
    bus_rate_bps=8 * 10**15,
    command_overhead_ps=0,
    queue_depth=1000,
    rpm=6000,
    heads=1,
    outer_rate_bps=10 * SECTOR * 8 * 100,
    inner_rate_bps=10 * SECTOR * 8 * 100,
)


def round_disk(sim: Simulator, **changes: Any) -> Disk:
    """200 cylinders of 10 sectors a track, unless changed."""
    model = replace(ROUND, **changes)
    skew_ps = (model.heads - 1) * (model.head_switch_ps + model.write_settle_ps)
    skew_ps += model.seek_track_ps + model.write_settle_ps
    rate = -(-10 * SECTOR * 8 * 10**12 // (10 * MS + skew_ps // model.heads))
    model = replace(model, outer_rate_bps=rate, inner_rate_bps=rate)
    return Disk(sim, "disk", model)


class Driver(Component):
    """Sends commands at times; logs (time in us, tag) of each completion."""

    def __init__(self, sim: Simulator, target: Target, path: str = "driver") -> None:
        super().__init__(sim, path)
        self.target = target
        self.todo: list[Command] = []
        self.log: list[tuple[int, Any]] = []
        self.refused: list[Any] = []

    def send(
        self, sector: int, sectors: int = 1, *, at: int = 0, write: bool = False, tag: Any = None
    ) -> None:
        tag = sector if tag is None else tag
        self.todo.append(Command(sector, sectors, write=write, owner=self, tag=tag))
        self.sim.at(at, self, 0, len(self.todo) - 1, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        if not self.target.submit(self.todo[arg]):
            self.refused.append(self.todo[arg].tag)

    def command_done(self, command: Command) -> None:
        self.log.append((self.sim.now // US, command.tag))

    def run(self, until_ps: int = 10**14) -> None:
        """Simulate until all is done, or up to a time."""
        self.sim.run_until(until_ps)

    @property
    def order(self) -> list[Any]:
        return [tag for _, tag in self.log]


class Device(Component):
    """Serves commands one after the other, each in a time that may depend on it.

    Attributes:
        order: first sectors of the commands, as they came.
        room: commands that it takes; more are refused.
    """

    def __init__(
        self,
        sim: Simulator,
        service_ps: Callable[[], int] | int = MS,
        path: str = "device",
        *,
        sectors: int = 10**9,
        room: int = 10**6,
    ) -> None:
        super().__init__(sim, path)
        self.service_ps = service_ps
        self.sectors = sectors
        self.room = room
        self.waiting: list[Command] = []
        self.order: list[int] = []
        self.sizes: list[int] = []
        self.taken_ms: list[int] = []
        self.busy_ps = 0

    def submit(self, command: Command) -> bool:
        if len(self.waiting) >= self.room:
            return False
        self.order.append(command.sector)
        self.sizes.append(command.sectors)
        self.taken_ms.append(self.sim.now // MS)
        self.waiting.append(command)
        if len(self.waiting) == 1:
            self.serve()
        return True

    def serve(self) -> None:
        time_ps = self.service_ps if isinstance(self.service_ps, int) else self.service_ps()
        self.busy_ps += time_ps
        self.sim.after(time_ps, self, 0, 0, WIRE)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        command = self.waiting.pop(0)
        if self.waiting:
            self.serve()
        command.owner.command_done(command)


class Submitter(Component):
    """Submits bios to a queue at times; logs when they are complete."""

    def __init__(self, sim: Simulator, queue: RequestQueue, path: str = "submitter") -> None:
        super().__init__(sim, path)
        self.queue = queue
        self.todo: list[Bio] = []
        self.log: list[tuple[int, Any]] = []
        self.slept: list[Any] = []
        self.resumed: list[Any] = []
        self.contexts: dict[str, IoContext] = {}

    def context(self, name: str) -> IoContext:
        return self.contexts.setdefault(name, IoContext(name))

    def submit(
        self,
        sector: int,
        sectors: int = 8,
        *,
        at: int = 0,
        write: bool = False,
        sync: bool = False,
        process: str = "a",
        tag: Any = None,
    ) -> None:
        bio = Bio(
            sector,
            sectors,
            write=write,
            context=self.context(process),
            done=self.done,
            sync=sync,
            tag=sector if tag is None else tag,
        )
        self.todo.append(bio)
        self.sim.at(at, self, 0, len(self.todo) - 1, 0)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        bio = self.todo[arg]
        if not self.queue.submit(bio, lambda bio: self.resumed.append(bio.tag)):
            self.slept.append(bio.tag)

    def done(self, bio: Bio) -> None:
        self.log.append((self.sim.now // US, bio.tag))

    @property
    def finished(self) -> list[Any]:
        return [tag for _, tag in self.log]


class Reader(Component):
    """A process that reads one piece after the other, and thinks in between."""

    def __init__(
        self,
        sim: Simulator,
        queue: RequestQueue,
        name: str,
        sectors: Iterable[int],
        *,
        think_ps: int = 0,
        at: int = 0,
    ) -> None:
        super().__init__(sim, name)
        self.queue = queue
        self.sectors = iter(sectors)
        self.think_ps = think_ps
        self.context = IoContext(name)
        self.log: list[tuple[int, int]] = []
        sim.at(at, self, 0, 0, 2)

    def on_event(self, kind: int, arg: int) -> None:  # noqa: ARG002 - as every component
        sector = next(self.sectors, None)
        if sector is None:
            return
        bio = Bio(sector, 8, write=False, context=self.context, done=self.done, sync=True)
        self.queue.submit(bio)

    def done(self, bio: Bio) -> None:
        self.log.append((self.sim.now // US, bio.sector))
        self.sim.after(self.think_ps, self, 0, 0, 2)


class Bench:
    """A queue before a device, and somebody who submits."""

    def __init__(self, service_ps: Callable[[], int] | int = MS, **options: Any) -> None:
        self.sim = Simulator()
        self.device = Device(self.sim, service_ps, room=options.pop("room", 10**6))
        self.queue = RequestQueue(self.sim, "sda", self.device, **options)
        self.user = Submitter(self.sim, self.queue)
        self.submit = self.user.submit

    def reader(self, name: str, sectors: Iterable[int], **options: int) -> Reader:
        """Add a process that reads piece after piece."""
        return Reader(self.sim, self.queue, name, sectors, **options)

    def run(self, until_ps: int = 10**14) -> list[int]:
        """Run; return the first sectors of the commands, as the device got them."""
        self.sim.run_until(until_ps)
        return self.device.order
