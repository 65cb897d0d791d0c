"""The page cache: read-ahead into bios, dirty limits, fsync, batches of the request queue."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.kernel.environment import Environment
from simnet.scenario.core.load import load
from simnet.scenario.system.build import build
from simnet.storage.files.files import DIRTY, REDIRTIED, WRITTEN, File
from simnet.storage.files.page_cache import PageCache, PageCosts

SECOND = 10**12


def storage(tuning: str, **settings: str) -> Any:
    effective = load("vscsi-parallel", tunings=(tuning,), settings=settings)
    return build(effective, seed=1).parts["storage"]


def page_cache(**settings: int) -> PageCache:
    usual = {"hz": 1000, "pages": 100_000, "cpus": 2, "dirty_ratio": 40}
    usual["dirty_background_ratio"] = 10
    return PageCache(Environment(), costs=PageCosts(0, 0, 0, 0, 0), **(usual | settings))


def run(stored: Any, seconds: float) -> None:
    stored.env.run(until=stored.sim.now + int(seconds * SECOND))


@given(st.integers(0, 5000))
def test_a_page_lies_behind_the_one_before_unless_an_indirect_block_is_between(page: int) -> None:
    file = File(None, 0, 6000)  # type: ignore[arg-type]
    beside = file.sector(page + 1) == file.sector(page) + 8
    assert beside == (page + 1 < file.run_end(page))


@pytest.mark.parametrize(
    ("dirty", "background", "limit", "asked"),
    # `get_dirty_limits`: from 5 percent to half of what is not mapped; the background is half of
    # that where it is not less
    [
        (40, 10, 40_000, 10_000),
        (40, 39, 40_000, 39_000),
        (40, 40, 40_000, 20_000),
        (7, 10, 7000, 3000),
        (50, 10, 50_000, 10_000),
        (51, 50, 50_000, 25_000),
        (5, 4, 5000, 4000),
        (1, 5, 5000, 2000),
    ],
)
def test_limits_are_parts_of_memory(dirty: int, background: int, limit: int, asked: int) -> None:
    cache = page_cache(dirty_ratio=dirty, dirty_background_ratio=background)
    assert (cache.limit, cache.background) == (limit, asked)


@pytest.mark.parametrize(
    ("pages", "cpus", "ratelimit"),
    # `page_writeback_init`: a 32nd of memory by CPU, from 16 pages to 4 MiB
    [(20_480, 2, 320), (20_480, 1, 640), (500, 1, 16), (10**6, 4, 1024)],
)
def test_writers_look_at_them_every_so_many_pages(pages: int, cpus: int, ratelimit: int) -> None:
    assert page_cache(pages=pages, cpus=cpus).ratelimit == ratelimit


def test_a_file_that_is_read_from_its_start_comes_in_requests_of_a_window_cut_at_blocks() -> None:
    settings = {
        "ffsb.sequential-read.num_threads": "1",
        "ffsb.sequential-read.num_files": "1",
        "ffsb.sequential-read.file": "32 MiB",
        "sdb.read_ahead": "256 KiB",
    }
    stored = storage("sequential-read-alone", **settings)
    run(stored, 1.5)
    stats = stored.queues["sdb"].stats
    assert stats.sectors[0] == 32 * 2048  # each page once, the rest comes from memory
    assert stats.sectors[0] / stats.ios[0] == pytest.approx(8192 / 17, rel=0.06)
    assert sum(thread.bytes_read for thread in stored.threads) > 32 << 20


def test_a_reader_of_pages_in_memory_needs_no_disk() -> None:
    settings = {"ffsb.random-read.num_files": "1", "ffsb.random-read.file": "64 KiB"}
    stored = storage("random-read-alone", **settings)
    run(stored, 0.1)
    assert stored.queues["sdc"].stats.ios[0] <= 16
    assert sum(thread.bytes_read for thread in stored.threads) > 1 << 20


def test_memory_holds_no_more_pages_than_it_has() -> None:
    stored = storage("sequential-read-alone", **{"kernel.page_cache": "64 MiB"})
    run(stored, 1.5)
    under_way = sum(queue.stats.in_flight for queue in stored.queues.values()) * 128
    assert stored.cache.cached <= stored.cache.pages + under_way
    held = sum(
        len(file.state) - file.state.count(0) for system in stored.systems for file in system.files
    )
    assert held == stored.cache.cached


def test_writers_wait_when_too_much_is_dirty() -> None:
    settings = {"kernel.page_cache": "64 MiB", "ffsb.random-write.fsync_file": "off"}
    stored = storage("random-write-alone", **settings)
    run(stored, 0.6)
    cache = stored.cache
    assert cache.exceeded
    slack = 8 * len(stored.threads) + cache.ratelimit
    assert cache.limit - slack <= cache.dirty + cache.writeback <= cache.limit + slack
    files = [file for system in stored.systems for file in system.files]

    def pages(*states: int) -> int:
        return sum(file.state.count(state) for file in files for state in states)

    assert cache.dirty == pages(DIRTY, REDIRTIED) == sum(file.dirty for file in files)
    assert cache.writeback == pages(WRITTEN, REDIRTIED)


def test_pdflush_writes_what_is_beyond_the_background_limit() -> None:
    settings = {
        "kernel.page_cache": "1 GiB",
        "vm.dirty_background_ratio": "1",
        "ffsb.random-write.fsync_file": "off",
        "ffsb.random-write.num_threads": "1",
        "ffsb.random-write.write": "100 MiB",
    }
    stored = storage("random-write-alone", **settings)
    run(stored, 0.4)
    assert stored.queues["sdd"].stats.ios[1] > 20
    assert stored.cache.dirty > stored.cache.background


def test_fsync_leaves_no_more_dirty_than_what_is_being_written() -> None:
    stored = storage("random-write-alone", **{"ffsb.random-write.write": "64 KiB"})
    run(stored, 2)
    assert sum(thread.operations for thread in stored.threads) > len(stored.threads)
    assert stored.cache.dirty + stored.cache.writeback <= 16 * len(stored.threads)


def test_writers_that_were_woken_take_batches_beyond_nr_requests() -> None:
    queue = (stored := storage("random-write-alone")).queues["sdd"]
    found = []
    for _ in range(150):
        run(stored, 0.01)
        found.append(queue.count[1])
    # freed requests go unused until somebody is woken; 32 more are a batch
    assert min(found[50:]) >= 120
    assert 150 <= max(found[50:]) <= 192
