"""What the drivers of all NICs are given (Linux `struct net_device`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simnet.host.costs import Buffers, Costs, Memory
    from simnet.kernel.simulator import Simulator


@dataclass(frozen=True, slots=True, kw_only=True)
class NetDevice:
    """A device, or one queue of it, before its chip and driver are chosen."""

    sim: Simulator  # the simulation
    path: str  # component path
    name: str  # interface name (eth0)
    node: int  # NUMA node that the device is attached to
    costs: Costs  # of the host's CPUs
    memory: Memory  # of the host
    rate_bps: int  # of the link
    weight: int  # NAPI weight
    descriptor_bytes: int  # of one frame's receive descriptors (return and producer ring)
    qdisc_limit: int  # frames that wait when the transmit ring is full (txqueuelen)
    buffers: Buffers  # of the host
    queue_lines: int  # cache lines of the transmit queue, from net_device to the driver's state
    jiffy_ps: int = 10**9  # of the kernel
    rx_buffers: int = 0  # buffers that the driver keeps posted; 0 for a device without rings
    tx_ring: int = 0  # usable transmit descriptors; likewise
    fetch_ps: int = 0  # from the doorbell to a frame's first bit: descriptor and data are read
    dma_ps: int = 0  # from a frame's last bit to its descriptor in memory
