"""What jobs and drives have to fulfil together."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from simnet.host.release import release
from simnet.scenario.core.checks import check_hosts
from simnet.scenario.core.places import Places
from simnet.scenario.core.subject import Need
from simnet.scenario.core.tree import Path, Table, Tree
from simnet.scenario.parts.storage.checks import PAGE_BYTES, check_disk, check_tunables
from simnet.spelling import nearest
from simnet.storage.multiqueue.queue import MAX_SEGMENTS
from simnet.storage.multiqueue.schedulers import SCHEDULERS

_HOST: Final[Path] = ("host",)
_BLK_MQ: Final = (5, 0)
_IO_URING: Final = (5, 1)
# options that only that engine has, and what it does
_OF_IO_URING: Final = {
    "hipri": "polls",
    "fixedbufs": "registers buffers",
    "sqthread_poll": "has a thread that submits",
}
# as measured: what a build of so many more has taken
_UNIT_BYTES: Final = 190
_UNIT_PS: Final = 550_000


def check_fio(tree: Tree, table: Table) -> None:
    """Check a configuration in which fio runs.

    Raises:
        InputError: no driver, drive or job; a kernel without blk-mq or io_uring; more polled queues
            than the drive can spare, or none for a job that polls; a tunable that the scheduler
            does not have; a unit larger than a request; a job on a drive, CPU or place that is not
            there.
    """
    here: Path = ("workload", "test")
    if "nvme" not in tree.values or not tree.get((*_HOST, "drives")):
        message = "fio: expected a drive, [[system.drives]], and a table [nvme]"
        raise table.error(here, "workload.test", message)
    version = tree.get((*_HOST, "kernel", "version"))
    if release(version) < _BLK_MQ:
        message = f"fio on NVMe: expected Linux 5.0 or later, got {version}"
        raise table.error((*_HOST, "kernel", "version"), "system.kernel", message)
    for number, drive in enumerate(tree.get((*_HOST, "drives"))):
        _drive(tree, (*_HOST, "drives", number), drive, table)
    jobs = tree.get(("fio",))
    if not any(job["numjobs"] for job in jobs):
        raise table.error(("fio", 0, "numjobs"), "workload.test", "no job has a process")
    for number, job in enumerate(jobs):
        place: Path = ("fio", number)
        _job(tree, place, job, table)
        if job["ioengine"] == "io_uring" and release(version) < _IO_URING:
            message = f"not in Linux {version}: io_uring came with Linux 5.1"
            raise table.error((*place, "ioengine"), "fio", message)
    check_hosts(tree, table)


def needs(tree: Tree) -> Iterator[Need]:
    """Yield what the units of all processes take, whether they are in flight or not."""
    for number, job in enumerate(tree.values.get("fio", ())):
        place: Path = ("fio", number)
        yield Need(
            (*place, "iodepth"),
            job["iodepth"],
            job["numjobs"] * job["iodepth"],
            "units in flight",
            _UNIT_BYTES,
            _UNIT_PS,
            ((*place, "numjobs"),),
        )


def _drive(tree: Tree, here: Path, drive: Mapping[str, Any], table: Table) -> None:
    check_disk(here, drive, table)
    check_tunables(here, drive, SCHEDULERS, table)
    nodes = tree.get((*_HOST, "machine", "nodes"))
    if drive["node"] >= nodes:
        message = f"{drive['name']}: node {drive['node']} does not exist: 0 to {nodes - 1}"
        raise table.error((*here, "node"), "system.drives", message)
    polled, queues = tree.get(("nvme", "poll_queues")), drive["disk"]["queues"]
    if polled >= queues:
        message = f"{drive['name']} has {queues} queues: expected poll_queues below that"
        raise table.error(("nvme", "poll_queues"), "nvme", message)


def _job(tree: Tree, here: Path, job: Mapping[str, Any], table: Table) -> None:
    def refuse(key: str, message: str) -> None:
        raise table.error((*here, key), "fio", f"{job['name']}: {message}")

    _drives(tree, here, job, table, refuse)
    for name, does in _OF_IO_URING.items():
        if job[name] and job["ioengine"] != "io_uring":
            refuse(name, f"only io_uring {does} here, not {job['ioengine']}")
    if job["hipri"] and not tree.get(("nvme", "poll_queues")):
        refuse("hipri", "expected modprobe nvme poll_queues above 0")
    online = Places(tree).online(_HOST)
    if job["sqthread_poll_cpu"] >= 0:
        if not job["sqthread_poll"]:
            refuse("sqthread_poll_cpu", "expected sqthread_poll")
        if job["sqthread_poll_cpu"] not in online:
            refuse("sqthread_poll_cpu", f"the system has no CPU {job['sqthread_poll_cpu']}")
    missing = [cpu for cpu in job["cpus_allowed"] if cpu not in online]
    if missing:
        refuse("cpus_allowed", f"the system has no CPU {missing[0]}, it has 0 to {online[-1]}")
    _depths(job, refuse)


def _drives(
    tree: Tree, here: Path, job: Mapping[str, Any], table: Table, refuse: Callable[[str, str], None]
) -> None:
    drives = {drive["name"]: drive for drive in tree.get((*_HOST, "drives"))}
    names = job["filename"].split(":")
    for name in names:
        if name not in drives:
            hint = nearest(name, list(drives)) or f": it has {', '.join(drives)}"
            message = f"the system has no drive {name}{hint}"
            raise table.error((*here, "filename"), "fio", message)
    if len({*names}) < len(names):
        refuse("filename", f"expected each drive once, got {job['filename']}")
    for drive in map(drives.__getitem__, names):
        _range(job, drive, len(names), refuse)


def _range(
    job: Mapping[str, Any], drive: Mapping[str, Any], of: int, refuse: Callable[[str, str], None]
) -> None:
    """Of one of so many drives, each of which has its part of the size."""
    largest = drive["queue"]["max_sectors_bytes"]
    if job["bs_bytes"] % 512 or job["bs_bytes"] > largest:
        refuse("bs_bytes", f"expected whole sectors of 512 B, up to max_sectors_kb = {largest} B")
    if job["bs_bytes"] > MAX_SEGMENTS * PAGE_BYTES:
        most = f"{MAX_SEGMENTS} pages = {MAX_SEGMENTS * PAGE_BYTES} B"
        refuse("bs_bytes", f"a request has up to {most}; how more is split is not modelled")
    capacity = drive["disk"]["capacity_bytes"]
    length = job["size_bytes"] // of
    end = job["offset_bytes"] + (length or job["bs_bytes"])
    if end > capacity or (job["size_bytes"] and length < job["bs_bytes"]):
        refuse("size_bytes", f"expected a range of bs or more within {capacity} B")


def _depths(job: Mapping[str, Any], refuse: Callable[[str, str], None]) -> None:
    for name in ("iodepth_batch", "iodepth_batch_complete_min", "iodepth_low"):
        if job[name] > job["iodepth"]:
            refuse(name, f"expected no more than iodepth, {job['iodepth']}, got {job[name]}")
    least, most = job["iodepth_batch_complete_min"], job["iodepth_batch_complete_max"]
    if 0 < most < least:
        refuse("iodepth_batch_complete_max", f"expected no less than the least, {least}")
    if job["ioengine"] == "sync" and job["iodepth"] > 1:
        refuse("iodepth", "the sync engine has one unit in flight")
