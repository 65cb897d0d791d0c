"""Full-duplex links and a store-and-forward switch between two ports.

A frame enters the switch when its last bit has arrived, waits `latency`, queues behind
earlier frames of the egress port and is serialised again. The path has one source, so arrival
times are arithmetic: frames are put into the destination's `incoming` queue with their
arrival time as soon as they are sent. In per-frame mode, the reference, each arrival is an
event instead; results are the same to the last bit.
"""

from __future__ import annotations

import cython

from simnet.host.softirq import Napi
from simnet.kernel.component import Component
from simnet.kernel.simulator import Simulator
from simnet.net.skb import Skb, SkbQueue

__all__ = ["Port", "SwitchedPath"]


@cython.cclass
class Port(Napi):
    """A polled device that frames arrive at."""

    incoming: SkbQueue

    def __init__(self, sim: Simulator, path: str, weight: int) -> None:
        super().__init__(sim, path, weight)
        self.incoming = SkbQueue()

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def frames_coming(self) -> cython.int:
        """Frames have been added to `incoming`."""
        raise NotImplementedError(self.path)


@cython.final
@cython.cclass
class SwitchedPath(Component):
    """One direction from a NIC through the switch to another NIC.

    Args:
        sim: the simulation.
        path: component path.
        destination: the receiving port.
        rate_bps: rate of both links.
        propagation_ps: of each link.
        latency_ps: of the switch, from last bit in to first bit out when idle.
        per_frame: one event a frame (reference) instead of arithmetic.
    """

    destination: Port
    per_frame: cython.bint
    flight: SkbQueue
    byte_ps: cython.longlong
    propagation_ps: cython.longlong
    latency_ps: cython.longlong
    egress_free_ps: cython.longlong
    frames: cython.longlong
    bytes: cython.longlong

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
        self.byte_ps = 8 * 10**12 // rate_bps
        self.propagation_ps = propagation_ps
        self.latency_ps = latency_ps
        self.egress_free_ps = 0
        self.frames = 0
        self.bytes = 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a frame whose last bit leaves the source at `tx_end_ps`."""
        start: cython.longlong = tx_end_ps + self.propagation_ps + self.latency_ps
        if start < self.egress_free_ps:
            start = self.egress_free_ps
        self.egress_free_ps = start + skb.wire_bytes * self.byte_ps
        skb.arrival_ps = self.egress_free_ps + self.propagation_ps
        self.frames += 1
        self.bytes += skb.wire_bytes
        if self.per_frame:
            self.flight.append(skb)
            self.sim.at(skb.arrival_ps, self, 0, 0, 0)
        else:
            self.destination.incoming.append(skb)
        return 0

    @cython.ccall
    @cython.exceptval(-1, check=False)
    def flush(self) -> cython.int:
        """Tell the destination about the frames sent since the last flush."""
        if not self.per_frame:
            self.destination.frames_coming()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A frame has arrived (per-frame mode)."""
        self.destination.incoming.append(self.flight.pop())
        self.destination.frames_coming()
