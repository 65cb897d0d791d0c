"""What of disks and their queues can be lifted."""

from typing import Final

from simnet.scenario.core.effective import Effective, Host
from simnet.scenario.parts.disks.lift import quicker
from simnet.scenario.system.lifting import Lifting, changed, copy, hosts, twice


def _disks(effective: Effective) -> Effective:
    def of(host: Host) -> Host:
        disks = tuple(one.model_copy(update={"disk": quicker(one.disk)}) for one in host.disks)
        return host.model_copy(update={"disks": disks})

    return hosts(effective, of)


def _queues(effective: Effective) -> Effective:
    """More requests in each queue, and under way to its disk."""

    def longer(host: Host) -> Host:
        disks = tuple(
            one.model_copy(update={"queue": copy(one.queue, twice, "nr_requests", "queue_depth")})
            for one in host.disks
        )
        return host.model_copy(update={"disks": disks})

    return changed(hosts(effective, longer), "vscsi", twice, "request_limit")


LIFTS: Final = (
    Lifting("disks", _disks, "rates + 25 %, times - 20 %", kinds=("disk", "disks"), order=140),
    Lifting(
        "requests at a disk",
        _queues,
        "doubled",
        reasons=("queue depth", "request limit", "nr_requests"),
        order=150,
    ),
)
