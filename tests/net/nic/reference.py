"""Two NICs and a polling host, advanced microsecond by microsecond.

Everything is written in the most literal way, with no look-ahead: at each microsecond frames
arrive and leave first, then the chip's timers expire, then the CPU goes on. Nothing here is shared
with the mechanisms under test.
"""

from dataclasses import dataclass, field


@dataclass
class Chip:
    """What both chips share: the ring, and what the driver can see of it. Times in us."""

    buffers: int
    ring: list[int] = field(default_factory=list)
    drops: int = 0
    completed: int = 0
    masked: bool = False
    line: bool = False

    def receive(self, now: int, number: int) -> None:
        if self.buffers == 0:
            self.drops += 1
            return
        self.buffers -= 1
        self.ring.append(number)
        self.received(now)

    def received(self, now: int) -> None:
        raise NotImplementedError

    def complete(self, now: int) -> None:
        """A transmitted frame has left."""
        raise NotImplementedError

    def timers(self, now: int) -> None:
        raise NotImplementedError

    def seen(self) -> int:
        """Frames in the ring that the driver knows of."""
        raise NotImplementedError

    def reclaimable(self) -> int:
        """Transmitted frames that the driver knows of, since the chip was started."""
        raise NotImplementedError

    def handle(self) -> None:
        """The handler: mask, take note."""
        raise NotImplementedError

    def poll_ended(self) -> None:
        """The driver takes note of the chip's state once more."""

    def unmask(self, now: int) -> None:
        raise NotImplementedError


@dataclass
class RefTg3(Chip):
    """Counts of descriptors, timers restarted by each, tagged status."""

    frames: tuple[int, int] = (5, 53)
    usecs: tuple[int, int] = (20, 72)
    frames_irq: tuple[int, int] = (5, 5)
    usecs_irq: tuple[int, int] = (20, 20)
    counts: list[int] = field(default_factory=lambda: [0, 0])
    expires: list[int | None] = field(default_factory=lambda: [None, None])
    tag: int = 0
    driver_tag: int = 0
    status: tuple[int, int] = (0, 0)
    handed: int = 0
    arrived: int = 0
    shared: bool = False
    clrtick: bool = True

    def received(self, now: int) -> None:
        self.arrived += 1
        self.descriptor(now, 0)

    def complete(self, now: int) -> None:
        self.completed += 1
        self.descriptor(now, 1)

    def descriptor(self, now: int, engine: int) -> None:
        self.counts[engine] += 1
        if self.clrtick or self.expires[engine] is None:
            self.restart(now, engine)
        frames = (self.frames_irq if self.masked else self.frames)[engine]
        if 0 < frames <= self.counts[engine]:
            self.update(engine)

    def restart(self, now: int, engine: int) -> None:
        usecs = (self.usecs_irq if self.masked else self.usecs)[engine]
        self.expires[engine] = now + usecs if usecs else None

    def timers(self, now: int) -> None:
        for engine in (0, 1):
            if self.expires[engine] == now:
                self.update(engine)

    def update(self, engine: int) -> None:
        for each in (0, 1) if self.shared else (engine,):
            self.counts[each] = 0
            self.expires[each] = None
        self.tag += 1
        self.status = (self.arrived, self.completed)
        if not self.masked:
            self.line = True

    def seen(self) -> int:
        return self.status[0] - self.handed

    def reclaimable(self) -> int:
        return self.status[1]

    def handle(self) -> None:
        self.masked = True
        self.line = False
        self.driver_tag = self.tag

    def poll_ended(self) -> None:
        self.driver_tag = self.tag

    def unmask(self, now: int) -> None:
        self.masked = False
        for engine in (0, 1):
            if self.counts[engine] and self.expires[engine] is None:
                self.restart(now, engine)
        if self.tag != self.driver_tag:
            self.line = True


@dataclass
class RefBnx2(RefTg3):
    """A timer runs from the first descriptor; the message itself masks."""

    clrtick: bool = False

    def update(self, engine: int) -> None:
        super().update(engine)
        self.masked = self.masked or self.line

    def unmask(self, now: int) -> None:
        super().unmask(now)
        self.masked = self.line


