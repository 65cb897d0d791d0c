"""A switch with stations around it."""

from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Header, Station
from simnet.net.link.switch import Egress, Ingress
from tests.host.parts import US
from tests.net.parts import Far, Sink, frame

FRAME_PS = 12_304_000  # 1538 bytes at 1 Gbit/s


class Receiver(Far):
    """A device that hears of frames that will not come."""

    def frames_lost(self) -> int:
        return 0


class Star:
    """Sources that all send to one station."""

    def __init__(
        self, sources: int, *, buffer_bytes: int = 200_000, per_frame: bool = False
    ) -> None:
        self.sim = Simulator()
        self.far = Receiver(self.sim)
        self.egress = Egress(
            self.sim,
            "egress",
            self.far,
            rate_bps=10**9,
            propagation_ps=0,
            buffer_bytes=buffer_bytes,
            per_frame=per_frame,
        )
        self.station = Station(1)
        self.station.outlet = self.egress
        self.sink = Sink(self.sim)
        self.sources = []
        for number in range(sources):
            # cables of different lengths: no two frames come in one picosecond
            own = Egress(
                self.sim,
                f"back{number}",
                Receiver(self.sim, f"source{number}"),
                rate_bps=10**9,
                propagation_ps=0,
                buffer_bytes=1,
                per_frame=False,
            )
            source = Ingress(self.sim, f"in{number}", own, 7 * number, 1 * US)
            source.header = Header(Station(100 + number), self.station)
            self.sources.append(source)

    def send(self, source: int, seq: int, tx_end_ps: int, wire_bytes: int = 1538) -> None:
        self.sources[source].send(frame(self.sink, seq, wire_bytes=wire_bytes), tx_end_ps)

    def arrived(self) -> list[tuple[int, int]]:
        queue = self.far.incoming
        return [(skb.arrival_ps, skb.seq) for skb in (queue.pop() for _ in range(queue.count))]
