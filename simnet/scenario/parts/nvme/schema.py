"""NVMe drives of a host with their queues in sysfs, and the driver's parameters and costs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import BaseModel, Field

from simnet.scenario.core.schema import file_model
from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, cycles, size
from simnet.scenario.parts.disks.schema import Disk
from simnet.scenario.parts.storage.schema import UNSET
from simnet.storage.multiqueue.schedulers import SCHEDULERS


class MqIosched(Section):
    """`/sys/block/DEVICE/queue/iosched/NAME`; each name belongs to some schedulers.

    -1 is the scheduler's own default.
    """

    read_expire: int = UNSET
    write_expire: int = UNSET
    writes_starved: int = UNSET
    front_merges: int = UNSET
    fifo_batch: int = UNSET
    prio_aging_expire: int = UNSET
    read_lat_nsec: int = UNSET
    write_lat_nsec: int = UNSET
    slice_idle: int = UNSET
    timeout_sync: int = UNSET
    max_budget: int = UNSET
    fifo_expire_sync: int = UNSET
    back_seek_max: int = UNSET
    back_seek_penalty: int = UNSET


class DriveQueue(Section):
    """The queues of a drive, as its files in sysfs set them."""

    scheduler: Annotated[str, Choice("I/O scheduler", tuple(SCHEDULERS))] = "none"
    nr_requests: Annotated[
        int,
        count(
            "requests of each hardware queue; 0: all of the driver's, or 256 with a scheduler",
            0,
            65535,
        ),
    ] = 0
    rq_affinity: Annotated[
        int,
        count(
            "a request is completed by the interrupt's CPU (0), if it shares a cache with the one"
            " that submitted it (1), or by the latter (2)",
            0,
            2,
        ),
    ] = 1
    nomerges: Annotated[
        int, count("1: only merge with the request that grew last; 2: merge nothing", 0, 2)
    ] = 0
    max_sectors_bytes: Annotated[int, size("largest request", "4 KiB", "4 MiB")] = 128 * 1024
    io_poll: Annotated[bool, Flag("requests may be polled for")] = False


class HostDrive(Section):
    """An NVMe drive of a host.

    Attributes:
        name: as in nvme0n1.
        node: that it is attached to.
        disk: what it is.
        queue: its queues.
        iosched: its scheduler's tunables.
    """

    name: str
    node: int = 0
    disk: Disk
    queue: DriveQueue = DriveQueue()
    iosched: MqIosched = MqIosched()


class NvmeDriver(Section):
    """The driver's parameters, and what a request costs a CPU.

    The costs are assumed, for a current out-of-order core and a kernel with the mitigations off:
    some 2.5 us for a read of 4 KiB by libaio at 3.3 GHz, fio and interrupts included. Those of
    schedulers were fitted to measurements of a host whose scenario has them with ranges.
    """

    poll_queues: Annotated[int, count("queues that are polled", 0, 1024)] = 0
    io_queue_depth: Annotated[int, count("entries of a submission queue", 2, 65535)] = 1024
    submit_cycles: Annotated[int, cycles("a bio, its request, its command in the queue")] = 1700
    page_cycles: Annotated[int, cycles("a page that is pinned and mapped for the drive")] = 150
    mq_deadline_cycles: Annotated[int, cycles("a request's way through mq-deadline")] = 1010
    mq_deadline_lock_cycles: Annotated[int, cycles("of that, under its lock")] = 910
    bfq_cycles: Annotated[int, cycles("a request's way through bfq")] = 3180
    bfq_lock_cycles: Annotated[int, cycles("of that, under its lock")] = 3150
    kyber_cycles: Annotated[int, cycles("a request's way through kyber")] = 1150
    lock_lines: Annotated[
        int, count("cache lines that move when a CPU gets a scheduler's lock after another", 0, 64)
    ] = 12
    complete_cycles: Annotated[int, cycles("a completion, its request and its bio")] = 1000
    poll_cycles: Annotated[int, cycles("a look at a completion queue that has nothing")] = 500


if TYPE_CHECKING:
    DriveQueueTable: TypeAlias = BaseModel
else:
    DriveQueueTable = file_model(DriveQueue, bare=True)


class DriveTable(Section):
    """An NVMe drive of a host, as a scenario's file has it."""

    name: Annotated[str, Field(pattern=r"^nvme[0-9]+n[0-9]+$", description="as in nvme0n1")]
    model: Annotated[str, Field(description="disk model")]
    node: Annotated[int, Field(ge=0, le=63, description="NUMA node that it is attached to")] = 0
    queue: Annotated[DriveQueueTable | None, Field(description="its queues")] = None
