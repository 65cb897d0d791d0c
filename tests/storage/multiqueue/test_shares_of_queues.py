"""BFQ's turns: the laws of B-WF2Q+, and the rules of Linux 6.12 for queues that come and go."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from simnet.storage.block.request import IoContext
from simnet.storage.multiqueue.bfq_queue import BfqQueue, ServiceTree

_UNIT = 2**22


def queue(level: int, budget: int) -> BfqQueue:
    made = BfqQueue(IoContext(f"{level}", ioprio_class="be", ioprio=level), 1000)
    made.budget = budget
    return made


def turn(tree: ServiceTree, sectors: int | None = None) -> BfqQueue:
    """One service: all of the budget, or less; the queue goes on."""
    one = tree.select()
    assert one is not None
    one.service = one.budget if sectors is None else sectors
    tree.served(one.service)
    tree.requeue(one)
    return one


@given(st.lists(st.integers(0, 7), min_size=1, max_size=5), st.integers(1, 500))
def test_service_is_by_weight_within_a_budget_at_any_time(levels: Sequence[int], size: int) -> None:
    tree, queues = ServiceTree(), [queue(level, size) for level in levels]
    for one in queues:
        tree.activate(one)
    whole = sum(one.weight for one in queues)
    got = [0] * len(queues)
    last = 0
    for number in range(1, 60):
        served = turn(tree)
        got[[one is served for one in queues].index(True)] += size
        assert tree.vtime >= last
        last = tree.vtime
        for mine, one in zip(got, queues, strict=True):
            assert abs(mine - number * size * one.weight / whole) <= size * 1.001


def test_virtual_time_is_service_over_the_weights_of_all_that_are_known() -> None:
    tree = ServiceTree()
    assert (tree.vtime, tree.weights, tree.first(), tree.select()) == (0, 0, None, None)
    high, low = queue(0, 100), queue(7, 100)
    tree.activate(high)
    tree.activate(low)
    assert tree.weights == 90
    assert tree.first() is high
    assert tree.select() is high
    # in service it counts, too
    assert tree.weights == 90
    tree.served(45)
    assert tree.vtime == 45 * _UNIT // 90


def test_what_begins_late_waits_for_nobody_and_is_owed_nothing() -> None:
    tree, old, late = ServiceTree(), queue(4, 100), queue(4, 100)
    tree.activate(old)
    for _ in range(10):
        turn(tree)
    tree.activate(late)
    assert late.start == tree.vtime
    turns = [turn(tree) is late for _ in range(10)]
    assert turns.count(True) == 5


def left() -> tuple[ServiceTree, BfqQueue, BfqQueue]:
    """Two alike, one of which has had its budget and gone."""
    tree, gone, other = ServiceTree(), queue(4, 100), queue(4, 100)
    tree.activate(gone)
    tree.activate(other)
    assert tree.select() is gone
    gone.service = 100
    tree.served(100)
    tree.deactivate(gone)
    return tree, gone, other


_FINISH = 100 * _UNIT // 40


def test_what_comes_back_at_once_is_behind_what_it_has_had() -> None:
    tree, gone, other = left()
    assert (gone.finish, tree.vtime, tree.weights) == (_FINISH, _FINISH // 2, 80)
    tree.activate(gone)
    assert (gone.start, gone.finish) == (_FINISH, 2 * _FINISH)
    assert tree.first() is other


def test_what_has_left_is_forgotten_when_virtual_time_has_reached_its_finish() -> None:
    tree, gone, other = left()
    assert turn(tree, 60) is other
    assert tree.weights == 80
    turn(tree, 40)
    assert (tree.vtime, tree.weights) == (_FINISH, 40)
    turn(tree)
    tree.activate(gone)
    assert gone.start == tree.vtime == 2 * _FINISH


def test_a_shifted_queue_begins_where_its_last_service_ended_and_ends_no_sooner_than_now() -> None:
    tree, one, other = ServiceTree(), queue(4, 40), queue(4, 40)
    tree.vtime, one.finish, other.finish = 10 * _UNIT, 5 * _UNIT, 5 * _UNIT
    tree.activate(one, shifted=True)
    # 40 sectors over a weight of 40 end at 6: it is moved by 4
    assert (one.start, one.finish) == (9 * _UNIT, 10 * _UNIT)
    other.budget = 400
    tree.activate(other, shifted=True)
    assert (other.start, other.finish) == (5 * _UNIT, 15 * _UNIT)
    plain = queue(4, 40)
    plain.finish = 5 * _UNIT
    tree.activate(plain)
    assert (plain.start, plain.finish) == (10 * _UNIT, 11 * _UNIT)
    ahead = queue(4, 40)
    ahead.finish = 12 * _UNIT
    tree.activate(ahead, shifted=True)
    assert ahead.start == 10 * _UNIT


def test_virtual_time_goes_on_to_the_first_that_may_begin() -> None:
    tree, one = ServiceTree(), queue(4, 40)
    tree.activate(one)
    one.start = 7 * _UNIT
    assert tree.select() is one
    assert tree.vtime == 7 * _UNIT
    tree.activate(queue(4, 40))
    tree.vtime = 9 * _UNIT
    assert tree.select() is not None
    assert tree.vtime == 9 * _UNIT
