"""Reading through the page cache: which bios, what they cost, who sleeps for what."""

from typing import Any

import pytest

from simnet.storage.files.files import ABSENT, CLEAN, DIRTY, READING, FileSystem, file_sectors
from simnet.storage.files.page_cache import OpenFile, PageCosts, Process
from tests.storage.files.parts import MS, US, Rig

SECOND = 1000 * MS
COSTS = PageCosts(call_ps=10_000, user_ps=5000, page_ps=2000, copy_ps=1000, bio_ps=3000)


def opened(**options: Any) -> tuple[Rig, Process, OpenFile]:
    rig = Rig(**({"max_hw_sectors": 1024, "pages": 40} | options))
    process = rig.process()
    return rig, process, OpenFile(rig.cache, process, rig.file)


class TestBios:
    def test_pages_that_follow_each_other_on_the_disk_are_one_bio(self) -> None:
        rig, process, file = opened(costs=COSTS)
        assert file.read_pages(0, 20) == 20
        # an indirect block lies behind the first twelve pages
        assert process.owed_system_ps == 2 * 3000 + 20 * 2000
        assert rig.states() == [READING] * 20 + [ABSENT] * 20
        assert rig.cache.cached == 20
        rig.run(SECOND)
        assert rig.device.order == [0, 13 * 8]
        assert rig.device.sizes == [12 * 8, 8 * 8]
        assert rig.states() == [CLEAN] * 20 + [ABSENT] * 20

    def test_pages_in_memory_are_left_out(self) -> None:
        rig, _, file = opened()
        rig.make_dirty([3, 6])
        assert file.read_pages(2, 7) == 5
        rig.run(SECOND)
        assert list(zip(rig.taken, rig.device.sizes, strict=True)) == [(2, 8), (4, 16), (7, 16)]
        assert rig.states()[1:10] == [ABSENT, CLEAN, DIRTY, CLEAN, CLEAN, DIRTY, CLEAN, CLEAN, 0]
        assert file.read_pages(2, 7) == 0

    def test_a_bio_is_no_larger_than_a_request(self) -> None:
        rig, _, file = opened(max_hw_sectors=24)
        assert file.read_pages(0, 8) == 8
        rig.run(SECOND)
        assert rig.device.sizes == [24, 24, 16]

    def test_nothing_is_read_beyond_the_end(self) -> None:
        rig, _, file = opened(pages=10)
        assert file.read_pages(7, 9) == 3
        assert file.read_pages(10, 5) == 0
        rig.run(SECOND)
        assert (rig.taken, rig.device.sizes) == ([7], [24])


class TestRead:
    def test_a_read_pays_reads_ahead_and_sleeps_for_its_first_page(self) -> None:
        rig, process, file = opened(costs=COSTS)
        rig.begin(process, file.read(0, 4), file.read(4, 2))
        rig.run(SECOND)
        # 15 ns for the call; then the disk begins; 19 ns for a bio of eight pages meanwhile; in
        # the end four copies and the second call, which begins the window ahead in two bios, for
        # which nobody sleeps
        ahead_ps = 2 * 3000 + 16 * 2000
        assert rig.ends == {"p": 15_000 + MS + 4000 + 15_000 + ahead_ps + 2000}
        assert rig.device.order == [0, 64, 13 * 8]
        assert rig.queue.stats.ios == [3, 0]
        assert rig.device.sizes == [64, 32, 12 * 8]
        ledger = rig.machine.costs.ledger
        assert (ledger.storage, ledger.application) == (
            2 * 10_000 + 19_000 + ahead_ps + 6000,
            2 * 5000,
        )
        assert ledger.application == rig.machine.cpus[0].times()["user_ps"]

    def test_what_is_in_memory_costs_the_call_and_the_copies(self) -> None:
        rig, process, file = opened(costs=COSTS)
        file.read_pages(0, 12)
        rig.run(SECOND)
        process.owed_system_ps = 0
        rig.begin(process, file.read(5, 3), at=SECOND)
        rig.run(2 * SECOND)
        assert rig.ends == {"p": SECOND + 15_000 + 3000}
        assert rig.device.order == [0]

    def test_equal_parts_of_kernel_and_program_are_paid(self) -> None:
        rig, process, file = opened(costs=PageCosts(5000, 5000, 0, 0, 0))
        file.read_pages(0, 12)
        rig.run(SECOND)
        rig.begin(process, file.read(5, 3), at=SECOND)
        rig.run(2 * SECOND)
        assert rig.ends == {"p": SECOND + 10_000}

    def test_who_owes_a_millisecond_pays_before_the_next_read(self) -> None:
        rig, process, file = opened(costs=PageCosts(0, 0, 0, 500 * US, 0))
        file.read_pages(0, 12)
        rig.run(10 * MS)
        owed = []

        def note() -> Any:
            owed.append(process.owed_system_ps)
            yield from ()

        steps = [step for page in range(4) for step in (file.read(page, 1), note())]
        rig.begin(process, *steps, at=10 * MS)
        rig.run(SECOND)
        assert owed == [500 * US, MS, 500 * US, MS]
        assert rig.ends == {"p": 12 * MS}

    def test_a_page_that_went_meanwhile_is_read_by_itself(self) -> None:
        rig, process, file = opened(files=2, memory=4)
        other = OpenFile(rig.cache, rig.process("other"), rig.files[1])
        rig.begin(process, file.read(0, 1))
        rig.run(10 * MS)
        assert rig.states()[:5] == [CLEAN] * 4 + [ABSENT]
        other.read_pages(0, 4)
        assert rig.states()[:5] == [ABSENT] * 5
        rig.run(20 * MS)
        again = OpenFile(rig.cache, rig.process("again"), rig.file)
        again.readahead = file.readahead
        steps = [again.read(page, 1) for page in (1, 2, 3, 4)]
        rig.begin(again.process, *steps, at=20 * MS)
        rig.run(SECOND)
        # the window ahead comes first, and the next one is two pages smaller, not twice as large
        assert rig.taken[2:4] == [4, 1]
        assert rig.device.sizes[2:4] == [64, 8]
        assert rig.device.sizes[-2] == 6 * 8

    def test_a_reader_without_a_request_sleeps_and_submits_the_rest_later(self) -> None:
        rig, process, file = opened(max_hw_sectors=8, nr_requests=4)
        rig.begin(process, file.read(0, 8))
        rig.run(SECOND)
        # A window of 16 pages, and six requests at most. The sleeper is woken when three are left,
        # takes three and sleeps again: with 6, 9, 12 and 15, the last of which goes at 12 ms.
        assert rig.device.taken_ms == list(range(16))
        assert rig.device.sizes == [8] * 16
        assert rig.queue.waits == 4
        assert rig.ends == {"p": 12 * MS}
        assert rig.cache.cached == rig.states().count(CLEAN) == 16

    def test_so_does_one_whose_page_went_meanwhile(self) -> None:
        rig, process, file = opened(max_hw_sectors=8, nr_requests=4, files=2)
        rig.begin(process, file.read(0, 1))
        rig.run(10 * MS)
        rig.file.state[1] = ABSENT
        other = OpenFile(rig.cache, rig.process("other"), rig.files[1])
        # all that may be
        assert other.read_pages(0, 6) == 6
        again = OpenFile(rig.cache, rig.process("again"), rig.file)
        again.readahead = file.readahead
        rig.begin(again.process, again.read(1, 1), again.read(30, 1), at=10 * MS)
        rig.run(SECOND)
        assert rig.queue.waits == 1
        assert rig.states()[1] == rig.states()[30] == CLEAN
        assert "again" in rig.ends

    def test_reads_congest_a_queue(self) -> None:
        rig, _, file = opened()
        assert not file.read_congested
        rig.queue.congested[1] = True
        assert not file.read_congested
        rig.queue.congested[0] = True
        assert file.read_congested

    def test_read_ahead_is_the_devices(self) -> None:
        rig = Rig()
        rig.queue.read_ahead_kb = 60
        assert OpenFile(rig.cache, rig.process("p"), rig.file).readahead.ra_pages == 15
        rig.queue.read_ahead_kb = 16384
        assert OpenFile(rig.cache, rig.process("q"), rig.file).readahead.ra_pages == 4096


