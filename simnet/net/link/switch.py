"""A store-and-forward switch where frames of several ports meet at one.

A frame is in the switch `latency` after its last bit; then it is looked up (the address of the
sender is learnt, that of the receiver says where to send it) and queues at its egress port. An
egress port serialises in the order of arrival and may fill `buffer_bytes`; a frame that does not
fit is dropped (tail drop). Frames that meet have to be taken in the order of their times, so a
frame's entry is an event; its arrival at the other end follows by arithmetic, or is an event too
in per-frame mode, the reference.

Ports that are one (an EtherChannel, static or negotiated by LACP) share their frames by a hash
over addresses. Cisco's Catalyst 3750 hashes the source MAC address unless `port-channel
load-balance` says otherwise (Catalyst 3750 Switch Software Configuration Guide, OL-8550-02,
table 34-3). The hash has eight values, dealt out to the ports in turn. Its bits are not
published: here they are the three lowest of the address, or of the exclusive or of both.

Frames to an address that is not known (and broadcasts) are counted as flooded: no station here
would take them.
"""

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.sentinel import NEVER
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import EgressPort, Header, Path, Port, Skb, SkbQueue

LOAD_BALANCE = ("src-mac", "dst-mac", "src-dst-mac", "src-ip", "dst-ip", "src-dst-ip")

_LOW_BITS: cython.int = 7
_SRC_MAC: cython.int = 0
_DST_MAC: cython.int = 1
_SRC_DST_MAC: cython.int = 2
_SRC_IP: cython.int = 3
_DST_IP: cython.int = 4


@cython.final
@cython.cclass
class Egress(EgressPort):
    """An egress port with its buffer and the cable to a device.

    Args:
        destination: the device at the other end.
        rate_bps: of the link.
        propagation_ps: of the cable.
        buffer_bytes: what waits here at most, as serialised (preamble and gap included).
        per_frame: an event for each arrival (reference).
    """

    destination: Port = None
    per_frame: cython.bint = False
    flight: SkbQueue = None
    byte_ps: cython.longlong = 0
    propagation_ps: cython.longlong = 0
    buffer_bytes: cython.longlong = 0
    free_ps: cython.longlong = 0
    up: cython.bint = False
    epoch: cython.longlong = 0
    offered: cython.longlong = 0
    frames: cython.longlong = 0
    bytes: cython.longlong = 0
    dropped: cython.longlong = 0
    lost: cython.longlong = 0

    def __init__(
        self,
        sim: Simulator,
        path: str,
        destination: Port,
        *,
        rate_bps: int,
        propagation_ps: int,
        buffer_bytes: int,
        per_frame: bool,
    ) -> None:
        super().__init__(sim, path)
        self.destination = destination
        self.per_frame = per_frame
        self.flight = SkbQueue()
        self.byte_ps = 8 * 10**12 // rate_bps
        self.propagation_ps = propagation_ps
        self.buffer_bytes = buffer_bytes
        self.up = True

    def counters(self) -> dict[str, int]:
        """Frames that came, were sent, did not fit, and were lost with the link."""
        return {
            "offered": self.offered,
            "frames": self.frames,
            "dropped": self.dropped,
            "lost": self.lost,
        }

    def forward(self, skb: Skb) -> cython.int:
        """Queue a frame, or drop it."""
        start: cython.longlong = self.sim.now
        self.offered += 1
        if not self.up:
            self.lost += 1
            return 0
        if start < self.free_ps:
            if (self.free_ps - start) // self.byte_ps + skb.wire_bytes > self.buffer_bytes:
                self.dropped += 1
                return 0
            start = self.free_ps
        self.free_ps = start + skb.wire_bytes * self.byte_ps
        skb.arrival_ps = self.free_ps + self.propagation_ps
        self.frames += 1
        self.bytes += skb.wire_bytes
        if self.per_frame:
            self.flight.append(skb)
            self.sim.at(skb.arrival_ps, self, 0, self.epoch, 0)
        else:
            self.destination.incoming.append(skb)
            self.destination.frames_added()
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A frame has arrived (per-frame mode)."""
        if arg == self.epoch:
            self.destination.incoming.append(self.flight.pop())
            self.destination.frames_added()

    def set_link(self, up: cython.bint) -> cython.int:
        """The cable is plugged or pulled: then what waits and what is under way is lost."""
        self.up = up
        if up:
            return 0
        self.free_ps = self.sim.now
        if self.per_frame:
            # their events find that they are of another time
            self.epoch += 1
            self.lost += self.flight.count
            self.flight = SkbQueue()
            return 0
        self.lost += self.destination.drop_in_flight(self.sim.now)
        return 0


@cython.final
@cython.cclass
class PortChannel(EgressPort):
    """Several egress ports that are one for the rest of the network."""

    members: list[EgressPort] = None
    method: cython.int = 0  # position in `LOAD_BALANCE`
    dropped: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, method: int) -> None:
        super().__init__(sim, path)
        self.members = []
        self.method = method

    def join(self, member: EgressPort, position: int) -> None:
        """Bundle a port; `position` is where it stands among those present."""
        self.members.insert(position, member)

    def leave(self, member: EgressPort) -> None:
        """Unbundle a port; the values of the hash are dealt out to the others."""
        self.members.remove(member)

    def bucket(self, header: Header) -> cython.int:
        """The hash of a frame's addresses, 0 to 7."""
        if self.method == _SRC_MAC:
            return header.source.mac & _LOW_BITS
        if self.method == _DST_MAC:
            return header.destination.mac & _LOW_BITS
        if self.method == _SRC_DST_MAC:
            return (header.source.mac ^ header.destination.mac) & _LOW_BITS
        if self.method == _SRC_IP:
            return header.source_ip & _LOW_BITS
        if self.method == _DST_IP:
            return header.destination_ip & _LOW_BITS
        return (header.source_ip ^ header.destination_ip) & _LOW_BITS

    def forward(self, skb: Skb) -> cython.int:
        """Send a frame out of the member that its hash chooses."""
        count: cython.int = len(self.members)
        outlet: EgressPort
        if count == 0:
            self.dropped += 1
            return 0
        outlet = self.members[self.bucket(skb.header) % count]
        return outlet.forward(skb)


