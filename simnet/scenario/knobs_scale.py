"""The knobs of Spectrum Scale's clients: attributes of mmchconfig, and of the partitions.

CLIENTS stands for the node class of the clients. Sources: IBM Spectrum Scale 4.2, command
reference, mmchconfig and mmcrfs; AIX, smtctl.
"""

from __future__ import annotations

from typing import Any, Final

from simnet.scenario.knob import Knob
from simnet.scenario.parameter import Spec
from simnet.scenario.schema import spec_of
from simnet.scenario.schema_scale import Lpars, Scale
from simnet.scenario.specs import Flag, count

__all__ = ["SCALE"]

_RESTART: Final = "in force after mmshutdown and mmstartup on the clients"


def _of(section: type[Scale | Lpars], target: str) -> Spec:
    spec = spec_of(section, target)
    if spec is None:
        raise LookupError(target)
    return spec


def _mmchconfig(attribute: str, target: str, **more: Any) -> Knob:
    spec = _of(Scale, target)
    name = f"mmchconfig {attribute}"
    now = "" if more.get("note") else " -i"
    command = f"{name}={{value}} -N CLIENTS{now}"
    return Knob(name, spec.doc, spec, "scale", target, command, system="aix", **more)


def _ignored(attribute: str, doc: str, spec: Spec | None = None) -> Knob:
    name = f"mmchconfig {attribute}"
    command = f"{name}={{value}} -N CLIENTS"
    return Knob(name, doc, spec or count(doc, 0, 2**62), "none", "", command, system="aix")


SCALE: Final = (
    _mmchconfig("pagepool", "pagepool_bytes"),
    _mmchconfig("prefetchPct", "prefetch_pct", note=_RESTART),
    _mmchconfig("prefetchThreads", "prefetch_threads", note=_RESTART),
    _mmchconfig("workerThreads", "worker_threads", note=_RESTART),
    _mmchconfig("maxMBpS", "max_mbps"),
    _mmchconfig("maxFilesToCache", "max_files_to_cache", note=_RESTART),
    _mmchconfig("seqDiscardThreshhold", "seq_discard_threshhold_bytes", note=_RESTART),
    _mmchconfig(
        "maxblocksize", "maxblocksize_bytes", note="in force after mmshutdown -a and mmstartup -a"
    ),
    Knob(
        "mmcrfs -B",
        "block size of the file system",
        _of(Scale, "block_bytes"),
        "scale",
        "block_bytes",
        "mmcrfs FILESYSTEM -F NSD_STANZAS -B {value}",
        system="aix",
        note="a file system keeps its block size: a new one has to be made, and filled",
    ),
    Knob(
        "smtctl -t",
        "threads of a core that are on",
        _of(Lpars, "threads"),
        "lpars",
        "threads",
        "smtctl -t {value} -w now",
        system="aix",
    ),
    _ignored("worker1Threads", "what workerThreads was called before"),
    _ignored("maxStatCache", "files whose attributes alone are in memory"),
    _ignored("maxReceiverThreads", "threads that receive messages"),
    _ignored("maxBufferDescs", "descriptors of buffers"),
    _ignored("logBufferCount", "buffers of the recovery log"),
    _ignored("logWrapThreads", "threads that flush when the log wraps"),
    _ignored("scatterBuffers", "buffers of several pieces", Flag("on or off")),
)
