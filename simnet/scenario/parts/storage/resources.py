"""Resources of a path to disks: CPUs of both machines, disks, and queues between."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.system.resource import Wait, busy, cpus

if TYPE_CHECKING:
    from collections.abc import Iterator

    from simnet.scenario.parts.storage.machines import Storage
    from simnet.scenario.system.resource import Resource
    from simnet.storage.block.queue import RequestQueue

_MECHANISM: Final = ("seek", "rotation", "transfer")


class StoragePath:
    """Resources of disks behind virtual SCSI; a flow is what passes a virtual disk.

    Args:
        storage: the disks of both machines.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage

    def resources(self) -> Iterator[Resource]:
        """CPUs of both machines, and the real disks."""
        storage = self._storage
        yield from cpus(storage.client)
        yield from cpus(storage.server, kind="peer cpu", prefix="peer0 ")
        for name, queue in storage.server_queues.items():
            target: Any = queue.target
            # an adapter of the server may stand before it
            times = getattr(target, "disk", target).counters()
            flows = tuple(
                given.name
                for given in storage.effective.host.disks
                if storage.partitions[given.backing][1] is queue
            )
            disk = busy(f"peer0 {name}", "disk", times["busy_ps"], flows=flows)
            split = tuple((part, times.get(f"{part}_ps", 0)) for part in _MECHANISM)
            yield replace(disk, split=split)

    def waits(self) -> Iterator[Wait]:
        """What requests of each virtual disk wait for."""
        for name, queue in self._storage.queues.items():
            yield _wait_of(name, queue)


def _wait_of(flow: str, queue: RequestQueue) -> Wait:
    if max(queue.count) >= queue.nr_requests:
        return Wait(flow, "nr_requests", queue.nr_requests, "request", bound=True)
    if queue.in_driver >= queue.depth:
        return Wait(flow, "queue depth", queue.depth, "request", bound=True)
    disk: Any = queue.target
    adapter = disk.adapter
    if adapter.busy >= adapter.can_queue:
        return Wait(flow, "request limit", adapter.can_queue, "request", bound=True)
    return Wait(flow, "path" if queue.stats.in_flight else "application")