@cython.final
@cython.cclass
class Ingress(Path):
    """From a device's transmitter into the switch, up to the choice of the egress port.

    Args:
        learns: the outlet behind which senders of frames that enter here are.
        propagation_ps: of the cable.
        latency_ps: of the switch, from last bit in to first bit out when idle.

    `header` stands for frames that carry none: those of a device with a single connection.
    """

    learns: Public[EgressPort] = None
    header: Public[Header] = None
    flight: SkbQueue = None
    delay_ps: cython.longlong = 0
    latency_ps: cython.longlong = 0
    up: cython.bint = False
    down_ps: cython.longlong = 0
    frames: cython.longlong = 0
    lost: cython.longlong = 0
    flooded: cython.longlong = 0

    def __init__(
        self, sim: Simulator, path: str, learns: EgressPort, propagation_ps: int, latency_ps: int
    ) -> None:
        super().__init__(sim, path)
        self.learns = learns
        self.flight = SkbQueue()
        self.delay_ps = propagation_ps + latency_ps
        self.latency_ps = latency_ps
        self.up = True
        self.down_ps = NEVER

    def counters(self) -> dict[str, int]:
        """Frames that were sent, lost with the link, and flooded."""
        return {"frames": self.frames, "lost": self.lost, "flooded": self.flooded}

    @property
    def in_flight(self) -> int:
        """Frames that were sent and have not been looked up yet."""
        return self.flight.count

    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a frame whose last bit leaves the source at `tx_end_ps`."""
        if skb.header is None:
            skb.header = self.header
        self.frames += 1
        self.flight.append(skb)
        self.sim.at(tx_end_ps + self.delay_ps, self, 0, 0, 0)
        return 0

    def flush(self) -> cython.int:
        """Nothing is known before the frames enter."""
        return 0

    def set_link(self, up: cython.bint) -> cython.int:
        """The cable is plugged or pulled."""
        self.up = up
        if not up:
            self.down_ps = self.sim.now
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A frame is in the switch."""
        skb: Skb = self.flight.pop()
        header: Header = skb.header
        outlet: EgressPort
        if not self.up and self.down_ps <= self.sim.now - self.latency_ps:
            self.lost += 1
            return
        if self.up or self.down_ps > self.sim.now:
            header.source.outlet = self.learns
        outlet = header.destination.outlet
        if outlet is self.learns:
            # it is where the frame comes from
            return
        if outlet is None:
            self.flooded += 1
        else:
            outlet.forward(skb)
