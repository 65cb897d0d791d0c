"""Makes the units of a machine, and a domain for each of its devices.

A port and a drive each have a domain, as each is in a group of its own. That the devices of a node
share one unit is assumed: a socket has several, one for some of its slots.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.host.costs import cycles_ps, whole_ns
from simnet.host.dma.iommu import DmaDomain, RemappingUnit
from simnet.scenario.parts.iommu.schema import translates

if TYPE_CHECKING:
    from simnet.host.machine import Machine
    from simnet.scenario.core.effective import Host
    from simnet.scenario.system.ground import Ground

# `wait_on_sem` of amd/iommu.c: udelay(1)
_LOOK_PS: Final = {"amd": 10**6, "intel": 0}


def join(ground: Ground, machine: Machine, host: Host) -> None:
    """Give the devices of a machine their domains, where buffers are mapped."""
    if not translates(host):
        return
    kernel = host.kernel
    units = {
        node: RemappingUnit(
            ground.sim, machine.memory, whole_ns(kernel.iommu_answer_ps), _LOOK_PS[host.cpu.vendor]
        )
        for node in range(host.machine.nodes)
    }
    for device in (*host.ports, *host.drives):
        machine.domains[device.name] = DmaDomain(
            units[device.node],
            machine.costs.ledger,
            map_ps=cycles_ps(kernel.iommu_map_cycles, host.cpu.clock_hz),
            unmap_ps=cycles_ps(kernel.iommu_unmap_cycles, host.cpu.clock_hz),
            strict=kernel.iommu_strict == "1",
            cpus=len(machine.cpus),
        )
