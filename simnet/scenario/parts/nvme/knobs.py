"""Knobs of a drive's queues, of its scheduler, and of the NVMe driver.

Sources: Linux 6.12 ``block/blk-sysfs.c``, ``block/mq-deadline.c``, ``block/kyber-iosched.c``,
``drivers/nvme/host/pci.c``.
"""

from typing import Any, Final

from simnet.scenario.core.knob import Knob
from simnet.scenario.core.schema import spec_of
from simnet.scenario.core.section import Section
from simnet.scenario.parts.nvme.schema import DriveQueue, MqIosched, NvmeDriver
from simnet.scenario.parts.storage.knobs import tunable_knob
from simnet.storage.multiqueue.schedulers import SCHEDULERS

_QUEUE: Final = "/sys/block/{drive}/queue"
_SINCE: Final = {"prio_aging_expire": "5.17"}
_IO_POLL: Final = (
    "writes are ignored since Linux 5.16: modprobe nvme poll_queues says what can be polled"
)


def _knob(
    path: str, section: type[Section], scope: str, target: str, command: str, **more: Any
) -> Knob:
    spec = spec_of(section, target)
    if spec is None:
        raise ValueError(target)
    return Knob(path, spec.doc, spec, scope, target, command, **more)


def _file(name: str, target: str, **more: Any) -> Knob:
    path = f"{_QUEUE}/{name}"
    return _knob(path, DriveQueue, "drives.queue", target, f"echo {{value}} > {path}", **more)


def _parameter(name: str) -> Knob:
    """A parameter of the module: it is loaded anew."""
    typed = f"modprobe -r nvme; modprobe nvme {name}={{value}}"
    path = f"modprobe nvme {name}"
    return _knob(path, NvmeDriver, "nvme", name, typed)


_OWNED: Final = {name: one for name, one in SCHEDULERS.items() if one is not None}

NVME: Final = (
    _file("scheduler", "scheduler"),
    _file("nr_requests", "nr_requests"),
    _file("rq_affinity", "rq_affinity"),
    _file("nomerges", "nomerges"),
    _file("max_sectors_kb", "max_sectors_bytes", unit="KiB"),
    _file("io_poll", "io_poll", note=_IO_POLL),
    *(
        tunable_knob(name, _OWNED, _QUEUE, "drives.iosched", since=_SINCE.get(name, "5.0"))
        for name in MqIosched.model_fields
    ),
    _parameter("poll_queues"),
    _parameter("io_queue_depth"),
)
