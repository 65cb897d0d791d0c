"""Where interrupts and processes would be near: on the node of their port.

Source: ``Documentation/networking/scaling.txt`` of Linux 3.0, RSS IRQ Configuration.
"""

from collections.abc import Iterator
from typing import Final

from simnet.host.release import release
from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.core.knob import cpu_mask_text
from simnet.scenario.core.subject import Proposal
from simnet.scenario.parts.placement.knobs import PLACEMENT

_LIST: Final = "/proc/irq/{irq}/smp_affinity_list"
_MASK: Final = "/proc/irq/{irq}/smp_affinity"


def proposals(effective: Effective) -> Iterator[Proposal]:
    """Each queue's interrupt on a CPU of its port's node; processes on the node of their port."""
    host = effective.host
    since = next(knob.since for knob in PLACEMENT if knob.name == _LIST)
    lists = release(host.kernel.version) >= release(since)
    masks = tuple(
        (_LIST.format(irq=irq), str(cpu)) if lists else (_MASK.format(irq=irq), _mask(cpu))
        for irq, cpu in _spread(host)
    )
    if masks:
        yield Proposal(
            "interrupts-on-node",
            "each queue's interrupt on a CPU of its port's node, cores evenly used, irqbalance off",
            (("irqbalance", "off"), *masks),
            short="affinity",
        )
    if host.machine.nodes > 1 and effective.flows:
        yield Proposal(
            "processes-on-node",
            "each process and its memory on the node of its port",
            (("numactl --cpubind", "nic"), ("numactl --preferred", "nic")),
        )


def _mask(cpu: int) -> str:
    return cpu_mask_text((cpu,))


def _spread(host: Host) -> Iterator[tuple[int, int]]:
    """Interrupts, each with a CPU: first threads of cores, evenly over those of a node."""
    for node in range(host.machine.nodes):
        cores = host.cpus_of(node)[:: host.cpu.threads_per_core]
        irqs = [
            port.irq_of(queue)
            for port in host.ports
            if port.node == node
            for queue in range(max(len(port.queue_affinity), 1))
        ]
        for number, irq in enumerate(irqs):
            place = number * len(cores) // len(irqs) if len(irqs) <= len(cores) else number
            yield irq, cores[place % len(cores)]
