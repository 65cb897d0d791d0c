"""Full-duplex links and a store-and-forward switch between two ports.

A frame enters the switch when its last bit has arrived, waits `latency`, queues behind
earlier frames of the egress port and is serialised again. The path has one source, so arrival
times are arithmetic: frames are put into the destination's `incoming` queue with their
arrival time as soon as they are sent. In per-frame mode, the reference, each arrival is an
event instead; results are the same to the last bit. It is an event, too, where a way lets frames
overtake others.
"""

from heapq import heappop, heappush
from typing import Any

import cython

from simnet.host.cpu import Cpu
from simnet.host.dma.iommu import DmaDomain
from simnet.host.softirq.softirq import Napi
from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.net.link.netem import LOST, Netem
from simnet.net.link.skb import Skb, SkbQueue, copy_skb


@cython.final
@cython.cclass
class Serializer:
    """The sending end of a link: frames leave one after the other, in the order posted.

    Args:
        rate_bps: of the link.
    """

    byte_ps: cython.longlong = 0
    free_ps: cython.longlong = 0

    def __init__(self, rate_bps: int) -> None:
        self.byte_ps = 8 * 10**12 // rate_bps

    def end_ps(self, now: cython.longlong, wire_bytes: cython.longlong) -> cython.longlong:
        """Post a frame; return when its last bit leaves."""
        if now > self.free_ps:
            self.free_ps = now
        self.free_ps += wire_bytes * self.byte_ps
        return self.free_ps