class TestPlace:
    @pytest.mark.parametrize(
        ("page", "block"),
        # a block behind the first 12, two behind 1024 more, and one behind each 1024 after that
        [(0, 0), (11, 11), (12, 13), (1035, 1036), (1036, 1039), (2059, 2062), (2060, 2064)],
    )
    def test_indirect_blocks_lie_between_pages(self, page: int, block: int) -> None:
        rig = Rig(pages=3000)
        assert rig.file.sector(page) == 8 * block

    @pytest.mark.parametrize(
        ("page", "end"), [(0, 12), (11, 12), (12, 1036), (1035, 1036), (1036, 2060), (2060, 2100)]
    )
    def test_a_run_ends_there(self, page: int, end: int) -> None:
        assert Rig(pages=2100).file.run_end(page) == end

    def test_a_run_ends_with_a_short_file(self) -> None:
        assert Rig(pages=9).file.run_end(3) == 9

    @pytest.mark.parametrize(
        ("pages", "blocks"), [(0, 0), (1, 1), (12, 12), (13, 14), (1037, 1040)]
    )
    def test_a_file_takes_its_pages_and_indirect_blocks(self, pages: int, blocks: int) -> None:
        assert file_sectors(pages) == 8 * blocks

    def test_files_lie_one_behind_the_other(self) -> None:
        rig = Rig()
        system = FileSystem(rig.queue, rig.system.interrupt, 3, 13, first_sector=80)
        assert [file.first_sector for file in system.files] == [80, 80 + 112, 80 + 224]
        assert system.end_sector == 80 + 336
        assert [file.pages for file in system.files] == [13] * 3
        assert system.cpu is rig.machine.cpus[0]

    def test_a_disk_may_be_full_and_no_more(self) -> None:
        rig = Rig()
        sectors = rig.queue.target.sectors
        FileSystem(rig.queue, rig.system.interrupt, 1, 12, first_sector=sectors - 96)
        with pytest.raises(ValueError, match=r"1 files of 48 KiB need 96 sectors, the disk has"):
            FileSystem(rig.queue, rig.system.interrupt, 1, 12, first_sector=sectors - 95)

    def test_who_waits_for_a_page_is_woken_by_its_range_only(self) -> None:
        rig = Rig()
        events = {page: rig.file.wait_for(page, rig.env) for page in (3, 4, 5, 6)}
        cpu: Any = rig.machine.cpus[0]
        rig.file.wake(4, 2, cpu)
        assert [page for page, event in events.items() if event.triggered] == [4, 5]
        assert events[4].value is cpu
        rig.file.wake(3, 1, cpu)
        rig.file.wake(0, 6, cpu)
        assert [page for page, event in events.items() if not event.triggered] == [6]
