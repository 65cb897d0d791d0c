"""irqbalance 1.0, as RHEL 6 from 6.3 on has it.

Source: irqbalance.c, placement.c, irqlist.c, procinterrupts.c and activate.c of its tag v1.0.1
(2011; tag v1.0 never resets the load of what is above CPUs). An interrupt stays where it is until
its CPU is overloaded: its time in interrupts and softirqs, by `/proc/stat`, is more than a
standard deviation above the mean. Then all but one of its interrupts may move, until what they are
thought to cost makes up the difference. They are placed from the top, in the node of their device
if that is known, then in its packages, caches, CPUs, always where the load is least.

Left out: affinity hints, which no driver of the models gives; hotplug of CPUs.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from simnet.host.irqbalance.irq_source import CLASSES, Domain, IrqSource, busy_ticks, cpu_tree

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from simnet.host.machine import Machine

_SECOND_PS: Final = 10**12
_INTERVAL_PS: Final = 10 * _SECOND_PS
FIRST_PASS_PS: Final = _INTERVAL_PS
_LOAD_OF_TICK: Final = 1000
_SETTLING_CYCLES: Final = 5
_INT_MAX: Final = 2**31 - 1

_NODE, _PACKAGE, _CACHE, _CORE = range(4)
# the level at which a class stays
_LEVELS: Final = {"other": _PACKAGE, "legacy": _CACHE, "storage": _CACHE, "ethernet": _CORE}


@dataclass(eq=False)
class _Irq:
    """`struct irq_info`."""

    source: IrqSource
    kind: int
    level: int
    count: int = 0
    last_count: int = 0
    load: int = 0
    moved: bool = False
    place: _Place | None = None

    @property
    def delta(self) -> int:
        return self.count - self.last_count


@dataclass(eq=False)
class _Place:
    """`struct topo_obj`."""

    domain: Domain
    level: int
    peers: list[_Place]  # all of its level
    parent: _Place | None = None
    children: list[_Place] = field(default_factory=list)
    irqs: list[_Irq] = field(default_factory=list)
    load: int = 0
    powersave: bool = False


class Irqbalance10:
    """The daemon.

    Args:
        machine: whose interrupts it places.
        sources: those interrupts; it looks after those of PCI devices.
        banned_cpus: IRQBALANCE_BANNED_CPUS.
        oneshot: ``--oneshot``: place once and end. So it does, too, where all CPUs share one cache.
        powerthresh: ``--powerthresh``: CPUs more than a standard deviation below the mean that let
            one of them be left without interrupts; None for off.
    """

    def __init__(
        self,
        machine: Machine,
        sources: Sequence[IrqSource],
        *,
        banned_cpus: frozenset[int] = frozenset(),
        oneshot: bool = False,
        powerthresh: int | None = None,
    ) -> None:
        self.machine = machine
        self.powerthresh = powerthresh
        self.levels: list[list[_Place]] = [[], [], [], []]
        for node in cpu_tree(machine, banned_cpus).nodes:
            self._add(node, _NODE, None)
        self.oneshot = oneshot or len(self.levels[_CACHE]) == 1
        self._irqs = [
            _Irq(source, CLASSES.index(source.device), _LEVELS[source.device])
            for source in sources
            if source.device in _LEVELS
        ]
        self._to_place = list(self._irqs)
        self._ticks: list[int] = []
        self._cycle = 0
        for irq in self._irqs:
            irq.moved = True

    def _add(self, domain: Domain, level: int, parent: _Place | None) -> _Place:
        place = _Place(domain, level, self.levels[level], parent)
        self.levels[level].append(place)
        place.children = [self._add(child, level + 1, place) for child in domain.children]
        return place

    def run(self, env: Any) -> Generator[Any, Any, None]:
        """SimPy process: place interrupts until the end, or once."""
        if len(self.machine.cpus) < 2:  # noqa: PLR2004 - nothing to choose
            return
        self._parse()
        while True:
            # sleep_approx: wakes at whole seconds
            yield env.timeout(_INTERVAL_PS - self.machine.sim.now % _SECOND_PS)
            self.balance()
            if self.oneshot:
                return

    def balance(self) -> None:
        """One pass."""
        self._parse()
        if self._cycle:
            self._update_migration_status()
        self._place()
        for irq in self._irqs:
            if irq.moved and irq.place is not None:
                irq.source.line.smp_affinity = irq.place.domain.mask
                irq.moved = False
        self._cycle += 1

    # -- load -------------------------------------------------------------------------------------

    def _parse(self) -> None:
        """`parse_proc_interrupts`, `parse_proc_stat`: counts, time, and each interrupt's share."""
        for irq in self._irqs:
            irq.last_count, irq.count, irq.load = irq.count, irq.source.line.total, 0
        ticks = busy_ticks(self.machine.cpus, self.machine.layout.tick_ps)
        for place in self.levels[_CORE]:
            if self._cycle:
                number = place.domain.number
                place.load = (ticks[number] - self._ticks[number]) * _LOAD_OF_TICK
        self._ticks = ticks
        for level in (_NODE, _PACKAGE, _CACHE):
            for place in self.levels[level]:
                place.load = 0
        for level in (_CORE, _CACHE, _PACKAGE, _NODE):
            for place in self.levels[level]:
                _share_load(place)

    def _update_migration_status(self) -> None:
        over, under, first_under = self._relieve(self.levels[_CORE])
        if self._cycle > _SETTLING_CYCLES and self.powerthresh is not None:
            if not over and under >= self.powerthresh and first_under is not None:
                first_under.powersave = True
                for irq in list(first_under.irqs):
                    self._take_out(irq)
            elif over:
                for place in self.levels[_CORE]:
                    place.powersave = False
        for level in (_CACHE, _PACKAGE, _NODE):
            self._relieve(self.levels[level])

    def _relieve(self, places: list[_Place]) -> tuple[bool, int, _Place | None]:
        """`find_overloaded_objs`: take interrupts from places above mean and standard deviation.

        Returns whether any is above, how many are as far below, and the first of those.
        """
        mean = sum(place.load for place in places) // len(places)
        squares = sum((place.load - mean) ** 2 for place in places)
        variance = squares // max(len(places) - 1, 1)
        over = False
        under = 0
        first_under = None
        for place in places:
            if place.load <= mean:
                if variance <= (mean - place.load) ** 2:
                    under += 1
                    if first_under is None and not place.powersave:
                        first_under = place
                continue
            remaining = place.load - mean
            if remaining**2 <= variance or len(place.irqs) <= 1:
                continue
            over = True
            place.irqs.sort(key=_order)
            for irq in list(place.irqs):
                if len(place.irqs) <= 1 or remaining <= 0:
                    break
                remaining -= irq.load
                self._take_out(irq)
        return over, under, first_under

    def _take_out(self, irq: _Irq) -> None:
        if irq.place is not None:
            irq.place.irqs.remove(irq)
        irq.place = None
        irq.moved = True
        self._to_place.append(irq)

    # -- where it puts interrupts -----------------------------------------------------------------

    def _place(self) -> None:
        nodes = {place.domain.number: place for place in self.levels[_NODE]}
        for irq in sorted(self._to_place, key=_order):
            if irq.source.node in nodes:
                node = nodes[irq.source.node]
                _put(irq, node)
                node.load += 1
            else:
                _put(irq, _best(self.levels[_NODE]))
        self._to_place.clear()
        for level in (_NODE, _PACKAGE, _CACHE):
            for place in self.levels[level]:
                for irq in [irq for irq in place.irqs if irq.moved and irq.level != level]:
                    _put(irq, _best(place.children))


