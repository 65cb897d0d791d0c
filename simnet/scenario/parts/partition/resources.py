"""Resources of a hypervisor's partitions: entitlements, and the pool of processors."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.parts.partition.columns import virtual_processors
from simnet.scenario.system.resource import Resource, busy
from simnet.time_units import PS_PER_S

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from simnet.host.machine import Machine


def partition_resources(
    machines: Sequence[tuple[str, Machine, tuple[str, ...] | None]],
) -> Iterator[Resource]:
    """What each partition has had of physical processors, and all of them of the pool.

    A capped partition is full when it has had its entitlement; another when each of its virtual
    processors has a physical one all the time.

    Args:
        machines: prefix of the names, machine, and its flows; the system under test first.
    """
    for prefix, machine, flows in machines:
        processors = virtual_processors(machine)
        if not processors:
            continue
        partition = processors[0].partition
        name, capacity = "virtual processors", len(processors) * PS_PER_S
        if not partition.takes_spare:
            name, capacity = (
                "entitlement",
                partition.entitled_ps * PS_PER_S // processors[0].pool.window_ps,
            )
        kind = "peer partition" if prefix else "partition"
        yield Resource(f"{prefix}{name}", kind, partition.consumed_ps, capacity, flows=flows)
    processors = virtual_processors(machines[0][1])
    if processors:
        pool = processors[0].pool
        had = sum(partition.consumed_ps for partition in pool.partitions)
        yield busy("pool", "pool", had, servers=pool.count)
