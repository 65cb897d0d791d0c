"""Frames that come to one receive queue at a rate, from a load generator that waits for nothing.

What comes is arithmetic: a frame is made when the queue looks at it, and of those that find no
buffer only the number is taken. So a load far beyond what the host can take costs no more than what
it takes.
"""

from typing import Any

import cython

from simnet.kernel.random import RandomStream
from simnet.net.link.skb import Endpoint, Skb, new_skb


@cython.final
@cython.cclass
class Flood:
    """The frames of one queue, of one size; those of its flows come in turn."""

    endpoint: Endpoint = None  # that takes them
    headers: list[Any] = None  # of the flows
    numbers: list[Any] = None  # of the flows, in `Skb.ack` of their frames
    flow: cython.longlong = 0
    flows: cython.longlong = 0
    size_bytes: cython.longlong = 0  # payload of a frame
    wire_bytes: cython.int = 0  # of a frame on the wire
    gap_ps: cython.longlong = 0  # from frame to frame; its mean, if `random`
    least_gap_ps: cython.longlong = 0  # that a link leaves between two frames
    random: cython.bint = False  # frames come at random times, else one each gap
    dma_ps: cython.longlong = 0  # from the last bit of a frame to its descriptor in memory
    # random numbers: when the first frame comes, and the others if `random`
    luck: RandomStream = None
    # when the last bit of the next frame will be there, its descriptor written
    next_ps: cython.longlong = 0
    begun: cython.longlong = 0  # frames that were made or skipped

    def __init__(
        self,
        endpoint: Endpoint,
        headers: list[Any],
        numbers: list[Any],
        *,
        size_bytes: int,
        wire_bytes: int,
        gap_ps: int,
        least_gap_ps: int,
        random: bool,
        dma_ps: int,
        luck: RandomStream,
    ) -> None:
        self.endpoint = endpoint
        self.headers = headers
        self.numbers = numbers
        self.flows = len(headers)
        self.size_bytes = size_bytes
        self.wire_bytes = wire_bytes
        self.gap_ps = gap_ps
        self.least_gap_ps = least_gap_ps
        self.random = random
        self.dma_ps = dma_ps
        self.luck = luck
        self.next_ps = dma_ps + 1 + luck.below(gap_ps)

    def frame(self) -> Skb:
        """Make the frame that comes next, and go on to the one after it."""
        skb: Skb = new_skb(self.endpoint, 0, self.size_bytes, 0, 0, self.wire_bytes, True)
        skb.header = self.headers[self.flow]
        skb.ack = self.numbers[self.flow]
        skb.arrival_ps = self.next_ps
        skb.tsval = self.next_ps - self.dma_ps
        self._step()
        return skb

    def skip(self, now: cython.longlong) -> cython.longlong:
        """Pass over what comes up to `now`; return how many frames."""
        count: cython.longlong = 0
        if self.random:
            while self.next_ps <= now:
                self._step()
                count += 1
        elif self.next_ps <= now:
            count = (now - self.next_ps) // self.gap_ps + 1
            self.next_ps += count * self.gap_ps
            self.begun += count
            self.flow = (self.flow + count) % self.flows
        return count

    def _step(self) -> cython.int:
        gap: cython.longlong = self.gap_ps
        if self.random:
            gap = self.least_gap_ps
            if self.gap_ps > gap:
                gap += self.luck.exponential_ps(self.gap_ps - gap)
        self.next_ps += gap
        self.begun += 1
        self.flow += 1
        if self.flow == self.flows:
            self.flow = 0
        return 0
