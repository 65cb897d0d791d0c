"""The network port of a remote host of which only the ends of its streams are simulated."""

import cython

from simnet.kernel.compiled import Public
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Path, Port, Skb


@cython.final
@cython.cclass
class RemoteLink:
    """Serialises what the ends of streams send onto one link.

    Args:
        rate_bps: of the link.
    """

    path_out: Public[Path] = None
    byte_ps: cython.longlong = 0
    free_ps: cython.longlong = 0

    def __init__(self, rate_bps: int) -> None:
        self.byte_ps = 8 * 10**12 // rate_bps

    def send(self, skb: Skb, now: cython.longlong) -> cython.int:
        """Queue a frame behind the earlier ones; call `path_out.flush` after the last."""
        if self.free_ps < now:
            self.free_ps = now
        self.free_ps += skb.wire_bytes * self.byte_ps
        self.path_out.send(skb, self.free_ps)
        return 0

    def waiting_bytes(self, now: cython.longlong) -> cython.longlong:
        """What it has taken and what has not left by `now`."""
        if self.free_ps <= now:
            return 0
        return (self.free_ps - now + self.byte_ps - 1) // self.byte_ps


@cython.final
@cython.cclass
class RemotePort(Port):
    """Where a link ends at which one stream is received and another sent.

    Data go to the receiving end, pure acknowledgements to the sending one; each has its own
    interrupts and its own CPU, as the two processes of a machine with several CPUs have.
    """

    sender: Port = None  # end of the stream that the remote host sends
    receiver: Port = None  # end of the stream that it receives

    def __init__(self, sim: Simulator, path: str, sender: Port, receiver: Port) -> None:
        super().__init__(sim, path, 64)
        self.sender = sender
        self.receiver = receiver

    def frames_added(self) -> cython.int:
        """Frames have been added to `incoming`: hand them on."""
        skb: Skb
        acks: cython.int = 0
        data: cython.int = 0
        while self.incoming.count > 0:
            skb = self.incoming.pop()
            if skb.end_seq > skb.seq:
                self.receiver.incoming.append(skb)
                data += 1
            else:
                self.sender.incoming.append(skb)
                acks += 1
        if acks > 0:
            self.sender.frames_added()
        if data > 0:
            self.receiver.frames_added()
        return 0
