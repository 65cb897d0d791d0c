"""The irqbalance daemon of SLES 10, as far as its effect is known.

Its source (0.09 to 0.12) is lost. The x460 document's Listing 1 shows the outcome: every
network interrupt on a CPU of its own among the first ten, whatever its node. The simplest rule
that gives this is used (an assumption): every ten seconds interrupts are taken in the order of
their rates; one that shares its CPU with an earlier one moves to the first CPU, by number, that
serves no other interrupt source. Interrupts below 20 counts a round are left alone, as the
published 0.55 does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Generator, Sequence

    from simnet.host.interrupt import IrqLine

PERIOD_PS = 10 * 10**12
FIRST_PASS_PS = 25 * 10**11
_NEGLIGIBLE_COUNTS = 20


def irqbalance(
    env: Any,
    lines: Sequence[IrqLine],
    occupied: frozenset[int] = frozenset(),
) -> Generator[Any, Any, None]:
    """SimPy process: rebalance `lines` for ever.

    Args:
        env: the environment.
        lines: interrupt lines that it looks after.
        occupied: CPUs that serve other devices (timer, disk, USB).
    """
    seen = {line.irq: 0 for line in lines}
    yield env.timeout(FIRST_PASS_PS)
    while True:
        rates = {line.irq: line.total - seen[line.irq] for line in lines}
        seen = {line.irq: line.total for line in lines}
        taken = set(occupied)
        for line in sorted(lines, key=lambda line: (-rates[line.irq], line.irq)):
            if rates[line.irq] < _NEGLIGIBLE_COUNTS:
                continue
            cpu = line.current_target().cpu_id
            if cpu in taken:
                cpu = next((n for n in range(len(line.cpus)) if n not in taken), cpu)
                line.smp_affinity = 1 << cpu
            taken.add(cpu)
        yield env.timeout(PERIOD_PS)
