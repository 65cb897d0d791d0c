"""pdflush: the kernel's threads that write dirty pages back in the background.

Source: `background_writeout` and `wb_kupdate` in mm/page-writeback.c of Linux 2.6.18. The first
runs while more than the background limit is dirty, the other at every interval for what has been
dirty too long. Both leave a congested queue alone for a while.
"""

from collections.abc import Generator, Sequence
from typing import Any

from simnet.storage.files.files import FileSystem
from simnet.storage.files.page_cache import PageCache, Process, Steps, WritebackControl

_CHUNK_PAGES = 1024


class Pdflush:
    """Both threads of one machine.

    Args:
        cache: whose pages.
        systems: file systems with dirty pages.
        background, periodic: the threads.
        interval_ps: `vm.dirty_writeback_centisecs`; 0 for never.
        expire_ps: `vm.dirty_expire_centisecs`.
    """

    def __init__(
        self,
        cache: PageCache,
        systems: Sequence[FileSystem],
        background: Process,
        periodic: Process,
        *,
        interval_ps: int,
        expire_ps: int,
    ) -> None:
        self.cache = cache
        self.systems = systems
        self.interval_ps = interval_ps
        self.expire_ps = expire_ps
        self._asked: Any = cache.env.event()
        cache.start_background = self.start
        cache.env.process(self._background(background))
        if interval_ps:
            cache.env.process(self._periodic(periodic))

    def start(self) -> None:
        """Have the background thread look, if it sleeps."""
        if not self._asked.triggered:
            self._asked.succeed()

    def _background(self, thread: Process) -> Steps:
        """`background_writeout`."""
        cache = self.cache
        while True:
            yield thread.rest(self._asked)
            while cache.dirty > cache.background:
                if (yield from self._chunk(thread)) is None:
                    break
            self._asked = cache.env.event()

    def _periodic(self, thread: Process) -> Steps:
        """`wb_kupdate`."""
        cache = self.cache
        while True:
            yield thread.rest(cache.env.timeout(self.interval_ps))
            older_ps = cache.env.sim.now - self.expire_ps
            pages = cache.dirty
            while pages > 0:
                written = yield from self._chunk(thread, older_ps)
                if written is None:
                    break
                pages -= written

    def _chunk(
        self, thread: Process, older_than_ps: int | None = None
    ) -> Generator[Any, Any, int | None]:
        """Write so many pages, or fewer and wait for a queue that is congested.

        Returns:
            How many; None if there are fewer and no queue is congested.
        """
        cache = self.cache
        control = WritebackControl(_CHUNK_PAGES, nonblocking=True, older_than_ps=older_than_ps)
        for system in self.systems:
            yield from cache.write_files(thread, system, control)
        yield from thread.run_deferred()
        if control.nr_to_write > 0:
            busy = [system for system in self.systems if system.queue.congested[1]]
            if not busy:
                return None
            yield from cache.congestion_wait(thread, busy[0])
        return _CHUNK_PAGES - control.nr_to_write
