"""Which schedulers there are, and how a queue changes from one to another while it works.

Source: `elevator_switch` in block/elevator.c of Linux 2.6.18: requests bypass both schedulers until
the last one that the old scheduler knows is complete, which is looked at every 10 ms.
"""

from typing import Protocol, cast

from simnet.spelling import nearest
from simnet.storage.block.anticipatory import Anticipatory
from simnet.storage.block.cfq import Cfq
from simnet.storage.block.deadline import Deadline
from simnet.storage.block.elevator import Elevator, ScheduledQueue
from simnet.storage.block.noop import Noop
from simnet.storage.block.request import Request

ELEVATORS: dict[str, type[Elevator]] = {
    elevator.name: elevator for elevator in (Noop, Anticipatory, Deadline, Cfq)
}
_SLEEP_MS = 10


class SwitchedQueue(Protocol):
    """What the change of the scheduler needs of the queue."""

    path: str
    hz: int
    elevator: Elevator
    elvpriv: int
    last_merge: Request | None

    def drain(self) -> None:
        """Make the scheduler dispatch all that it has (`elv_drain_elevator`)."""

    def remove_plug(self) -> bool:
        """Hold nothing back any more."""

    def run(self) -> int:
        """Let the driver take requests."""

    def continue_switch(self, jiffies: int) -> None:
        """Go on with the change that many jiffies later."""


class Switching:
    """The change of a queue's scheduler."""

    def __init__(self, queue: SwitchedQueue, scheduler: str) -> None:
        self.q = queue
        self.under_way = False  # whether requests bypass the scheduler
        self.wanted: list[str] = []  # schedulers that have been asked for, in this order
        self._check(scheduler)

    def _check(self, name: str) -> None:
        if name not in ELEVATORS:
            expected = f"expected one of {', '.join(ELEVATORS)}{nearest(name, ELEVATORS)}"
            raise ValueError(f"{self.q.path}: no scheduler {name!r}: {expected}")

    def make(self, name: str) -> Elevator:
        """Return a scheduler of this name for the queue."""
        return ELEVATORS[name](cast("ScheduledQueue", self.q))

    def show(self) -> str:
        """Return the schedulers, that in use in brackets, as `cat queue/scheduler` does."""
        used = self.q.elevator.name
        return " ".join(f"[{name}]" if name == used else name for name in ELEVATORS)

    def to(self, name: str) -> None:
        """Change the scheduler, as `echo NAME > queue/scheduler` does.

        Raises:
            ValueError: no such scheduler.
        """
        self._check(name)
        self.wanted.append(name)
        if not self.under_way:
            self._begin()

    def _begin(self) -> None:
        while self.wanted and self.wanted[0] == self.q.elevator.name:
            del self.wanted[0]
        if self.wanted:
            self.under_way = True
            self.step()

    def step(self) -> None:
        """See whether the old scheduler knows of any request; if not, put in the other one."""
        q = self.q
        q.drain()
        if q.elvpriv:
            q.remove_plug()
            q.run()
            # msleep sleeps a jiffy longer, so as not to be short
            q.continue_switch(-(-_SLEEP_MS * q.hz // 1000) + 1)
            return
        q.elevator.shut()
        q.elevator = self.make(self.wanted.pop(0))
        q.last_merge = None
        self.under_way = False
        self._begin()
