"""What a parallel file system's fabric and servers are: plain numbers in base units.

`simnet.scenario.parts.nsd.schema` explains each value, and `models/filesystems/` has them.
"""

from dataclasses import dataclass

from simnet.storage.disk.model import DiskModel

ALLOCATIONS = ("cluster", "scatter")

# IPv4 and TCP with timestamps; Ethernet with VLAN-less header, FCS, preamble and gap
_HEADER_BYTES = 52
_WIRE_BYTES = 38
# a message of `simnet.net.fluid.flow_fabric`
_LONGEST_BYTES = 64 << 20


@dataclass(frozen=True)
class PortModel:
    """An Ethernet port and the bus of its adapter."""

    rate_bps: int  # of the line
    mtu_bytes: int  # largest IP packet
    pcie_bps: int  # what the adapter's bus carries one way, for all ports of the adapter together

    @property
    def goodput_bytes_s(self) -> int:
        """Payload of full TCP segments that the line carries in a second."""
        return self.rate_bps * (self.mtu_bytes - _HEADER_BYTES) // (8 * self.frame_bytes)

    @property
    def bus_bytes_s(self) -> int:
        """Payload of full TCP segments that the bus carries in a second."""
        return self.pcie_bps * (self.mtu_bytes - _HEADER_BYTES) // (8 * (self.mtu_bytes + 14))

    @property
    def frame_bytes(self) -> int:
        """A full frame on the line, preamble and gap included."""
        return self.mtu_bytes + _WIRE_BYTES


@dataclass(frozen=True)
class FabricModel:
    """Client ports, one switch, server ports, and TCP between them."""

    # how many nodes
    clients: int
    servers: int
    # of each; a client uses one port at a time
    client_port: PortModel
    server_port: PortModel
    # of a server, and ports in use of each
    server_adapters: int
    adapter_ports: int
    lag_mode: str  # one of `simnet.net.fluid.lag.LAG_MODES`, of the servers' ports
    xmit_hash_policy: str  # of the servers, with 802.3ad
    rebalance_ps: int  # interval at which balance-alb assigns clients anew
    switch_latency_ps: int  # from port to port
    cable_delay_ps: int  # of each cable
    pause: bool  # global pause (802.3x) is on at switch and hosts
    xoff_bytes: int  # of one ingress port in the switch's buffer before it sends pause
    window_bytes: int  # of each connection, one a client and server
    # a segment's way between wire and socket in a node, interrupt moderation included
    client_stack_ps: int
    server_stack_ps: int
    connection_bytes_s: int  # what one connection's threads carry; 0 for no limit
    message_bytes: int  # a request without data, or an answer without

    @property
    def server_ports(self) -> int:
        """Ports in use of a server."""
        return self.server_adapters * self.adapter_ports

    @property
    def round_trip_ps(self) -> int:
        """From a full segment's departure until its acknowledgement is back, nothing queued."""
        frame_bits = 8 * 10**12 * self.client_port.frame_bytes
        serial_ps = frame_bits // self.client_port.rate_bps
        serial_ps += frame_bits // self.server_port.rate_bps
        way_ps = self.switch_latency_ps + 2 * self.cable_delay_ps
        return serial_ps + 2 * (way_ps + self.client_stack_ps + self.server_stack_ps)


@dataclass(frozen=True)
class RaidModel:
    """Declustered RAID of one server's disks."""

    # of a track; a track holds one file-system block
    data_strips: int
    parity_strips: int
    arrays: int  # declustered arrays of a server
    array_disks: int  # disks (pdisks) of an array
    enclosures: int  # that the disks of an array are spread over
    # part of each disk that the file system's tracks lie in, from the outside
    first_permille: int
    extent_permille: int
    scheduler: str  # "deadline" or "noop", the block layer's on the server
    nr_requests: int  # of the block layer, each direction
    queue_depth: int  # commands that a disk is given at once
    max_sectors_bytes: int  # largest command
    # SAS paths of one server to an enclosure, and each one's rate
    lane_paths: int
    path_bytes_s: int
    adapter_bytes_s: int  # all SAS adapters of a server together

    @property
    def width(self) -> int:
        """Strips of a track."""
        return self.data_strips + self.parity_strips


@dataclass(frozen=True)
class NsdServerModel:
    """One server: threads, memory, CPU, the log of fast writes."""

    worker_threads: int  # requests that it works on at once
    small_ratio: int  # threads for small requests for each thread for large ones
    small_bytes: int  # up to this size a request is small
    # a write up to this size comes with its request; larger data are fetched
    inline_write_bytes: int
    buffer_bytes: int  # memory for tracks
    tracks: int  # most tracks that the memory may hold
    cpus: int  # hardware threads that work for it
    request_ps: int  # CPU time of a request, beside what its bytes cost
    # CPU time of 1024 bytes sent or received, checked, and encoded or reconstructed
    net_ps_kib: int
    checksum_ps_kib: int
    parity_ps_kib: int
    fast_write_bytes: int  # up to this size a write to a part of a track goes to the log
    # most that the log takes; from where it is written back
    log_limit_bytes: int
    log_high_bytes: int
    log_disks: int  # SSDs that mirror the log
    flusher_threads: int  # tracks that are written back at once


@dataclass(frozen=True)
class ClusterModel:
    """A file system and all that serves it."""

    block_bytes: int  # of the file system; a track's data
    allocation: str  # one of `ALLOCATIONS`: a file's blocks lie side by side, or anywhere
    nsds: int  # vdisks of a server; the blocks of a file go round all of them
    # all servers are alike
    fabric: FabricModel
    server: NsdServerModel
    raid: RaidModel
    disk: DiskModel  # each of the arrays' disks
    log_disk: DiskModel  # each SSD of the log

    def __post_init__(self) -> None:
        server = self.server
        if not 0 < self.block_bytes <= _LONGEST_BYTES:
            raise ValueError(f"a block of {self.block_bytes} bytes is not from 1 B to 64 MiB")
        if self.allocation not in ALLOCATIONS:
            raise ValueError(f"allocation {self.allocation!r} is not {' or '.join(ALLOCATIONS)}")
        if self.raid.scheduler not in {"deadline", "noop"}:
            raise ValueError(f"scheduler {self.raid.scheduler!r} is not deadline or noop")
        if server.log_high_bytes >= server.log_limit_bytes:
            raise ValueError(
                f"the log would be emptied from {server.log_high_bytes} bytes on, and is full with"
                f" {server.log_limit_bytes}"
            )
        if server.fast_write_bytes > server.log_limit_bytes:
            raise ValueError(f"the log has no room for a write of {server.fast_write_bytes} bytes")
        if server.worker_threads <= server.small_ratio:
            raise ValueError(
                f"of {server.worker_threads} threads none is left for large requests, at"
                f" {server.small_ratio} for small ones to each"
            )
