"""irqbalance 0.55, as RHEL 5 and RHEL 6 before 6.3 have it.

Source: irqbalance.c, irqlist.c, placement.c, network.c, powermode.c and classify.c of its
repository at commit 22ed4b5 (December 2006). Every ten seconds all interrupts are placed anew, the
important classes and the busy ones first: on a package, in it on a cache domain, in that on a CPU,
each time where load and penalties together are least.

Two things follow from how it reads the system. An interrupt of MSI-X is not found by the device's
`irq` in sysfs: it gets no bonus for packets and no NUMA mask. And two interrupts of equal class and
load are ordered by where their data are in memory; here the one that was met later comes first.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from simnet.host.irqbalance.irq_source import (
    CLASSES,
    CpuTree,
    Domain,
    IrqSource,
    busy_ticks,
    cpu_tree,
)

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from simnet.host.machine import Machine

_SECOND_PS: Final = 10**12
_INTERVAL_PS: Final = 10 * _SECOND_PS
# it counts for a quarter of an interval, and sleeps until a whole second
FIRST_PASS_PS: Final = _INTERVAL_PS + _INTERVAL_PS // 4 // _SECOND_PS * _SECOND_PS
_MIN_IRQ_COUNT: Final = 20
_LARGEST_PACKETS: Final = 100_000
_INT_MAX: Final = 2**31 - 1

_CROSS_PACKAGE_PENALTY: Final = 3000
_NUMA_PENALTY: Final = 250
_POWER_MODE_PACKAGE_THRESHOLD: Final = 20_000
_CLASS_VIOLATION_PENALTY: Final = 6000
_CLASS_QUOTA_PENALTY: Final = 300_000
_CORE_SPECIFIC_THRESHOLD: Final = 5000
_POWER_MODE_SOFTIRQ_THRESHOLD: Final = 20
_POWER_MODE_HYSTERESIS: Final = 3

_NONE, _PACKAGE, _CACHE, _CORE = range(4)
_LEVELS: Final = (_PACKAGE, _CACHE, _CACHE, _NONE, _CORE, _CORE, _CORE)
_ETHERNET: Final = CLASSES.index("ethernet")
# network interfaces are known by their packets instead
_BY_PCI_CLASS: Final = {name: CLASSES.index(name) for name in ("legacy", "storage")}


@dataclass(eq=False)
class _Irq:
    """`struct interrupt`."""

    source: IrqSource
    rank: int  # when it was met
    kind: int
    level: int
    mask: int
    count: int
    old_mask: int = 0
    numa_mask: int = 0
    old_count: int = 0
    workload: int = 0
    extra: int = 0


@dataclass(eq=False)
class _Place:
    """A domain with what has been put into it."""

    domain: Domain
    children: list[_Place] = field(default_factory=list)
    workload: int = 0
    kinds: list[int] = field(default_factory=lambda: [0] * len(CLASSES))
    irqs: list[_Irq] = field(default_factory=list)

    def take(self, irq: _Irq) -> None:
        self.workload += irq.workload + 1
        self.irqs.append(irq)
        self.kinds[irq.kind] += 1
        irq.mask = self.domain.mask


class Irqbalance055:
    """The daemon.

    Args:
        machine: whose interrupts it places.
        sources: those interrupts.
        banned_cpus: IRQBALANCE_BANNED_CPUS.
        oneshot: IRQBALANCE_ONESHOT: place once and end. So it does, too, where all CPUs share one
            cache.
    """

    def __init__(
        self,
        machine: Machine,
        sources: Sequence[IrqSource],
        *,
        banned_cpus: frozenset[int] = frozenset(),
        oneshot: bool = False,
    ) -> None:
        self.machine = machine
        self.sources = sources
        self.tree: CpuTree = cpu_tree(machine, banned_cpus)
        self.oneshot = oneshot or len(self.tree.caches) == 1
        self.power_mode = False
        self._calm = 0  # passes in a row with hardly any interrupts
        self._ticks = 0
        self._irqs: list[_Irq] = []
        self._packets: dict[int, int] = {}

    def run(self, env: Any) -> Generator[Any, Any, None]:
        """SimPy process: place interrupts until the end, or once."""
        if len(self.machine.cpus) < 2:  # noqa: PLR2004 - nothing to choose
            return
        self._parse()
        yield env.timeout(_INTERVAL_PS // 4)
        for irq in self._irqs:
            irq.old_count = irq.count
        self._parse()
        self._scan_numa()
        self._calculate_workload()
        while True:
            # sleep_approx: wakes at whole seconds
            yield env.timeout(_INTERVAL_PS - self.machine.sim.now % _SECOND_PS)
            self.balance()
            if self.oneshot:
                return

    def balance(self) -> None:
        """One pass."""
        self._check_power_mode()
        self._parse()
        self._account_for_packets()
        self._calculate_workload()
        self._place()
        for irq in self._irqs:
            if irq.mask != irq.old_mask:
                irq.source.line.smp_affinity = irq.mask
                irq.old_mask = irq.mask

    # -- what it reads ----------------------------------------------------------------------------

    def _parse(self) -> None:
        """`parse_proc_interrupts`: new counts; an interrupt counts from 20 on."""
        known = {irq.source.line.irq: irq for irq in self._irqs}
        for source in sorted(self.sources, key=lambda source: source.line.irq):
            line = source.line
            if line.total < _MIN_IRQ_COUNT and not self.oneshot:
                continue
            if line.irq in known:
                known[line.irq].count = line.total
                continue
            kind = source.by_name
            level = _LEVELS[kind]
            mask = line.smp_affinity
            if level == _NONE:
                mask = sum(1 << cpu for cpu, count in enumerate(line.counts) if count)
            self._irqs.append(_Irq(source, len(self._irqs), kind, level, mask, line.total))

    def _scan_numa(self) -> None:
        """`pci_numa_scan`: CPUs near a device, its class; later scans find nothing else."""
        every_cpu = (1 << len(self.machine.cpus)) - 1
        near = {node.number: node.mask for node in self.tree.nodes}
        for irq in self._irqs:
            if irq.source.msix:
                continue
            irq.numa_mask |= near.get(irq.source.node, every_cpu)
            kind = _BY_PCI_CLASS.get(irq.source.device, 0)
            if irq.kind < kind and irq.level != _NONE:
                irq.kind, irq.level = kind, _LEVELS[kind]

    def _account_for_packets(self) -> None:
        """`account_for_nic_stats`: half a count for each packet, from the second pass on."""
        known = {irq.source.line.irq: irq for irq in self._irqs}
        for source in self.sources:
            number = source.line.irq
            if source.port is None or source.msix:
                continue
            seen = source.port.rx_packets + source.port.tx_packets
            before = self._packets.get(number, 0)
            self._packets[number] = seen
            extra = min((seen - before) // 2, _LARGEST_PACKETS)
            if before and extra and number in known:
                irq = known[number]
                irq.extra += extra
                if irq.kind < _ETHERNET and irq.level != _NONE:
                    irq.kind, irq.level = _ETHERNET, _LEVELS[_ETHERNET]

    def _calculate_workload(self) -> None:
        for irq in self._irqs:
            irq.workload = irq.count - irq.old_count + irq.workload // 3 + irq.extra
            irq.old_count = irq.count
            irq.extra = 0

    def _check_power_mode(self) -> None:
        """On after more than three calm passes in a row, off at the first other one."""
        ticks = sum(busy_ticks(self.machine.cpus, self.machine.layout.tick_ps))
        calm = ticks - self._ticks < _POWER_MODE_SOFTIRQ_THRESHOLD
        self._ticks = ticks
        self._calm = self._calm + 1 if calm else 0
        self.power_mode = calm and (self.power_mode or self._calm > _POWER_MODE_HYSTERESIS)

    # -- where it puts interrupts -----------------------------------------------------------------

    def _place(self) -> None:
        cpus = {domain.number: _Place(domain) for domain in self.tree.cpus}
        caches = [_Place(d, [cpus[child.number] for child in d.children]) for d in self.tree.caches]
        inside = {id(place.domain): place for place in caches}
        packages = [
            _Place(domain, [inside[id(child)] for child in domain.children])
            for domain in self.tree.packages
        ]
        self._irqs.sort(key=lambda irq: (-irq.kind, -irq.workload, -irq.rank))
        for irq in self._irqs:
            if irq.level == _NONE:
                for place in (*packages, *caches, *cpus.values()):
                    if place.domain.mask & irq.mask:
                        place.workload += irq.workload
        counts = [sum(irq.kind == kind for irq in self._irqs) for kind in range(len(CLASSES))]
        quotas = [-(-count // len(packages)) for count in counts]
        for irq in self._irqs:
            if irq.level != _NONE:
                costs = [self._package_cost(irq, package, quotas) for package in packages]
                _cheapest(irq, packages, costs)
        for package in packages:
            for irq in [irq for irq in package.irqs if irq.level > _PACKAGE]:
                _cheapest(irq, package.children, [_cache_cost(irq, c) for c in package.children])
        for cache in caches:
            for irq in cache.irqs:
                if irq.level > _CACHE or irq.workload >= _CORE_SPECIFIC_THRESHOLD or self.oneshot:
                    _cheapest(irq, cache.children, [_cpu_cost(irq, c) for c in cache.children])

    def _package_cost(self, irq: _Irq, package: _Place, quotas: list[int]) -> int:
        bonus = _move_cost(irq, package, _CROSS_PACKAGE_PENALTY)
        if self.power_mode:
            bonus += _POWER_MODE_PACKAGE_THRESHOLD * package.domain.number
        elif package.kinds[irq.kind] >= quotas[irq.kind]:
            bonus += _CLASS_QUOTA_PENALTY
        return irq.workload + bonus


def _move_cost(irq: _Irq, place: _Place, penalty: int) -> int:
    """What a cold cache and a far node count; a tenth of it for an interrupt that rests."""
    bonus = 0 if irq.old_mask & place.domain.mask else penalty
    if not irq.numa_mask & place.domain.mask:
        bonus += _NUMA_PENALTY
    return bonus // 10 if irq.workload == 0 else bonus


def _cache_cost(irq: _Irq, cache: _Place) -> int:
    bonus = _move_cost(irq, cache, _CROSS_PACKAGE_PENALTY // 2)
    return irq.workload + bonus + _CLASS_VIOLATION_PENALTY * cache.kinds[irq.kind]


def _cpu_cost(irq: _Irq, cpu: _Place) -> int:
    bonus = _move_cost(irq, cpu, _CROSS_PACKAGE_PENALTY // 3)
    cache = cpu.domain.parent
    # some chipsets only use the first CPU: interrupts with a CPU of their own prefer another
    if cache is not None and cache.number == cpu.domain.number:
        bonus += 1
    return irq.workload + bonus + _CLASS_VIOLATION_PENALTY * cpu.kinds[irq.kind]


def _cheapest(irq: _Irq, places: Sequence[_Place], costs: Sequence[int]) -> None:
    """Put an interrupt where load and cost are least, at the first of equals."""
    least, best = _INT_MAX, None
    for place, cost in zip(places, costs, strict=True):
        if place.workload + cost < least:
            least, best = place.workload + cost, place
    if best is not None:
        best.take(irq)
