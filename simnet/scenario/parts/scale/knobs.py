"""The knobs of Spectrum Scale: attributes of mmchconfig, of clients and servers; of the partitions.

CLIENTS and SERVERS stand for node classes: mmchconfig is typed on any node, a client too. A name
that ends with ``-N SERVERS`` is the servers' attribute. Sources: IBM Spectrum Scale 4.2, command
reference, mmchconfig (what takes ``-i``) and mmcrfs; AIX, smtctl.
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.schema import value_spec
from simnet.scenario.core.specs import Flag, count
from simnet.scenario.parts.nsd.schema import Filesystem
from simnet.scenario.parts.scale.schema import Lpars, Scale

SERVERS: Final = "-N SERVERS"
"""Ends the name of an attribute of the servers."""
_RESTART: Final = "in force after mmshutdown and mmstartup on the {}"


def _mmchconfig(attribute: str, target: str, **more: Any) -> Knob:
    spec = value_spec(Scale, target)
    name = f"mmchconfig {attribute}"
    now = "" if more.get("note") else " -i"
    command = f"{name}={{value}} -N CLIENTS{now}"
    return Knob(name, spec.doc, spec, "scale", target, command, system="aix", keep="", **more)


def _of_servers(attribute: str, target: str, unit: str = "", *, at_once: bool = False) -> Knob:
    spec = value_spec(Filesystem, target)
    name = f"mmchconfig {attribute} {SERVERS}"
    command = f"mmchconfig {attribute}={{value}} {SERVERS}{' -i' * at_once}"
    return Knob(
        name,
        spec.doc.removeprefix(f"{attribute}: "),
        spec,
        "filesystem",
        target,
        command,
        unit=unit,
        note="" if at_once else _RESTART.format("servers"),
        system="aix",
        keep="",
    )


def _ignored(attribute: str, doc: str, spec: Spec | None = None) -> Knob:
    name = f"mmchconfig {attribute}"
    command = f"{name}={{value}} -N CLIENTS"
    return Knob(name, doc, spec or count(doc, 0, 2**62), "none", "", command, system="aix", keep="")


SCALE: Final = (
    _mmchconfig("pagepool", "pagepool_bytes"),
    _mmchconfig("prefetchPct", "prefetch_pct", note=_RESTART.format("clients")),
    _mmchconfig("prefetchThreads", "prefetch_threads", note=_RESTART.format("clients")),
    _mmchconfig("workerThreads", "worker_threads", note=_RESTART.format("clients")),
    _mmchconfig("maxMBpS", "max_mbps"),
    _mmchconfig("maxFilesToCache", "max_files_to_cache", note=_RESTART.format("clients")),
    _mmchconfig(
        "seqDiscardThreshhold", "seq_discard_threshold_bytes", note=_RESTART.format("clients")
    ),
    _mmchconfig(
        "maxblocksize", "maxblocksize_bytes", note="in force after mmshutdown -a and mmstartup -a"
    ),
    Knob(
        "mmcrfs -B",
        "block size of the file system",
        value_spec(Scale, "block_bytes"),
        "scale",
        "block_bytes",
        "mmcrfs FILESYSTEM -F NSD_STANZAS -B {value}",
        system="aix",
        keep="",
        note="a file system keeps its block size: a new one has to be made, and filled",
    ),
    Knob(
        "smtctl -t",
        "threads of a core that are on",
        value_spec(Lpars, "threads"),
        "lpars",
        "threads",
        "smtctl -t {value} -w now",
        system="aix",
        keep="",
    ),
    _ignored("worker1Threads", "what workerThreads was called before"),
    _ignored("maxStatCache", "files whose attributes alone are in memory"),
    _ignored("maxReceiverThreads", "threads that receive messages"),
    _ignored("maxBufferDescs", "descriptors of buffers"),
    _ignored("logBufferCount", "buffers of the recovery log"),
    _ignored("logWrapThreads", "threads that flush when the log wraps"),
    _ignored("scatterBuffers", "buffers of several pieces", Flag("on or off")),
    _of_servers("pagepool", "pagepool_bytes"),
    _of_servers("nsdRAIDBufferPoolSizePct", "nsd_raid_buffer_pool_size_pct"),
    _of_servers("nsdRAIDTracks", "nsd_raid_tracks"),
    _of_servers("nsdMaxWorkerThreads", "nsd_max_worker_threads"),
    _of_servers("nsdRAIDSmallThreadRatio", "nsd_raid_small_thread_ratio"),
    _of_servers("nsdRAIDSmallBufferSize", "nsd_raid_small_buffer_size_bytes"),
    _of_servers("nsdInlineWriteMax", "nsd_inline_write_max_bytes", at_once=True),
    _of_servers("nsdRAIDFastWriteFSDataLimit", "nsd_raid_fast_write_fs_data_limit_bytes"),
    _of_servers(
        "nsdRAIDFlusherFWLogHighWatermarkMB", "nsd_raid_flusher_fw_log_high_watermark_bytes", "MiB"
    ),
    _of_servers("nsdRAIDFlusherFWLogLimitMB", "nsd_raid_flusher_fw_log_limit_bytes", "MiB"),
    _of_servers("nsdRAIDFlusherThreadsHighWatermark", "nsd_raid_flusher_threads_high_watermark"),
    _of_servers("nsdRAIDBlockDeviceQueueDepth", "nsd_raid_block_device_queue_depth"),
    _of_servers("nsdRAIDBlockDeviceNrRequests", "nsd_raid_block_device_nr_requests"),
    _of_servers("nsdRAIDBlockDeviceMaxSectorsKB", "nsd_raid_block_device_max_sectors_bytes", "KiB"),
    _of_servers("nsdRAIDBlockDeviceScheduler", "nsd_raid_block_device_scheduler"),
    _of_servers("nsdRAIDReconstructAggressiveness", "nsd_raid_reconstruct_aggressiveness"),
)
