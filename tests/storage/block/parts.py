"""What a scheduler sees of its queue, with a clock that is set by hand."""

from typing import Any

from simnet.kernel.simulator import Simulator
from simnet.storage.block.cfq_service import IDLE_SLICE
from simnet.storage.block.elevator import ScheduledQueue
from simnet.storage.block.request import Bio, IoContext, Request
from simnet.storage.block.switch import ELEVATORS

HZ = 1000


class Kernel(ScheduledQueue):
    """A queue around one scheduler: its clock, its timers, and a log of what it is asked for.

    Attributes:
        now: the clock, in jiffies.
        timers: by number, jiffies until they expire when they were set.
        log: "work" (kblockd), "unplug", "run", in this order.
        given: sectors that were dispatched since they were looked at last.
    """

    def __init__(self, scheduler: str, *, hz: int = HZ, jiffies: int = 300_000) -> None:
        super().__init__(Simulator(), "sda", hz)
        self.now = jiffies
        self.timers: dict[int, int] = {}
        self.log: list[str] = []
        self.contexts: dict[str, IoContext] = {}
        self.elevator: Any = ELEVATORS[scheduler](self)

    # what a scheduler calls

    def jiffies(self) -> int:
        return self.now

    def set_timer(self, number: int, jiffy: int) -> int:
        self.timers[number] = jiffy - self.now
        return 0

    def delete_timer(self, number: int) -> bool:
        return self.timers.pop(number, None) is not None

    def schedule_work(self) -> int:
        self.log.append("work")
        return 0

    def remove_plug(self) -> bool:
        self.log.append("unplug")
        return True

    def run(self) -> int:
        self.log.append("run")
        return 0

    def dispatch_sort(self, request: Request) -> int:
        self.head.append(request)
        return 0

    dispatch_tail = dispatch_sort

    # what a test does

    def context(self, name: str, **options: Any) -> IoContext:
        return self.contexts.setdefault(name, IoContext(name, **options))

    def bio(self, sector: int, sectors: int, process: str, *, write: bool, sync: bool) -> Bio:
        return Bio(sector, sectors, write=write, context=self.context(process), sync=sync)

    def add(
        self,
        sector: int,
        process: str = "a",
        *,
        sectors: int = 8,
        write: bool = False,
        sync: bool = False,
    ) -> Request:
        """A request of a process comes."""
        bio = self.bio(sector, sectors, process, write=write, sync=sync)
        request = Request(bio, self.now, 0)
        self.elevator.allocated(request)
        self.elevator.add(request)
        return request

    def dispatch(self, *, force: bool = False) -> list[int]:
        """Let it dispatch once; return the sectors, which the driver has seen then."""
        self.head.clear()
        count = self.elevator.dispatch(force=force)
        assert count == len(self.head)
        for request in self.head:
            self.elevator.activate(request)
        return [request.sector for request in self.head]

    def dispatch_all(self) -> list[int]:
        """Let it dispatch until nothing comes."""
        given: list[int] = []
        while some := self.dispatch():
            given += some
        return given

    def complete(self, request: Request) -> None:
        """A request is complete."""
        self.elevator.completed(request)
        self.elevator.freed(request)

    def told(self) -> list[str]:
        """Return the log since the last call."""
        log, self.log = self.log, []
        return log


def cfq(**tunables: int) -> Kernel:
    kernel = Kernel("cfq")
    for name, value in tunables.items():
        kernel.elevator.store(name, value)
    return kernel


def one_after_the_other(kernel: Kernel, process: str, sectors: list[int], think: int = 0) -> None:
    """Reads of a process, each complete in the tick in which it comes."""
    for sector in sectors:
        request = kernel.add(sector, process)
        assert kernel.dispatch() == [sector]
        kernel.complete(request)
        kernel.now += think
        kernel.elevator.timer(IDLE_SLICE)
        kernel.timers.clear()


def anticipatory(**tunables: int) -> Kernel:
    kernel = Kernel("anticipatory")
    for name, value in tunables.items():
        kernel.elevator.store(name, value)
    return kernel
