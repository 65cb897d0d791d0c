"""What the servers of a parallel file system are: storage with its ports, and the file system."""

from typing import Annotated

from pydantic import Field

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, count, rate, ratio, size, time
from simnet.scenario.parts.scale.schema import ScaleSize


class Filesystem(Section):
    """A file system of GPFS Native RAID: its code, where it lies, the servers' attributes.

    The attributes are those of ``mmchconfig``, for the servers.
    """

    data_strips: Annotated[int, count("data strips of a track: 8 of 8+2p", 1, 16)]
    parity_strips: Annotated[int, count("parity strips of a track: 2 of 8+2p", 1, 4, fits=True)]
    allocation: Annotated[
        str,
        Choice(
            "mmcrfs -j: a file's blocks lie side by side on each vdisk, or anywhere",
            ("cluster", "scatter"),
        ),
    ]
    vdisks: Annotated[int, count("vdisks of each server", 1, 4096, fits=True)]
    first_permille: Annotated[
        int, ratio("where on each disk the tracks begin, from the outside", "0", "0.999", fits=True)
    ]
    extent_permille: Annotated[
        int, ratio("part of each disk that the tracks take", "0.001", "1", fits=True)
    ]
    pagepool_bytes: Annotated[int, ScaleSize("pagepool of a server", "size", "1 GiB", "4096 GiB")]
    nsd_raid_buffer_pool_size_pct: Annotated[
        int, count("nsdRAIDBufferPoolSizePct: % of the pagepool that holds tracks", 10, 90)
    ]
    nsd_raid_tracks: Annotated[int, count("nsdRAIDTracks: tracks in memory at most", 128, 2**24)]
    nsd_max_worker_threads: Annotated[int, count("nsdMaxWorkerThreads: requests at once", 8, 8192)]
    nsd_raid_small_thread_ratio: Annotated[
        int, count("nsdRAIDSmallThreadRatio: small requests' threads to one of large ones", 1, 64)
    ]
    nsd_raid_small_buffer_size_bytes: Annotated[
        int,
        ScaleSize("nsdRAIDSmallBufferSize: up to it a request is small", "size", "4 KiB", "16 MiB"),
    ]
    nsd_inline_write_max_bytes: Annotated[
        int,
        ScaleSize(
            "nsdInlineWriteMax: up to it a write's data come with it", "size", "0 B", "1 MiB"
        ),
    ]
    nsd_raid_fast_write_fs_data_limit_bytes: Annotated[
        int,
        ScaleSize(
            "nsdRAIDFastWriteFSDataLimit: up to it a write is logged", "size", "0 B", "16 MiB"
        ),
    ]
    nsd_raid_flusher_fw_log_high_watermark_bytes: Annotated[
        int, size("nsdRAIDFlusherFWLogHighWatermarkMB: it empties from there", "1 MiB", "1024 GiB")
    ]
    nsd_raid_flusher_fw_log_limit_bytes: Annotated[
        int, size("nsdRAIDFlusherFWLogLimitMB: most that the log holds", "32 MiB", "1024 GiB")
    ]
    nsd_raid_flusher_threads_high_watermark: Annotated[
        int, count("nsdRAIDFlusherThreadsHighWatermark: tracks written back at once", 1, 8192)
    ]
    nsd_raid_block_device_queue_depth: Annotated[
        int, count("nsdRAIDBlockDeviceQueueDepth: commands that a disk is given", 1, 254)
    ]
    nsd_raid_block_device_nr_requests: Annotated[
        int, count("nsdRAIDBlockDeviceNrRequests: of each direction in the scheduler", 4, 8192)
    ]
    nsd_raid_block_device_max_sectors_bytes: Annotated[
        int, size("nsdRAIDBlockDeviceMaxSectorsKB: largest request of a disk", "64 KiB", "32 MiB")
    ]
    nsd_raid_block_device_scheduler: Annotated[
        str, Choice("nsdRAIDBlockDeviceScheduler: the disks' I/O scheduler", ("deadline", "noop"))
    ]
    nsd_raid_reconstruct_aggressiveness: Annotated[
        int, count("nsdRAIDReconstructAggressiveness: tracks rebuilt at once", 1, 128)
    ]


class Storage(Section):
    """Servers with their ports and disks, all alike."""

    disk: Annotated[str, Field(description="disk model of the arrays")]
    log_disk: Annotated[str, Field(description="disk model of the log's SSDs")]
    servers: Annotated[int, count("servers", 1, 64)]
    link_rate_bps: Annotated[int, rate("rate of a port", "1 Gbit/s", "400 Gbit/s")]
    mtu_bytes: Annotated[int, size("largest IP packet", "576 B", "64 KiB")]
    adapter_bus_bps: Annotated[
        int, rate("of the bus of a network adapter, one way", "1 Gbit/s", "1 Tbit/s")
    ]
    adapters: Annotated[int, count("network adapters of a server", 1, 16)]
    adapter_ports: Annotated[int, count("ports in use of a network adapter", 1, 4, fits=True)]
    mode: Annotated[
        str, Choice("bonding mode of a server's ports", ("active-backup", "802.3ad", "balance-alb"))
    ]
    xmit_hash_policy: Annotated[
        str, Choice("what 802.3ad hashes to send", ("layer2", "layer2+3", "layer3+4"))
    ]
    miimon_ps: Annotated[int, time("interval at which links are looked at", "1 ms", "10 s")]
    stack_ps: Annotated[
        int, time("a segment between wire and socket, moderation included", "0 us", "10 ms")
    ]
    connection_bps: Annotated[
        int, rate("what the threads of one connection carry; 0: no limit", "0 bit/s", "1 Tbit/s")
    ]
    retransmit_ps: Annotated[int, time("least retransmission timeout", "1 ms", "10 s")]
    message_bytes: Annotated[int, size("a request or answer without data", "64 B", "4 KiB")]
    cpus: Annotated[int, count("cores of a server", 1, 1024)]
    request_ps: Annotated[int, time("CPU time of a request, its bytes excluded", "0 us", "10 ms")]
    net_kib_ps: Annotated[int, time("CPU time to send or receive 1 KiB", "0 ns", "100 us")]
    checksum_kib_ps: Annotated[int, time("CPU time to check 1 KiB", "0 ns", "100 us")]
    parity_kib_ps: Annotated[int, time("CPU time to encode or compute 1 KiB", "0 ns", "100 us")]
    arrays: Annotated[int, count("declustered arrays of a server", 1, 64, fits=True)]
    array_disks: Annotated[int, count("disks of an array", 2, 4096, fits=True)]
    enclosures: Annotated[int, count("enclosures that hold the disks", 1, 64)]
    enclosure_paths: Annotated[
        int, count("SAS paths of a server to an enclosure", 1, 16, fits=True)
    ]
    path_rate_bps: Annotated[int, rate("of one SAS path", "1 Gbit/s", "1 Tbit/s")]
    sas_adapters_bps: Annotated[
        int, rate("of all SAS adapters of a server together", "1 Gbit/s", "4 Tbit/s")
    ]
    log_disks: Annotated[int, count("SSDs that hold a server's log, each all of it", 1, 8)]
