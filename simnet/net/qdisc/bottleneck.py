"""The bottleneck of a way where its queue is managed: frames wait, by a discipline, for their turn.

A frame comes when the delay of the way is over, and is served as a port does it: in no time if
nothing is, else when the frame before it has left. Both are events, as the discipline decides by
what waits then. A frame has the length that a queueing discipline sees.
"""

# mypy: no-strict-optional

from heapq import heappop, heappush
from typing import Any

import cython

from simnet.kernel.component import Component
from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.net.link.ethernet import UNCOUNTED_BYTES
from simnet.net.link.skb import Skb, SwitchedPath, WayQueue
from simnet.net.qdisc.qdisc import Packet, Qdisc

# what an event means
_COMES: cython.int = 0


@cython.final
@cython.cclass
class Bottleneck(WayQueue):
    """One direction's.

    Args:
        way: where frames go on.
        qdisc: which of them wait, and which one is next.
        rate_bps: that they are served at.

    Attributes:
        rate_bps, bytes: of it, and of the frames served.
        dropped: frames that the discipline has given up.
    """

    way: SwitchedPath = None
    qdisc: Qdisc = None
    coming: list[Any] = None
    rate_bps: cython.longlong = 0
    byte_ps: cython.longlong = 0
    busy: cython.bint = False
    number: cython.longlong = 0
    dropped: cython.longlong = 0
    bytes: cython.longlong = 0

    def __init__(
        self, sim: Simulator, path: str, way: SwitchedPath, qdisc: Qdisc, rate_bps: int
    ) -> None:
        Component.__init__(self, sim, path)
        self.way = way
        self.qdisc = qdisc
        self.coming = []
        self.rate_bps = rate_bps
        self.byte_ps = 8 * 10**12 // rate_bps

    @property
    def early(self) -> int:
        """Frames that the discipline has dropped though there was room."""
        return self.dropped - self.qdisc.over_limit()

    def take(self, skb: Skb, when: cython.longlong) -> cython.int:
        """A frame comes then."""
        self.number += 1
        heappush(self.coming, (when, self.number, skb))
        self.sim.at(when, self, _COMES, 0, WIRE)
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A frame comes, or has left."""
        skb: Skb
        if kind == _COMES:
            skb = heappop(self.coming)[2]
            self.qdisc.enqueue(Packet(skb, skb.wire_bytes - UNCOUNTED_BYTES), self.sim.now)
            if not self.busy:
                self._serve()
            else:
                self._free()
        else:
            self._serve()

    def _serve(self) -> cython.int:
        packet: Packet = self.qdisc.dequeue(self.sim.now)
        left: cython.longlong
        self._free()
        self.busy = packet is not None
        if not self.busy:
            return 0
        left = self.sim.now + packet.bytes * self.byte_ps
        self.bytes += packet.bytes
        self.sim.at(left, self, 1, 0, WIRE)
        return self.way.leaves(packet.head, left)

    def _free(self) -> cython.int:
        """Count what the discipline has given up."""
        while self.qdisc.dropped.count > 0:
            self.qdisc.dropped.pop()
            self.dropped += 1
        return 0
