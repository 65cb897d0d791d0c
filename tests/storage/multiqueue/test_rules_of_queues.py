"""Kyber's depths and BFQ's seeks and virtual times, by the formulas of Linux 6.12."""

import pytest

from simnet.storage.block.request import Bio, IoContext, Request
from simnet.storage.multiqueue.bfq_queue import BfqQueue
from simnet.storage.multiqueue.kyber import Domain


@pytest.mark.parametrize(
    ("asked", "depth"), [(-1, 1), (0, 1), (1, 1), (2, 2), (255, 255), (256, 256), (257, 256)]
)
def test_a_domain_has_one_token_at_least_and_no_more_than_at_the_beginning(
    asked: int, depth: int
) -> None:
    domain = Domain(256)
    domain.resize(asked)
    assert domain.depth == depth


def test_a_domain_begins_with_all_tokens_and_nothing_counted() -> None:
    domain = Domain(7)
    assert (domain.depth, domain.used, domain.cleared, domain.p99) == (7, 0, 0, -1)
    assert domain.total == domain.io == [0] * 8


def queue(level: int = 4) -> BfqQueue:
    return BfqQueue(IoContext("a", ioprio_class="be", ioprio=level), 1000)


@pytest.mark.parametrize("level", range(8))
def test_a_finish_is_the_start_and_service_by_weight(level: int) -> None:
    one = queue(level)
    assert one.weight == 80 - 10 * level
    assert (one.start, one.finish, one.service, one.budget, one.left) == (0, 0, 0, 0, 0)
    assert (one.max_budget, one.seeky, one.active, one.dispatched) == (1000, False, False, 0)
    one.start = 12345
    one.calc_finish(1001)
    assert one.finish == 12345 + 1001 * 2**22 // (80 - 10 * level)
    one.budget, one.service = 50, 30
    assert one.left == 20


@pytest.mark.parametrize(
    ("gap", "sectors", "seek"),
    [
        (0, 8, False),
        (800, 8, False),
        (801, 8, True),
        (-800, 8, False),
        (-801, 8, True),
        (801, 63, True),
        # a long request is worth the way
        (801, 64, False),
        (10**6, 65, False),
    ],
)
def test_a_seek_is_a_short_request_far_from_the_end_of_the_last(
    gap: int, sectors: int, *, seek: bool
) -> None:
    """`BFQ_RQ_SEEKY` with BFQQ_SEEK_THR and BFQQ_SECT_THR_NONROT."""
    one = queue()
    at = 10**7
    one.note_seek(Request(Bio(at, 8, write=False, context=one.context), 0, 0))
    before = one.seeks
    one.note_seek(Request(Bio(at + 8 + gap, sectors, write=False, context=one.context), 0, 0))
    assert (before, one.seeks) == (1, 2 + seek)
    assert one.last_end == at + 8 + gap + sectors


def test_who_seeks_with_20_of_32_requests_is_seeky_and_older_ones_do_not_count() -> None:
    one, at, found = queue(), 0, []
    for number in range(64):
        at += 10**6 if number < 20 else 0
        one.note_seek(Request(Bio(at, 8, write=False, context=one.context), 0, 0))
        at += 8
        found.append(one.seeky)
    # the first seek goes with the 33rd request
    assert found == [False] * 19 + [True] * 13 + [False] * 32
