"""What disks, partitions and thread groups have to fulfil together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from simnet.scenario.library import nearest
from simnet.scenario.schema_storage import UNSET
from simnet.storage.block import ELEVATORS
from simnet.storage.model import SECTOR_BYTES

if TYPE_CHECKING:
    from collections.abc import Mapping

    from simnet.scenario.settings import Table
    from simnet.scenario.tree import Path, Tree

__all__ = ["check_storage"]

_HOST: Final[Path] = ("host",)
_PEER: Final[Path] = ("peers", 0)
_WEIGHTS: Final = ("read_weight", "readall_weight", "write_weight", "writeall_weight")
_GRAIN_BYTES: Final = 4096


def check_storage(tree: Tree, table: Table) -> None:
    """Check a configuration that reads and writes files.

    Raises:
        InputError: partitions beyond their disk or over each other, a virtual disk without a
            partition behind it, a tunable that the scheduler does not have, a thread group whose
            disk does not exist or is too small for its files, or no thread at all.
    """
    if len(tree.get(("peers",))) != 1 or "vscsi" not in tree.values:
        message = "files: expected one peer, the server of the disks, and a table [vscsi]"
        raise table.error(("workload", "test"), "workload.test", message)
    sizes: dict[str, int] = {}
    for host in (_HOST, _PEER):
        for number, disk in enumerate(tree.get((*host, "disks"))):
            here: Path = (*host, "disks", number)
            if disk["disk"]:
                sizes |= _partitions(here, disk, table)
            _tunables(here, disk, table)
    virtual = _virtual(tree, sizes, table)
    _groups(tree, virtual, table)


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
    start = part["start_bytes"] // _GRAIN_BYTES * _GRAIN_BYTES
    return start, start + part["size_bytes"] // _GRAIN_BYTES * _GRAIN_BYTES


def _tunables(here: Path, disk: Mapping[str, Any], table: Table) -> None:
    scheduler = disk["queue"]["scheduler"]
    for name, value in disk["iosched"].items():
        if value != UNSET and name not in ELEVATORS[scheduler].tunables:
            legal = ", ".join(ELEVATORS[scheduler].tunables) or "none"
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
        # indirect blocks take a little more than a thousandth
        needed[disk] = needed.get(disk, 0) + group["num_files"] * group["file_bytes"] * 1002 // 1000
        if needed[disk] > disks[disk]:
            message = f"{name}: {needed[disk]} B of files, {disk} has {disks[disk]} B"
            raise table.error((*here, "file_bytes"), "ffsb", message)
        threads += group["num_threads"]
    if not threads:
        message = "no thread group has a thread: nothing would happen"
        raise table.error(("ffsb", 0, "num_threads"), "ffsb", message)