def _order(irq: _Irq) -> tuple[int, int, int]:
    """`sort_irqs`: by class, by load; of equals the one whose data lie higher comes first."""
    return -irq.kind, -irq.load, -irq.source.line.irq


def _share_load(place: _Place) -> None:
    """`compute_irq_branch_load_share`, from CPUs upwards."""
    place.load //= len(place.children) or 1
    if place.irqs:
        counts = _interrupts(place)
        slice_ = place.load // counts if counts else 1
        for irq in place.irqs:
            irq.load = irq.delta * slice_ or 1
    if place.parent is not None:
        place.parent.load += place.load


def _interrupts(place: _Place) -> int:
    """Interrupts of a place, and its share of those of the places above it."""
    total = 0
    if place.parent is not None:
        total = _interrupts(place.parent) // len(place.peers)
    return total + sum(irq.delta for irq in place.irqs)


def _best(places: Sequence[_Place]) -> _Place | None:
    """`find_best_object`: least load; of equals the last that has fewer than the first."""
    best: _Place | None = None
    fewer: _Place | None = None
    least = _INT_MAX
    for place in places:
        if place.powersave:
            continue
        if place.load < least:
            best, fewer, least = place, None, place.load
        elif best is not None and place.load == least and len(place.irqs) < len(best.irqs):
            fewer = place
    return fewer or best


def _put(irq: _Irq, place: _Place | None) -> None:
    if place is None:
        return
    if irq.place is not None:
        irq.place.irqs.remove(irq)
    place.irqs.append(irq)
    place.load += irq.load
    irq.place = place
    irq.moved = True
