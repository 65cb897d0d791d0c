"""Which queue a CPU submits to, and which CPUs a queue's interrupt may go to.

Source: `group_cpus_evenly` in lib/group_cpus.c, kernel/irq/affinity.c and `blk_mq_map_queues` in
block/blk-mq-cpumap.c of Linux 6.12. Queues are dealt out to nodes by
their number of CPUs; within a node they take CPUs in order, threads of a core together. The masks
are managed: nothing changes them. Queues that are polled have no interrupt and are mapped likewise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.host.cpu import Cpu


def spread(cpus: Sequence[Cpu], queues: int) -> list[list[Cpu]]:
    """Return the CPUs of each queue; there are no more queues than CPUs.

    Raises:
        ValueError: no queue.
    """
    if queues < 1:
        raise ValueError(f"expected a queue or more, got {queues}")
    nodes: dict[int, list[Cpu]] = {}
    for cpu in sorted(cpus, key=lambda one: (one.node, one.core, one.cpu_id)):
        nodes.setdefault(cpu.node, []).append(cpu)
    if queues <= len(nodes):
        # fewer queues than nodes: whole nodes in turn
        groups: list[list[Cpu]] = [[] for _ in range(queues)]
        for number, members in enumerate(nodes.values()):
            groups[number % queues] += members
        return groups
    found: list[list[Cpu]] = []
    left_queues, left_cpus = min(queues, len(cpus)), len(cpus)
    # the smallest node first, and each has one at least
    counts: dict[int, int] = {}
    for node, members in sorted(nodes.items(), key=lambda item: len(item[1])):
        counts[node] = max(1, left_queues * len(members) // left_cpus)
        left_queues -= counts[node]
        left_cpus -= len(members)
    for node, members in nodes.items():
        begin = 0
        for number in range(counts[node]):
            more = len(members) // counts[node] + (number < len(members) % counts[node])
            found.append(members[begin : begin + more])
            begin += more
    return found
