"""The ready list of an epoll instance: order, wake-ups, and what they cost (fs/eventpoll.c)."""

from typing import Any

from simnet.host.cpu import Cpu
from simnet.host.scheduler import Task
from simnet.kernel.simulator import Simulator
from simnet.net.tcp.epoll import Epoll, EpollItem
from tests.host.parts import NS, US, make_costs, make_machine, make_memory
from tests.net.nic.connectx import Bench


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

    def __init__(self, **options: Any) -> None:
        self.sim = Simulator()
        memory = make_memory(2, remote_dirty_ps=400 * NS)
        self.machine = make_machine(self.sim, "host", make_costs(wakeup=800), memory, nodes=2)
        self.cpus = self.machine.cpus
        self.epoll = Epoll(self.machine.costs, self.machine.memory, **options)
        self.worker = Worker(self.machine.scheduler, "worker", self.cpus[0], 0, frozenset({0}))
        self.epoll.worker = self.worker
        self.worker.wake_on(self.cpus[0])
        self.cpus[0].kick()
        self.sim.run_until(US)
        assert self.worker.sleeping

    def booked(self) -> dict[str, int]:
        return {name: ps // NS for name, ps in self.machine.costs.ledger.work().items() if ps}


def taken(epoll: Epoll, most: int = 1) -> list[Item]:
    """What one epoll_wait hands over."""
    ready: list[Item] = []
    epoll.harvest(ready, most)
    return ready


def test_an_item_is_listed_once_and_in_the_order_of_the_first_call() -> None:
    host = Host()
    epoll = host.epoll
    assert (epoll.length, epoll.callbacks, epoll.waiting) == (0, 0, False)
    assert taken(epoll) == []
    first, second, third = (Item(epoll) for _ in range(3))
    assert not first.listed
    for item in (first, second, first, third):
        assert item.callback(host.cpus[0]) == 0
        assert item.listed
    assert (epoll.length, epoll.callbacks) == (3, 4)
    assert taken(epoll) == [first]
    assert (first.listed, epoll.length) == (False, 2)
    # edge triggered: again only when something happens again, and last then
    first.callback(host.cpus[0])
    assert taken(epoll, 4) == [second, third, first]
    assert (epoll.length, epoll.callbacks) == (0, 5)
    third.callback(host.cpus[0])
    assert taken(epoll, 2) == [third]


def test_items_that_have_nothing_any_more_are_passed_over() -> None:
    host = Host()
    items = [Item(host.epoll, has=number in {1, 3}) for number in range(5)]
    for item in items:
        item.callback(host.cpus[0])
    assert taken(host.epoll) == [items[1]]
    assert host.epoll.length == 3
    assert taken(host.epoll) == [items[3]]
    assert taken(host.epoll) == []
    assert (host.epoll.length, any(item.listed for item in items)) == (0, False)
    items[4].has = True
    items[4].callback(host.cpus[0])
    assert taken(host.epoll) == [items[4]]


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


class TestHarvest:
    """`ep_send_events`: what one epoll_wait hands over, and what it leaves on the list."""

    def listed(self, has: str, *, edge_triggered: bool) -> tuple[Host, list[Item]]:
        host = Host(edge_triggered=edge_triggered)
        items = [Item(host.epoll, has=one == "x") for one in has]
        for item in items:
            item.callback(host.cpus[0])
        return host, items

    def test_edge_triggered_items_leave_the_list(self) -> None:
        host, items = self.listed("x-x", edge_triggered=True)
        ready: list[Item] = []
        assert host.epoll.harvest(ready, 10) == 3
        assert ready == [items[0], items[2]]
        assert host.epoll.length == 0

    def test_level_triggered_ones_are_asked_again_by_the_next_call(self) -> None:
        host, items = self.listed("x-x", edge_triggered=False)
        ready: list[Item] = []
        assert host.epoll.harvest(ready, 10) == 3
        assert ready == [items[0], items[2]]
        items[0].has = False
        again: list[Item] = []
        assert host.epoll.harvest(again, 10) == 2
        assert again == [items[2]]
        assert [item.listed for item in items] == [False, False, True]

    def test_what_is_beyond_the_most_stays_at_the_head(self) -> None:
        host, items = self.listed("xxx", edge_triggered=False)
        first: list[Item] = []
        assert host.epoll.harvest(first, 2) == 2
        second: list[Item] = []
        assert host.epoll.harvest(second, 2) == 2
        assert (first, second) == ([items[0], items[1]], [items[2], items[0]])


class TestBusyPoll:
    def test_its_time_counts_in_units_of_1024_ns(self) -> None:
        epoll = Host().epoll
        epoll.busy_poll_usecs = 2
        assert not epoll.busy_poll_over(0, 3 * 1024 * NS - 1)
        assert epoll.busy_poll_over(0, 3 * 1024 * NS)

    def test_without_a_time_it_polls_once_if_it_is_preferred(self) -> None:
        epoll = Host().epoll
        assert not epoll.busy_polls()
        epoll.prefer_busy_poll = True
        assert epoll.busy_polls()
        assert epoll.busy_poll_over(0, 0)

    def test_events_end_it(self) -> None:
        host = Host()
        host.epoll.busy_poll_usecs = 1000
        Item(host.epoll).callback(host.cpus[0])
        assert host.epoll.busy_poll_over(0, 1)

    def test_an_item_tells_which_instance_serves_it(self) -> None:
        host = Host()
        nic = Bench().napi
        item = Item(host.epoll)
        item.napi = nic
        item.callback(host.cpus[0])
        assert host.epoll.napi is not nic
        host.epoll.prefer_busy_poll = True
        item.callback(host.cpus[0])
        assert host.epoll.napi is nic
