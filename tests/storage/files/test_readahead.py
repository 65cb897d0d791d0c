"""Read-ahead of Linux 2.6.18 against windows worked out by hand."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simnet.storage.files.readahead import FileReadahead


class File:
    """Pages of a file, those in the cache, and what was asked of the disk."""

    def __init__(self, pages: int = 10**6) -> None:
        self.pages = pages
        self.cached: set[int] = set()
        self.asked: list[tuple[int, int]] = []
        self.read_congested = False

    def read_pages(self, start: int, pages: int) -> int:
        wanted = set(range(start, min(start + pages, self.pages))) - self.cached
        if wanted:
            self.asked.append((start, pages))
        self.cached |= wanted
        return len(wanted)


def sequential(ra_pages: int, read: int, reads: int, file: File | None = None) -> File:
    """Read a file from the start, `read` pages at a time."""
    file = file or File()
    state = FileReadahead(file, ra_pages)
    for number in range(reads):
        page, end = number * read, (number + 1) * read
        while page < end:
            page = state.read(page, end - page)
    return file


def test_windows_of_single_pages_grow_to_the_largest() -> None:
    # 1 page is 1/32 of 32: 4 pages; then twice as many each time
    asked = sequential(32, 1, 64).asked
    assert asked[:5] == [(0, 4), (4, 8), (12, 16), (28, 32), (60, 32)]


def test_the_first_window_follows_from_the_first_read() -> None:
    # 8 pages are a quarter of 32: twice as many; 16 are more: all
    assert sequential(32, 8, 1).asked == [(0, 16)]
    assert sequential(32, 16, 1).asked == [(0, 32)]


def test_a_read_as_long_as_the_largest_window_has_two_on_their_way() -> None:
    assert sequential(32, 32, 1).asked == [(0, 32), (32, 32)]


def test_a_first_read_as_long_does_not_heed_that_the_disk_is_busy() -> None:
    file = File()
    file.read_congested = True
    assert sequential(32, 32, 1, file).asked == [(0, 32), (32, 32)]


def test_the_page_that_was_read_last_is_not_read_again() -> None:
    state = FileReadahead(File())
    assert [state.read(0, 1), state.read(0, 1), state.read(0, 2)] == [1, 1, 2]


def test_a_longer_read_goes_window_by_window() -> None:
    asked = sequential(32, 128, 1).asked
    assert asked == [(page, 32) for page in range(0, 160, 32)]


def test_whoever_reads_is_told_the_page_to_go_on_with() -> None:
    file = File()
    state = FileReadahead(file)
    # the same page again; up to the end of the window ahead; somewhere else
    assert [state.read(0, 1), state.read(0, 1), state.read(1, 40), state.read(700, 3)] == [
        1,
        1,
        28,
        703,
    ]
    file.cached = set(range(1000, 2000))
    for page in range(1000, 1400):
        assert state.read(page, 1) == page + 1


def test_a_random_read_reads_what_is_asked_for_only() -> None:
    file = File()
    state = FileReadahead(file)
    for page in (500, 100, 900):
        state.read(page, 1)
    assert file.asked == [(500, 1), (100, 1), (900, 1)]


def test_a_seek_closes_the_windows_and_the_next_sequential_read_opens_them() -> None:
    file = File()
    state = FileReadahead(file)
    for page in (0, 1, 2, 700, 701):
        state.read(page, 1)
    assert file.asked == [(0, 4), (4, 8), (700, 1), (701, 4)]


def test_a_congested_queue_gets_no_more_than_is_needed() -> None:
    file = File()
    state = FileReadahead(file)
    state.read(0, 1)
    file.read_congested = True
    state.read(1, 1)
    assert file.asked == [(0, 4)]
    file.read_congested = False
    state.read(2, 1)
    assert file.asked == [(0, 4), (4, 8)]


def test_a_file_in_the_cache_is_not_read_ahead() -> None:
    file = File()
    file.cached = set(range(2000))
    state = FileReadahead(file)
    for page in range(1000):
        state.read(page, 1)
    assert state.size == 0
    file.cached.clear()
    state.missed()
    state.read(1000, 1)
    assert file.asked == [(1000, 4)]


def test_256_pages_in_a_row_that_were_there_are_enough_to_stop() -> None:
    def window(ra_pages: int, read: int) -> int:
        file = File()
        file.cached = set(range(2000))
        state = FileReadahead(file, ra_pages)
        state.read(0, read)
        return state.size

    # the first windows are of 256 and 255 pages
    assert window(1024, 128) == 0
    assert window(255, 100) == 255


def test_a_miss_makes_the_next_window_smaller() -> None:
    file = File()
    state = FileReadahead(file)
    for page in range(40):
        state.read(page, 1)
    assert file.asked[-1] == (60, 32)
    state.missed()
    for page in range(40, 61):
        state.read(page, 1)
    assert file.asked[-1] == (92, 30)
    for page in range(61, 93):
        state.read(page, 1)
    assert file.asked[-1] == (122, 32)


def test_a_miss_is_forgotten_with_its_windows() -> None:
    file = File()
    state = FileReadahead(file)
    for page in range(40):
        state.read(page, 1)
    state.missed()
    for page in (700, 701, 702):
        state.read(page, 1)
    assert file.asked[-3:] == [(700, 1), (701, 4), (705, 8)]


@pytest.mark.parametrize(
    ("ra_pages", "read", "asked"),
    # `get_init_ra_size`: of a read rounded up to a power of two, four times up to a 32nd of the
    # largest window, twice up to a quarter, then all
    [
        (64, 1, (0, 4)),
        (64, 2, (0, 8)),
        (64, 3, (0, 8)),
        (64, 16, (0, 32)),
        (64, 17, (0, 64)),
        (62, 2, (0, 4)),
        (62, 16, (0, 62)),
    ],
)
def test_the_first_window_is_a_multiple_of_the_read(
    ra_pages: int, read: int, asked: tuple[int, int]
) -> None:
    assert sequential(ra_pages, read, 1).asked == [asked]


@pytest.mark.parametrize(
    ("ra_pages", "sizes"),
    # `get_next_ra_size`: four times below a sixteenth of the largest window, else twice
    [(135, [8, 16, 32, 64, 128, 135]), (144, [8, 32, 64, 128, 144]), (128, [8, 16, 32, 64, 128])],
)
def test_the_next_window_is_a_multiple_of_the_last(ra_pages: int, sizes: list[int]) -> None:
    asked = sequential(ra_pages, 2, 200).asked
    assert [pages for _, pages in asked[: len(sizes)]] == sizes


@pytest.mark.parametrize(("pages", "asked"), [(3, [(0, 4)]), (4, [(0, 4), (4, 8)])])
def test_what_a_read_reaches_is_read_however_busy_the_disk_is(
    pages: int, asked: list[tuple[int, int]]
) -> None:
    file = File()
    state = FileReadahead(file)
    state.read(0, 1)
    file.read_congested = True
    state.read(1, pages)
    assert file.asked == asked
    state.read(900, 2)
    assert file.asked[-1] == (900, 2)


@pytest.mark.parametrize("missed", [True, False])
def test_pages_that_were_not_there_begin_the_count_anew(*, missed: bool) -> None:
    file = File()
    state = FileReadahead(file, 255)
    file.cached = {*range(4000)} - {3000}
    state.read(500, 200)
    if missed:
        state.missed()
    else:
        state.read(3000, 1)
    # 255 in a row, and one more
    state.read(1000, 255)
    file.cached.discard(2)
    state.read(2, 1)
    assert file.asked[-1] == (2, 1)
    state.read(1000, 255)
    state.read(1500, 1)
    file.cached.clear()
    state.read(7, 1)
    assert file.asked[-1] == (2, 1)
    state.missed()
    state.read(9, 1)
    assert file.asked[-1] == (9, 1)


def test_a_read_is_held_back_where_read_ahead_turns_off() -> None:
    file = File()
    file.cached = set(range(4000))
    state = FileReadahead(file)
    for page in range(1000, 1700, 100):
        state.read(page, 32)
    state.read(2000, 24)
    assert state.read(2024, 1) == 2025
    # 7 times 32, 24, 4 and then 8 pages were there: not beyond the window that was asked for last
    assert state.read(2025, 20) == 2024 + 4 + 8


@given(
    st.integers(1, 128), st.lists(st.tuples(st.integers(0, 300), st.integers(1, 64)), max_size=20)
)
def test_every_page_that_is_asked_for_in_turn_is_read(
    ra_pages: int, reads: list[tuple[int, int]]
) -> None:
    file = File(pages=400)
    state = FileReadahead(file, ra_pages)
    for start, pages in reads:
        page, end = start, min(start + pages, 400)
        while page < end:
            following = state.read(page, end - page)
            assert following > page
            page = following
    for _, pages in file.asked:
        assert pages <= max(ra_pages, 1)
    # a process that reads page by page finds each in the cache, unless it turned itself off
    file = sequential(ra_pages, 1, 200, File(pages=400))
    assert set(range(200)) <= file.cached
