"""mq-deadline and kyber, behind a drive that holds few commands."""

import itertools
from typing import Any, cast

import pytest

from simnet.storage.block.request import READ
from simnet.storage.multiqueue.kyber import Domain
from tests.storage.multiqueue.parts import MS, US, MqHost

FIRST = [8000, 8100]


def behind(scheduler: str) -> MqHost:
    """One command in the drive, 1 ms each, one with the driver; the rest waits."""
    host = MqHost(scheduler, io_queue_depth=2, queues=1, nr_requests=1000)
    host.submit(FIRST[0])
    host.submit(FIRST[1], at=1)
    return host


def deadline(**tunables: int) -> MqHost:
    host = behind("mq-deadline")
    for name, value in tunables.items():
        host.queue.scheduler.store(name, value)
    return host


def rest(host: MqHost) -> list[int]:
    """What goes to the drive after the first two."""
    order = host.run()
    assert order[:2] == FIRST
    return order[2:]


def runs(host: MqHost) -> list[tuple[str, int]]:
    """Reads and writes in the order of the drive, equal ones together."""
    rest(host)
    return [(kind, len(list(same))) for kind, same in itertools.groupby(host.drive.kinds[2:])]


class TestMqDeadline:
    def test_sectors_ascend_within_a_batch(self) -> None:
        host = deadline()
        host.submit(300, 100, 9000, 200, at=US)
        # on from 8100; then from the oldest, 300, since none has a higher sector
        assert rest(host) == [9000, 300, 100, 200]

    def test_writes_starve_no_longer_than_they_may(self) -> None:
        """Batches of 2, and two batches of reads between batches of writes."""
        host = deadline(fifo_batch=2, writes_starved=2)
        host.submit(*range(10_000, 12_000, 100), at=US)
        host.submit(*range(50_000, 51_000, 100), at=2 * US, write=True)
        found = runs(host)
        assert found[1:4] == [("w", 2), ("r", 4), ("w", 2)]
        assert max(length for kind, length in found if kind == "r") <= 2 * (2 + 1)

    @pytest.mark.parametrize(("expire_ms", "place"), [(5, 4), (5000, 20)])
    def test_a_request_whose_deadline_is_over_goes_first(self, expire_ms: int, place: int) -> None:
        """Reads come in ascending order all the time, and one is far behind them."""
        host = deadline(read_expire=expire_ms, fifo_batch=1)
        host.submit(*range(9000, 9300, 100), at=US)
        host.submit(0, at=2 * US)
        for number in range(17):
            host.submit(10_000 + 100 * number, at=number * MS + 3 * US)
        assert rest(host).index(0) == pytest.approx(place, abs=1)

    def test_higher_classes_first(self) -> None:
        host = deadline()
        for at, one in ((1, "idle"), (2, "be"), (3, "rt")):
            host.submit(1000 * at, 1000 * at + 100, at=at * US, ioprio_class=one)
        assert rest(host) == [3000, 3100, 2000, 2100, 1000, 1100]

    def test_a_lower_class_that_has_waited_long_is_served(self) -> None:
        """Real-time reads without end: the idle one goes after prio_aging_expire."""
        host = deadline(prio_aging_expire=20)
        host.submit(500, at=US, ioprio_class="idle")
        for number in range(60):
            host.submit(9000 + number * 100, at=number * MS // 2 + US, ioprio_class="rt")
        assert rest(host).index(500) == pytest.approx(19, abs=1)

    @pytest.mark.parametrize(("write", "expected"), [(False, [100]), (True, [100, 108])])
    def test_a_read_grows_by_the_read_behind_it_and_by_no_write(
        self, expected: list[int], *, write: bool
    ) -> None:
        host = deadline()
        host.submit(100, at=US)
        host.submit(108, at=2 * US, write=write)
        assert rest(host) == expected

    def test_equal_places_are_requests_of_their_own(self) -> None:
        host = deadline()
        host.submit(800, at=US)
        host.submit(800, at=2 * US)
        assert rest(host) == [800, 800]

    def test_a_queue_with_room_holds_nothing_back(self) -> None:
        """NVMe's usual depth: the order is that of submission, call by call."""
        host = MqHost("mq-deadline", queues=1)
        host.submit(800)
        host.submit(400, at=US)
        host.submit(0, at=2 * US)
        assert host.run(3 * US) == [800, 400, 0]


class TestKyber:
    def test_no_more_than_the_tokens_are_in_the_drive(self) -> None:
        host = MqHost("kyber", nr_requests=1000, queues=1)
        host.submit(*range(0, 400 * 100, 100), write=True)
        host.submit(*range(10**6, 10**6 + 400 * 100, 100), at=US)
        host.run(2 * US)
        assert host.drive.kinds.count("w") == 128
        assert host.drive.kinds.count("r") == 256
        host.run()
        assert len(host.log) == 800
        assert [domain.used for domain in cast("Any", host.queue.scheduler).domains] == [0, 0]

    def test_batches_of_reads_and_writes_take_turns(self) -> None:
        host = behind("kyber")
        host.submit(*range(9000, 9000 + 40 * 100, 100), at=US)
        host.submit(*range(10**6, 10**6 + 40 * 100, 100), at=2 * US, write=True)
        assert [length for _, length in runs(host)][1:4] == [8, 16, 8]

    def test_lists_of_cpus_are_taken_one_after_the_other(self) -> None:
        """What waits is not in the order of arrival, but in that of the CPUs that share a queue."""
        host = behind("kyber")
        host.submit(9000, at=US)
        for number in range(4):
            host.submit(1000 + 100 * number, at=(2 + number) * US, cpu=3 - number)
            host.submit(2000 + 100 * number, at=(10 + number) * US, cpu=3 - number)
        assert rest(host) == [9000, 1300, 2300, 1200, 2200, 1100, 2100, 1000, 2000]

    @pytest.mark.parametrize(
        ("cpu", "at", "size"), [(0, 5 * US, 16), (1, 5 * US, 8), (0, 4 * MS, 8)]
    )
    def test_bios_merge_with_what_their_cpu_submitted_and_no_queue_has_taken(
        self, cpu: int, at: int, size: int
    ) -> None:
        """A token is free after 1 ms; then the queue takes the lists."""
        host = behind("kyber")
        host.submit(*range(9000, 9800, 100), at=US)
        host.submit(100, at=2 * US)
        host.submit(108, at=at, cpu=cpu)
        host.run()
        assert host.drive.sizes[host.drive.order.index(100)] == size

    @pytest.mark.parametrize(("target_ns", "tokens"), [(2_000_000, 64), (200_000_000, 128)])
    def test_reads_beyond_their_target_take_tokens_from_writes(
        self, target_ns: int, tokens: int
    ) -> None:
        """Reads of 3 ms for 2 ms; writes of 3 ms are two quarters of their 10 ms: half as many."""
        host = MqHost("kyber", slots=64, service_ps=3 * MS, queues=1, nr_requests=1000)
        host.queue.scheduler.store("read_lat_nsec", target_ns)
        for number in range(600):
            host.submit(*range(0, 3000, 100), at=number * 2 * MS)
            host.submit(number * 1000, at=number * 2 * MS + US, write=True)
        host.run(1200 * MS)
        reads, writes = cast("Any", host.queue.scheduler).domains
        assert (reads.depth, writes.depth) == (256, tokens)

    def test_percentiles_wait_for_samples_or_a_second(self) -> None:
        domain = cast("Any", MqHost("kyber").queue.scheduler).domains[READ]
        buckets = [400, 0, 0, 95, 4, 0, 0, 0]
        assert domain.percentile(buckets, 99, 1000, 1000) == -1
        buckets[1] = 1
        assert domain.percentile(buckets, 99, 1001, 1000) == 3
        assert buckets == [0] * 8
        assert domain.percentile([1, 0, 0, 0, 0, 0, 0, 1], 90, 1002, 1000) == -1
        assert domain.percentile([1, 0, 0, 0, 0, 0, 0, 1], 90, 2002, 1000) == 7


@pytest.mark.parametrize(
    ("buckets", "percent", "found"),
    [
        ([500, 0, 0, 0, 0, 0, 0, 0], 99, 0),
        # the 495th of 500 is the last of the first bucket, or one too far
        ([495, 5, 0, 0, 0, 0, 0, 0], 99, 0),
        ([494, 6, 0, 0, 0, 0, 0, 0], 99, 1),
        ([450, 0, 0, 50, 0, 0, 0, 0], 90, 0),
        ([449, 0, 0, 51, 0, 0, 0, 0], 90, 3),
        # of 501 the 496th: ranks are rounded up
        ([495, 0, 0, 0, 0, 0, 0, 6], 99, 7),
        ([0, 0, 0, 0, 0, 0, 0, 500], 90, 7),
    ],
)
def test_a_percentile_is_the_bucket_of_its_rank(
    buckets: list[int], percent: int, found: int
) -> None:
    """`calculate_percentile`; what was counted begins anew."""
    assert Domain(256).percentile(buckets, percent, 0, 250) == found
    assert buckets == [0] * 8


def test_few_samples_are_taken_after_a_second() -> None:
    domain = Domain(256)
    buckets = [0, 0, 7, 0, 0, 0, 0, 0]
    assert domain.percentile([0] * 8, 99, 0, 250) == -1
    assert domain.percentile(buckets, 99, 10, 250) == -1
    assert domain.percentile(buckets, 99, 259, 250) == -1
    assert domain.percentile(buckets, 99, 260, 250) == 2
