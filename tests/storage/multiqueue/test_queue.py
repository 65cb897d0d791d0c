"""Plug, merge, tags, interrupts and completions of blk-mq."""

from typing import Any

import pytest

from simnet.errors import SimulationError
from simnet.kernel.random import stream
from simnet.kernel.simulator import Simulator
from simnet.storage.multiqueue.affinity import spread
from simnet.storage.multiqueue.costs import MqCosts
from simnet.storage.multiqueue.schedulers import SCHEDULERS, scheduler_of
from tests.host.parts import make_machine
from tests.storage.multiqueue.parts import MS, US, MqHost


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_every_request_completes_once_and_littles_law_holds(scheduler: str) -> None:
    host = MqHost(scheduler, slots=3, service_ps=70 * US, io_queue_depth=4, nr_requests=8)
    random = stream(3, "places")
    sent: list[int] = []
    for number in range(600):
        sectors = [random.below(10_000) * 8 for _ in range(1 + random.below(5))]
        sent += sectors
        write = random.below(3) == 0
        host.submit(*sectors, at=number * 60 * US, cpu=number % 4, write=write)
    host.run()
    assert sorted(host.finished) == sorted(sent)
    found = host.queue.stats.snapshot(host.sim.now)
    assert found.in_flight == 0
    assert found.queue_ps == sum(found.ticks_ps) + host.queue.stats.merged_ps
    assert sum(found.ios) + sum(found.merges) == len(sent)
    assert host.queue.waiting_for() is None
    for hardware in host.queue.hardware:
        assert (hardware.allocated, hardware.in_driver) == (0, 0)
        assert not hardware.sleepers
    assert host.drive.most <= 4 * 3


def test_bios_of_one_call_that_follow_each_other_are_one_request() -> None:
    host = MqHost()
    host.submit(0, 8, 16, 100, 92)
    assert host.run() == [0, 92]
    assert host.drive.sizes == [24, 16]
    assert sorted(host.finished) == [0, 8, 16, 92, 100]
    assert host.queue.counters()["merges"] == 3


def test_a_request_does_not_grow_beyond_its_limit() -> None:
    host = MqHost(max_sectors=16)
    host.submit(0, 8, 16, 24)
    host.run()
    assert host.drive.sizes == [16, 16]


def test_bios_merge_with_what_waits_in_the_scheduler() -> None:
    """One command is in the drive and one with the driver; 0 and 400 wait, and 0 came first."""
    merges = []
    for nomerges in (0, 1, 2):
        host = MqHost("mq-deadline", io_queue_depth=2, nr_requests=64, nomerges=nomerges)
        for number, sector in enumerate((9000, 9900, 0, 400)):
            host.submit(sector, at=number * US)
        host.submit(408, at=4 * US)
        host.submit(8, at=5 * US)
        host.run()
        merges.append(host.queue.counters()["merges"])
        assert sum(host.drive.sizes) == 6 * 8
    assert merges == [2, 1, 0]


@pytest.mark.parametrize("scheduler", ["mq-deadline", "bfq"])
def test_nomerges_1_still_asks_the_request_that_grew_last(scheduler: str) -> None:
    merges = []
    for nomerges in (0, 1, 2):
        host = MqHost(scheduler, io_queue_depth=2, nr_requests=64, queues=1, nomerges=nomerges)
        for number, sector in enumerate((9000, 9900, 0, 8)):
            host.submit(sector, at=number * US)
        host.run()
        merges.append(host.queue.counters()["merges"])
    assert merges == [1, 1, 0]


@pytest.mark.parametrize(
    ("scheduler", "other"), [("mq-deadline", {"ioprio_class": "idle"}), ("bfq", {"cpu": 1})]
)
def test_the_request_that_grew_last_takes_none_of_others(
    scheduler: str, other: dict[str, Any]
) -> None:
    """Neither of another class nor, with bfq, of another process."""
    host = MqHost(scheduler, io_queue_depth=2, nr_requests=64, queues=1)
    for number, sector in enumerate((9000, 9900, 0, 8)):
        host.submit(sector, at=number * US)
    host.submit(16, at=4 * US, **other)
    host.run()
    assert sorted(host.drive.sizes) == [8, 8, 8, 16]


def test_without_a_tag_a_process_sleeps_until_one_is_free() -> None:
    host = MqHost(nr_requests=2)
    host.submit(0, 100, 200)
    host.run()
    assert host.workers[0].slept == 1
    assert host.log == [(1000, 0), (2000, 100), (3000, 200)]
    assert host.drive.most == 2


def test_an_interrupt_takes_all_that_is_there_when_it_looks() -> None:
    """The handler takes 10 us and 5 us a completion; two more come meanwhile."""
    host = MqHost(
        slots=3, service_ps=MS, costs=MqCosts(complete_ps=5 * US), cpu_ns={"hardirq": 10_000}
    )
    host.submit(0)
    host.submit(100, at=4 * US)
    host.submit(200, at=12 * US)
    host.run()
    assert host.log == [(1020, 0), (1020, 100), (1025, 200)]
    assert host.queue.counters()["interrupts"] == 1
    assert host.machine.cpus[0].times()["irq_ps"] == 25 * US


