"""A disk with files of a few pages, memory for pages, and processes whose work costs nothing."""

from collections.abc import Generator, Iterable
from types import SimpleNamespace
from typing import Any

from simnet.host.iowait import IowaitClock
from simnet.kernel.environment import Environment
from simnet.storage.block.queue import RequestQueue
from simnet.storage.files.files import File, FileSystem
from simnet.storage.files.page_cache import PageCache, PageCosts, Process
from tests.host.parts import make_costs, make_machine
from tests.storage.parts import MS, US, Device

FREE = PageCosts(0, 0, 0, 0, 0)


class Rig:
    """A machine of one CPU; its disk takes one request at a time, a millisecond each.

    Requests hold a page unless `max_hw_sectors` says more, so `taken` names the page of each.
    """

    def __init__(
        self,
        *,
        memory: int = 100,
        files: int = 1,
        pages: int = 16,
        costs: PageCosts = FREE,
        dirty_ratio: int = 40,
        background: int = 10,
        hz: int = 1000,
        **queue: Any,
    ) -> None:
        self.env = Environment()
        self.sim = self.env.sim
        self.machine = make_machine(self.sim, costs=make_costs())
        self.device = Device(self.sim)
        options: dict[str, Any] = {"scheduler": "noop", "max_hw_sectors": 8} | queue
        self.queue = RequestQueue(self.sim, "sda", self.device, hz=hz, **options)
        self.cache = PageCache(
            self.env,
            hz=hz,
            pages=memory,
            cpus=1,
            dirty_ratio=dirty_ratio,
            dirty_background_ratio=background,
            costs=costs,
        )
        interrupt: Any = SimpleNamespace(cpu=self.machine.cpus[0])
        self.system = FileSystem(self.queue, interrupt, files, pages)
        self.files = self.system.files
        self.file = self.files[0]
        self.iowait = IowaitClock(self.machine.cpus)
        self.writers = 0
        self.ends: dict[str, int] = {}

    def process(self, name: str = "p") -> Process:
        return Process(self.env, self.machine, name, self.machine.cpus[0], self.iowait)

    def begin(self, process: Process, *steps: Generator[Any, Any, Any], at: int = 0) -> None:
        """Let a process do steps from a time on, pay for them, and sleep for ever."""

        def program() -> Any:
            yield process.rest(self.env.timeout(max(at - self.sim.now, 0)))
            for step in steps:
                yield from step
            yield from process.run_deferred()
            self.ends[process.path] = self.sim.now
            yield process.rest(self.env.event())

        self.env.process(program())

    def run(self, until: int) -> None:
        self.env.run(until=until)

    def dirty(self, process: Process, pages: Iterable[int], file: File | None = None) -> Any:
        """Steps that make pages dirty, one after the other."""
        for page in pages:
            yield from self.cache.dirty_page(process, file or self.file, page)

    def make_dirty(self, pages: Iterable[int], file: File | None = None) -> None:
        """Make pages dirty at once, which sleeps for nothing."""
        self.writers += 1
        for _ in self.dirty(self.process(f"writer{self.writers}"), pages, file):
            raise AssertionError("it sleeps")

    @property
    def taken(self) -> list[int]:
        """The pages that the disk got, in their order, counted through all files of 12 or less."""
        return [sector // 8 for sector in self.device.order]

    def states(self, file: File | None = None) -> list[int]:
        return list((file or self.file).state)


__all__ = ["FREE", "MS", "US", "Rig"]
