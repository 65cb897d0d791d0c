"""A remote receiver whose peer is the test."""

from dataclasses import dataclass
from typing import Any

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Skb, SwitchedPath, new_skb
from simnet.net.remote.link import RemoteLink
from simnet.net.remote.receiver import RemoteReceiver
from tests.host.parts import MS, NS, US, make_costs
from tests.net.parts import GIGABIT, Far, Neighbour, Sink, make_receiver

COSTS: dict[str, Any] = {
    "hardirq": 1000,
    "softirq_entry": 500,
    "poll": 500,
    "wakeup": 400,
    "context_switch": 600,
    "syscall": 300,
    "user_recv": 200,
    "driver_rx": 300,
    "skb_alloc": 100,
    "ip_rx": 200,
    "tcp_rx": 700,
    "skb_free": 100,
    "copy_line": 10,
    "ack_tx": 900,
}
# with five register writes of 50 ns; 1000 bytes are eight lines
IRQ_PS, WAKE_PS, ACK_PS = 2250 * NS, 1500 * NS, 950 * NS
SOFTIRQ_PS, READ_PS = 600 * NS, 880 * NS
FRAME_PS = SOFTIRQ_PS + READ_PS
JIFFY = 4 * MS
# 90 bytes at 1 Gbit/s, and then on a wire on which a byte takes 1 ps
ACK_WIRE_PS = 90 * 8 * NS + 90
# a receive buffer of which 4000 bytes are window, from the first segment on
# one more than four, which the window keeps back
FOUR_SEGMENTS = {"rmem_default": 6666, "rmem_max": 6666, "moderate_rcvbuf": False}


def held(skb: Skb) -> int:
    """Segments that the SACK option reports."""
    return sum((last - first) // 1000 for first, last in skb.sack or [])


@dataclass(frozen=True)
class Ack:
    """An acknowledgement: when it was sent, and what it says."""

    sent_ps: int
    number: int
    window: int
    held: int


class Remote:
    """A remote receiver whose peer is the test; segments carry 1000 bytes."""

    def __init__(
        self,
        *,
        throttle_ps: int = 0,
        mmio_ps: int = 0,
        jiffy_ps: int = JIFFY,
        overhead_bytes: int = 90,
        receiver: dict[str, Any] | None = None,
        **cost_ns: int,
    ) -> None:
        self.sim = Simulator()
        usual: dict[str, Any] = {"jiffy_ps": jiffy_ps, "window_scaling": False}
        self.tcp = make_receiver(**(usual | FOUR_SEGMENTS | (receiver or {})))
        self.remote = RemoteReceiver(
            self.sim,
            "remote",
            receiver=self.tcp,
            link=RemoteLink(GIGABIT),
            costs=make_costs(**cost_ns),
            mmio_ps=mmio_ps,
            throttle_ps=throttle_ps,
            jiffy_ps=jiffy_ps,
            overhead_bytes=overhead_bytes,
        )
        self.far = Far(self.sim)
        # so fast that a frame arrives when its last bit leaves
        self.remote.path_out = SwitchedPath(
            self.sim, "wire", self.far, 8 * 10**12, 0, 0, per_frame=False
        )
        self.remote.acknowledged = Sink(self.sim)
        self.neighbour = self.remote.neighbour = Neighbour(self.sim)

    def frame(self, arrival_ps: int, seq: int, length: int = 1000) -> Skb:
        """A segment for it; one of no bytes stands for an ARP reply."""
        endpoint = self.remote.acknowledged if length else self.neighbour
        skb = new_skb(endpoint, seq, seq + length, 0, 0, length + 90, push=False)
        skb.arrival_ps = arrival_ps
        return skb

    def announce(self, *frames: Skb) -> None:
        """Make frames known, before or when they arrive."""
        for skb in frames:
            self.remote.incoming.append(skb)
        self.remote.frames_added()

    def segments(self, *numbers: int, start_ps: int, gap_ps: int = 9 * US) -> None:
        """Announce full segments by their numbers in the stream."""
        self.announce(
            *(self.frame(start_ps + n * gap_ps, 1000 * at) for n, at in enumerate(numbers))
        )

    def run(self, until_ps: int) -> list[Ack]:
        """Simulate; return the acknowledgements sent since."""
        self.sim.run_until(until_ps)
        queue = self.far.incoming
        sent = [queue.pop() for _ in range(queue.count)]
        return [Ack(s.arrival_ps - ACK_WIRE_PS, s.ack, s.window, held(s)) for s in sent]

    def established(self, **options: Any) -> None:
        """Let the quick ACKs of the start be over: two segments, at the start of a jiffy."""
        self.segments(0, 1, start_ps=self.sim.now, **options)
        assert [ack.number for ack in self.run(4 * JIFFY)] == [1000, 2000]
