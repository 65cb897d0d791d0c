"""Where what is routed goes: the other end of the port's cable, which takes everything."""

import cython

from simnet.kernel.histogram import LogHistogram
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Path, Skb


@cython.final
@cython.cclass
class FarEnd(Path):
    """What counts the frames."""

    frames: cython.longlong = 0  # whose last bit has left, or will
    payload_bytes: cython.longlong = 0  # of them
    # from the last bit that came of a frame to the last bit that left, in ps
    latency: LogHistogram = None

    def __init__(self, sim: Simulator, path: str) -> None:
        super().__init__(sim, path)
        self.latency = LogHistogram()

    def send(self, skb: Skb, tx_end_ps: cython.longlong) -> cython.int:
        """Take a frame."""
        self.frames += 1
        self.payload_bytes += skb.end_seq - skb.seq
        self.latency.add(tx_end_ps - skb.tsval)
        return 0

    def flush(self) -> cython.int:
        """The frames sent since the last flush are a burst."""
        return 0

    @property
    def delivered(self) -> int:
        """Payload that has left, in bytes."""
        return int(self.payload_bytes)

    @property
    def latency_kind(self) -> str:
        """What its latencies are."""
        return "one-way"

    def latency_buckets(self) -> tuple[tuple[int, int], ...]:
        """See `Receiver`."""
        return self.latency.buckets()
