"""Build what delivers a host's interrupts: APIC mode, chipset, lines."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.host.apic import Apic, ApicMode, Firmware, apic_ids, apic_mode, physical_mode
from simnet.host.interrupt import Arbiter
from simnet.kernel.random import stream

if TYPE_CHECKING:
    from simnet.host.machine import Machine as Host
    from simnet.scenario.parts.host.schema import Cpu, Kernel, Machine


def apic_mode_of(machine: Machine, cpu: Cpu, kernel: Kernel) -> ApicMode:
    """Return how a host's interrupts find their CPU: the kernel's choice, unless the model says."""
    if machine.apic == "physical":
        return physical_mode(kernel.version)
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
