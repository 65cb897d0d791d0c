"""Senders of datagrams that wait for nothing: what they send is born on the wire.

Sensors, cameras, exchanges: a flow sends bursts of datagrams of one size at a given rate, whatever
becomes of them. Nothing of their hosts is simulated. What all of them send leaves the switch by the
one port that leads to the system; what finds its buffer full is dropped there.
"""

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.component import Component
from simnet.kernel.priority import WIRE
from simnet.kernel.random import RandomStream
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Endpoint, Header, Skb, new_skb
from simnet.net.remote.link import RemoteLink


@cython.final
@cython.cclass
class DatagramSource(Component):
    """One flow.

    Args:
        link: by which its datagrams come to the system, with those of other flows.
        socket: that takes them.
        number: of the flow, which its datagrams have in `Skb.ack`.
        header: of the flow.
        size_bytes: payload of a datagram.
        overhead_bytes: of a frame on the wire beyond that.
        least_wire_bytes: of the shortest frame.
        burst: datagrams that are sent back to back.
        gap_ps: from burst to burst; its mean, if `random`.
        random: bursts come at random times (Poisson), else one each gap.
        buffer_bytes: of the port of the switch.
        luck: random numbers: when the first burst comes, and the others if `random`.
    """

    link: RemoteLink = None
    socket: Endpoint = None
    number: cython.longlong = 0
    header: Header = None
    size_bytes: cython.longlong = 0
    wire_bytes: cython.int = 0
    burst: Public[cython.longlong] = 0
    gap_ps: cython.longlong = 0
    random: cython.bint = False
    buffer_bytes: cython.longlong = 0
    luck: RandomStream = None
    sent: cython.longlong = 0  # datagrams; their payload is in `sent_bytes`
    sent_bytes: cython.longlong = 0
    dropped: cython.longlong = 0  # of them at the switch

    def __init__(
        self,
        sim: Simulator,
        path: str,
        *,
        link: RemoteLink,
        socket: Endpoint,
        number: int,
        header: Header,
        size_bytes: int,
        overhead_bytes: int,
        least_wire_bytes: int,
        burst: int,
        gap_ps: int,
        random: bool,
        buffer_bytes: int,
        luck: RandomStream,
    ) -> None:
        super().__init__(sim, path)
        self.link = link
        self.socket = socket
        self.number = number
        self.header = header
        self.size_bytes = size_bytes
        self.wire_bytes = max(size_bytes + overhead_bytes, least_wire_bytes)
        self.burst = burst
        self.gap_ps = gap_ps
        self.random = random
        self.buffer_bytes = buffer_bytes
        self.luck = luck
        sim.after(luck.below(gap_ps), self, 0, 0, WIRE)

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """Send a burst."""
        skb: Skb
        now: cython.longlong = self.sim.now
        left: cython.longlong = self.burst
        gap: cython.longlong = self.gap_ps
        room: cython.longlong = self.buffer_bytes - self.link.waiting_bytes(now)
        self.sent += left
        self.sent_bytes += left * self.size_bytes
        while left > 0:
            left -= 1
            room -= self.wire_bytes
            if room < 0:
                self.dropped += left + 1
                break
            skb = new_skb(self.socket, 0, self.size_bytes, self.number, 0, self.wire_bytes, True)
            skb.header = self.header
            skb.tsval = now
            self.link.send(skb, now)
        self.link.path_out.flush()
        if self.random:
            gap = self.luck.exponential_ps(gap)
        self.sim.after(gap, self, 0, 0, WIRE)
