"""Files on a disk: where their pages are, and which of them memory holds.

Source: fs/ext3/inode.c of Linux 2.6.18 (`ext3_block_to_path`). Files of 4 KiB blocks lie one
behind the other, each without gaps but for its indirect blocks: one behind the first 12 blocks and
behind every 1024 more, where a bio ends (`mpage_readpages` stops at a boundary). The indirect
blocks themselves stay in memory.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simnet.host.cpu import Cpu
    from simnet.host.softirq.deferred import DeviceInterrupt
    from simnet.kernel.environment import Environment, Event
    from simnet.storage.block.queue import RequestQueue

PAGE_SECTORS = 8
# state of a page
ABSENT, READING, CLEAN, DIRTY, WRITTEN, REDIRTIED = range(6)

_DIRECT_BLOCKS = 12
_INDIRECT_BLOCKS = 1024


class File:
    """One file: its place, and the state of each of its pages.

    Args:
        system: the file system that it is in.
        first_sector: where it begins.
        pages: how many it has.
    """

    __slots__ = (
        *("dirtied_ps", "dirty", "first_sector", "locked", "pages", "state", "system"),
        *("waiters", "writeback_index"),
    )

    def __init__(self, system: FileSystem, first_sector: int, pages: int) -> None:
        self.system = system
        self.first_sector = first_sector
        self.pages = pages
        self.state = bytearray(pages)  # of each page, a byte
        self.dirty = 0  # pages that are to be written
        self.dirtied_ps = 0  # when it last became dirty
        self.writeback_index = 0  # the page to go on writing from
        self.locked = False  # its pages are being written (`I_LOCK`)
        self.waiters: list[tuple[int, Event]] = []

    def sector(self, page: int) -> int:
        """Where a page is on the disk."""
        return self.first_sector + (page + _overhead(page)) * PAGE_SECTORS

    def run_end(self, page: int) -> int:
        """The page after the last that lies on the disk right behind this one."""
        if page < _DIRECT_BLOCKS:
            return min(_DIRECT_BLOCKS, self.pages)
        end = page + _INDIRECT_BLOCKS - (page - _DIRECT_BLOCKS) % _INDIRECT_BLOCKS
        return min(end, self.pages)

    def wait_for(self, page: int, env: Environment) -> Event:
        """Return an event for when the I/O of a page ends."""
        event: Event = env.event()
        self.waiters.append((page, event))
        return event

    def wake(self, first: int, pages: int, cpu: Cpu) -> None:
        """The I/O of these pages has ended; code on this CPU says so."""
        if not self.waiters:
            return
        kept: list[Any] = []
        for waiter in self.waiters:
            if first <= waiter[0] < first + pages:
                waiter[1].succeed(cpu)
            else:
                kept.append(waiter)
        self.waiters = kept


def _overhead(page: int) -> int:
    """Blocks of a file before a page that hold no data."""
    if page < _DIRECT_BLOCKS:
        return 0
    number = (page - _DIRECT_BLOCKS) // _INDIRECT_BLOCKS
    return 1 if number == 0 else 2 + number


def file_sectors(pages: int) -> int:
    """Return how many sectors a file of so many pages takes, with its indirect blocks."""
    return (pages + _overhead(pages - 1)) * PAGE_SECTORS


class FileSystem:
    """Files of one size, one behind the other from the start of a disk.

    Args:
        queue: of the disk.
        interrupt: that says that its requests are complete.
        files: how many.
        pages: of each.
        first_sector: where the first begins.

    Attributes:
        end_sector: behind the last.

    Raises:
        ValueError: they do not fit onto the disk.
    """

    def __init__(
        self,
        queue: RequestQueue,
        interrupt: DeviceInterrupt,
        files: int,
        pages: int,
        first_sector: int = 0,
    ) -> None:
        self.queue = queue
        self.interrupt = interrupt
        sectors = file_sectors(pages)
        self.end_sector = first_sector + files * sectors
        if self.end_sector > queue.target.sectors:
            raise ValueError(
                f"{queue.path}: {files} files of {pages * 4} KiB need {files * sectors} sectors,"
                f" the disk has {queue.target.sectors}"
            )
        self.files = [File(self, first_sector + number * sectors, pages) for number in range(files)]
        self.sync_list: deque[File] = deque()  # files with dirty pages, in the order of dirtying

    @property
    def cpu(self) -> Cpu:
        """The CPU that serves the disk's completions now."""
        return self.interrupt.cpu
