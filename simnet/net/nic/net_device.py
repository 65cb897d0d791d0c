"""What the drivers of all NICs are given (Linux `struct net_device`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.host.costs import Buffers, Costs, Memory
    from simnet.kernel.simulator import Simulator


@dataclass(frozen=True, slots=True, kw_only=True)
class NetDevice:
    """A device, or one queue of it, before its chip and driver are chosen.

    Attributes:
        sim: the simulation.
        path: component path.
        name: interface name (eth0).
        node: NUMA node that the device is attached to.
        costs: of the host's CPUs.
        memory: of the host.
        rate_bps: of the link.
        weight: NAPI weight.
        descriptor_bytes: of one frame's receive descriptors (return and producer ring).
        qdisc_limit: frames that wait when the transmit ring is full (txqueuelen).
        buffers: of the host.
        queue_lines: cache lines of the transmit queue, from net_device to the driver's state.
        jiffy_ps: of the kernel.
        rx_buffers: buffers that the driver keeps posted; 0 for a device without rings.
        tx_ring: usable transmit descriptors; likewise.
        fetch_ps: from the doorbell to a frame's first bit: descriptor and data are read.
        dma_ps: from a frame's last bit to its descriptor in memory.
    """

    sim: Simulator
    path: str
    name: str
    node: int
    costs: Costs
    memory: Memory
    rate_bps: int
    weight: int
    descriptor_bytes: int
    qdisc_limit: int
    buffers: Buffers
    queue_lines: int
    jiffy_ps: int = 10**9
    rx_buffers: int = 0
    tx_ring: int = 0
    fetch_ps: int = 0
    dma_ps: int = 0
