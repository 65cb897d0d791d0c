"""A request's way through virtual SCSI step by step, and a disk that takes one at a time."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from simnet.kernel.simulator import Simulator
from simnet.storage.block.queue import RequestQueue
from simnet.storage.disk.command import Command
from simnet.storage.virtual_scsi.scsi_adapter import UntaggedAdapter
from simnet.storage.virtual_scsi.vscsi import (
    CommandQueue,
    VirtualAdapter,
    VirtualDisk,
    VscsiCosts,
    VscsiServer,
)
from tests.storage.parts import MS, US, Device, Driver, Submitter

NS = 1000
COSTS = VscsiCosts(1 * NS, 2 * NS, 3 * NS, 4 * NS, 5 * NS, 10 * NS)


class Work:
    """Interrupts and kernel threads that take no time; notes what each would cost."""

    def __init__(self, name: str, log: list[tuple[str, int]]) -> None:
        self.name, self.log = name, log
        self.cpu = f"cpu of {name}"

    def interrupt(self, work_ps: int, then: Callable[[], None]) -> None:
        self.log.append((f"{self.name} interrupt", work_ps // NS))
        then()

    def follow(self, work_ps: int, then: Callable[[], None]) -> None:
        self.log.append((f"{self.name} call", work_ps // NS))
        then()

    def schedule(self, cpu: str, work_ps: int, then: Callable[[], None]) -> None:
        self.log.append((f"{self.name} on {cpu}", work_ps // NS))
        then()


class Bench:
    """Two disks of a client behind one adapter; the server's disk needs a millisecond."""

    def __init__(self, *, limit: int = 4, latency_ps: int = 10 * US, largest: int = 1024) -> None:
        self.sim = Simulator()
        self.log: list[tuple[str, int]] = []
        self.device = Device(self.sim)
        self.backing = RequestQueue(
            self.sim, "server.sda", self.device, scheduler="noop", depth=9, max_hw_sectors=largest
        )
        self.to_client = CommandQueue(self.sim, "answers", latency_ps)
        self.to_server = CommandQueue(self.sim, "requests", latency_ps)
        client: Any = Work("client", self.log)
        server: Any = Work("server", self.log)
        kblockd: Any = Work("kblockd", self.log)
        self.server = VscsiServer(server, kblockd, COSTS, self.to_client)
        self.adapter = VirtualAdapter(
            client, COSTS, self.to_server, self.server, request_limit=limit
        )
        self.disks = [
            VirtualDisk(self.adapter, self.partition(start), self.backing) for start in (5000, 9000)
        ]
        self.drivers = [Driver(self.sim, disk, f"d{n}") for n, disk in enumerate(self.disks)]

    @staticmethod
    def partition(start: int) -> Any:
        return SimpleNamespace(start=start, sectors=1000)


@pytest.mark.parametrize(("sectors", "copy_ns"), [(8, 40), (1, 5), (3, 15), (0, 0)])
def test_a_copy_costs_by_the_kib(sectors: int, copy_ns: int) -> None:
    assert COSTS.copy_ps(sectors) == copy_ns * NS


def test_a_copy_takes_whole_nanoseconds() -> None:
    costs = VscsiCosts(0, 0, 0, 0, 0, 1501)
    assert costs.copy_ps(1) == 0
    assert costs.copy_ps(2) == NS
    assert costs.copy_ps(3) == 2 * NS


@pytest.mark.parametrize(("write", "serve", "answer"), [(False, 4, 5 + 40), (True, 4 + 40, 5)])
def test_a_request_goes_there_and_back(serve: int, answer: int, *, write: bool) -> None:
    bench = Bench()
    bench.drivers[1].send(16, 8, write=write)
    bench.sim.run_until(100 * MS)
    assert bench.log == [
        ("client call", 1),
        ("server interrupt", 3),
        ("kblockd on cpu of server", serve),
        ("server interrupt", answer),
        ("client interrupt", 2),
    ]
    # the queue's latency each way, and the disk
    assert bench.drivers[1].log == [(20 + 1000, 16)]
    assert (bench.device.order, bench.device.sizes) == ([9016], [8])
    assert bench.backing.stats.ios == [not write, write]
    assert (bench.to_server.messages, bench.to_client.messages) == (1, 1)
    assert bench.adapter.busy == 0
    assert bench.disks[0].sectors == 1000