@pytest.mark.parametrize(
    ("rq_affinity", "busy"), [(0, ("irq", "irq")), (1, ("irq", "softirq")), (2, ("softirq",) * 2)]
)
def test_who_completes_a_request(rq_affinity: int, busy: tuple[str, str]) -> None:
    """One queue, so CPU 0 has the interrupts: CPU 1 shares its cache, CPU 2 does not."""
    for cpu, mode in zip((1, 2), busy, strict=True):
        host = MqHost(queues=1, rq_affinity=rq_affinity, costs=MqCosts(complete_ps=5 * US))
        host.submit(0, cpu=cpu)
        host.run()
        assert host.log == [(1005, 0)]
        here = 0 if mode == "irq" else cpu
        assert host.machine.cpus[here].times()[f"{mode}_ps"] == 5 * US
        assert host.queue.counters()["ipis"] == (mode == "softirq")


def test_cpus_submit_to_queues_of_their_own() -> None:
    host = MqHost(slots=4)
    for cpu in range(4):
        host.submit(100 * cpu, cpu=cpu)
    host.run()
    assert [hardware.completions for hardware in host.queue.hardware] == [1, 1, 1, 1]
    assert [hardware.interrupts for hardware in host.queue.hardware] == [1, 1, 1, 1]


@pytest.mark.parametrize(("scheduler", "own_us"), [("none", 0), ("mq-deadline", 7), ("kyber", 7)])
def test_a_scheduler_costs_a_request_its_way_through(scheduler: str, own_us: int) -> None:
    """Three bios of two pages each; a polled queue and one with an interrupt cost the same."""
    costs = MqCosts(submit_ps=2 * US, page_ps=US, schedule_ps=7 * US)
    host = MqHost(scheduler, costs=costs)
    assert host.queue.submit_work_ps(host.machine.cpus[0], 3, 6) == (3 * (2 + own_us) + 6) * US


def test_a_lock_of_all_queues_makes_submitters_wait() -> None:
    """Each holds it for 3 us; two that come at once wait 0 and 3 us."""
    host = MqHost("mq-deadline", costs=MqCosts(lock_ps=3 * US))
    host.submit(0, cpu=0)
    host.submit(100, cpu=1)
    host.run(until_ps=US)
    assert host.queue.locked_ps == 6 * US
    assert host.queue.debt_ps == 3 * US


@pytest.mark.parametrize(("scheduler", "begun"), [("mq-deadline", 12), ("bfq", 9), ("kyber", 0)])
def test_a_request_takes_the_lock_when_it_comes_and_of_bfq_when_it_is_done(
    scheduler: str, begun: int
) -> None:
    """12 us in all: three holds of mq-deadline, four of bfq, none of kyber."""
    host = MqHost(scheduler, costs=MqCosts(lock_ps=12 * US))
    host.submit(0)
    host.run(until_ps=US)
    assert host.queue.locked_ps // US == begun
    host.run()
    assert host.queue.locked_ps // US == (12 if begun else 0)


@pytest.mark.parametrize(
    ("at_us", "moved"), [((0,), 0), ((0, 100), 1), ((0, 100, 200), 2), ((0, 1), 3)]
)
def test_lines_move_with_a_lock_and_at_each_hold_where_others_want_it(
    at_us: tuple[int, ...], moved: int
) -> None:
    """CPUs 0 and 2 in turn, three holds of 1 us each; the last pair comes at once."""
    line_ps = 50_000
    costs = MqCosts(lock_ps=3 * US, lock_lines=1)
    host = MqHost("mq-deadline", slots=4, line_ps=line_ps, costs=costs)
    for number, time_us in enumerate(at_us):
        host.submit(100 * number, cpu=2 * (number % 2), at=time_us * US)
    host.run()
    assert host.queue.locked_ps == len(at_us) * 3 * US + moved * line_ps


def test_a_bio_that_fits_into_no_request_is_an_error() -> None:
    host = MqHost(max_sectors=4)
    host.submit(0)
    with pytest.raises(SimulationError, match="does not fit into a request of 4 sectors"):
        host.run()


@pytest.mark.parametrize(
    ("nodes", "queues", "groups"),
    [
        (1, 4, [[0], [1], [2], [3]]),
        (1, 3, [[0, 1], [2], [3]]),
        (2, 4, [[0, 1], [2, 3], [4, 5], [6, 7]]),
        (2, 3, [[0, 1, 2, 3], [4, 5], [6, 7]]),
        (2, 1, [[0, 1, 2, 3, 4, 5, 6, 7]]),
    ],
)
def test_queues_are_spread_over_nodes_and_cpus(
    nodes: int, queues: int, groups: list[list[int]]
) -> None:
    machine = make_machine(Simulator(), nodes=nodes, cores_per_socket=4)
    assert [[cpu.cpu_id for cpu in cpus] for cpus in spread(machine.cpus, queues)] == groups


def test_a_queue_at_least() -> None:
    with pytest.raises(ValueError, match="expected a queue or more, got 0"):
        spread([], 0)


@pytest.mark.parametrize(("version", "order"), [("5.13", [500, 600]), ("5.14", [600, 500])])
def test_priorities_came_with_5_14(version: str, order: list[int]) -> None:
    host = MqHost("mq-deadline", io_queue_depth=2, nr_requests=64)
    made = scheduler_of("mq-deadline", version)
    assert made is not None
    host.queue.elevator = host.queue.scheduler = made(host.queue)
    for number, (sector, one) in enumerate(
        ((8000, "be"), (8100, "be"), (500, "idle"), (600, "rt"))
    ):
        host.submit(sector, at=number * US, ioprio_class=one)
    assert host.run()[2:] == order
    assert scheduler_of("none", "6.12") is None
