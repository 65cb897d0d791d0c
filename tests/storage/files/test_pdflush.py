"""pdflush: which pages its two threads write, when, and when they leave a queue alone."""

from typing import Any

from simnet.storage.block.queue import RequestQueue
from simnet.storage.files.files import FileSystem
from simnet.storage.files.page_cache import PageCosts
from simnet.storage.files.pdflush import Pdflush
from tests.storage.files.parts import FREE, MS, US, Rig
from tests.storage.parts import Device

SECOND = 1000 * MS


def flushed(interval_ms: int = 0, expire_ms: int = 0, **options: Any) -> tuple[Rig, Pdflush]:
    rig = Rig(**options)
    return rig, Pdflush(
        rig.cache,
        [rig.system],
        rig.process("background"),
        rig.process("periodic"),
        interval_ps=interval_ms * MS,
        expire_ps=expire_ms * MS,
    )


class TestBackground:
    def test_it_sleeps_until_it_is_asked_and_then_writes_a_chunk(self) -> None:
        rig, pdflush = flushed(background=10)
        rig.make_dirty(range(11))
        rig.run(SECOND)
        assert rig.taken == []
        pdflush.start()
        pdflush.start()
        rig.run(2 * SECOND)
        assert rig.taken == list(range(11))
        assert rig.cache.dirty == 0
        # and again, from where it was
        rig.make_dirty(range(12))
        pdflush.start()
        rig.run(3 * SECOND)
        assert rig.taken == [*range(11), 11, *range(11)]

    def test_at_the_limit_it_writes_nothing(self) -> None:
        rig, pdflush = flushed(background=11)
        rig.make_dirty(range(11))
        pdflush.start()
        rig.run(SECOND)
        assert rig.taken == []

    def test_the_writer_asks_it(self) -> None:
        rig, _ = flushed(background=10)
        rig.make_dirty([*range(12)] * 2)
        rig.run(SECOND)
        assert rig.taken == list(range(12))

    def test_it_writes_chunks_of_1024_pages_until_it_is_below_the_limit(self) -> None:
        rig, pdflush = flushed(memory=10_000, pages=3000, nr_requests=4096)
        rig.make_dirty(range(2100))
        assert rig.cache.background == 1000
        pdflush.start()
        rig.run(MS)
        assert rig.cache.dirty == 2100 - 2 * 1024

    def test_it_waits_for_a_congested_queue_and_stops_below_the_limit(self) -> None:
        rig, pdflush = flushed(memory=100, pages=40, nr_requests=8)
        rig.make_dirty(range(12))
        rig.make_dirty(range(20, 34))
        pdflush.start()
        found = []
        for end_ms in range(12):
            rig.run(end_ms * MS + 1)
            found.append(rig.cache.dirty)
        # eight at once, and three more whenever less than six are left
        assert found == [18, 18, 18, 15, 15, 15, 12, 12, 12, 9, 9, 9]
        rig.run(SECOND)
        assert rig.cache.dirty == 9

    def test_reads_that_congest_a_queue_are_not_waited_for(self) -> None:
        rig, pdflush = flushed(pages=40)
        rig.queue.congested[0] = True
        for first in (0, 20):
            rig.make_dirty(range(first, first + 11))
            pdflush.start()
            rig.run(rig.sim.now + MS)
            # it does not sleep
            assert rig.cache.dirty == 0

    def test_it_works_for_what_it_writes(self) -> None:
        rig, pdflush = flushed(costs=PageCosts(0, 0, 0, 0, 10 * US))
        rig.make_dirty(range(12))
        pdflush.start()
        rig.run(SECOND)
        assert rig.machine.costs.ledger.storage == 120 * US
        assert rig.machine.cpus[0].times()["system_ps"] == 120 * US

    def test_of_two_congested_queues_it_waits_for_the_first(self) -> None:
        rig = Rig(nr_requests=8)
        slow = Device(rig.sim, 10 * MS, "slow")
        queue = RequestQueue(
            rig.sim, "sdb", slow, scheduler="noop", max_hw_sectors=8, nr_requests=8
        )
        second = FileSystem(queue, rig.system.interrupt, 1, 16)
        threads = rig.process("background"), rig.process("periodic")
        pdflush = Pdflush(rig.cache, [rig.system, second], *threads, interval_ps=0, expire_ps=0)
        for system in (rig.system, second):
            rig.make_dirty(range(15), system.files[0])
        pdflush.start()
        rig.run(4 * MS)
        # eight on both, and three more on the first
        assert rig.cache.dirty == 30 - 16 - 3


class TestPeriodic:
    def test_it_writes_at_every_interval_what_has_been_dirty_for_long(self) -> None:
        rig, _ = flushed(20, 10, files=2)
        for number, at_ms in enumerate((10, 11)):
            process = rig.process(f"first{number}")
            rig.begin(process, rig.dirty(process, [number], rig.files[number]), at=at_ms * MS)
        rig.run(19 * MS)
        assert rig.cache.dirty == 2
        rig.run(21 * MS)
        # dirty for ten ms, and for nine
        assert [file.dirty for file in rig.files] == [0, 1]
        rig.run(39 * MS)
        assert rig.cache.dirty == 1
        rig.run(SECOND)
        # each plugs an empty queue, and nobody waits: three ticks
        assert rig.device.taken_ms == [23, 43]

    def test_without_an_interval_it_never_does(self) -> None:
        rig, _ = flushed(0, 0)
        rig.make_dirty([1])
        rig.run(100 * SECOND)
        assert rig.taken == []

    def test_it_writes_no_more_than_was_dirty_when_it_began(self) -> None:
        rig, _ = flushed(20, 0, pages=40, memory=1000, nr_requests=8)
        rig.make_dirty(range(11))
        writer = rig.process()
        rig.begin(writer, rig.dirty(writer, range(20, 26)), at=20 * MS + US)
        rig.run(30 * MS)
        # eight, and three when less than six are left; the six that came later stay
        assert rig.cache.dirty == 6
        rig.run(39 * MS)
        assert rig.taken == list(range(11))
        rig.run(SECOND)
        assert rig.cache.dirty == 0

    def test_many_pages_are_several_chunks(self) -> None:
        rig, _ = flushed(20, 0, memory=10_000, pages=3000, nr_requests=4096, costs=FREE)
        rig.make_dirty(range(2100))
        rig.run(21 * MS)
        assert rig.cache.dirty == 0
