"""FFSB, the flexible file system benchmark: thread groups that read and write files.

Source: fileops.c of FFSB (IBM, 2001 to 2004). A thread draws an operation by its weight and a
file, and does the operation: `read` reads `read_size` from a place on, or, with `read_random`, at
as many random places as blocks fit into it; `readall` reads the whole file; `write` and `writeall`
likewise, with an fsync at the end if the group has `fsync_file`. Offsets are multiples of 4096
(`alignio`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from simnet.kernel.random import stream
from simnet.storage.page_cache import OpenFile

if TYPE_CHECKING:
    from simnet.storage.files import File, FileSystem
    from simnet.storage.page_cache import PageCache, Process, Steps

__all__ = ["FfsbThread", "ThreadGroup"]

_PAGE_BYTES = 4096
_OPERATIONS = ("read", "readall", "write", "writeall")


@dataclass(frozen=True)
class ThreadGroup:
    """What the threads of a group do, by the names of FFSB's profile.

    Attributes:
        name: of the group.
        weights: of read, readall, write and writeall.
        read_random, write_random: at random places.
        read_pages, write_pages: of one operation, in pages of 4 KiB.
        read_block_pages, write_block_pages: of one system call.
        fsync_file: fsync at the end of each operation that writes.
    """

    name: str
    weights: tuple[int, int, int, int]
    read_random: bool
    write_random: bool
    read_pages: int
    write_pages: int
    read_block_pages: int
    write_block_pages: int
    fsync_file: bool


class FfsbThread:
    """One thread.

    Args:
        group: what it does.
        process: as which it runs.
        cache: of the machine.
        system: whose files it uses.
        seed: of all random streams.
        begin_ps: when it starts.

    Attributes:
        bytes_read, bytes_written: by its system calls that have returned.
        operations: that it has finished.
    """

    def __init__(
        self,
        group: ThreadGroup,
        process: Process,
        cache: PageCache,
        system: FileSystem,
        *,
        seed: int,
        begin_ps: int = 0,
    ) -> None:
        self.group = group
        self.process = process
        self.cache = cache
        self.system = system
        self.random = stream(seed, f"{process.path}.ffsb")
        self.bytes_read = self.bytes_written = self.operations = 0
        self._begin_ps = begin_ps
        cache.env.process(self._run())

    def _run(self) -> Steps:
        yield self.process.rest(self.cache.env.timeout(self._begin_ps))
        while True:
            file = self.system.files[self.random.below(len(self.system.files))]
            operation = self._drawn()
            if operation.startswith("read"):
                yield from self._read(file, whole=operation == "readall")
            else:
                yield from self._write(file, whole=operation == "writeall")
            self.operations += 1

    def _drawn(self) -> str:
        weights = self.group.weights
        number = self.random.below(sum(weights))
        for operation, weight in zip(_OPERATIONS, weights, strict=True):
            if number < weight:
                return operation
            number -= weight
        raise AssertionError(number)

    def _places(self, file: File, size: int, block: int, *, at_random: bool, whole: bool) -> Any:
        """First page and pages of each system call of an operation."""
        if whole:
            return ((page, min(block, file.pages - page)) for page in range(0, file.pages, block))
        size = min(size, file.pages)
        if at_random:
            places = file.pages - block + 1
            return ((self.random.below(places), block) for _ in range(size // block))
        start = self.random.below(file.pages - size + 1)
        end = start + size
        return ((page, min(block, end - page)) for page in range(start, end, block))

    def _read(self, file: File, *, whole: bool) -> Steps:
        group = self.group
        opened = OpenFile(self.cache, self.process, file)
        places = self._places(
            file,
            group.read_pages,
            group.read_block_pages,
            at_random=group.read_random,
            whole=whole,
        )
        for page, pages in places:
            yield from opened.read(page, pages)
            self.bytes_read += pages * _PAGE_BYTES

    def _write(self, file: File, *, whole: bool) -> Steps:
        group, process, costs = self.group, self.process, self.cache.costs
        places = self._places(
            file,
            group.write_pages,
            group.write_block_pages,
            at_random=group.write_random,
            whole=whole,
        )
        for page, pages in places:
            process.owe(costs.call_ps, costs.user_ps)
            for number in range(page, page + pages):
                process.owe(costs.copy_ps)
                yield from self.cache.dirty_page(process, file, number)
            self.bytes_written += pages * _PAGE_BYTES
            if process.owed_system_ps >= _MOST_OWED_PS:
                yield from process.pay()
        if group.fsync_file:
            yield from self.cache.sync_file(process, file)


_MOST_OWED_PS = 10**9
