"""CoDel with ECN: marks come when drops would, and all are marked beyond a threshold."""

import pytest

from simnet.net.link.skb import CE, ECT
from simnet.net.qdisc.codel import Codel, CodelLimits, CodelQueue
from simnet.net.qdisc.qdisc import PacketList
from tests.net.qdisc.test_codel import MS, SIZE, TICK, drop_times, packet


def marked(limits: CodelLimits, waited: int, until: int, bits: int) -> tuple[list[int], int]:
    """When packets of a queue in which everything waits so long are marked; how many dropped."""
    waiting, dropped = PacketList(), PacketList()
    codel, times = Codel(limits, waiting, dropped), []
    for now in range(waited, until, MS):
        while waiting.pop() is not None:
            pass
        for _ in range(30):
            one = packet()
            one.head.ecn = bits
            one.enqueued_ps = now - waited
            waiting.append(one)
        before = codel.marked
        sent = codel.dequeue(now, waiting.bytes)
        times += [now] * (codel.marked - before)
        assert (sent.head.ecn == CE) == (codel.marked > before)
    return times, dropped.count


def test_marks_come_when_drops_would() -> None:
    limits = CodelLimits(5 * MS, 100 * MS, SIZE, ecn=True)
    times, dropped = marked(limits, 50 * MS, 1500 * MS, ECT)
    assert dropped == 0
    assert len(times) > 15
    # a drop takes a packet out and looks at the next one, where a mark lets its own go
    assert times == sorted(set(drop_times(50 * MS, 5 * MS, 100 * MS, 1500 * MS)))


def test_what_may_not_be_marked_is_dropped() -> None:
    limits = CodelLimits(5 * MS, 100 * MS, SIZE, ecn=True)
    times, dropped = marked(limits, 50 * MS, 1500 * MS, 0)
    assert times == []
    assert dropped == len(drop_times(50 * MS, 5 * MS, 100 * MS, 1500 * MS))


@pytest.mark.parametrize("waited", [MS - 2 * TICK, MS + 2 * TICK])
def test_all_are_marked_that_waited_longer_than_the_threshold(waited: int) -> None:
    limits = CodelLimits(5 * MS, 100 * MS, SIZE, ce_threshold_ps=MS)
    times, dropped = marked(limits, waited, 50 * MS, ECT)
    assert dropped == 0
    assert len(times) == (49 if waited > MS else 0)


def test_one_queue_takes_as_many_as_its_limit() -> None:
    queue = CodelQueue(CodelLimits(5 * MS, 100 * MS, SIZE), 3)
    for _ in range(5):
        queue.enqueue(packet(), 0)
    assert (queue.segments, queue.over_limit(), queue.dropped.count) == (3, 2, 2)
    assert [queue.dequeue(MS) is not None for _ in range(4)] == [True] * 3 + [False]
    assert (queue.segments, queue.marks()) == (0, 0)
