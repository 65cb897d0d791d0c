"""Names of the values of a host's drives, as typed after ``--set``.

``drive.flash_read`` is of every drive, ``nvme0n1.rq_affinity`` and the like are of one's queue.
"""

from collections.abc import Iterator, Sequence

from simnet.scenario.core.parameter import Spec
from simnet.scenario.core.tree import Path, Tree, walk
from simnet.scenario.parts.disks.schema import Disk
from simnet.scenario.parts.nvme.schema import DriveQueue


def drive_parameters(
    tree: Tree,
    hosts: Sequence[Path],
    *,
    shared: bool,  # noqa: ARG001 - as every subject
) -> Iterator[tuple[str, tuple[Path, ...], Spec]]:
    """Yield name, places and spec of every value of the drives of some hosts."""
    found: list[Path] = []
    for host in hosts:
        for number, drive in enumerate(tree.get(host).get("drives", ())):
            here: Path = (*host, "drives", number)
            found.append((*here, "disk"))
            for path, spec in walk(DriveQueue):
                place: Path = (*here, "queue", *path)
                yield f"{drive['name']}.{spec.key(str(path[-1]))}", (place,), spec
    if found:
        for path, spec in walk(Disk):
            yield f"drive.{spec.key(str(path[-1]))}", tuple((*p, *path) for p in found), spec
