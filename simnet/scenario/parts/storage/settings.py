"""Names of the values of a scenario's storage, as typed after ``--set``.

``disk.seek_average`` is of every real disk of a host, ``sdc1.start`` and ``sdc1.size`` of a
partition, ``sdb.backing`` says which partition a virtual disk is on, ``sdb.read_ahead`` and the
like are of a disk's queue; ``vscsi.request_limit`` and ``ffsb.GROUP.num_threads`` of the whole
scenario.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from simnet.scenario.core.parameter import Spec, Value
from simnet.scenario.core.section import Section
from simnet.scenario.core.tree import Path, Tree, walk
from simnet.scenario.core.units import UnitError
from simnet.scenario.parts.disks.schema import Disk
from simnet.scenario.parts.storage.schema import BlockQueue, DiskPartition


@dataclass(frozen=True)
class DeviceName(Spec):
    """A disk or a partition."""

    def parse(self, raw: Any) -> Value:
        """Return the name; see :meth:`Spec.parse`."""
        if not re.fullmatch(r"[a-z]+[0-9]*", str(raw)):
            raise UnitError(f"expected a disk or partition such as sdc1, got {raw!r}")
        return str(raw)

    def value_schema(self) -> dict[str, Any]:
        """Return the JSON schema of the value as written in a file."""
        return {"type": "string", "pattern": "^[a-z]+[0-9]*$"}


def storage_parameters(
    tree: Tree, hosts: Sequence[Path], *, shared: bool
) -> Iterator[tuple[str, tuple[Path, ...], Spec]]:
    """Yield name, places and spec of every value of storage.

    Args:
        tree: the values.
        hosts: whose disks.
        shared: with what belongs to no host.
    """
    if shared:
        for number, group in enumerate(tree.values.get("ffsb", ())):
            disk: Path = ("ffsb", number, "disk")
            yield f"ffsb.{group['name']}.disk", (disk,), DeviceName("disk that holds its files")
    real: list[Path] = []
    for host in hosts:
        for number, disk_values in enumerate(tree.get(host).get("disks", ())):
            here: Path = (*host, "disks", number)
            name = disk_values["name"]
            yield from _of(name, BlockQueue, (*here, "queue"))
            if disk_values["disk"]:
                real.append((*here, "disk"))
            else:
                where = DeviceName("partition of the peer that a virtual disk is on")
                yield f"{name}.backing", ((*here, "backing"),), where
            for row, part in enumerate(disk_values["partitions"]):
                yield from _of(part["name"], DiskPartition, (*here, "partitions", row))
    if real:
        for path, spec in walk(Disk):
            yield f"disk.{spec.key(str(path[-1]))}", tuple((*p, *path) for p in real), spec


def _of(
    name: str, section: type[Section], place: Path
) -> Iterator[tuple[str, tuple[Path, ...], Spec]]:
    for path, spec in walk(section):
        yield f"{name}.{spec.key(str(path[-1]))}", ((*place, *path),), spec
