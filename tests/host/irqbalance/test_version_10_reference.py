"""irqbalance 1.0 against its placement.c, irqlist.c and procinterrupts.c, written out for a tree.

The tree has two nodes of two packages with two caches of two threads; what counts is who is above
whom, so a place is the tuple of numbers on the way down to it.
"""

from dataclasses import dataclass

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simnet.host.irqbalance import version_10 as irqbalance_10
from simnet.host.irqbalance.irq_source import CLASSES
from simnet.host.irqbalance.version_10 import Irqbalance10
from simnet.kernel.simulator import Simulator
from tests.host.irqbalance.daemons import masks, saving, sources
from tests.host.parts import make_machine
from tests.house.examples import examples

Place = tuple[int, ...]
# level of a class: 1 a node, 2 a package, 3 a cache, 4 a CPU
LEVELS = {"other": 2, "legacy": 3, "storage": 3, "ethernet": 4}


@dataclass
class Irq:
    """`struct irq_info`; `place` is empty where it has none."""

    number: int
    device: str
    node: int
    count: int = 0
    delta: int = 0
    load: int = 0
    place: Place = ()

    @property
    def rank(self) -> tuple[int, int, int]:
        return CLASSES.index(self.device), self.load, self.number


class Daemon:
    """What the daemon keeps of a machine."""

    def __init__(self, shape: tuple[int, ...], irqs: list[Irq], threshold: int | None) -> None:
        self.shape = shape
        self.irqs = irqs
        self.threshold = threshold
        self.saving: set[Place] = set()
        self.ticks: list[int] = []
        self.loads: dict[Place, int] = {}
        self.held: dict[Place, list[Irq]] = {
            place: [] for level in range(1, 5) for place in self.level(level)
        }
        self.waiting = list(irqs)
        self.cycle = 0

    def level(self, depth: int) -> list[Place]:
        places: list[Place] = [()]
        for width in self.shape[:depth]:
            places = [(*place, child) for place in places for child in range(width)]
        return places

    def children(self, place: Place) -> list[Place]:
        return [(*place, child) for child in range(self.shape[len(place)])]

    def count_of(self, place: Place) -> int:
        above = self.count_of(place[:-1]) // len(self.level(len(place))) if len(place) > 1 else 0
        return above + sum(irq.delta for irq in self.held[place])

    def parse(self, counts: list[int], ticks: list[int]) -> None:
        """A look at /proc/interrupts and /proc/stat."""
        for irq, count in zip(self.irqs, counts, strict=True):
            irq.delta, irq.count, irq.load = count - irq.count, count, 0
        bottom = self.level(4)
        self.loads = dict.fromkeys(self.held, 0) | {
            place: (ticks[cpu] - self.ticks[cpu]) * 1000 if self.cycle else self.loads.get(place, 0)
            for cpu, place in enumerate(bottom)
        }
        self.ticks = ticks
        for depth in (4, 3, 2, 1):
            for place in self.level(depth):
                if depth < 4:
                    self.loads[place] //= self.shape[depth]
                count = self.count_of(place)
                for irq in self.held[place]:
                    irq.load = irq.delta * (self.loads[place] // count if count else 1) or 1
                if depth > 1:
                    self.loads[place[:-1]] += self.loads[place]

    def take_out(self, irq: Irq) -> None:
        self.held[irq.place].remove(irq)
        irq.place = ()
        self.waiting.append(irq)

    def relieve(self, depth: int) -> tuple[int, list[Place]]:
        """`find_overloaded_objs`; return how many are above, and who is below."""
        places = self.level(depth)
        mean = sum(self.loads[place] for place in places) // len(places)
        deviation = sum((self.loads[place] - mean) ** 2 for place in places)
        deviation //= max(len(places) - 1, 1)
        above, below = 0, []
        for place in places:
            distance = self.loads[place] - mean
            if distance <= 0:
                below += [place] * (distance**2 >= deviation)
            elif distance**2 > deviation and len(self.held[place]) > 1:
                above += 1
                self.held[place].sort(key=lambda irq: irq.rank, reverse=True)
                for irq in self.held[place][:-1]:
                    if distance > 0:
                        distance -= irq.load
                        self.take_out(irq)
        return above, below

    def migrate(self) -> None:
        above, below = self.relieve(4)
        if self.cycle > 5 and self.threshold is not None:
            awake = [place for place in below if place not in self.saving]
            if not above and len(below) >= self.threshold and awake:
                self.saving.add(awake[0])
                for irq in list(self.held[awake[0]]):
                    self.take_out(irq)
            elif above:
                self.saving.clear()
        for depth in (3, 2, 1):
            self.relieve(depth)

    def put(self, irq: Irq, place: Place | None) -> None:
        if place is None:
            return
        if irq.place:
            self.held[irq.place].remove(irq)
        self.held[place].append(irq)
        self.loads[place] += irq.load
        irq.place = place

    def best(self, places: list[Place]) -> Place | None:
        awake = [place for place in places if place not in self.saving]
        if not awake:
            return None
        least = min(self.loads[place] for place in awake)
        equals = [place for place in awake if self.loads[place] == least]
        fewer = [place for place in equals if len(self.held[place]) < len(self.held[equals[0]])]
        return [equals[0], *fewer][-1]

    def place(self) -> list[Irq]:
        moved = list(self.waiting)
        for irq in sorted(self.waiting, key=lambda irq: irq.rank, reverse=True):
            if irq.node >= 0:
                self.put(irq, (irq.node,))
                self.loads[(irq.node,)] += 1
            else:
                self.put(irq, self.best(self.level(1)))
        self.waiting = []
        for depth in (1, 2, 3):
            for place in self.level(depth):
                for irq in [irq for irq in self.held[place] if irq in moved]:
                    if LEVELS[irq.device] != depth:
                        self.put(irq, self.best(self.children(place)))
        return moved

    def balance(self, counts: list[int], ticks: list[int]) -> None:
        self.parse(counts, ticks)
        if self.cycle:
            self.migrate()
        self.place()
        self.cycle += 1

    def mask(self, place: Place) -> int:
        cpus = self.level(4)
        return sum(1 << cpu for cpu, at in enumerate(cpus) if at[: len(place)] == place)


SHAPES = [(2, 2, 2, 2), (2, 1, 4, 1), (1, 1, 4, 1), (1, 2, 1, 2)]
kinds = st.sampled_from([*["ethernet"] * 4, "storage", "legacy", "other"])
rounds = st.lists(
    st.tuples(
        st.lists(st.sampled_from([0, 1, 7, 300, 1000]), min_size=9, max_size=9),
        st.lists(st.sampled_from([0, 0, 1, 100, 500, 900]), min_size=16, max_size=16),
    ),
    min_size=1,
    max_size=12,
)


@given(
    st.sampled_from(SHAPES),
    st.lists(st.tuples(kinds, st.sampled_from([-1, -1, 0, 1])), min_size=2, max_size=9),
    rounds,
    st.sampled_from([None, None, 0, 1, 2]),
)
@settings(max_examples=examples(150))
def test_every_affinity_is_the_daemons(
    shape: tuple[int, ...],
    devices: list[tuple[str, int]],
    found: list[tuple[list[int], list[int]]],
    threshold: int | None,
) -> None:
    ticks = [0] * 16
    nodes, packages, caches, threads = shape
    count = nodes * packages * caches * threads
    machine = make_machine(
        Simulator(),
        nodes=nodes,
        sockets_per_node=packages,
        cores_per_socket=caches,
        threads_per_core=threads,
    )
    lines = []
    for number, (device, node) in enumerate(devices):
        lines += sources(machine, ["x"], node if node < nodes else -1, device=device)
        lines[-1].line.irq = 10 + number
    irqs = [Irq(one.line.irq, one.device, one.node) for one in lines]
    daemon, model = (
        Irqbalance10(machine, lines, powerthresh=threshold),
        Daemon(shape, irqs, threshold),
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(irqbalance_10, "busy_ticks", lambda *_: ticks[:count])
        for fired, busy in found:
            ticks = [one + more for one, more in zip(ticks, busy, strict=True)]
            for one, more in zip(lines, fired, strict=False):
                one.line.total += more
            daemon.balance()
            model.balance([one.line.total for one in lines], ticks[:count])
            assert masks(lines) == [model.mask(irq.place) for irq in irqs]
            assert saving(daemon) == {model.level(4).index(place) for place in model.saving}
