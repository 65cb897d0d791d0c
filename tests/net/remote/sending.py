"""A remote sender whose peer is the test."""

from typing import Any

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import SwitchedPath, new_skb
from simnet.net.remote.link import RemoteLink
from simnet.net.remote.sender import RemoteSender
from tests.host.parts import MS, US, make_costs
from tests.net.parts import GIGABIT, Far, Sink, make_sender

JIFFY = 4 * MS
SEGMENT_US = 8.72  # 1000 bytes of payload and 90 of overhead at 1 Gbit/s


class Remote:
    """A remote sender whose peer is the test; segments carry 1000 bytes."""

    def __init__(
        self,
        *,
        message_bytes: int = 8000,
        throttle_ps: int = 0,
        start_ps: int = 0,
        mmio_ps: int = 0,
        sender: dict[str, Any] | None = None,
        **cost_ns: int,
    ) -> None:
        self.sim = Simulator()
        self.tcp = make_sender(**({"wmem_max": 16_384} | (sender or {})))
        self.tcp.open_window(1 << 20)
        self.remote = RemoteSender(
            self.sim,
            "remote",
            sender=self.tcp,
            link=RemoteLink(GIGABIT),
            costs=make_costs(**cost_ns),
            mmio_ps=mmio_ps,
            throttle_ps=throttle_ps,
            jiffy_ps=JIFFY,
            overhead_bytes=90,
            message_bytes=message_bytes,
            start_ps=start_ps,
        )
        self.far = Far(self.sim)
        # so fast that a frame arrives when its last bit leaves
        self.remote.link.path_out = SwitchedPath(
            self.sim, "wire", self.far, 8 * 10**12, 0, 0, per_frame=False
        )
        self.remote.receiver = Sink(self.sim)

    def ack(self, number: int, arrival_ps: int, window: int = 1 << 20) -> None:
        skb = new_skb(self.remote.receiver, 0, 0, number, window, 90, push=False)
        skb.arrival_ps = arrival_ps
        self.remote.incoming.append(skb)
        self.remote.frames_added()

    def run(self, until_ps: int) -> list[tuple[float, int]]:
        """Simulate; return the segments sent since: when their last bit left in us, and what."""
        self.sim.run_until(until_ps)
        queue = self.far.incoming
        frames = [queue.pop() for _ in range(queue.count)]
        return [(round(skb.arrival_ps / US, 2), skb.seq) for skb in frames]
