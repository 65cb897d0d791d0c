"""The schedulers of blk-mq by name; "none" is none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.host.release import release
from simnet.storage.multiqueue.bfq import Bfq
from simnet.storage.multiqueue.kyber import Kyber
from simnet.storage.multiqueue.mq_deadline import MqDeadline, MqDeadlineOneClass

if TYPE_CHECKING:
    from simnet.storage.multiqueue.scheduler import MqScheduler

SCHEDULERS: dict[str, type[MqScheduler] | None] = {
    "none": None,
    "mq-deadline": MqDeadline,
    "kyber": Kyber,
    "bfq": Bfq,
}
_PRIORITIES = (5, 14)


def scheduler_of(name: str, version: str) -> type[MqScheduler] | None:
    """Return a scheduler as a version of Linux has it."""
    if name == "mq-deadline" and release(version) < _PRIORITIES:
        return MqDeadlineOneClass
    return SCHEDULERS[name]
