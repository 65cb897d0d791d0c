"""Build what delivers and places a host's interrupts: APIC mode, chipset, lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.host.apic import Apic, ApicMode, Firmware, apic_ids, apic_mode
from simnet.host.delayed_action import DelayedAction
from simnet.host.interrupt import Arbiter
from simnet.host.irqbalance import version_055 as irqbalance_055
from simnet.host.irqbalance import version_10 as irqbalance_10
from simnet.host.irqbalance.hand import PlacedByHand
from simnet.host.irqbalance.irq_source import IrqSource
from simnet.host.irqbalance.sles10 import FIRST_PASS_PS, irqbalance
from simnet.host.irqbalance.version_055 import Irqbalance055
from simnet.host.irqbalance.version_10 import Irqbalance10
from simnet.kernel.random import stream

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simnet.host.machine import Machine as Host
    from simnet.scenario.core.effective import Effective
    from simnet.scenario.core.effective import Host as HostModel
    from simnet.scenario.parts.host.schema import Cpu, Kernel, Machine
    from simnet.scenario.parts.irqbalance.schema import Balancer
    from simnet.scenario.system.ground import Ground

__all__ = ["apic_mode_of", "delayed_actions", "equip", "make_apic", "place_interrupts"]

# when each daemon first moves an interrupt; by hand they are placed at once
_FIRST_PASSES: Final = {
    "first-fit": FIRST_PASS_PS,
    "0.55": irqbalance_055.FIRST_PASS_PS,
    "1.0": irqbalance_10.FIRST_PASS_PS,
}


def delayed_actions(effective: Effective) -> Iterator[DelayedAction]:
    """The first pass of the daemon, if it is simulated."""
    first_ps = _FIRST_PASSES.get(effective.balancer.daemon)
    if effective.irqbalance == "daemon" and first_ps:
        yield DelayedAction("irqbalance", "first acts", first_ps)


def equip(ground: Ground) -> None:
    """Start the daemon that places interrupts, if it is simulated."""
    effective = ground.effective
    if effective.irqbalance == "daemon":
        place_interrupts(
            ground.env,
            ground.machine,
            effective.host,
            effective.balancer,
            ground.ports,
            occupied=frozenset(effective.occupied_cpus),
        )


def apic_mode_of(machine: Machine, cpu: Cpu, kernel: Kernel) -> ApicMode:
    """Return how a host's interrupts find their CPU: the kernel's choice, unless the model says."""
    if machine.apic == "physical":
        return ApicMode("physical", "first")
    if machine.apic == "logical":
        return ApicMode("logical", "all")
    ids = _ids(machine, cpu)
    firmware = Firmware(
        ids,
        max(machine.possible_cpus, len(ids)),
        vendor=cpu.vendor,
        force_physical=machine.force_physical_apic,
        x2apic=machine.x2apic,
        hotplug_cpu=kernel.hotplug_cpu,
    )
    return apic_mode(kernel.version, firmware, kernel.distribution)


def make_apic(host: Host, machine: Machine, cpu: Cpu, kernel: Kernel, *, seed: int) -> Apic:
    """Return what delivers the interrupts of `host`, whose models are given."""
    random = stream(seed, f"{host.path}.chipset")
    arbiter = Arbiter(machine.apic_arbitration, random)
    return Apic(host.cpus, apic_mode_of(machine, cpu, kernel), arbiter, _ids(machine, cpu))


def _ids(machine: Machine, cpu: Cpu) -> tuple[int, ...]:
    if machine.node_cpus:
        # what firmware numbers is not known: by socket, in the order of its CPUs
        return _listed_ids(machine)
    sockets = machine.nodes * machine.sockets_per_node
    return apic_ids(
        sockets, cpu.cores_per_socket * cpu.threads_per_core, machine.apic_ids_per_socket
    )


def _listed_ids(machine: Machine) -> tuple[int, ...]:
    most = max(map(len, machine.package_cpus))
    ids: dict[int, int] = {}
    numbers = apic_ids(len(machine.package_cpus), most, machine.apic_ids_per_socket)
    for socket, cpus in enumerate(machine.package_cpus):
        ids.update(zip(cpus, numbers[socket * most :], strict=False))
    return tuple(ids.get(cpu, 0) for cpu in range(max(ids) + 1))


def place_interrupts(
    env: Any,
    machine: Host,
    model: HostModel,
    balancer: Balancer,
    ports: Sequence[Any],
    *,
    occupied: frozenset[int] = frozenset(),
) -> None:
    """Start the daemon that places the interrupts of `machine`.

    Args:
        env: the environment.
        machine: whose interrupts they are.
        model: its configuration.
        balancer: which daemon, and its options.
        ports: the network ports; each is a queue with its line, or has several in `queues`.
        occupied: CPUs that serve other devices.
    """
    queues = [list(getattr(port, "queues", [port])) for port in ports]
    banned = frozenset(balancer.banned_cpus)
    if balancer.daemon == "first-fit":
        lines = [queue.line for port in queues for queue in port]
        env.process(irqbalance(env, lines, occupied | banned))
        return
    if balancer.daemon == "hand":
        hand = [[queue.line for queue in port] for port in queues]
        env.process(PlacedByHand(machine, hand, banned_cpus=banned).run(env))
        return
    sources = [
        IrqSource(
            queue.line,
            at.node if model.machine.pci_nodes else -1,
            msix=len(port) > 1,
            port=queue,
        )
        for at, port in zip(model.ports, queues, strict=True)
        for queue in port
    ]
    daemon: Irqbalance055 | Irqbalance10
    if balancer.daemon == "0.55":
        daemon = Irqbalance055(machine, sources, banned_cpus=banned, oneshot=balancer.oneshot)
    else:
        daemon = Irqbalance10(
            machine,
            sources,
            banned_cpus=banned,
            oneshot=balancer.oneshot,
            powerthresh=balancer.powerthresh or None,
        )
    env.process(daemon.run(env))
