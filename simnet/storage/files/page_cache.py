"""The page cache of a machine: reading through it, dirtying pages, writing them back.

Source: mm/filemap.c (`do_generic_mapping_read`), mm/page-writeback.c (`balance_dirty_pages`,
`background_writeout`, `wb_kupdate`), fs/fs-writeback.c and fs/mpage.c of Linux 2.6.18. What a
process does in the kernel is a generator that the process runs (`yield from`): it works on its
CPU, and sleeps where the kernel would: for a page, for a free request, for a queue that is
congested.

Pages are found by file, each file's states in one array of bytes. When memory is full the oldest
clean pages go, as they come from files that are read once (the inactive list).
"""

from collections import deque
from collections.abc import Generator
from dataclasses import dataclass
from typing import Any

from simnet.host.cpu import Cpu
from simnet.host.iowait import IowaitClock
from simnet.host.machine import Machine
from simnet.host.thread import Thread
from simnet.kernel.environment import Environment
from simnet.storage.block.request import READ, Bio, IoContext
from simnet.storage.files.files import (
    ABSENT,
    CLEAN,
    DIRTY,
    PAGE_SECTORS,
    READING,
    REDIRTIED,
    WRITTEN,
    File,
)
from simnet.storage.files.readahead import FileReadahead

Steps = Generator[Any, Any, None]

_CLEAN_BYTE, _DIRTY_BYTE, _ABSENT_BYTE = bytes([CLEAN]), bytes([DIRTY]), bytes([ABSENT])
_READING_BYTE = bytes([READING])
_PERCENT = 100
_PAGE_BYTES = 4096
# mm/page-writeback.c: get_dirty_limits, set_ratelimit
_LEAST_DIRTY = 5
_RATELIMIT_SHARE = 32
_MOST_RATELIMIT = 1024
# CPU time that a process may defer
_MOST_OWED_PS = 10**9


@dataclass(frozen=True)
class PageCosts:
    """CPU time of the page cache's steps, in whole nanoseconds kept as ps."""

    call_ps: int  # entering and leaving a system call
    user_ps: int  # of the program, per call
    page_ps: int  # finding, allocating and freeing a page, and its part of a bio
    copy_ps: int  # copying a page to or from user memory
    bio_ps: int  # making and submitting a bio


@dataclass
class WritebackControl:
    """How much is to be written, and of what (`struct writeback_control`)."""

    nr_to_write: int  # pages that may yet be written
    nonblocking: bool = False  # leave a congested queue alone
    older_than_ps: int | None = None  # only files that have been dirty since then; None for all
    # all pages of a file from its first on, not from where the last one stopped
    everything: bool = False


class Process(Thread):
    """A process that does file I/O.

    Attributes:
        context: what the block layer remembers of it.
        owed_system_ps, owed_user_ps: work that it has yet to do before it sleeps.
    """

    def __init__(
        self, env: Environment, machine: Machine, path: str, cpu: Cpu, iowait: IowaitClock
    ) -> None:
        super().__init__(env, machine, path, cpu, iowait)
        self.context = IoContext(path)
        self.ledger = machine.costs.ledger
        self.owed_system_ps = self.owed_user_ps = 0

    def defer_cpu(self, system_ps: int, user_ps: int = 0) -> None:
        """Note work that the process does before it goes to sleep."""
        self.owed_system_ps += system_ps
        self.owed_user_ps += user_ps

    @property
    def deferred_is_large(self) -> bool:
        """Whether it should do its work before it goes on."""
        return self.owed_system_ps >= _MOST_OWED_PS

    def run_deferred(self) -> Steps:
        """Do the work that is owed."""
        system_ps, user_ps = self.owed_system_ps, self.owed_user_ps
        if system_ps + user_ps:
            self.owed_system_ps = self.owed_user_ps = 0
            self.ledger.storage += system_ps
            self.ledger.application += user_ps
            yield self.work(system_ps, user_ps)

    def wait_io(self, event: Any) -> Steps:
        """Sleep until the event says on which CPU the I/O ended."""
        yield from self.run_deferred()
        self.waker = yield self.sleep_io(event)


