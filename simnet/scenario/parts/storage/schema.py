"""Storage of a scenario: disks of a host, virtual SCSI between partitions, FFSB's thread groups."""

from typing import Annotated

from pydantic import Field

from simnet.scenario.core.section import Section
from simnet.scenario.core.specs import Choice, Flag, count, cycles, size, time
from simnet.scenario.parts.disks.schema import Disk
from simnet.scenario.parts.host.schema import Kernel

SCHEDULERS = ("noop", "anticipatory", "deadline", "cfq")
#: stands for the scheduler's own default
UNSET = -1


class Iosched(Section):
    """`/sys/block/DEVICE/queue/iosched/NAME`, times in ms; each name belongs to some schedulers.

    -1 is the scheduler's own default.
    """

    read_expire: int = UNSET
    write_expire: int = UNSET
    writes_starved: int = UNSET
    front_merges: int = UNSET
    fifo_batch: int = UNSET
    antic_expire: int = UNSET
    read_batch_expire: int = UNSET
    write_batch_expire: int = UNSET
    quantum: int = UNSET
    queued: int = UNSET
    fifo_expire_sync: int = UNSET
    fifo_expire_async: int = UNSET
    back_seek_max: int = UNSET
    back_seek_penalty: int = UNSET
    slice_sync: int = UNSET
    slice_async: int = UNSET
    slice_async_rq: int = UNSET
    slice_idle: int = UNSET


class BlockQueue(Section):
    """The request queue of a disk, as its files in sysfs set it."""

    scheduler: Annotated[str, Choice("I/O scheduler", SCHEDULERS)] = "anticipatory"
    nr_requests: Annotated[int, count("requests of each direction", 4, 8192)] = 128
    read_ahead_bytes: Annotated[
        int, size("largest read-ahead window of a file", "0 B", "16 MiB")
    ] = 128 * 1024
    max_sectors_bytes: Annotated[
        int, size("largest request; 0: what the driver takes, 512 KiB at most", "0 B", "512 KiB")
    ] = 0
    tagged: Annotated[
        bool, Flag("tagged command queueing: the disk holds and orders what the driver sends it")
    ] = True
    queue_depth: Annotated[
        int, count("commands that the driver keeps in the device, as in device/queue_depth", 1, 256)
    ] = 16


class DiskPartition(Section):
    """A range of a disk."""

    name: Annotated[str, Field(pattern=r"^[a-z]+[0-9]+$", description="partition, as in sdc1")]
    start_bytes: Annotated[int, size("where it begins", "0 B", "1048576 GiB")]
    size_bytes: Annotated[int, size("how long it is", "4 KiB", "1048576 GiB")]


class HostDisk(Section):
    """A disk of a host: a real one with partitions, or a virtual one that a peer's partition backs.

    Attributes:
        name: as in sdb.
        disk: what it is; None for a virtual one.
        partitions: of a real one.
        backing: of a virtual one, name of the peer's partition.
        queue: its request queue.
        iosched: its scheduler's tunables.
    """

    name: str
    disk: Disk | None = None
    partitions: tuple[DiskPartition, ...] = ()
    backing: str = ""
    queue: BlockQueue = BlockQueue()
    iosched: Iosched = Iosched()


class Vscsi(Section):
    """Virtual SCSI between the system and its peer, the server of its disks."""

    adapters: Annotated[
        int, count("virtual adapters of the client, among which its disks are dealt out", 1, 16)
    ] = 1
    request_limit: Annotated[int, count("requests that the server's login grants", 3, 1024)] = 16
    max_transfer_bytes: Annotated[
        int, size("largest request that the server takes (port_max_txu)", "4 KiB", "16 MiB")
    ] = 256 * 1024
    crq_latency_ps: Annotated[
        int, time("hypervisor call that sends until the other side is interrupted", "0 us", "1 ms")
    ] = 2_000_000
    submit_cycles: Annotated[int, cycles("client: building and sending a request")] = 13_000
    complete_cycles: Annotated[int, cycles("client: interrupt and completion")] = 20_000
    notice_cycles: Annotated[int, cycles("server: interrupt of a request")] = 3_300
    serve_cycles: Annotated[int, cycles("server: from there to the bio")] = 19_000
    answer_cycles: Annotated[int, cycles("server: from the disk's interrupt to the answer")] = (
        20_000
    )
    copy_kib_cycles: Annotated[int, cycles("server: copying a KiB between partitions")] = 610


class FfsbGroup(Section):
    """A thread group of FFSB with its files, by the names of FFSB's profiles."""

    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9-]*$", description="of the group")]
    disk: Annotated[str, Field(description="disk of the system that holds its files")]
    num_threads: Annotated[int, count("threads; 0: the group does not run", 0, 4096)]
    num_files: Annotated[int, count("files, one behind the other", 1, 100_000)]
    file_bytes: Annotated[int, size("of each file", "4 KiB", "1024 GiB")]
    read_weight: Annotated[int, count("share of the operation read", 0, 1000)] = 0
    readall_weight: Annotated[int, count("share of readall: a whole file", 0, 1000)] = 0
    write_weight: Annotated[int, count("share of write", 0, 1000)] = 0
    writeall_weight: Annotated[int, count("share of writeall: a whole file", 0, 1000)] = 0
    read_random: Annotated[bool, Flag("read at random places of the file")] = False
    write_random: Annotated[bool, Flag("write at random places of the file")] = False
    read_bytes: Annotated[int, size("of one read operation", "4 KiB", "1024 GiB")] = 5 << 20
    write_bytes: Annotated[int, size("of one write operation", "4 KiB", "1024 GiB")] = 5 << 20
    read_block_bytes: Annotated[int, size("of one read()", "4 KiB", "16 MiB")] = 4096
    write_block_bytes: Annotated[int, size("of one write()", "4 KiB", "16 MiB")] = 4096
    fsync_file: Annotated[bool, Flag("fsync at the end of an operation that writes")] = False


class StorageKernel(Kernel):
    """What a kernel has of the page cache."""

    page_cache_bytes: Annotated[
        int, size("memory that holds pages of files", "16 MiB", "1024 GiB")
    ] = 1800 << 20
    dirty_ratio: Annotated[int, count("percent that may be dirty before writers wait", 1, 100)] = 40
    dirty_background_ratio: Annotated[
        int, count("percent that is dirty when pdflush starts to write", 1, 100)
    ] = 10
    dirty_writeback_ps: Annotated[
        int, time("interval at which old dirty pages are written; 0: never", "0 s", "1000 s")
    ] = 5 * 10**12
    dirty_expire_ps: Annotated[int, time("age at which a dirty page is old", "0 s", "1000 s")] = (
        30 * 10**12
    )
