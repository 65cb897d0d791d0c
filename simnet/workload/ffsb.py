"""FFSB, the flexible file system benchmark: thread groups that read and write files.

Source: fileops.c of FFSB (IBM, 2001 to 2004). A thread draws an operation by its weight and a
file, and does the operation: `read` reads `read_size` from a place on, or, with `read_random`, at
as many random places as blocks fit into it; `readall` reads the whole file; `write` and `writeall`
likewise, with an fsync at the end if the group has `fsync_file`. Offsets are multiples of 4096
(`alignio`).
"""

from collections.abc import Iterator
from dataclasses import dataclass

from simnet.kernel.random import stream
from simnet.storage.files.files import File, FileSystem
from simnet.storage.files.page_cache import OpenFile, PageCache, Process, Steps

_PAGE_BYTES = 4096
_OPERATIONS = ("read", "readall", "write", "writeall")


@dataclass(frozen=True)
class Access:
    """How an operation goes about a file."""

    at_random: bool  # at random places
    pages: int  # of one operation, in pages of 4 KiB
    block_pages: int  # of one system call; at random places no more than of the operation


@dataclass(frozen=True)
class ThreadGroup:
    """What the threads of a group do, as FFSB's profile says."""

    weights: tuple[int, int, int, int]  # of read, readall, write and writeall
    # how reads and writes go about a file
    read: Access
    write: Access
    fsync_file: bool  # fsync at the end of each operation that writes


class FfsbThread:
    """One thread.

    Args:
        group: what it does.
        process: as which it runs.
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

    def _places(self, file: File, access: Access, *, whole: bool) -> Iterator[tuple[int, int]]:
        """First page and pages of each system call of an operation."""
        block = access.block_pages
        size = file.pages if whole else min(access.pages, file.pages)
        if access.at_random and not whole:
            places = file.pages - block + 1
            return ((self.random.below(places), block) for _ in range(size // block))
        start = 0 if whole else self.random.below(file.pages - size + 1)
        end = start + size
        return ((page, min(block, end - page)) for page in range(start, end, block))

    def _read(self, file: File, *, whole: bool) -> Steps:
        opened = OpenFile(self.cache, self.process, file)
        for page, pages in self._places(file, self.group.read, whole=whole):
            yield from opened.read(page, pages)
            self.bytes_read += pages * _PAGE_BYTES

    def _write(self, file: File, *, whole: bool) -> Steps:
        process, costs = self.process, self.cache.costs
        for page, pages in self._places(file, self.group.write, whole=whole):
            process.defer_cpu(costs.call_ps, costs.user_ps)
            for number in range(page, page + pages):
                process.defer_cpu(costs.copy_ps)
                yield from self.cache.dirty_page(process, file, number)
            self.bytes_written += pages * _PAGE_BYTES
            if process.deferred_is_large:
                yield from process.run_deferred()
        if self.group.fsync_file:
            yield from self.cache.sync_file(process, file)
