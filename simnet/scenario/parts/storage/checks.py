"""What disks, partitions and thread groups have to fulfil together."""

from collections.abc import Mapping
from typing import Any, Final

from simnet.scenario.core.checks import check_hosts
from simnet.scenario.core.tree import Path, Table, Tree, dotted
from simnet.scenario.parts.host.checks import check_timer
from simnet.scenario.parts.storage.schema import UNSET
from simnet.spelling import nearest
from simnet.storage.block.switch import ELEVATORS
from simnet.storage.disk.geometry import Geometry
from simnet.storage.disk.model import SECTOR_BYTES, DiskModel
from simnet.storage.files.files import PAGE_SECTORS, file_sectors

_HOST: Final[Path] = ("host",)
_PEER: Final[Path] = ("peers", 0)
_WEIGHTS: Final = ("read_weight", "readall_weight", "write_weight", "writeall_weight")
PAGE_BYTES: Final = PAGE_SECTORS * SECTOR_BYTES


def check_storage(tree: Tree, table: Table) -> None:
    """Check a configuration that reads and writes files.

    Raises:
        InputError: values that no disk has together, partitions beyond their disk or over each
            other, a virtual disk without a partition behind it, a tunable that the scheduler does
            not have, requests smaller than a page, a thread group whose disk does not exist or is
            too small for its files, one whose blocks do not fit into what it reads or writes at
            random places, no thread at all, pages that are written at shorter intervals than a
            jiffy.
    """
    if len(tree.get(("peers",))) != 1 or "vscsi" not in tree.values:
        message = "files: expected one peer, the server of the disks, and a table [vscsi]"
        raise table.error(("workload", "test"), "workload.test", message)
    sizes: dict[str, int] = {}
    for host in (_HOST, _PEER):
        if tree.get((*host, "kernel", "dirty_writeback_ps")):
            check_timer(tree, (*host, "kernel"), "dirty_writeback_ps", table)
        for number, disk in enumerate(tree.get((*host, "disks"))):
            here: Path = (*host, "disks", number)
            if disk["disk"]:
                check_disk(here, disk, table)
                sizes |= _partitions(here, disk, table)
            _queue(here, disk, table)
    virtual = _virtual(tree, sizes, table)
    _groups(tree, virtual, table)
    check_hosts(tree, table)


def check_disk(here: Path, disk: Mapping[str, Any], table: Table) -> None:
    """Refuse a disk of a host that is none."""
    check_disk_model((*here, "disk"), disk["disk"], disk["name"], table)


def check_disk_model(here: Path, values: Mapping[str, Any], name: str, table: Table) -> None:
    """Refuse what no disk is, as seeks that take less time the farther they go."""
    try:
        model = DiskModel(**values)
        if model.medium == "magnetic":
            Geometry(model)
    except ValueError as error:
        places: list[Path] = [(*here, field) for field in values]
        changed = [place for place in places if dotted(place) in table.origins]
        message = f"{name}: {error}"
        raise table.error((changed or places)[0], "system", message) from None


def _partitions(here: Path, disk: Mapping[str, Any], table: Table) -> dict[str, int]:
    """Return the partitions' sizes in bytes."""
    capacity = disk["disk"]["capacity_bytes"] // SECTOR_BYTES * SECTOR_BYTES
    before: list[Mapping[str, Any]] = []
    for row, part in enumerate(disk["partitions"]):
        start, end = _range(part)
        if end > capacity:
            message = f"{part['name']} ends at {end} B, beyond the {capacity} B of {disk['name']}"
            raise table.error((*here, "partitions", row, "size_bytes"), "system.peers", message)
        for other in before:
            first, last = _range(other)
            if start < last and first < end:
                message = (
                    f"{part['name']}, {start} to {end} B, overlaps {other['name']},"
                    f" {first} to {last} B"
                )
                place: Path = (*here, "partitions", row, "start_bytes")
                raise table.error(place, "system.peers", message)
        before.append(part)
    return {part["name"]: _range(part)[1] - _range(part)[0] for part in before}


def _range(part: Mapping[str, Any]) -> tuple[int, int]:
    start = part["start_bytes"] // PAGE_BYTES * PAGE_BYTES
    return start, start + part["size_bytes"] // PAGE_BYTES * PAGE_BYTES


