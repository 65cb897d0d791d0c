"""One direction of a path: a rate, a delay, a queue, random loss, some packets later than others.

What lies between two hosts when only its effect on TCP is in question: a bottleneck that serialises
frames behind a drop-tail queue, then a propagation delay; of the frames that leave the bottleneck
a share is lost, and a share of the rest takes longer and is overtaken. All times are arithmetic;
a frame is one event.
"""

from typing import Any

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.priority import WIRE
from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Skb, SkbQueue, Uplink

FLUSHED = 2
_BILLION: cython.longlong = 10**9
# what an event means
_ARRIVED: cython.int = 0
_ARRIVED_LATE: cython.int = 1


@cython.final
@cython.cclass
class LossyPath(Uplink):
    """Hands frames to `destination.receive` when their last bit has arrived.

    Args:
        stream: random numbers for loss and delay; None if neither happens.
        rate_bps: of the bottleneck.
        delay_ps: propagation.
        queue_bytes: what may wait for the bottleneck, the frame in service included; more is
            dropped. 0 for no limit.
        loss_ppb: frames of 10**9 that are lost at random.
        late_ppb: frames of 10**9 that take `late_ps` longer.
        late_ps: how much longer.
    """

    destination: Public[Endpoint] = None  # endpoint at the other end
    stream: RandomStream = None
    # what every frame goes through before the destination, if not None: an object with
    # `arrive(skb)` and `ready`, a queue of what it hands up, such as
    # `simnet.net.infiniband.reorder_window`. If it has a timer of its own, its owner is this
    # path and the kind `FLUSHED`.
    element: Public[Any] = None
    # gives each frame sent its number for `element`, if not None (`number(skb)`)
    numbers: Public[Any] = None
    byte_ps: cython.longlong = 0
    delay_ps: cython.longlong = 0
    queue_ps: cython.longlong = 0
    loss_ppb: cython.longlong = 0
    late_ppb: cython.longlong = 0
    late_ps: cython.longlong = 0
    free_ps: cython.longlong = 0
    flight: SkbQueue = None
    late_flight: SkbQueue = None
    # frames
    sent: cython.longlong = 0
    dropped: cython.longlong = 0
    lost: cython.longlong = 0
    late: cython.longlong = 0

    needs = ("destination",)

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        stream: RandomStream | None,
        rate_bps: int,
        delay_ps: int,
        queue_bytes: int = 0,
        loss_ppb: int = 0,
        late_ppb: int = 0,
        late_ps: int = 0,
    ) -> None:
        super().__init__(sim, path)
        self.stream = stream
        self.byte_ps = 8 * 10**12 // rate_bps
        self.delay_ps = delay_ps
        self.queue_ps = queue_bytes * self.byte_ps
        self.loss_ppb = loss_ppb
        self.late_ppb = late_ppb
        self.late_ps = late_ps
        self.flight = SkbQueue()
        self.late_flight = SkbQueue()

    def send(self, skb: Skb) -> cython.int:
        """Take a frame."""
        now: cython.longlong = self.sim.now
        start: cython.longlong = now if now > self.free_ps else self.free_ps
        end: cython.longlong = start + skb.wire_bytes * self.byte_ps
        self.sent += 1
        if self.queue_ps > 0 and end - now > self.queue_ps:
            self.dropped += 1
            return 0
        self.free_ps = end
        if self.numbers is not None:
            self.numbers.number(skb)
        if self.loss_ppb > 0 and self.stream.below(_BILLION) < self.loss_ppb:
            self.lost += 1
            return 0
        skb.arrival_ps = end + self.delay_ps
        if self.late_ppb > 0 and self.stream.below(_BILLION) < self.late_ppb:
            self.late += 1
            skb.arrival_ps += self.late_ps
            self.late_flight.append(skb)
            self.sim.at(skb.arrival_ps, self, _ARRIVED_LATE, 0, WIRE)
        else:
            self.flight.append(skb)
            self.sim.at(skb.arrival_ps, self, _ARRIVED, 0, WIRE)
        return 0

    @cython.ccall
    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A frame has arrived, or the element's timer has handed some up."""
        skb: Skb
        if kind == _ARRIVED:
            skb = self.flight.pop()
        elif kind == _ARRIVED_LATE:
            skb = self.late_flight.pop()
        else:
            self._deliver()
            return
        if self.element is None:
            self.destination.receive(skb, None)
        else:
            self.element.arrive(skb)
            self._deliver()

    def _deliver(self) -> cython.int:
        """Hand over what has got through."""
        ready: SkbQueue = self.element.ready
        while ready.count > 0:
            self.destination.receive(ready.pop(), None)
        return 0

    def counters(self) -> dict[str, int]:
        """Frames sent, dropped at the queue, lost at random, and late."""
        return {"sent": self.sent, "dropped": self.dropped, "lost": self.lost, "late": self.late}
