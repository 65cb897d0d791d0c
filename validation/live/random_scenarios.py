"""Random scenarios for a TCP receiver: what comes in, and what its application does."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

_SIZES = (100, 100, 300, 536, 700, 1000, 1000, 1000, 1400)
_GAPS_MS = (0.2, 0.5, 1.2, 2.0, 5.0, 8.0, 20.0, 37.0, 41.0, 50.0, 100.0)
_BUFFERS = (4_000, 10_000, 30_000, 65_536, 200_000)
_LIMITS_US = (5_000, 8_000, 12_000, 20_000, 100_000)


@dataclass(frozen=True)
class Step:
    """Something that happens to the kernel's end: `inject`, `read` or `write`."""

    at_ms: float
    action: str
    first: int = 0
    last: int = 0
    push: bool = False


@dataclass
class Scenario:
    """A connection and what happens on it."""

    name: str
    mss: int = 1000
    advmss: int = 1460
    sack: bool = True
    quickack: bool = False
    delack_max_us: int = 0
    rcvbuf: int = 0
    steps: list[Step] = field(default_factory=list)


class Writer:
    """Writes steps one after the other.

    Args:
        chance: source of random numbers.
        scenario: whose steps are written.
    """

    def __init__(self, chance: random.Random, scenario: Scenario) -> None:
        self.chance = chance
        self.scenario = scenario
        self.at_ms = 0.0
        self.next = 1

    def put(self, action: str, first: int = 0, last: int = 0, *, push: bool = False) -> None:
        """One step, now."""
        self.scenario.steps.append(Step(round(self.at_ms, 3), action, first, last, push))

    def rest(self, gap_ms: float) -> None:
        """Let time pass, a little more or less than told."""
        self.at_ms += gap_ms * self.chance.uniform(0.9, 1.2)

    def read(self, count: int = 1 << 22) -> None:
        """The application reads."""
        self.put("read", last=count)

    def send(self, length: int, *, push: bool = False) -> None:
        """The next segment."""
        self.put("inject", self.next, self.next + length, push=push)
        self.next += length

    # -- parts of a scenario ----------------------------------------------------------------

    def warm_up(self) -> None:
        """Full segments, read at once, beyond the first quick ACKs."""
        for _ in range(self.chance.choice((20, 32, 32, 45))):
            self.send(self.scenario.mss)
            self.rest(0.1)
            self.read()
            self.rest(1.1)

    def run(self) -> None:
        """Segments of one size at one distance."""
        chance = self.chance
        size, gap = chance.choice(_SIZES), chance.choice(_GAPS_MS)
        push, reads = chance.choice((0.0, 0.0, 0.3, 1.0)), chance.choice((0.0, 0.5, 1.0, 1.0))
        delay = chance.choice((0.1, 0.1, 1.0, 3.0, 10.0))
        for _ in range(chance.randint(3, 30 if gap < 30 else 8)):
            self.send(size, push=chance.random() < push)
            if chance.random() < reads and delay < gap:
                self.rest(delay)
                self.read(chance.choice((1 << 22, 1 << 22, 250, 1700)))
            self.rest(gap)

    def mixture(self) -> None:
        """Segments of any size at any distance."""
        chance = self.chance
        for _ in range(chance.randint(5, 25)):
            self.send(chance.randint(1, 1460), push=chance.random() < 0.3)
            if chance.random() < 0.6:
                self.rest(0.1)
                self.read()
            self.rest(chance.choice(_GAPS_MS))

    def burst(self) -> None:
        """Several segments at once, read a little later; some times."""
        chance = self.chance
        size, count = chance.choice(_SIZES), chance.randint(2, 12)
        for _ in range(chance.randint(1, 5)):
            for number in range(count):
                self.send(size, push=number == count - 1 and chance.random() < 0.5)
                self.rest(0.12)
            self.rest(chance.choice((0.2, 1.0, 5.0)))
            self.read()
            self.rest(chance.choice((10.0, 45.0, 70.0)))

    def reordered(self) -> None:
        """Segments out of order, some twice or overlapping."""
        chance = self.chance
        size, gap = chance.choice((*_SIZES, 1460)), chance.choice((0.2, 1.2, 5.0, 20.0))
        count = chance.randint(3, 14)
        base = self.next
        order = list(range(count))
        if chance.random() < 0.5:
            order = [*order[1:], 0]
        else:
            chance.shuffle(order)
        for number in order:
            first = base + number * size
            self.put("inject", first, first + size, push=chance.random() < 0.1)
            self.rest(gap)
            if chance.random() < 0.15:
                shift = chance.choice((0, 0, size // 2))
                self.put("inject", first + shift, first + shift + size)
                self.rest(gap)
            if chance.random() < 0.3:
                self.read()
                self.rest(0.2)
        # what an overlap reached beyond the last
        self.next = base + (count + 1) * size
        self.put("inject", base + (count - 1) * size, self.next)
        self.rest(gap)
        self.read()
        self.rest(chance.choice((1.0, 60.0)))

    def repeated(self) -> None:
        """Segments that have come before."""
        for _ in range(self.chance.randint(1, 3)):
            size = self.chance.choice(_SIZES)
            self.send(size)
            self.rest(1.0)
            self.put("inject", self.next - size, self.next)
            self.rest(self.chance.choice((1.0, 30.0)))
            self.read()
            self.rest(self.chance.choice((2.0, 45.0)))

    def answers(self) -> None:
        """Requests that the application answers."""
        chance = self.chance
        size, delay = chance.choice((50, 100, 300)), chance.choice((0.1, 1.0, 10.0, 60.0))
        for _ in range(chance.randint(2, 10)):
            self.send(size, push=True)
            self.rest(delay)
            self.read()
            self.put("write", last=chance.choice((20, 100, 500)))
            self.rest(chance.choice((0.3, 5.0, 15.0)))
        # acknowledges the last answer
        self.send(size, push=True)
        self.rest(delay)
        self.read()
        self.rest(1.0)

    def idle(self) -> None:
        """Nothing happens."""
        self.rest(self.chance.choice((60.0, 150.0, 230.0, 350.0)))


def random_scenario(seed: int, number: int) -> Scenario:
    """The scenario of a number."""
    chance = random.Random(f"{seed}/{number}")  # noqa: S311 - nothing secret
    scenario = Scenario(f"random_{seed}_{number}")
    if chance.random() < 0.1:
        scenario.sack = False
    if chance.random() < 0.12:
        scenario.quickack = True
    if chance.random() < 0.15:
        scenario.delack_max_us = chance.choice(_LIMITS_US)
    if chance.random() < 0.25:
        scenario.rcvbuf = chance.choice(_BUFFERS)
    writer = Writer(chance, scenario)
    if chance.random() < 0.8:
        writer.warm_up()
    parts = [
        writer.run, writer.run, writer.run, writer.mixture, writer.burst, writer.reordered,
        writer.reordered, writer.repeated, writer.idle,
    ]  # fmt: skip
    if scenario.rcvbuf == 0:
        # where what comes fits, so that its ACKs count
        parts.append(writer.answers)
    for _ in range(chance.randint(2, 4)):
        chance.choice(parts)()
    return scenario
