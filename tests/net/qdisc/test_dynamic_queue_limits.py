"""Byte queue limits (lib/dynamic_queue_limits.c of Linux 6.12)."""

from simnet.net.qdisc.dynamic_queue_limits import MOST_BYTES, DynamicQueueLimits

HZ = 250


def made(least: int = 0, most: int = MOST_BYTES) -> DynamicQueueLimits:
    return DynamicQueueLimits(least, most, HZ)


def starved(dql: DynamicQueueLimits, packets: int, size: int, jiffy: int) -> None:
    """The queue runs over its limit, and the ring becomes empty."""
    for _ in range(packets):
        dql.queued(size)
    dql.completed(packets * size, jiffy)


def test_at_first_one_packet_stops_the_queue() -> None:
    dql = made()
    assert dql.avail() == 0
    dql.queued(1500)
    assert dql.avail() == -1500


def test_a_link_that_ran_dry_raises_the_limit_by_what_was_sent_meanwhile() -> None:
    dql = made()
    starved(dql, 1, 1500, 0)
    assert dql.limit == 1500
    starved(dql, 2, 1500, 1)
    assert dql.limit == 4500
    assert dql.avail() == 4500


def test_what_stays_within_the_limit_leaves_it() -> None:
    dql = made(10_000)
    starved(dql, 2, 1500, 0)
    assert dql.limit == 10_000
    starved(dql, 2, 1500, 1)
    assert dql.limit == 10_000


def test_after_a_second_the_least_slack_goes() -> None:
    dql = made()
    starved(dql, 20, 1500, 0)
    assert dql.limit == 30_000
    dql.queued(6000)
    for jiffy in range(1, HZ + 2):
        # always busy, and never more than four packets
        dql.queued(3000)
        dql.completed(3000, jiffy)
    assert dql.limit == 2 * 3000
    assert dql.num_queued - dql.num_completed == 6000


def test_not_before() -> None:
    dql = made()
    starved(dql, 20, 1500, 0)
    dql.queued(6000)
    for jiffy in range(1, HZ + 1):
        dql.queued(3000)
        dql.completed(3000, jiffy)
    assert dql.limit == 30_000


def test_limit_min_and_limit_max_are_its_bounds() -> None:
    dql = made(3000, 6000)
    starved(dql, 1, 100, 0)
    assert dql.limit == 3000
    starved(dql, 50, 1500, 1)
    assert dql.limit == 6000
