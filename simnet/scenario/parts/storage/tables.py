"""What a scenario's file says of the disks of a host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, TypeAlias

from pydantic import BaseModel, Field

from simnet.scenario.core.schema import file_model
from simnet.scenario.core.section import Section
from simnet.scenario.parts.storage.schema import BlockQueue, DiskPartition

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
