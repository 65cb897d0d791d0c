"""Interrupts placed by hand: one queue per CPU, and the busiest CPU is relieved now and then.

The rule of an administrator with `echo` and `mpstat`, with irqbalance off: queue k of each port
goes to CPU k; then, every so often, an interrupt of the busiest CPU goes to the least busy one, if
that makes the busiest less busy than it was. What an interrupt costs is taken to be its share, by
counts, of its CPU's time in interrupts and softirqs. How often is not published, nor what
difference is worth a change: both are assumptions.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from simnet.host.interrupt import IrqLine
    from simnet.host.machine import Machine

PERIOD_PS: Final = 10 * 10**12
"""Between two looks."""

# difference between the busiest and the least busy CPU that is worth a change, of the period
_WORTH_PERCENT: Final = 5


class PlacedByHand:
    """The administrator.

    Args:
        machine: whose interrupts are placed.
        ports: the lines of each port, queue by queue.
        banned_cpus: CPUs that get none.
    """

    def __init__(
        self,
        machine: Machine,
        ports: Sequence[Sequence[IrqLine]],
        *,
        banned_cpus: frozenset[int] = frozenset(),
    ) -> None:
        self.machine = machine
        self.ports = ports
        self.cpus = [cpu for cpu in machine.cpus if cpu.cpu_id not in banned_cpus]
        self.where: dict[int, int] = {}
        self._times: dict[int, dict[str, int]] = {}
        self._counts: dict[int, int] = {}

    def run(self, env: Any) -> Generator[Any, Any, None]:
        """SimPy process: place at once, then relieve for ever."""
        self.place()
        while True:
            self._look()
            yield env.timeout(PERIOD_PS)
            self.relieve()

    def place(self) -> None:
        """Queue k of each port to CPU k; ports of one queue to one CPU each."""
        single = all(len(lines) == 1 for lines in self.ports)
        for port, lines in enumerate(self.ports):
            for queue, line in enumerate(lines):
                number = port if single else queue
                self._move(line, self.cpus[number % len(self.cpus)].cpu_id)

    def relieve(self) -> IrqLine | None:
        """Move an interrupt off the busiest CPU, and return it; None if that would not help."""
        before = self._times
        busy, served = {}, {}
        for cpu in self.cpus:
            now, then = cpu.times(), before[cpu.cpu_id]
            gained = {name: now[name] - then[name] for name in now}
            total = sum(gained[f"{mode}_ps"] for mode in _MODES)
            busy[cpu.cpu_id] = total - gained["idle_ps"]
            served[cpu.cpu_id] = gained["softirq_ps"] + gained["irq_ps"]
        busiest = max(busy, key=lambda cpu: (busy[cpu], -cpu))
        laziest = min(busy, key=lambda cpu: (busy[cpu], cpu))
        difference = busy[busiest] - busy[laziest]
        if difference * 100 < _WORTH_PERCENT * PERIOD_PS:
            return None
        lines = [line for lines in self.ports for line in lines if self.where[line.irq] == busiest]
        fired = {line.irq: line.total - self._counts[line.irq] for line in lines}
        total = sum(fired.values())
        if not total:
            return None
        costs = {line.irq: served[busiest] * fired[line.irq] // total for line in lines}
        # what halves the difference is best; what turns it round does not help
        useful = [line for line in lines if 0 < costs[line.irq] < difference]
        if not useful:
            return None
        line = min(useful, key=lambda line: (abs(2 * costs[line.irq] - difference), line.irq))
        self._move(line, laziest)
        return line

    def _look(self) -> None:
        self._times = {cpu.cpu_id: cpu.times() for cpu in self.cpus}
        self._counts = {line.irq: line.total for lines in self.ports for line in lines}

    def _move(self, line: IrqLine, cpu: int) -> None:
        self.where[line.irq] = cpu
        line.smp_affinity = 1 << cpu


_MODES: Final = ("user", "system", "softirq", "irq", "idle")
