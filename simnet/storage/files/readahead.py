"""Read-ahead of a file: a current window, and one ahead of it whose pages are on their way.

Source: mm/readahead.c of Linux 2.6.18 (`page_cache_readahead`, `handle_ra_miss`), called once for
each read with its first page and its length. Windows start at up to 4 times the read and double up
to `ra_pages`; a read elsewhere closes them. A queue that is congested is not given more. 256 pages
in a row that were in the cache already turn it off.
"""

from typing import Protocol

# VM_MIN_READAHEAD is 16 KiB
_MIN_PAGES = 4
_MAX_CACHE_HIT = 256


class PageReader(Protocol):
    """The file, its pages in the cache, and the queue that they are read through."""

    @property
    def read_congested(self) -> bool:
        """Whether the device's queue has enough reads."""

    def read_pages(self, start: int, pages: int) -> int:
        """Begin to read those of the pages that are not in the cache and within the file.

        Returns:
            how many those are.
        """


class FileReadahead:
    """The read-ahead state of an open file (`struct file_ra_state`).

    Args:
        reader: reads pages.
        ra_pages: largest window: `read_ahead_kb` of the queue in pages.

    Attributes:
        start, size: the current window in pages; size 0 if read-ahead is off.
        ahead_start, ahead_size: the window ahead; start 0 if there is none.
        prev_page: the page that was asked for last.
    """

    def __init__(self, reader: PageReader, ra_pages: int = 32) -> None:
        self.reader = reader
        self.ra_pages = ra_pages
        self.start = self.size = self.ahead_start = self.ahead_size = 0
        self.prev_page = -1
        self.cache_hit = 0
        self._missed = self._in_cache = False

    def read(self, page: int, pages: int) -> int:
        """A read of `pages` pages from `page` on begins; return the page to ask for next.

        A read that is longer than the windows comes again with that page.
        """
        if page == self.prev_page:
            pages -= 1
            if pages:
                page += 1
        sequential = page == self.prev_page + 1
        self.prev_page = page
        wanted = min(pages, self.ra_pages)
        if wanted == 0 or self._in_cache:
            return self.prev_page + 1
        self.prev_page += wanted - 1
        if sequential and self.size == 0:
            self.size = self._first_size(wanted)
            self.start = page
            if self._begin(page, self.size, block=True) and pages >= self.ra_pages:
                self._make_ahead(force=True)
            return self.prev_page + 1
        if not sequential:
            self._off()
            self._begin(page, wanted, block=True)
            return self.prev_page + 1
        if self.ahead_start == 0 and not self._make_ahead():
            self._hold_back()
        elif self.prev_page >= self.ahead_start:
            self.start, self.size = self.ahead_start, self.ahead_size
            self._make_ahead()
            self._hold_back()
        return self.prev_page + 1

    def missed(self) -> None:
        """A page that had been read ahead was not in the cache any more (`handle_ra_miss`)."""
        self._missed = True
        self._in_cache = False
        self.cache_hit = 0

    def _hold_back(self) -> None:
        """Not beyond the window ahead."""
        self.prev_page = min(self.prev_page, self.ahead_start + self.ahead_size - 1)

    def _first_size(self, pages: int) -> int:
        """`get_init_ra_size`."""
        size = 1 << (pages - 1).bit_length()
        if size <= self.ra_pages // 32:
            return size * 4
        if size <= self.ra_pages // 4:
            return size * 2
        return self.ra_pages

    def _next_size(self) -> int:
        """`get_next_ra_size`."""
        if self._missed:
            self._missed = False
            size = max(self.size - 2, _MIN_PAGES)
        elif self.size < self.ra_pages // 16:
            size = 4 * self.size
        else:
            size = 2 * self.size
        return min(size, self.ra_pages)

    def _make_ahead(self, *, force: bool = False) -> bool:
        """`make_ahead_window`."""
        self.ahead_size = self._next_size()
        self.ahead_start = self.start + self.size
        block = force or self.prev_page >= self.ahead_start
        begun = self._begin(self.ahead_start, self.ahead_size, block=block)
        if not begun and not force:
            self._reset_ahead()
        return begun

    def _begin(self, page: int, pages: int, *, block: bool) -> bool:
        """`blockable_page_cache_readahead`."""
        if not block and self.reader.read_congested:
            return False
        if self.reader.read_pages(page, pages):
            self.cache_hit = 0
            return True
        self.cache_hit += pages
        if self.cache_hit >= _MAX_CACHE_HIT:
            self._off()
            self._in_cache = True
            return False
        return True

    def _off(self) -> None:
        """`ra_off`."""
        self.start = self.size = 0
        self._missed = self._in_cache = False
        self._reset_ahead()

    def _reset_ahead(self) -> None:
        """`reset_ahead_window`: the sum of start and size stays, for `_hold_back`."""
        self.ahead_size += self.ahead_start
        self.ahead_start = 0
