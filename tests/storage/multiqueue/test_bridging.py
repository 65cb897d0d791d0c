"""A bio that closes the gap between two requests makes one of them (`attempt_merge`)."""

from typing import Any

import pytest

from tests.storage.multiqueue.parts import MS, US, MqHost
from tests.storage.multiqueue.test_schedulers import FIRST, behind, rest

GAP = 1000


def bridged(host: MqHost, ends: tuple[int, int], *, write: bool = False) -> None:
    """Two requests of 8 sectors with room for another between them, which comes last."""
    for number, end in enumerate(ends):
        host.submit(GAP + 8 * end, at=(1 + number) * US, write=write)
    host.submit(GAP + 8, at=3 * US, write=write)


@pytest.mark.parametrize("scheduler", ["mq-deadline", "bfq"])
@pytest.mark.parametrize("ends", [(0, 2), (2, 0)])
@pytest.mark.parametrize("write", [False, True])
def test_what_meets_is_one_command(scheduler: str, ends: tuple[int, int], *, write: bool) -> None:
    host = behind(scheduler)
    bridged(host, ends, write=write)
    assert rest(host) == [GAP]
    assert host.drive.sizes[2:] == [24]
    # each of the five bios is answered once
    assert sorted(host.finished) == sorted([*FIRST, GAP, GAP + 8, GAP + 16])
    scheduler_: Any = host.queue.scheduler
    assert scheduler_.waiting == 0
    assert not scheduler_.has_work(host.queue.hardware[0])


@pytest.mark.parametrize("ends", [(0, 2), (2, 0)])
@pytest.mark.parametrize("other", [0, 1, 2, 3])
def test_the_earlier_deadline_holds_for_both(ends: tuple[int, int], other: int) -> None:
    """It is that of the first of them, whichever sector it has; the bio brings none."""
    host = MqHost("mq-deadline", io_queue_depth=2, queues=1, nr_requests=64, service_ps=30 * MS)
    for name, value in (("read_expire", 1), ("fifo_batch", 1)):
        host.queue.scheduler.store(name, value)
    for number, sector in enumerate(FIRST):
        host.submit(sector, at=number)
    parts = [GAP + 8 * ends[0], GAP + 8 * ends[1], GAP + 8]
    parts.insert(other, 50_000)
    for number, sector in enumerate(parts):
        # all are overdue when the drive takes one
        host.submit(sector, at=(1 + 3 * number) * MS)
    assert rest(host) == ([50_000, GAP] if other == 0 else [GAP, 50_000])
    assert sorted(host.drive.sizes[2:]) == [8, 24]
