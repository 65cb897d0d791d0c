"""What a port carried while it was observed, and tests that were run."""

from dataclasses import dataclass
from typing import Final

# of each frame on the wire: checksum, preamble, gap; counters have the rest
_AROUND_FRAME_BYTES: Final = 24


@dataclass(frozen=True)
class Use:
    """A number that was observed, and the file that it was read from."""

    value: float
    source: str


@dataclass(frozen=True)
class Rates:
    """Packets and bytes a second of a port, as its counters have them."""

    port: str  # its name
    # a second
    rx_packets: float
    tx_packets: float
    # a second, of frames without checksum and preamble
    rx_bytes: float
    tx_bytes: float
    seconds: float  # that were observed
    source: str  # the file

    @property
    def rx_size(self) -> float:
        """Mean bytes of a received frame; 0 if there was none."""
        return self.rx_bytes / self.rx_packets if self.rx_packets else 0.0

    @property
    def tx_size(self) -> float:
        """Mean bytes of a sent frame; 0 if there was none."""
        return self.tx_bytes / self.tx_packets if self.tx_packets else 0.0

    @property
    def wire_bps(self) -> float:
        """What the busier direction takes of the wire."""
        around = _AROUND_FRAME_BYTES
        received = self.rx_bytes + around * self.rx_packets
        return 8 * max(received, self.tx_bytes + around * self.tx_packets)


@dataclass(frozen=True)
class NetworkTest:
    """A test of the network that was run on the host."""

    tool: str  # that ran it
    # as a scenario names it: `netserver` where the host receives, `netperf` where it sends,
    # `bidirectional`, `tcp_rr`
    test: str
    connections: int  # at once
    message_bytes: int  # of a send(), or of a request
    source: str  # the file
    rate_bps: float = 0.0  # that it measured; 0 if its output does not say it
