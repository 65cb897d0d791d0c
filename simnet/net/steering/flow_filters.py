"""Accelerated RFS: a device that puts a connection's frames into the queue of its process's CPU.

Source: `ndo_rx_flow_steer` and `mlx4_en_filter_rfs_expire` in drivers/net/ethernet/mellanox/mlx4,
lib/cpu_rmap.c; Documentation/networking/scaling.txt. The kernel has it since 2.6.39.
"""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any, Final

from simnet.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.net.link.skb import Header
    from simnet.net.steering.steering import PacketSteering

__all__ = ["FlowFilters"]

# MLX4_EN_FILTER_EXPIRY_QUOTA
_EXPIRY_QUOTA: Final = 60
# a number has 16 bits, and the last means none (RPS_NO_FILTER)
_NUMBERS: Final = 0xFFFF


class FlowFilters:
    """Which connections one device puts into which queue, whatever its indirection table says.

    Filters that may expire are taken out when another is added, where the driver does it at its
    polls: nothing but room for others depends on it.

    Args:
        steerings: of the device's queues, by number; this is set as their `filters`.
        queues: the queue whose interrupt is nearest to each CPU (`rx_cpu_rmap`), by CPU.
        table: what the device looks connections up in (`Rss.filters`).
        most: filters that the device has room for.

    Raises:
        InputError: the kernel of the steerings has no accelerated RFS.

    Attributes:
        added, expired: filters so far.
        refused: flows for which there was no room.
    """

    def __init__(
        self,
        steerings: Sequence[PacketSteering],
        queues: Sequence[int],
        table: dict[Any, int],
        most: int,
    ) -> None:
        self.steerings = list(steerings)
        self.queues = list(queues)
        self.table = table
        self.most = most
        self.added = 0
        self.expired = 0
        self.refused = 0
        # connection: (number of the filter, entry in the flow table of its queue)
        self._flows: dict[Header, tuple[int, int]] = {}
        for number, steering in enumerate(steerings):
            if not steering.rules.accelerated:
                message = "accelerated RFS came with Linux 2.6.39"
                raise InputError(message)
            steering.queue = number
            steering.filters = self

    def queue_of(self, cpu: int) -> int:
        """`cpu_rmap_lookup_index`: the queue for packets of a process on `cpu`."""
        return self.queues[cpu]

    def steering_of(self, queue: int) -> PacketSteering:
        """The steering of a queue."""
        return self.steerings[queue]

    def steer(self, header: Header, queue: int, flow: int) -> int:
        """Put a connection into a queue; return the filter's number, or -1 if there is no room.

        Args:
            header: of the connection.
            queue: number of the queue.
            flow: the connection's entry in the flow table of that queue.
        """
        known = self._flows.get(header)
        if known is None:
            self._expire()
            if len(self._flows) >= self.most:
                self.refused += 1
                return -1
            number = self.added % _NUMBERS
            self.added += 1
        else:
            number = known[0]
        self._flows[header] = (number, flow)
        self.table[header] = queue
        return number

    def _expire(self) -> None:
        for header in list(itertools.islice(self._flows, _EXPIRY_QUOTA)):
            number, flow = self._flows.pop(header)
            if self.steerings[self.table[header]].may_expire(flow, number):
                self.expired += 1
                del self.table[header]
            else:
                # to the end, so that others have their turn
                self._flows[header] = (number, flow)