def _queue(here: Path, disk: Mapping[str, Any], table: Table) -> None:
    most_bytes = disk["queue"]["max_sectors_bytes"]
    if 0 < most_bytes < PAGE_BYTES:
        message = f"{disk['name']}: a request has {PAGE_BYTES} B or more, got {most_bytes} B"
        raise table.error((*here, "queue", "max_sectors_bytes"), "system", message)
    check_tunables(here, disk, ELEVATORS, table)


def check_tunables(
    here: Path, disk: Mapping[str, Any], schedulers: Mapping[str, Any], table: Table
) -> None:
    """Refuse a tunable that the scheduler of a disk does not have."""
    scheduler = disk["queue"]["scheduler"]
    tunables = getattr(schedulers[scheduler], "tunables", {})
    for name, value in disk["iosched"].items():
        if value != UNSET and name not in tunables:
            legal = ", ".join(tunables) or "none"
            message = f"{scheduler} of {disk['name']} has no {name}: it has {legal}"
            raise table.error((*here, "iosched", name), "system", message)


def _virtual(tree: Tree, sizes: Mapping[str, int], table: Table) -> dict[str, int]:
    """Return the sizes in bytes of the system's disks."""
    found: dict[str, int] = {}
    used: dict[str, str] = {}
    for number, disk in enumerate(tree.get((*_HOST, "disks"))):
        name, backing = disk["name"], disk["backing"]
        place: Path = (*_HOST, "disks", number, "backing")
        if not backing:
            message = f"{name}: the system's disks are virtual here: expected backing"
            raise table.error(place, "system.disks", message)
        if backing not in sizes:
            hint = nearest(backing, list(sizes)) or f": the server has {', '.join(sizes) or 'none'}"
            message = f"{name}: the server has no partition {backing}{hint}"
            raise table.error(place, "system.disks", message)
        if backing in used:
            message = f"{name}: {used[backing]} is on {backing} already"
            raise table.error(place, "system.disks", message)
        used[backing] = name
        found[name] = sizes[backing]
    return found


def _groups(tree: Tree, disks: Mapping[str, int], table: Table) -> None:
    threads = 0
    needed: dict[str, int] = {}
    for number, group in enumerate(tree.get(("ffsb",))):
        here: Path = ("ffsb", number)
        name, disk = group["name"], group["disk"]
        if disk not in disks:
            hint = nearest(disk, list(disks)) or f": it has {', '.join(disks) or 'none'}"
            message = f"{name}: the system has no disk {disk}{hint}"
            raise table.error((*here, "disk"), "ffsb", message)
        if not any(group[weight] for weight in _WEIGHTS):
            message = f"{name}: expected one of {', '.join(_WEIGHTS)} above 0"
            raise table.error((*here, "read_weight"), "ffsb", message)
        for operation in ("read", "write"):
            _random_blocks(here, group, operation, table)
        file_bytes = file_sectors(group["file_bytes"] // PAGE_BYTES) * SECTOR_BYTES
        needed[disk] = needed.get(disk, 0) + group["num_files"] * file_bytes
        if needed[disk] > disks[disk]:
            message = f"{name}: {needed[disk]} B of files, {disk} has {disks[disk]} B"
            raise table.error((*here, "file_bytes"), "ffsb", message)
        threads += group["num_threads"]
    if not threads:
        message = "no thread group has a thread: nothing would happen"
        raise table.error(("ffsb", 0, "num_threads"), "ffsb", message)


def _random_blocks(here: Path, group: Mapping[str, Any], operation: str, table: Table) -> None:
    """Refuse an operation of as many blocks at random places as fit into it: none."""
    if not (group[f"{operation}_weight"] and group[f"{operation}_random"]):
        return
    block_bytes = group[f"{operation}_block_bytes"]
    most_bytes = min(group[f"{operation}_bytes"], group["file_bytes"])
    if block_bytes > most_bytes:
        message = (
            f"{group['name']}: no block of {block_bytes} B fits into the {most_bytes} B that it"
            f" {operation}s at random places of a file"
        )
        raise table.error((*here, f"{operation}_block_bytes"), "ffsb", message)