@dataclass
class RefE1000(Chip):
    """An interrupt cause, and a least interval between interrupts."""

    interval: int = 125
    tx_delay: int = 64
    cause: bool = False
    tx_expires: int | None = None
    last: int = -(10**9)
    handed: int = 0
    arrived: int = 0

    def received(self, now: int) -> None:  # noqa: ARG002 - the other chip needs the time
        self.arrived += 1
        self.cause = True

    def complete(self, now: int) -> None:
        self.completed += 1
        self.tx_expires = now + self.tx_delay

    def timers(self, now: int) -> None:
        if self.tx_expires == now:
            self.tx_expires = None
            self.cause = True
        self.drive(now)

    def drive(self, now: int) -> None:
        if self.cause and not self.masked and not self.line and now >= self.last + self.interval:
            self.line = True
            self.cause = False
            self.last = now

    def seen(self) -> int:
        return self.arrived - self.handed

    def reclaimable(self) -> int:
        return self.completed

    def handle(self) -> None:
        self.masked = True
        self.line = False
        self.cause = False

    def unmask(self, now: int) -> None:
        self.masked = False
        self.drive(now)


@dataclass
class RefHost:
    """One CPU that takes the interrupt and polls; costs in us."""

    chip: Chip
    weight: int
    hardirq: int
    entry: int
    poll: int
    per_frame: int
    per_completion: int
    asserted: list[int] = field(default_factory=list)
    log: list[tuple[int, int]] = field(default_factory=list)
    now: int = 0
    work: int = 0
    doing: str = "idle"
    done: int = 0
    reclaimed: int = 0

    def run(self, arrivals: list[int], departures: list[int], until: int) -> None:
        """Simulate; arrivals are numbered from 0."""
        line = False
        for now in range(until + 1):
            self.now = now
            # what arrives is seen before what has left
            for number, at in enumerate(arrivals):
                if at == now:
                    self.chip.receive(now, number)
            for at in departures:
                if at == now:
                    self.chip.complete(now)
            self.chip.timers(now)
            while True:
                if self.chip.line and not line:
                    self.asserted.append(now)
                    self.doing, self.work = "handler", self.hardirq
                line = self.chip.line
                if self.doing == "idle" or self.work > 0:
                    break
                self.step()
            self.work -= 1

    def step(self) -> None:
        """The piece of work is done."""
        chip = self.chip
        if self.doing == "handler":
            chip.handle()
            self.begin(self.entry)
        elif self.doing == "finish":
            self.finish()
        else:
            number = chip.ring.pop(0)
            chip.handed += 1  # type: ignore[attr-defined]
            self.done += 1
            self.log.append((self.now, number))
            self.next(0)

    def finish(self) -> None:
        """Nothing is left that the poll saw, or it may take no more."""
        self.chip.buffers += self.done
        self.chip.poll_ended()
        if self.more():
            self.begin(0)
        else:
            self.leave()

    def leave(self) -> None:
        self.doing = "idle"
        self.chip.unmask(self.now)

    def more(self) -> bool:
        chip = self.chip
        if chip.seen() > 0:
            return True
        return isinstance(chip, RefTg3) and chip.reclaimable() > self.reclaimed

    def begin(self, before: int) -> None:
        self.done = 0
        fresh = self.chip.reclaimable() - self.reclaimed
        self.reclaimed += fresh
        self.next(before + self.poll + fresh * self.per_completion)

    def next(self, before: int) -> None:
        if self.chip.seen() > 0 and self.done < self.weight:
            self.doing, self.work = "frame", before + self.per_frame
        else:
            self.doing, self.work = "finish", before


@dataclass
class RefBnx2Host(RefHost):
    """A poll goes on while the status block shows something and its weight allows."""

    handed_back: int = 0

    def begin(self, before: int) -> None:
        self.handed_back = 0
        super().begin(before)

    def finish(self) -> None:
        self.chip.buffers += self.done - self.handed_back
        self.handed_back = self.done
        if self.done >= self.weight:
            self.begin(0)
            return
        self.chip.poll_ended()
        if not self.more():
            self.leave()
            return
        fresh = self.chip.reclaimable() - self.reclaimed
        self.reclaimed += fresh
        self.next(fresh * self.per_completion)


@dataclass
class RefE1000eHost(RefHost):
    """A poll that has not used up its weight is the last."""

    def finish(self) -> None:
        self.chip.buffers += self.done
        if self.done >= self.weight:
            self.begin(0)
        else:
            self.leave()
