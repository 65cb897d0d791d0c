"""Drives of a scenario's file, put into the tree of values."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.scenario.core.tree import dotted
from simnet.scenario.parts.disks.schema import Disk
from simnet.scenario.parts.nvme.schema import DriveQueue, DriveQueueTable, MqIosched

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.scenario.core.toml import KeyPath
    from simnet.scenario.core.tree import Path
    from simnet.scenario.parts.nvme.schema import DriveTable
    from simnet.scenario.parts.storage.load import Assembly


def graft_drives(
    assembly: Assembly, host: Path, tables: Sequence[DriveTable], key: KeyPath
) -> None:
    """Put the drives of a host at its place.

    Raises:
        InputError: a name that is there twice, or a model of a disk that is no NVMe drive.
    """
    tree, document = assembly.tree, assembly.document
    tree.put_plain((*host, "drives"), [])
    names: list[str] = []
    for number, table in enumerate(tables):
        here: Path = (*host, "drives", number)
        there: KeyPath = (*key, "drives", number)
        if table.name in names:
            raise document.error(f"{table.name} is used twice", (*there, "name"))
        names.append(table.name)
        tree.put_plain((*here, "name"), table.name)
        tree.put_plain((*here, "node"), table.node)
        model = (*there, "model")
        form, written, _ = assembly.model("disk", table.model, document, assembly.path, model)
        tree.put_plain((*here, "disk"), {})
        tree.graft((*here, "disk"), Disk, form, (written, ()))
        assembly.models[dotted((*here, "disk"))] = table.model
        if not tree.get((*here, "disk", "queues")):
            message = f"{table.model}: expected an NVMe drive, a model with queues above 0"
            raise document.error(message, model)
        queue = table.queue or DriveQueueTable()
        tree.graft((*here, "queue"), DriveQueue, queue, (document, (*there, "queue")))
        tree.put_plain((*here, "iosched"), MqIosched().model_dump())
