"""Attributes of IBM Spectrum Scale's configuration, with unit and meaning.

What `mmlsconfig` prints and `mmchconfig` sets. Sources: IBM Spectrum Scale 4.2, command and
programming reference, mmchconfig; IBM Elastic Storage Server, deploying and administering, of the
attributes of GPFS Native RAID, which only the servers have. An attribute for which there is a knob
`mmchconfig NAME` can be set.
"""

from typing import Final

_SERVERS: Final = ("nsdRAID", "nspd", "nsdMaxWorkerThreads", "nsdMinWorkerThreads", "nsdMultiQueue")

SCALE_ATTRIBUTES: Final[dict[str, tuple[str, str]]] = {
    "adminMode": ("", "which nodes may run administration commands on others"),
    "autoload": ("", "the daemon starts when a node does"),
    "ccrEnabled": ("", "the configuration is kept on the quorum nodes"),
    "cipherList": ("", "security of connections between daemons"),
    "clusterId": ("", "number of the cluster"),
    "clusterName": ("", "name of the cluster"),
    "deadlockDataCollectionDailyLimit": ("1/day", "times that data of a deadlock are collected"),
    "deadlockDetectionThreshold": (
        "s",
        "that a wait lasts until it counts as a deadlock; 0: never",
    ),
    "dmapiFileHandleSize": ("B", "of a handle of DMAPI"),
    "envVar": ("", "environment of the daemon"),
    "expelDataCollectionDailyLimit": ("1/day", "times that data of an expelled node are collected"),
    "flushedDataTarget": ("buffers", "without changes that cleaners leave in the pagepool"),
    "flushedInodeTarget": ("inodes", "without changes that cleaners leave"),
    "ignorePrefetchLUNCount": ("", "prefetch goes by maxMBpS alone, not by the number of disks"),
    "ioHistorySize": ("entries", "of the history of I/O"),
    "logBufferCount": ("buffers", "of the recovery log"),
    "logWrapAmountPct": ("%", "of the recovery log that is freed when it wraps"),
    "logWrapThreads": ("threads", "that flush when the log wraps"),
    "maxAllocRegionsPerNode": ("regions", "of the allocation map that a node holds"),
    "maxBackgroundDeletionThreads": ("threads", "that delete files in the background"),
    "maxBufferCleaners": ("threads", "that write changed buffers"),
    "maxBufferDescs": ("descriptors", "of buffers"),
    "maxFileCleaners": ("threads", "that write changed inodes"),
    "maxFilesToCache": ("files", "whose inodes are in memory"),
    "maxGeneralThreads": ("threads", "for requests of all kinds"),
    "maxInodeDeallocPrefetch": ("inodes", "fetched ahead when files are deleted"),
    "maxMBpS": ("MB/s", "that prefetch and write-behind are to sustain"),
    "maxReceiverThreads": ("threads", "that receive messages"),
    "maxStatCache": ("files", "whose attributes alone are in memory"),
    "maxblocksize": ("B", "largest block size of a file system"),
    "minReleaseLevel": ("", "oldest release among the nodes"),
    "myNodeConfigNumber": ("", "number of the node"),
    "nsdClientCksumTypeLocal": ("", "checksum between the servers"),
    "nsdClientCksumTypeRemote": ("", "checksum between clients and servers"),
    "nsdInlineWriteMax": ("B", "largest write whose data travel with the request"),
    "nsdMaxWorkerThreads": ("threads", "that serve requests, at most"),
    "nsdMinWorkerThreads": ("threads", "that serve requests, at least"),
    "nsdMultiQueue": ("queues", "of requests at a server"),
    "nsdRAIDBlockDeviceMaxSectorsKB": ("KiB", "largest request to a disk"),
    "nsdRAIDBlockDeviceNrRequests": ("requests", "queued for a disk"),
    "nsdRAIDBlockDeviceQueueDepth": ("requests", "at a disk at once"),
    "nsdRAIDBlockDeviceScheduler": ("", "I/O scheduler of the disks"),
    "nsdRAIDBufferPoolSizePct": ("%", "of the pagepool for tracks"),
    "nsdRAIDEventLogToConsole": ("", "events that go to the console"),
    "nsdRAIDFastWriteFSDataLimit": ("B", "largest write of data that the log takes"),
    "nsdRAIDFastWriteFSMetadataLimit": ("B", "largest write of metadata that the log takes"),
    "nsdRAIDFlusherBuffersLimitPct": ("%", "of the buffers that may be changed"),
    "nsdRAIDFlusherBuffersLowWatermarkPct": ("%", "of the buffers changed: flushing begins"),
    "nsdRAIDFlusherFWLogHighWatermarkMB": ("MB", "in the log: flushing is at its fastest"),
    "nsdRAIDFlusherFWLogLimitMB": ("MB", "in the log at most"),
    "nsdRAIDFlusherThreadsHighWatermark": ("threads", "that flush, at most"),
    "nsdRAIDFlusherThreadsLowWatermark": ("threads", "that flush, at least"),
    "nsdRAIDFlusherTracksLimitPct": ("%", "of the tracks that may be changed"),
    "nsdRAIDFlusherTracksLowWatermarkPct": ("%", "of the tracks changed: flushing begins"),
    "nsdRAIDMaxTransientStale2FT": ("strips", "stale for a while, with two parities"),
    "nsdRAIDMaxTransientStale3FT": ("strips", "stale for a while, with three parities"),
    "nsdRAIDReconstructAggressiveness": (
        "",
        "how soon what a failing disk holds is read elsewhere",
    ),
    "nsdRAIDSmallBufferSize": ("B", "of a buffer for small requests"),
    "nsdRAIDSmallThreadRatio": ("", "threads for small requests, relative to large ones"),
    "nsdRAIDThreadsPerQueue": ("threads", "of a queue"),
    "nsdRAIDTracks": ("tracks", "in memory at most"),
    "nspdQueues": ("queues", "of the daemon that talks to disks"),
    "numaMemoryInterleave": ("", "the pagepool is spread over the memory nodes"),
    "pagepool": ("B", "pinned memory that caches data"),
    "pagepoolMaxPhysMemPct": ("%", "of memory that the pagepool may be"),
    "prefetchPct": ("%", "of the pagepool for prefetch and write-behind"),
    "prefetchThreads": ("threads", "for prefetch and write-behind"),
    "scatterBufferSize": ("B", "of a piece of a buffer"),
    "scatterBuffers": ("", "buffers of several pieces"),
    "seqDiscardThreshhold": ("B", "larger files that are read or written in sequence are not kept"),
    "socketMaxListenConnections": ("connections", "listen queue of the daemon"),
    "syncWorkerThreads": ("threads", "that sync"),
    "tscTcpPort": ("port", "of the daemon"),
    "uidDomain": ("", "domain of user numbers"),
    "verbsPorts": ("", "ports of RDMA"),
    "verbsRdma": ("", "RDMA between nodes"),
    "worker1Threads": ("requests", "at once that processes wait for; workerThreads sets it"),
    "worker3Threads": ("threads", "that fetch inodes ahead"),
    "workerThreads": ("requests", "at once that processes wait for"),
    "writebehindThreshhold": ("B", "from which on a file's blocks are written behind"),
}


def of_servers(name: str) -> bool:
    """Whether only servers with disks of their own have an attribute."""
    return name.startswith(_SERVERS)
