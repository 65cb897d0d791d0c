"""A generator of packets that waits for nothing: a train of frames is one event.

It stands for a host that sends small packets at a set rate or as fast as its link allows. Flows
take turns, one frame each.
"""

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.priority import WIRE
from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Path, Port, Skb, new_skb

_S_PS: cython.longlong = 10**12
_TRAIN_PS: cython.longlong = 10_000_000


@cython.final
@cython.cclass
class PacketGenerator(Component):
    """Frames of one size to one endpoint."""

    path_out: Path = None  # where they leave to
    endpoint: Endpoint = None  # that would take what reaches the stack
    headers: list[Header] = None  # of the flows, which take turns
    # of a frame; `wire_bytes` with all that it takes on the wire
    payload_bytes: cython.longlong = 0
    wire_bytes: cython.int = 0
    gap_ps: cython.longlong = 0
    rest: cython.longlong = 0
    carry: cython.longlong = 0
    rate: cython.longlong = 0  # frames a second, at most what the link carries
    # random numbers, by which frames come at random times (Poisson); None: evenly
    luck: RandomStream = None
    next_ps: cython.longlong = 0
    turn: cython.int = 0
    stopped: Public[cython.bint] = False  # no more are sent
    sent: cython.longlong = 0  # frames

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        path_out: Path,
        endpoint: Endpoint,
        headers: list[Header],
        payload_bytes: int,
        wire_bytes: int,
        rate: int,
        luck: RandomStream | None = None,
    ) -> None:
        super().__init__(sim, path)
        self.path_out = path_out
        self.endpoint = endpoint
        self.headers = list(headers)
        self.payload_bytes = payload_bytes
        self.wire_bytes = wire_bytes
        self.gap_ps = _S_PS // rate
        self.rest = _S_PS % rate
        self.rate = rate
        self.luck = luck
        sim.at(0, self, 0, 0, WIRE)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """Send the frames of the next 10 us, or one."""
        skb: Skb
        header: Header
        until: cython.longlong = self.sim.now + _TRAIN_PS
        if self.stopped:
            return
        if self.next_ps < self.sim.now:
            self.next_ps = self.sim.now
        while True:
            header = self.headers[self.turn]
            self.turn += 1
            if self.turn == len(self.headers):
                self.turn = 0
            skb = new_skb(self.endpoint, 0, self.payload_bytes, 0, 0, self.wire_bytes, True)
            skb.header = header
            skb.tsval = self.next_ps
            self.path_out.send(skb, self.next_ps)
            self.sent += 1
            if self.luck is not None:
                self.next_ps += self.luck.exponential_ps(self.gap_ps)
            else:
                self.next_ps += self.gap_ps
                self.carry += self.rest
                if self.carry >= self.rate:
                    self.carry -= self.rate
                    self.next_ps += 1
            if self.next_ps >= until:
                break
        self.path_out.flush()
        self.sim.at(self.next_ps, self, 0, 0, WIRE)


@cython.final
@cython.cclass
class FrameCounter(Port):
    """A port behind which nothing answers: it counts what comes."""

    path_out: Public[Path] = None  # nothing leaves by it but what a generator sends
    frames: cython.longlong = 0  # that have been sent to it

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path, 64)

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`."""
        while self.incoming.count > 0:
            self.incoming.pop()
            self.frames += 1
        return 0

    def frames_lost(self) -> cython.int:
        """What was counted has been sent all the same."""
        return 0