class PageCache:
    """The pages of one machine.

    Args:
        hz: of the kernel.
        pages: that memory has for it.
        dirty_ratio, dirty_background_ratio: percent of the pages, as in `vm.dirty_ratio`.
        costs: CPU time.

    Attributes:
        dirty, writeback: pages in these states.
        cached: pages in any state but absent.
        exceeded: more than the limit is dirty.
    """

    def __init__(
        self,
        env: Environment,
        *,
        hz: int,
        pages: int,
        cpus: int,
        dirty_ratio: int,
        dirty_background_ratio: int,
        costs: PageCosts,
    ) -> None:
        self.env = env
        self.jiffy_ps = 10**12 // hz
        self.hz = hz
        self.pages = pages
        self.costs = costs
        self.dirty = self.writeback = self.cached = 0
        self.exceeded = False
        dirty, background = _dirty_ratios(dirty_ratio, dirty_background_ratio)
        self.limit = pages * dirty // _PERCENT
        self.background = pages * background // _PERCENT
        self.ratelimit = min(max(pages // (cpus * _RATELIMIT_SHARE), 16), _MOST_RATELIMIT)
        self.dirtied = 0
        self.start_background: Any = None
        self._added: deque[tuple[File, int, int]] = deque()

    # -- pages --------------------------------------------------------------------------------

    def add(self, file: File, page: int, pages: int) -> None:
        """Pages come into memory; the oldest clean ones go if it is full."""
        self.cached += pages
        self._added.append((file, page, pages))
        for _ in range(len(self._added)):
            if self.cached <= self.pages:
                return
            self._evict(*self._added.popleft())

    def _evict(self, file: File, first: int, pages: int) -> None:
        state = file.state
        chunk = state[first : first + pages]
        clean = chunk.count(CLEAN)
        if clean == pages:
            state[first : first + pages] = bytes(pages)
        elif clean:
            state[first : first + pages] = chunk.replace(_CLEAN_BYTE, _ABSENT_BYTE)
        self.cached -= clean
        if clean < pages - chunk.count(ABSENT):
            self._added.append((file, first, pages))

    def read_done(self, bio: Bio) -> None:
        """Pages have been read."""
        file, first, pages = bio.tag
        file.state[first : first + pages] = _CLEAN_BYTE * pages
        file.wake(first, pages, file.system.cpu)

    def write_done(self, bio: Bio) -> None:
        """A page has been written."""
        file, page = bio.tag
        self.writeback -= 1
        file.state[page] = DIRTY if file.state[page] == REDIRTIED else CLEAN
        file.wake(page, 1, file.system.cpu)

    # -- writing ------------------------------------------------------------------------------

    def dirty_page(self, process: Process, file: File, page: int) -> Steps:
        """A process has written a whole page: it is dirty now (`set_page_dirty`, and balance)."""
        state = file.state[page]
        while state == READING:
            yield from process.wait_io(file.wait_for(page, self.env))
            state = file.state[page]
        if state == ABSENT:
            process.defer_cpu(self.costs.page_ps)
            self.add(file, page, 1)
        if state not in {DIRTY, REDIRTIED}:
            file.state[page] = REDIRTIED if state == WRITTEN else DIRTY
            if file.dirty == 0:
                file.dirtied_ps = self.env.sim.now
                if not file.locked:
                    file.system.sync_list.append(file)
            file.dirty += 1
            self.dirty += 1
        self.dirtied += 1
        if self.dirtied >= (8 if self.exceeded else self.ratelimit):
            self.dirtied = 0
            yield from self._balance(process, file)

    def _over(self) -> bool:
        return self.dirty + self.writeback > self.limit

    def _balance(self, process: Process, file: File) -> Steps:
        """`balance_dirty_pages`."""
        chunk = self.ratelimit + self.ratelimit // 2
        written = 0
        while self._over():
            self.exceeded = True
            if self.dirty:
                control = WritebackControl(chunk)
                yield from self.write_files(process, file.system, control)
                if not self._over():
                    break
                written += chunk - control.nr_to_write
                if written >= chunk:
                    break
            yield from self.congestion_wait(process, file.system)
        if not self._over():
            self.exceeded = False
        if self.dirty > self.background and self.start_background is not None:
            self.start_background()

    def congestion_wait(self, process: Process, system: Any) -> Steps:
        """`blk_congestion_wait`: until a queue takes writes again, a tenth of a second at most."""
        event: Any = self.env.event()

        def ends() -> None:
            if not event.triggered:
                event.succeed(system.cpu)

        system.queue.when_uncongested(1, ends)
        jiffies = self.env.sim.now // self.jiffy_ps + self.hz // 10
        timeout = self.env.timeout(jiffies * self.jiffy_ps - self.env.sim.now)
        timeout.callbacks.append(lambda _event: ends())
        yield from process.wait_io(event)

    def write_files(self, process: Process, system: Any, control: WritebackControl) -> Steps:
        """`writeback_inodes`: write files with dirty pages."""
        for _ in range(len(system.sync_list)):
            if control.nr_to_write <= 0 or not system.sync_list:
                return
            if control.nonblocking and system.queue.congested[1]:
                return
            file = system.sync_list[0]
            older_ps = control.older_than_ps
            if older_ps is not None and file.dirtied_ps > older_ps:
                return
            system.sync_list.popleft()
            if not file.locked:
                yield from self.write_file(process, file, control)

    def write_file(self, process: Process, file: File, control: WritebackControl) -> Steps:
        """`generic_writepages`: write dirty pages of a file in order, each a bio."""
        queue = file.system.queue
        file.locked = True
        everything = control.everything
        page = 0 if everything else file.writeback_index
        last = file.pages
        while control.nr_to_write > 0 and file.dirty:
            page = file.state.find(_DIRTY_BYTE, page, last)
            if page < 0:
                if everything or last < file.pages:
                    break
                page, last = 0, file.writeback_index
                continue
            if control.nonblocking and queue.congested[1]:
                break
            file.state[page] = WRITTEN
            file.dirty -= 1
            self.dirty -= 1
            self.writeback += 1
            control.nr_to_write -= 1
            process.defer_cpu(self.costs.bio_ps)
            bio = Bio(
                file.sector(page),
                PAGE_SECTORS,
                write=True,
                context=process.context,
                done=self.write_done,
                tag=(file, page),
            )
            page += 1
            if process.deferred_is_large:
                yield from process.run_deferred()
            yield from self.submit(process, file.system, bio)
        file.writeback_index = max(page, 0)
        file.locked = False
        if file.dirty and file not in file.system.sync_list:
            file.system.sync_list.append(file)

    def submit(self, process: Process, system: Any, bio: Bio) -> Steps:
        """Submit a bio; sleep until it has a request."""
        event: Any = None

        def resume(_bio: Bio) -> None:
            event.succeed(system.cpu)

        if not system.queue.submit(bio, resume):
            event = self.env.event()
            yield from process.wait_io(event)

    def sync_file(self, process: Process, file: File) -> Steps:
        """`fsync`: write what is dirty, and wait for all of it."""
        process.defer_cpu(self.costs.call_ps)
        queue, listed = file.system.queue, file.system.sync_list
        if file in listed:
            listed.remove(file)
        everything = WritebackControl(file.pages, everything=True)
        yield from self.write_file(process, file, everything)
        page = 0
        while page < file.pages:
            found = [file.state.find(bytes([s]), page) for s in (WRITTEN, REDIRTIED)]
            page = min((place for place in found if place >= 0), default=file.pages)
            while page < file.pages and file.state[page] in {WRITTEN, REDIRTIED}:
                queue.unplug()
                yield from process.wait_io(file.wait_for(page, self.env))


def _dirty_ratios(dirty: int, background: int) -> tuple[int, int]:
    """`get_dirty_limits`: percent from which writers wait, and from which pdflush writes.

    At most half of what no process maps may be dirty; memory for the cache is all of that.
    """
    dirty = max(min(dirty, _PERCENT // 2), _LEAST_DIRTY)
    return dirty, background if background < dirty else dirty // 2


class OpenFile:
    """A file as one process has it open, with its read-ahead.

    Args:
        process: that reads.
        file: what is open.
    """

    def __init__(self, cache: PageCache, process: Process, file: File) -> None:
        self.cache = cache
        self.process = process
        self.file = file
        self.queue = file.system.queue
        pages = self.queue.read_ahead_kb * 1024 // _PAGE_BYTES
        self.readahead = FileReadahead(self, pages)
        self._held: list[Bio] = []
        self._blocked: Any = None

    @property
    def read_congested(self) -> bool:
        """Whether the device's queue has enough reads."""
        return self.queue.congested[READ]

    def read_pages(self, start: int, pages: int) -> int:
        """Begin to read those of the pages that are not in the cache and within the file."""
        file, state = self.file, self.file.state
        end = min(start + pages, file.pages)
        begun = 0
        page = state.find(_ABSENT_BYTE, start, end)
        while page >= 0:
            most = min(end, file.run_end(page), page + self.queue.max_sectors // PAGE_SECTORS)
            stop = page
            while stop < most and state[stop] == ABSENT:
                stop += 1
            self._begin(page, stop - page)
            begun += stop - page
            page = state.find(_ABSENT_BYTE, stop, end)
        return begun

    def _begin(self, page: int, pages: int) -> None:
        file, costs = self.file, self.cache.costs
        file.state[page : page + pages] = _READING_BYTE * pages
        self.cache.add(file, page, pages)
        self.process.defer_cpu(costs.bio_ps + pages * costs.page_ps)
        bio = Bio(
            file.sector(page),
            pages * PAGE_SECTORS,
            write=False,
            context=self.process.context,
            done=self.cache.read_done,
            tag=(file, page, pages),
        )
        if self._blocked is not None:
            self._held.append(bio)
        elif not self.queue.submit(bio, self._resume):
            self._blocked = self.cache.env.event()

    def _resume(self, _bio: Bio) -> None:
        self._blocked.succeed(self.file.system.cpu)

    def _unblock(self) -> Steps:
        """Sleep for requests until all bios are submitted."""
        while self._blocked is not None:
            yield from self.process.wait_io(self._blocked)
            self._blocked = None
            held, self._held = self._held, []
            for number, bio in enumerate(held):
                if not self.queue.submit(bio, self._resume):
                    self._blocked = self.cache.env.event()
                    self._held = held[number + 1 :]
                    break

    def read(self, page: int, pages: int) -> Steps:
        """`do_generic_mapping_read`: read whole pages, one call."""
        process, costs, state = self.process, self.cache.costs, self.file.state
        process.defer_cpu(costs.call_ps, costs.user_ps)
        following, end = page, page + pages
        while page < end:
            if page == following:
                if state[page] == ABSENT or process.deferred_is_large:
                    yield from process.run_deferred()
                following = self.readahead.read(page, end - page)
                if self._blocked is not None:
                    yield from self._unblock()
            if state[page] == ABSENT:
                self.readahead.missed()
                self._begin(page, 1)
                if self._blocked is not None:
                    yield from self._unblock()
            while state[page] == READING:
                self.queue.unplug()
                yield from process.wait_io(self.file.wait_for(page, self.cache.env))
            process.defer_cpu(costs.copy_ps)
            page += 1