def test_a_request_that_is_too_large_for_the_real_queue_is_split() -> None:
    bench = Bench(largest=16)
    bench.drivers[0].send(0, 40)
    bench.sim.run_until(100 * MS)
    assert (bench.device.order, bench.device.sizes) == ([5000, 5016, 5032], [16, 16, 8])
    # one answer, when all is done
    assert bench.drivers[0].log == [(20 + 3000, 0)]
    assert bench.to_client.messages == 1


@pytest.mark.parametrize(("limit", "room"), [(16, 14), (3, 1), (2, 1), (1, 1)])
def test_two_of_those_granted_are_for_errors(limit: int, room: int) -> None:
    bench = Bench(limit=limit)
    assert bench.adapter.can_queue == room
    for number in range(room + 1):
        bench.drivers[0].send(8 * number, 8)
    bench.sim.run_until(US)
    assert bench.drivers[0].refused == [8 * room]
    assert bench.adapter.busy == room


def test_messages_of_one_direction_keep_their_order() -> None:
    sim = Simulator()
    queue = CommandQueue(sim, "q", 5 * US)
    came: list[tuple[str, int]] = []
    for name in "abc":
        queue.send(lambda name=name: came.append((name, sim.now)))  # type: ignore[misc]
        sim.run_until(sim.now + US)
    sim.run_until(MS)
    assert came == [("a", 5 * US), ("b", 6 * US), ("c", 7 * US)]
    assert queue.messages == 3


class TestStarved:
    """Queues of the client's disks; the adapter has room for one request."""

    def bench(self) -> tuple[Bench, list[RequestQueue]]:
        bench = Bench(limit=3)
        queues = []
        for number, disk in enumerate(bench.disks):
            queue = RequestQueue(bench.sim, f"sd{number}", disk, scheduler="noop", depth=4)
            queue.run_starved = bench.adapter.run_starved
            disk.queue = queue
            queues.append(queue)
        return bench, queues

    def submit(self, bench: Bench, queue: RequestQueue, *sectors: int) -> None:
        user = Submitter(bench.sim, queue, f"user{bench.sim.events}{sectors}")
        for sector in sectors:
            user.submit(sector, sync=True, at=bench.sim.now)
        bench.sim.run_until(bench.sim.now + US)

    def test_disks_wait_in_the_order_in_which_they_found_no_room(self) -> None:
        bench, (first, second) = self.bench()
        self.submit(bench, first, 0, 100, 200)
        self.submit(bench, second, 0, 100)
        assert bench.adapter.starved == [first, second]
        bench.sim.run_until(1000 * MS)
        # the first has one more, finds no room for the next, and waits behind the second
        assert bench.device.order == [5000, 5100, 9000, 5200, 9100]
        assert bench.adapter.starved == []
        assert bench.adapter.busy == 0

    def test_a_disk_waits_once(self) -> None:
        bench, (first, _) = self.bench()
        self.submit(bench, first, 0, 100)
        self.submit(bench, first, 200)
        assert bench.adapter.starved == [first]


class TestUntagged:
    def test_the_disk_gets_one_at_a_time_in_their_order(self) -> None:
        sim = Simulator()
        device = Device(sim, sectors=77)
        adapter = UntaggedAdapter(device, 3)
        driver = Driver(sim, adapter)
        for sector in (30, 10, 20, 40):
            driver.send(sector, tag=f"tag{sector}")
        sim.run_until(US)
        assert device.order == [30]
        assert driver.refused == ["tag40"]
        assert adapter.sectors == 77
        sim.run_until(100 * MS)
        assert device.order == [30, 10, 20]
        assert driver.log == [(1000, "tag30"), (2000, "tag10"), (3000, "tag20")]
        assert [command.owner for command in driver.todo[:3]] == [driver] * 3

    def test_room_is_there_again_when_one_is_complete(self) -> None:
        sim = Simulator()
        adapter = UntaggedAdapter(Device(sim), 1)
        driver = Driver(sim, adapter)
        driver.send(1)
        sim.run_until(US)
        assert not adapter.submit(Command(2, 1, write=False, owner=driver))
        sim.run_until(10 * MS)
        assert adapter.submit(Command(2, 1, write=False, owner=driver))
