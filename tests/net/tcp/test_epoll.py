"""The ready list of an epoll instance: order, wake-ups, and what they cost (fs/eventpoll.c)."""

from __future__ import annotations

from simnet.host.cpu import Cpu
from simnet.host.scheduler import Task
from simnet.kernel.simulator import Simulator
from simnet.net.tcp.epoll import Epoll, EpollItem
from tests.host.parts import NS, US, make_costs, make_machine, make_memory


class Item(EpollItem):
    """A socket that says itself whether it has something."""

    def __init__(self, epoll: Epoll, *, has: bool = True) -> None:
        super().__init__(epoll)
        self.has = has

    def has_events(self) -> bool:
        return self.has


class Worker(Task):
    """Sleeps whenever it gets to run."""

    def step(self, cpu: Cpu) -> None:  # noqa: ARG002 - as every context
        self.sleep()


class Host:
    """A worker that sleeps on CPU 0 of two, each on a node of its own."""

    def __init__(self, **lines: int) -> None:
        self.sim = Simulator()
        memory = make_memory(2, remote_dirty_ps=400 * NS)
        self.machine = make_machine(self.sim, "host", make_costs(wakeup=800), memory, nodes=2)
        self.cpus = self.machine.cpus
        self.epoll = Epoll(self.machine.costs, self.machine.memory, **lines)
        self.worker = Worker(self.machine.scheduler, "worker", self.cpus[0], 0, frozenset({0}))
        self.epoll.worker = self.worker
        self.worker.wake_on(self.cpus[0])
        self.cpus[0].kick()
        self.sim.run_until(US)
        assert self.worker.sleeping

    def booked(self) -> dict[str, int]:
        return {name: ps // NS for name, ps in self.machine.costs.ledger.work().items() if ps}


def test_an_item_is_listed_once_and_in_the_order_of_the_first_call() -> None:
    host = Host()
    epoll = host.epoll
    assert (epoll.length, epoll.callbacks, epoll.waiting) == (0, 0, False)
    assert epoll.take() is None
    first, second, third = (Item(epoll) for _ in range(3))
    assert not first.listed
    for item in (first, second, first, third):
        assert item.callback(host.cpus[0]) == 0
        assert item.listed
    assert (epoll.length, epoll.callbacks) == (3, 4)
    assert epoll.take() is first
    assert (first.listed, epoll.length) == (False, 2)
    # edge triggered: again only when something happens again, and last then
    first.callback(host.cpus[0])
    assert [epoll.take() for _ in range(4)] == [second, third, first, None]
    assert (epoll.length, epoll.callbacks) == (0, 5)
    third.callback(host.cpus[0])
    assert [epoll.take(), epoll.take()] == [third, None]


def test_items_that_have_nothing_any_more_are_passed_over() -> None:
    host = Host()
    items = [Item(host.epoll, has=number in {1, 3}) for number in range(5)]
    for item in items:
        item.callback(host.cpus[0])
    assert host.epoll.take() is items[1]
    assert host.epoll.length == 3
    assert host.epoll.take() is items[3]
    assert host.epoll.take() is None
    assert (host.epoll.length, any(item.listed for item in items)) == (0, False)
    items[4].has = True
    items[4].callback(host.cpus[0])
    assert host.epoll.take() is items[4]


def test_a_worker_that_waits_is_woken_once() -> None:
    host = Host()
    item = Item(host.epoll)
    assert item.callback(host.cpus[0]) == 0
    host.epoll.waiting = True
    assert item.callback(host.cpus[0]) == 800 * NS
    assert (host.epoll.waiting, host.worker.sleeping, host.worker.wakeups) == (False, False, 2)
    assert item.callback(host.cpus[0]) == 0
    # it runs already
    host.epoll.waiting = True
    assert item.callback(host.cpus[0]) == 0
    assert host.booked() == {"wakeup": 800}


def test_waking_elsewhere_writes_that_cpu_s_run_queue() -> None:
    host = Host(runqueue_lines=6)
    host.epoll.waiting = True
    assert Item(host.epoll).callback(host.cpus[1]) == (800 + 6 * 400) * NS
    assert host.booked() == {"wakeup": 3200}
    plain = Host()
    plain.epoll.waiting = True
    assert Item(plain.epoll).callback(plain.cpus[1]) == 800 * NS


def test_the_list_goes_to_the_cpu_that_uses_it() -> None:
    host = Host(lines=5)
    item = Item(host.epoll)
    assert item.callback(host.cpus[0]) == 0
    assert item.callback(host.cpus[1]) == 5 * 400 * NS
    assert host.epoll.touch(host.cpus[1]) == 0
    assert host.epoll.touch(host.cpus[0]) == 2000 * NS
    assert host.booked() == {"socket_lines": 4000}
    plain = Host()
    assert [Item(plain.epoll).callback(cpu) for cpu in plain.cpus] == [0, 0]
    assert plain.epoll.lines.transfers == 0