@cython.cclass
class Port(Napi):
    """A network device (Linux `net_device`): frames arrive at it and leave by it.

    Args:
        weight: packets of one poll.
        node: NUMA node that it is attached to.

    Attributes:
        domain: of the device, where the IOMMU translates its addresses.
        copies: frames leave by a CPU's copying them, not by DMA; see `length_cost_ps`.
        dma_ps: from the last bit of a frame to its descriptor in memory.
    """

    node: cython.int = 0
    domain: Public[DmaDomain] = None
    copies: Public[cython.bint] = False
    dma_ps: Public[cython.longlong] = 0
    incoming: Public[SkbQueue] = None

    def __init__(self, sim: Simulator, path: str, weight: cython.int, node: cython.int = 0) -> None:
        super().__init__(sim, path, weight)
        self.node = node
        self.incoming = SkbQueue()

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`."""
        raise NotImplementedError(self.path)

    def frames_lost(self) -> cython.int:
        """Frames that were announced have been taken out of `incoming`: they will not come."""
        raise NotImplementedError(self.path)

    def drop_in_flight(self, now: cython.longlong) -> cython.longlong:
        """The cable is pulled: lose what has not arrived by `now`; return how many frames."""
        queue: SkbQueue = self.incoming
        kept = SkbQueue()
        skb: Skb
        lost: cython.longlong = 0
        while queue.count > 0:
            skb = queue.pop()
            if skb.arrival_ps > now:
                lost += 1
            else:
                kept.append(skb)
        self.incoming = kept
        self.frames_lost()
        return lost

    def transmit(self, skb: Skb) -> cython.int:
        """Queue a frame; call `flush` after the last of a burst."""
        raise NotImplementedError(self.path)

    def flush(self) -> cython.int:
        """End of a burst."""
        raise NotImplementedError(self.path)

    def transmit_cost_ps(self, cpu: Cpu) -> cython.longlong:
        """What handing over the next frame costs from `cpu`, the stack's work excluded."""
        raise NotImplementedError(self.path)

    def length_cost_ps(self, cpu: Cpu, wire_bytes: cython.longlong) -> cython.longlong:
        """What a frame's length costs `cpu`, on top; of a port that `copies`."""
        raise NotImplementedError(self.path)


@cython.cclass
class Path(Component):
    """Where a device's frames go.

    `destination` is the port at the other end, None if each frame's header says it.
    """

    destination: Port = None

    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a frame whose last bit leaves the source at `tx_end_ps`."""
        raise NotImplementedError(self.path)

    def flush(self) -> cython.int:
        """The frames sent since the last flush are a burst."""
        raise NotImplementedError(self.path)


@cython.cclass
class WayQueue(Component):
    """Where frames wait for the bottleneck of a way."""

    def take(self, skb: Skb, when: cython.longlong) -> cython.int:
        """A frame comes then."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class SwitchedPath(Path):
    """One direction from a NIC through the switch to another NIC.

    Args:
        destination: the receiving port.
        rate_bps: rate of both links.
        propagation_ps: of each link.
        latency_ps: of the switch, from last bit in to first bit out when idle.
        per_frame: one event a frame (reference) instead of arithmetic.

    Attributes:
        netem: what lies between the switch and the destination, if not None.
        queue: before the bottleneck behind that, where it is managed; else None.
    """

    netem: Public[Netem] = None
    queue: Public[WayQueue] = None
    per_frame: cython.bint = False
    flight: SkbQueue = None
    overtaking: list[Any] = None
    byte_ps: cython.longlong = 0
    propagation_ps: cython.longlong = 0
    latency_ps: cython.longlong = 0
    arrival_ps: cython.longlong = 0
    egress_free_ps: cython.longlong = 0
    frames: cython.longlong = 0
    bytes: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        destination: Port,
        rate_bps: int,
        propagation_ps: int,
        latency_ps: int,
        per_frame: bool,  # noqa: FBT001 - positional for speed of construction is not needed
    ) -> None:
        super().__init__(sim, path)
        self.destination = destination
        self.per_frame = per_frame
        self.flight = SkbQueue()
        self.overtaking = []
        self.byte_ps = 8 * 10**12 // rate_bps
        self.propagation_ps = propagation_ps
        self.latency_ps = latency_ps
        self.arrival_ps = propagation_ps + destination.dma_ps

    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a frame whose last bit leaves the source at `tx_end_ps`."""
        start: cython.longlong = tx_end_ps + self.propagation_ps + self.latency_ps
        if start < self.egress_free_ps:
            start = self.egress_free_ps
        self.egress_free_ps = start + skb.wire_bytes * self.byte_ps
        start = self.egress_free_ps
        if self.netem is not None:
            start = self.netem.leaves_ps(start, skb.wire_bytes)
            if self.netem.copy_ps != LOST:
                self._carry(copy_skb(skb), self.netem.copy_ps)
            if start == LOST:
                return 0
        return self._carry(skb, start)

    def _carry(self, skb: Skb, start: cython.longlong) -> cython.int:
        """A frame leaves what delays it at `start`."""
        if self.queue is not None:
            return self.queue.take(skb, start)
        self._counted(skb, start)
        if self.netem is not None and not self.netem.orders:
            heappush(self.overtaking, (skb.arrival_ps, self.frames, skb))
            self.sim.at(skb.arrival_ps, self, 0, 0, 0)
        elif self.per_frame:
            self.flight.append(skb)
            self.sim.at(skb.arrival_ps, self, 0, 0, 0)
        else:
            self.destination.incoming.append(skb)
        return 0

    def leaves(self, skb: Skb, when: cython.longlong) -> cython.int:
        """A frame leaves the queue before the bottleneck then, behind all before it."""
        self._counted(skb, when)
        if self.per_frame:
            self.flight.append(skb)
            self.sim.at(skb.arrival_ps, self, 0, 0, 0)
        else:
            self.destination.incoming.append(skb)
            self.destination.frames_added()
        return 0

    def _counted(self, skb: Skb, start: cython.longlong) -> cython.int:
        """A frame is on its last cable from `start` on."""
        skb.arrival_ps = start + self.arrival_ps
        self.frames += 1
        self.bytes += skb.wire_bytes
        return 0

    def flush(self) -> cython.int:
        """Announce the frames sent since the last flush to the destination."""
        if not self.per_frame and self.destination.incoming.count > 0:
            self.destination.frames_added()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A frame has arrived (per-frame mode, or one may have overtaken others)."""
        if self.flight.count > 0:
            self.destination.incoming.append(self.flight.pop())
        else:
            self.destination.incoming.append(heappop(self.overtaking)[2])
        self.destination.frames_added()
