"""A tap device with several queues, each of which a worker of vhost-net serves.

A flow goes where the guest has sent of it last; before it has, a hash chooses. Source:
drivers/net/tun.c of Linux 5.4 to 6.12 (`tun_automq_select_queue`, `tun_flow_update`).
"""

from typing import Any

import cython

from simnet.net.link.skb import Skb
from simnet.net.virtio.backend import Backend
from simnet.net.virtio.bridge import BridgePort, hash_of


@cython.final
@cython.cclass
class Tap(BridgePort):
    """The queues of a guest's tap device, each with a worker."""

    workers: list[Any] = None  # of its queues, in order
    flows: dict[int, Backend] = None

    def __init__(self) -> None:
        self.workers = []
        self.flows = {}

    def learn(self, skb: Skb, worker: Backend) -> cython.int:
        """The guest has sent a frame by a queue."""
        if len(self.workers) > 1 and skb.header is not None:
            self.flows[hash_of(skb.header)] = worker
        return 0

    def worker(self, skb: Skb) -> Backend:
        """The worker whose queue gets a frame."""
        count: cython.longlong = len(self.workers)
        hashed: cython.longlong
        found: Backend = self.workers[0]
        if count > 1 and skb.header is not None:
            hashed = hash_of(skb.header)
            found = self.flows.get(hashed)
            if found is None:
                found = self.workers[hashed * count >> 32]
        return found

    def sleeps(self, skb: Skb) -> cython.bint:
        """Whether a frame wakes its worker."""
        return self.worker(skb).waits_rx

    def enqueue(self, skb: Skb) -> cython.int:
        """Put a frame into the queue of its worker."""
        return self.worker(skb).enqueue(skb)
