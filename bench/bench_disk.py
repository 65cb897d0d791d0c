"""Requests through a disk and through the block layer above it, beside a SimPy model of M/D/1."""

import random
from functools import partial

import simpy

from bench.measuring import heading, medians, verdict
from simnet.kernel.component import Component
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.scenario.parts.disks.build import disk_model
from simnet.storage.block.queue import RequestQueue
from simnet.storage.block.request import Bio, IoContext
from simnet.storage.disk.command import Command
from simnet.storage.disk.disk import Disk

REQUESTS = 6_000
READERS = 32
SCHEDULERS = ("noop", "deadline", "anticipatory", "cfq")
# a minute of three clients of one disk, each with a queue of its own and one at the server
SECONDS_A_MINUTE = 5
REQUESTS_A_MINUTE = 60 * 300


class RawReader(Component):
    """Keeps one random read of 4 KiB in a disk."""

    def __init__(self, sim: Simulator, disk: Disk, number: int) -> None:
        super().__init__(sim, f"raw{number}")
        self.disk = disk
        self.random = stream(1, self.path)
        self.read()

    def read(self) -> None:
        """Submit the next one."""
        sector = self.random.below(self.disk.sectors // 8) * 8
        self.disk.submit(Command(sector, 8, write=False, owner=self))

    def command_done(self, _command: Command) -> None:
        """It is complete."""
        self.read()


class Reader:
    """Keeps one random read of 4 KiB in a queue."""

    def __init__(self, queue: RequestQueue, number: int) -> None:
        self.queue = queue
        self.context = IoContext(f"reader{number}")
        self.random = stream(1, self.context.name)
        self.read()

    def read(self, _bio: Bio | None = None) -> None:
        """Submit the next one."""
        sector = self.random.below(self.queue.target.sectors // 8) * 8
        bio = Bio(sector, 8, write=False, context=self.context, done=self.read, sync=True)
        self.queue.submit(bio)


def through_disk() -> float:
    """Simulate `REQUESTS` in a disk; return the simulated seconds."""
    sim = Simulator()
    disk = Disk(sim, "disk", disk_model("scsi-15k-73gb"))
    for number in range(READERS):
        RawReader(sim, disk, number)
    while disk.commands < REQUESTS:
        sim.dispatch(1 << 60, 100)
    return sim.now / 10**12


def through_queue(scheduler: str) -> float:
    """Simulate `REQUESTS` through the block layer to a disk; return the simulated seconds."""
    sim = Simulator()
    disk = Disk(sim, "disk", disk_model("scsi-15k-73gb"))
    queue = RequestQueue(sim, "sda", disk, scheduler=scheduler, depth=16)
    for number in range(READERS):
        Reader(queue, number)
    while disk.commands < REQUESTS:
        sim.dispatch(1 << 60, 100)
    return sim.now / 10**12


def m_d_1() -> None:
    """SimPy's: Poisson arrivals, one server, constant service."""
    env = simpy.Environment()
    server = simpy.Resource(env)
    gaps = random.Random(1)  # noqa: S311 - no secret

    def customer() -> object:
        with server.request() as request:
            yield request
            yield env.timeout(1.0)

    def source() -> object:
        for _ in range(REQUESTS):
            yield env.timeout(gaps.expovariate(0.8))
            env.process(customer())  # type: ignore[arg-type]

    env.process(source())  # type: ignore[arg-type]
    env.run()


def main() -> None:
    """Print microseconds a request, and what a minute of requests takes."""
    heading("us a request of 4 KiB, 32 random readers")
    works = [partial(through_queue, name) for name in SCHEDULERS]
    times = medians(through_disk, m_d_1, *works)
    names = ("disk alone", "SimPy, M/D/1", *SCHEDULERS)
    simulated = (through_disk(), None, *(work() for work in works))
    for name, wall_s, simulated_s in zip(names, times, simulated, strict=True):
        speed = f"{simulated_s / wall_s:8.0f} times real time" if simulated_s else ""
        print(f"{name:14}{wall_s / REQUESTS * 1e6:8.1f}{speed}")
    minute_s = (2 * max(times[2:]) - times[0]) / REQUESTS * REQUESTS_A_MINUTE
    verdict("  s for a minute of two queues and a disk", minute_s, SECONDS_A_MINUTE, at_most=True)


if __name__ == "__main__":
    main()
