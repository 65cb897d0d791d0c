"""Packets over a fabric with several routes: in which order they come, what a window mends."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from simnet.kernel.simulator import Simulator
from simnet.net.infiniband.fabric import Fabric, fat_tree
from simnet.net.infiniband.reorder_window import ReorderWindow
from simnet.net.link.skb import Endpoint, Port, new_skb

_SECOND: Final = 10**12
_RATE_BPS: Final = 40 * 10**9
_PACKET_BYTES: Final = 65_600
# of a byte at that rate
_BYTE_PS: Final = 200
_PACKETS: Final = 1500
_QUEUE: Final = 2048


class _Far(Port):
    """Takes what comes."""

    def frames_added(self) -> int:
        """It is read at the end."""
        return 0


def arrivals(routing: str, load: float) -> list[int]:
    """Send 1500 packets of 64 KiB back to back over four routes.

    Args:
        routing: who chooses a route: `deterministic`, `random` or `adaptive`.
        load: share of the links that other jobs use.

    Returns:
        The packets' numbers in the order in which they arrive.
    """
    sim = Simulator()
    fabric = Fabric(
        sim,
        "fabric",
        fat_tree(leaves=2, spines=4, hosts_per_leaf=1),
        rate_bps=_RATE_BPS,
        propagation_ps=50_000,
        latency_ps=150_000,
        routing=routing,
        background_permille=round(1000 * load),
        background_bytes=65_536,
    )
    far, end = _Far(sim, "far", _QUEUE), Endpoint(sim, "end")
    way = fabric.connect("host0", "host1", far)
    for number in range(_PACKETS):
        skb = new_skb(end, number, number + 1, 0, 0, _PACKET_BYTES, False)  # noqa: FBT003 (compiled)
        way.send(skb, (number + 1) * _PACKET_BYTES * _BYTE_PS)
    sim.run_until(_SECOND)
    return [far.incoming.pop().seq for _ in range(far.incoming.count)]


def behind(numbers: Sequence[int]) -> float:
    """Return the share of packets that come behind a later one (reordered, RFC 4737)."""
    return float(np.mean(np.array(numbers) < np.maximum.accumulate(numbers)))


def behind_after(numbers: Sequence[int], width: int) -> float:
    """Return the same after a reorder window of `width` packets."""
    sim = Simulator()
    window, end = ReorderWindow(sim, "window", width), Endpoint(sim, "end")
    for number in numbers:
        skb = new_skb(end, number, number + 1, 0, 0, _PACKET_BYTES, False)  # noqa: FBT003 (compiled)
        skb.msg_id = number
        window.arrive(skb)
    return behind([window.ready.pop().seq for _ in range(window.ready.count)])
