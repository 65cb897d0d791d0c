"""Who reads datagrams, as a flow of a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.net.udp.socket import UdpSocket


@dataclass(frozen=True)
class Worker:
    """What a worker has got, as a flow."""

    socket: UdpSocket
    latency_kind: str = "one-way"

    @property
    def delivered(self) -> int:
        """Bytes that it has read."""
        return self.socket.received_bytes

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the time from being sent to being read: (upper ps, count)."""
        return self.socket.latency.buckets()
