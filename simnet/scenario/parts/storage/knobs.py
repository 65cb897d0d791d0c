"""Knobs of a disk's request queue and its scheduler, and of the page cache.

Sources: Linux 2.6.18 ``block/ll_rw_blk.c`` (``queue_attrs``), ``block/*-iosched.c``, and
``Documentation/sysctl/vm.txt``.
"""

from collections.abc import Mapping
from typing import Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.specs import Quantity, count
from simnet.scenario.parts.host.knobs import sysctl
from simnet.scenario.parts.storage.schema import BlockQueue, Iosched
from simnet.storage.block.elevator import Elevator
from simnet.storage.block.switch import ELEVATORS

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


def tunable_knob(
    name: str,
    schedulers: Mapping[str, type[Elevator]],
    queue: str,
    scope: str,
    *,
    since: str = "2.6.0",
) -> Knob:
    """Return the knob of a tunable that some schedulers have.

    Args:
        name: of the tunable.
        schedulers: by name.
        queue: the folder of the queue in sysfs.
        scope: the part of a host that holds tunables.
        since: first kernel that has it.
    """
    owners = [each for each in schedulers if name in schedulers[each].tunables]
    timed = any(schedulers[each].tunables[name].time for each in owners)
    path = f"{queue}/iosched/{name}"
    doc = f"tunable of {' and '.join(owners)}{', ms' if timed else ''}"
    spec: Quantity = count(doc, 0, _LARGEST)
    return Knob(path, doc, spec, scope, name, f"echo {{value}} > {path}", since=since)


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
    *(tunable_knob(name, ELEVATORS, _QUEUE, "disks.iosched") for name in Iosched.model_fields),
    sysctl("vm.dirty_ratio", "dirty_ratio"),
    sysctl("vm.dirty_background_ratio", "dirty_background_ratio"),
)
