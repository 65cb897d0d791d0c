"""What the sockets of a host that use one port have in common."""

from __future__ import annotations

import cython

from simnet.host.costs import Buffers, Costs, Memory
from simnet.host.scheduler import Wakeups
from simnet.kernel.histogram import LogHistogram
from simnet.kernel.simulator import Simulator
from simnet.net.link.skb import Port
from simnet.net.steering.steering import SocketFlowTable


@cython.final
@cython.cclass
class SocketSettings:
    """Constants of sockets. There may be ten thousand, so these are worked out once.

    Args:
        sim: the simulation.
        nic: device that segments leave by.
        costs, memory: of the host.
        shared_lines: cache lines of a socket that each use writes.
        buffers: of the host.
        runqueue_lines: cache lines that waking a process on another CPU writes.
        jiffy_ps: length of a jiffy.
        header_bytes: IP and TCP headers with options.
        wire_overhead: preamble, Ethernet header, FCS and gap.
        low_latency: tcp_low_latency.
        checksum_by_cpu: the device computes and verifies none: while copying from the user, and
            wherever a received segment goes through TCP.
        page_bytes: of a page of receive buffers, 0 where pages are not told apart from other work.
        gso: large segments are cut before they come to the device.
        per_large: segments that share an `sk_buff` of the send queue.
        latency: histogram of the times from a frame's arrival to its processing that the sockets
            share; None for one each.
        flows: of the host, where they record the CPUs that read and write them; None: nowhere.
        busy_read_usecs: how long a reader polls before it sleeps; 0: not at all.
    """

    sim: Simulator = None
    nic: Port = None
    costs: Costs = None
    memory: Memory = None
    buffers: Buffers = None
    wakeups: Wakeups = None
    latency: LogHistogram = None
    flows: SocketFlowTable = None
    shared_lines: cython.int = 0
    jiffy_ps: cython.longlong = 0
    overhead_bytes: cython.int = 0
    page_bytes: cython.int = 0
    per_large: cython.int = 0
    busy_read_usecs: cython.longlong = 0
    low_latency: cython.bint = False
    checksum_by_cpu: cython.bint = False
    gso: cython.bint = False

    def __init__(
        self,
        sim: Simulator,
        *,
        nic: Port,
        costs: Costs,
        memory: Memory,
        shared_lines: int,
        buffers: Buffers,
        runqueue_lines: int,
        jiffy_ps: int,
        header_bytes: int,
        wire_overhead: int,
        low_latency: bool,
        checksum_by_cpu: bool = False,
        page_bytes: int = 0,
        gso: bool = False,
        per_large: int = 1,
        latency: LogHistogram | None = None,
        flows: SocketFlowTable | None = None,
        busy_read_usecs: int = 0,
    ) -> None:
        self.sim = sim
        self.nic = nic
        self.costs = costs
        self.memory = memory
        self.shared_lines = shared_lines
        self.buffers = buffers
        self.wakeups = Wakeups(costs, memory, runqueue_lines)
        self.jiffy_ps = jiffy_ps
        self.overhead_bytes = header_bytes + wire_overhead
        self.low_latency = low_latency
        self.checksum_by_cpu = checksum_by_cpu
        self.page_bytes = page_bytes
        self.gso = gso
        self.per_large = per_large
        self.latency = latency
        self.flows = flows
        self.busy_read_usecs = busy_read_usecs
