"""What a file says of disks and thread groups, and how it is put into the tree of values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias

from pydantic import BaseModel, Field

from simnet.scenario.core.schema import file_model
from simnet.scenario.core.section import Section
from simnet.scenario.core.tree import dotted
from simnet.scenario.parts.disks.schema import Disk
from simnet.scenario.parts.storage.schema import BlockQueue, DiskPartition, Iosched

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path as FilePath

    from simnet.scenario.core.schema import ModelKind
    from simnet.scenario.core.toml import Document, KeyPath
    from simnet.scenario.core.tree import Path, Tree


if TYPE_CHECKING:
    QueueTable: TypeAlias = BaseModel
    DiskPartitionTable: TypeAlias = BaseModel
else:
    QueueTable = file_model(BlockQueue, bare=True)
    DiskPartitionTable = file_model(DiskPartition, bare=True)


class DiskTable(Section):
    """A disk of a host: a model with partitions, or a virtual one that a partition backs."""

    name: Annotated[str, Field(pattern=r"^[a-z]+$", description="device, as in sdb")]
    model: Annotated[str, Field(description="disk model, of a real disk")] = ""
    backing: Annotated[str, Field(description="partition of the peer's, of a virtual disk")] = ""
    partitions: tuple[DiskPartitionTable, ...] = ()
    queue: Annotated[QueueTable | None, Field(description="its request queue")] = None


class Assembly(Protocol):
    """What puts a scenario's models into a tree."""

    tree: Tree
    models: dict[str, str]
    document: Document
    path: FilePath

    def model(
        self, kind: ModelKind, name: str, document: Document, beside: FilePath, key: KeyPath
    ) -> tuple[Any, Document, FilePath]:
        """Return the model that a key of a document names, its document and its file."""


def graft_disks(assembly: Assembly, host: Path, tables: Sequence[DiskTable], key: KeyPath) -> None:
    """Put the disks of a host at its place.

    Raises:
        InputError: a disk without model and backing, or with both; partitions of a virtual disk;
            a name that is there twice.
    """
    tree, document = assembly.tree, assembly.document
    tree.put_plain((*host, "disks"), [])
    names: list[str] = []
    for number, table in enumerate(tables):
        here: Path = (*host, "disks", number)
        there: KeyPath = (*key, "disks", number)
        if bool(table.model) == bool(table.backing):
            message = f"{table.name}: expected model, of a real disk, or backing, of a virtual one"
            raise document.error(message, (*there, "name"))
        if table.backing and table.partitions:
            message = f"{table.name}: only a real disk, one with model, has partitions here"
            raise document.error(message, (*there, "partitions"))
        for name in (table.name, *(part.name for part in table.partitions)):  # type: ignore[attr-defined]
            if name in names:
                raise document.error(f"{name} is used twice", (*there, "name"))
            names.append(name)
        tree.put_plain((*here, "name"), table.name)
        tree.put_plain((*here, "backing"), table.backing)
        tree.put_plain((*here, "disk"), None)
        if table.model:
            form, written, _ = assembly.model(
                "disk", table.model, document, assembly.path, (*there, "model")
            )
            tree.put_plain((*here, "disk"), {})
            tree.graft((*here, "disk"), Disk, form, (written, ()))
            assembly.models[dotted((*here, "disk"))] = table.model
        tree.put_plain((*here, "partitions"), [])
        for row, part in enumerate(table.partitions):
            place = (*here, "partitions", row)
            tree.graft(place, DiskPartition, part, (document, (*there, "partitions", row)))
        queue = table.queue or QueueTable()
        tree.graft((*here, "queue"), BlockQueue, queue, (document, (*there, "queue")))
        tree.put_plain((*here, "iosched"), Iosched().model_dump())
