"""bfq: turns by budget and weight, and waiting for a process that will go on."""

import itertools
from typing import Any, cast

import pytest

from simnet.storage.block.request import IoContext
from simnet.storage.multiqueue.bfq import EXHAUSTED, NO_MORE_REQUESTS, PREEMPTED, TIMEOUT, TOO_IDLE
from simnet.storage.multiqueue.bfq_queue import BfqQueue
from tests.storage.multiqueue.parts import MS, US, MqHost

FAR = 10**6


def host(**tunables: int) -> MqHost:
    """One queue of the drive, one command of 1 ms in it: all else waits in bfq."""
    made = MqHost("bfq", queues=1, io_queue_depth=2, nr_requests=1000)
    for name, value in tunables.items():
        made.queue.scheduler.store(name, value)
    return made


def backlog(made: MqHost, number: int, count: int = 200, *, ioprio: int = 4) -> None:
    """Let process `number` submit reads of 4 KiB side by side, all at once."""
    sectors = (number * FAR + 100 * one for one in range(count))
    made.submit(*sectors, at=number * US, cpu=number, ioprio_class="be", ioprio=ioprio)


def owners(made: MqHost) -> list[int]:
    """The processes in the order of the drive."""
    return [sector // FAR for sector in made.drive.order]


def turns(made: MqHost) -> list[tuple[int, int]]:
    return [(one, len(list(same))) for one, same in itertools.groupby(owners(made))]


def test_a_turn_lasts_for_a_budget() -> None:
    """Two thirds of 192 sectors are 16 requests, then 192 are 24."""
    made = host(max_budget=192)
    backlog(made, 0)
    backlog(made, 1)
    made.run()
    found = turns(made)
    assert found[0] == (0, 16)
    assert [length for _, length in found[2:8]] == [24] * 6
    assert cast("Any", made.queue.scheduler).expired[EXHAUSTED] > 6


@pytest.mark.parametrize(
    ("levels", "shares"), [((4, 4), (1, 1)), ((0, 4), (2, 1)), ((2, 6), (3, 1))]
)
def test_service_is_in_proportion_to_weights(
    levels: tuple[int, int], shares: tuple[int, int]
) -> None:
    """Weight is eight less the level, times ten; both have requests all the time."""
    made = host(max_budget=64)
    for number, level in enumerate(levels):
        backlog(made, number, 600 // 2, ioprio=level)
    made.run(280 * MS)
    counts = [owners(made).count(number) for number in (0, 1)]
    assert counts[0] / counts[1] == pytest.approx(shares[0] / shares[1], rel=0.1)


def test_classes_in_order() -> None:
    made = host()
    made.submit(0)
    for at, one in ((1, "idle"), (2, "be"), (3, "rt")):
        made.submit(at * FAR, at * FAR + 100, at=at * US, cpu=at, ioprio_class=one)
    made.run()
    # the first process was alone and is waited for, until one of a higher class comes
    assert owners(made) == [0, 3, 3, 2, 2, 1, 1]


def one_after_the_other(made: MqHost, think_ps: int) -> None:
    """A process of high weight that reads one place, thinks, and reads the next."""
    context_level = 0
    for number in range(10):
        at = number * (MS + think_ps) + 3 * US
        made.submit(number * 100, at=at, cpu=0, ioprio_class="be", ioprio=context_level)


def test_it_waits_for_a_process_of_higher_weight() -> None:
    """Without waiting, a process with one request at a time gets every other place at most."""
    found = {}
    for slice_idle in (0, 8):
        made = host(slice_idle=slice_idle)
        backlog(made, 1, 100)
        one_after_the_other(made, 2 * MS)
        made.run()
        found[slice_idle] = [made.finished.index(100 * number) for number in range(10)]
    # the first two are those that the drive and the driver have
    assert found[8] == list(range(2, 12))
    assert found[0][-1] > 25


def test_a_process_that_does_not_go_on_loses_its_turn_after_slice_idle() -> None:
    made = host(slice_idle=8)
    backlog(made, 1, 4)
    made.submit(0, at=9 * US, cpu=0, ioprio_class="be", ioprio=0)
    made.run()
    # two of the other were with the drive and the driver; then the drive is idle for 8 ms
    assert [at // 1000 for at, _ in made.log] == [1, 2, 3, 12, 13]
    assert made.log[2][1] == 0
    # the other is alone at the end
    assert cast("Any", made.queue.scheduler).expired[TOO_IDLE] == 2
    assert cast("Any", made.queue.scheduler).expired[PREEMPTED] == 1


def test_equal_weights_are_not_waited_for() -> None:
    made = host(slice_idle=8)
    made.submit(0, cpu=0, ioprio_class="be")
    backlog(made, 1, 3)
    made.run()
    assert [at for at, _ in made.log] == [1000, 2000, 3000, 4000]
    # but for the one that is alone at the end
    assert cast("Any", made.queue.scheduler).expired[TOO_IDLE] == 1
    assert cast("Any", made.queue.scheduler).expired[NO_MORE_REQUESTS] > 0


def test_the_process_of_the_smallest_weight_is_not_waited_for() -> None:
    made = host(slice_idle=8, max_budget=64)
    backlog(made, 1, 60)
    made.submit(0, at=9 * US, cpu=0, ioprio_class="be", ioprio=7)
    made.run()
    assert 0 < made.finished.index(0) < 50
    assert made.log[-1][0] // 1000 == 61
    assert cast("Any", made.queue.scheduler).expired[TOO_IDLE] == 1


@pytest.mark.parametrize(("apart", "waited_ms"), [(1000, 2), (8, 8)])
def test_a_process_alone_is_waited_for_and_less_if_it_seeks(apart: int, waited_ms: int) -> None:
    """Another that comes in this time begins when the wait is over."""
    made = host(slice_idle=8)
    for number in range(25):
        made.submit(number * apart, at=number * 1100 * US, cpu=0, ioprio_class="be")
    last_ms = 24 * 1.1 + 1
    made.submit(FAR, at=int((last_ms + 0.5) * MS), cpu=1, ioprio_class="be")
    made.run()
    assert made.finished[-1] == FAR
    assert made.log[-1][0] / 1000 == pytest.approx(last_ms + waited_ms + 1, abs=0.01)


@pytest.mark.parametrize(("think_ms", "waits_for_a_turn"), [(1, False), (30, True)])
def test_who_begins_again_soon_goes_on_with_its_budget(
    think_ms: int, *, waits_for_a_turn: bool
) -> None:
    """Of equal weights; a turn of the other are 24 requests, three `slice_idle` are 24 ms."""
    made = host(max_budget=192, slice_idle=8)
    made.submit(0, cpu=0, ioprio_class="be")
    made.submit(100, at=(think_ms + 1) * MS, cpu=0, ioprio_class="be")
    backlog(made, 1, 300)
    made.run()
    late = next(at // 1000 for at, sector in made.log if sector == 100) - think_ms - 1
    assert (late > 4) == waits_for_a_turn
    assert (cast("Any", made.queue.scheduler).expired[PREEMPTED] == 0) == waits_for_a_turn


def test_a_higher_weight_ends_a_turn_that_goes_on_with_its_budget() -> None:
    """Two thirds of 192 sectors are 16 requests; the rest of them follow."""
    made = host(max_budget=192)
    backlog(made, 1)
    backlog(made, 2)
    made.submit(0, at=10 * MS, cpu=0, ioprio_class="be", ioprio=0)
    made.run()
    found = turns(made)
    position = [owner for owner, _ in found].index(0)
    assert cast("Any", made.queue.scheduler).expired[PREEMPTED] == 1
    before = found[position - 1]
    assert before[0] == 1
    assert before[1] < 16


@pytest.mark.parametrize(
    ("reason", "budget", "dispatched", "service", "found"),
    [
        (TOO_IDLE, 320, 1, 0, 640),
        (TOO_IDLE, 600, 1, 0, 960),
        (TOO_IDLE, 151, 0, 0, 31),
        (TOO_IDLE, 150, 0, 0, 30),
        (TIMEOUT, 320, 0, 0, 640),
        (TIMEOUT, 481, 0, 0, 960),
        (EXHAUSTED, 200, 0, 0, 800),
        (EXHAUSTED, 250, 0, 0, 960),
        (NO_MORE_REQUESTS, 320, 0, 77, 77),
        (NO_MORE_REQUESTS, 320, 0, 12, 30),
        (PREEMPTED, 320, 0, 77, 320),
    ],
)
def test_the_next_budget_follows_from_how_a_turn_ended(
    reason: int, budget: int, dispatched: int, service: int, found: int
) -> None:
    """At most 960 sectors, at least a 32nd of them; `__bfq_bfqq_recalc_budget`."""
    scheduler: Any = host(max_budget=960).queue.scheduler
    queue = BfqQueue(IoContext("p"), budget)
    queue.dispatched, queue.service = dispatched, service
    queue.max_budget = budget
    assert scheduler._recalculated(queue, reason) == found
