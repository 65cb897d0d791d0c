"""Who reads datagrams, as a flow of a result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.net.udp.clients import Answers
    from simnet.net.udp.socket import UdpSocket


@dataclass(frozen=True)
class Worker:
    """What a worker has got, or what has come of its answers to who asked, as a flow."""

    at: UdpSocket | Answers
    latency_kind: str = "one-way"

    @property
    def delivered(self) -> int:
        """Bytes that have come there."""
        return self.at.received_bytes

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """Histogram of the time from being sent to coming there: (upper ps, count)."""
        return self.at.latency.buckets()
