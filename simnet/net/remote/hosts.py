"""All the hosts behind one port of a machine: real TCP, and nothing that costs them time.

Thousands of clients, or the servers that a relay forwards to, each with a CPU that is never what
one waits for: what counts is when they send and acknowledge. Their segments share one link, in
the order in which they are sent, as frames of many stations do that leave a switch by one port.
Each connection's end is a `simnet.net.tcp.endpoint.TcpEndpoint`.
"""

import cython

from simnet.kernel.priority import WIRE
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Path, Port, Skb, Uplink
from simnet.net.remote.link import RemoteLink


@cython.final
@cython.cclass
class RemoteUplink(Uplink):
    """What the far hosts send by.

    Args:
        rate_bps: of the link.
    """

    link: RemoteLink = None
    frames: cython.longlong = 0

    def __init__(self, sim: Simulator, path: str, rate_bps: int) -> None:
        super().__init__(sim, path)
        self.link = RemoteLink(rate_bps)

    def send(self, skb: Skb) -> cython.int:
        """Queue a frame behind the earlier ones of all hosts."""
        self.frames += 1
        self.link.send(skb, self.sim.now)
        self.link.path_out.flush()
        return 0


@cython.final
@cython.cclass
class RemoteHosts(Port):
    """Where the frames of the machine's port end.

    Args:
        rate_bps: of the link that the hosts share.
    """

    uplink: RemoteUplink = None  # what their `TcpEndpoint`s send by
    frames: cython.longlong = 0  # that have arrived
    armed: cython.bint = False

    def __init__(self, sim: Simulator, path: str, rate_bps: int) -> None:
        super().__init__(sim, path, 64)
        self.uplink = RemoteUplink(sim, f"{path}.uplink", rate_bps)

    @property
    def path_out(self) -> Path:
        """Where frames leave to."""
        return self.uplink.link.path_out

    @path_out.setter
    def path_out(self, path: Path) -> None:
        self.uplink.link.path_out = path

    def waiting_bytes(self, now: int) -> int:
        """What their link has taken and what has not left by `now`."""
        return self.uplink.link.waiting_bytes(now)

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`."""
        skb: Skb
        if not self.armed and self.incoming.count > 0:
            self.armed = True
            skb = self.incoming.head
            skb.endpoint.fetch(skb.end_seq > skb.seq)
            self.sim.at(self.incoming.head.arrival_ps, self, 0, 0, WIRE)
        return 0

    def frames_lost(self) -> cython.int:
        """The event that stands looks what is left."""
        return 0

    def on_event(self, kind: cython.int, arg: cython.longlong) -> None:
        """A frame has arrived."""
        skb: Skb
        self.armed = False
        while self.incoming.count > 0 and self.incoming.head.arrival_ps <= self.sim.now:
            skb = self.incoming.pop()
            self.frames += 1
            skb.endpoint.receive(skb, None)
        self.frames_added()

    def counters(self) -> dict[str, int]:
        """Frames received and sent."""
        return {"received": self.frames, "sent": self.uplink.frames}
