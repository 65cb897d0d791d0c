"""Interrupt sources for the daemons that place them."""

from simnet.host.apic import Apic, ApicMode
from simnet.host.interrupt import IrqLine
from simnet.host.irqbalance.irq_source import IrqSource, Traffic
from simnet.host.irqbalance.version_10 import Irqbalance10
from simnet.host.machine import Machine


def sources(
    machine: Machine,
    names: list[str],
    node: int = -1,
    *,
    msix: bool = False,
    port: Traffic | None = None,
    device: str = "ethernet",
) -> list[IrqSource]:
    """Lines 10, 11, ... of the given names, at first all on CPU 0."""
    apic = Apic(machine.cpus, ApicMode("physical flat", "first"))
    lines = [apic.line(10 + number, name, 1) for number, name in enumerate(names)]
    if port is None:
        return [IrqSource(line, node, msix, device=device) for line in lines]
    return [IrqSource(line, node, msix, port, device) for line in lines]


def fire(source: IrqSource, times: int) -> None:
    """Count interrupts as if they had come."""
    line: IrqLine = source.line
    line.total += times
    line.counts[line.current_target().cpu_id] += times


def masks(found: list[IrqSource]) -> list[int]:
    """The affinities as written."""
    return [source.line.smp_affinity for source in found]


def cpus(found: list[IrqSource]) -> list[int]:
    """The CPU of each line; each must have one."""
    for mask in masks(found):
        assert mask.bit_count() == 1
    return [mask.bit_length() - 1 for mask in masks(found)]


def saving(daemon: Irqbalance10) -> set[int]:
    """CPUs that get no interrupts, to save power."""
    return {place.domain.number for place in daemon.levels[-1] if place.powersave}
