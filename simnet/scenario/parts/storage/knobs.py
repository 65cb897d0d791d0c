"""Knobs of a disk's request queue and its scheduler, and of the page cache.

Sources: Linux 2.6.18 ``block/ll_rw_blk.c`` (``queue_attrs``), ``block/*-iosched.c``, and
``Documentation/sysctl/vm.txt``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.specs import Quantity, count
from simnet.scenario.parts.host.knobs import sysctl
from simnet.scenario.parts.storage.schema import BlockQueue, Iosched
from simnet.storage.block.queue import ELEVATORS

if TYPE_CHECKING:
    from simnet.scenario.core.parameter import Spec

__all__ = ["STORAGE"]

_QUEUE: Final = "/sys/block/{disk}/queue"
_LARGEST: Final = 2**31 - 1


def _spec(target: str) -> Spec:
    spec: Spec = next(
        item for item in BlockQueue.model_fields[target].metadata if hasattr(item, "parse")
    )
    return spec


def _file(name: str, target: str, unit: str = "") -> Knob:
    spec = _spec(target)
    path = f"{_QUEUE}/{name}"
    return Knob(path, spec.doc, spec, "disks.queue", target, f"echo {{value}} > {path}", unit=unit)


def _tunable(name: str) -> Knob:
    owners = [each for each in ELEVATORS if name in ELEVATORS[each].tunables]
    timed = any(ELEVATORS[each].tunables[name].time for each in owners)
    path = f"{_QUEUE}/iosched/{name}"
    doc = f"tunable of {' and '.join(owners)}{', ms' if timed else ''}"
    spec: Quantity = count(doc, 0, _LARGEST)
    return Knob(path, doc, spec, "disks.iosched", name, f"echo {{value}} > {path}")


STORAGE: Final = (
    _file("scheduler", "scheduler"),
    _file("nr_requests", "nr_requests"),
    _file("read_ahead_kb", "read_ahead_bytes", "KiB"),
    _file("max_sectors_kb", "max_sectors_bytes", "KiB"),
    Knob(
        "/sys/block/{disk}/device/queue_depth",
        _spec("queue_depth").doc,
        _spec("queue_depth"),
        "disks.queue",
        "queue_depth",
        "echo {value} > /sys/block/{disk}/device/queue_depth",
    ),
    *(_tunable(name) for name in Iosched.model_fields),
    sysctl("vm.dirty_ratio", "dirty_ratio"),
    sysctl("vm.dirty_background_ratio", "dirty_background_ratio"),
)
