"""What of a hypervisor's partitions can be full: entitlements, and the pool of processors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simnet.scenario.resource import PS_PER_S, Resource, busy

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simnet.host.machine import Machine
    from simnet.scenario.effective import Effective

__all__ = ["partition_resources"]


def partition_resources(
    effective: Effective, machines: Sequence[tuple[str, Machine, tuple[str, ...] | None]]
) -> Iterator[Resource]:
    """What each partition has had of physical processors, and all of them of the pool.

    A capped partition is full when it has had its entitlement; another when each of its virtual
    processors has a physical one all the time.

    Args:
        effective: the configuration; it has a hypervisor.
        machines: prefix of the names, machine, and its flows; the system under test first.
    """
    for prefix, machine, flows in machines:
        processors = _processors(machine)
        if not processors:
            continue
        partition = processors[0].partition
        name, capacity = "virtual processors", len(processors) * PS_PER_S
        if not partition.takes_spare:
            name, capacity = (
                "entitlement",
                partition.entitled_ps * PS_PER_S // processors[0].pool.window_ps,
            )
        yield Resource(f"{prefix}{name}", "partition", partition.consumed_ps, capacity, flows=flows)
    processors = _processors(machines[0][1])
    if processors:
        model, pool = effective.machine, effective.pool
        there = model.nodes * model.sockets_per_node * effective.cpu.cores_per_socket
        had = sum(partition.consumed_ps for partition in processors[0].pool.partitions)
        yield busy("pool", "pool", had, servers=(pool.processors if pool else 0) or there)


def _processors(machine: Machine) -> list[Any]:
    """The virtual processors of a machine; none if it is no partition."""
    found: list[Any] = [cpu.virtual for cpu in machine.cpus]
    return [one for one in dict.fromkeys(found) if one is not None]
