"""What a driver hands to a disk, and who hears when it is done."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

import cython

from simnet.kernel.compiled import Public
from simnet.storage.disk.mechanism import Access


class Initiator(Protocol):
    """Sends commands; `command_done` is called at the time when one is complete."""

    def command_done(self, command: Command) -> None:
        """Take the completion of a command."""


@cython.cclass
class Command(Access):
    """A read or a write as a driver sends it."""

    owner: Public[Any] = None  # who sent it, an `Initiator`; None for what a disk does of itself
    tag: Public[Any] = None  # the owner's; disks do not look at it

    def __init__(
        self, sector: int, sectors: int, *, write: bool, owner: Any, tag: Any = None
    ) -> None:
        self.sector = sector
        self.sectors = sectors
        self.write = write
        self.owner = owner
        self.tag = tag

    @property
    def end(self) -> int:
        """The sector after the last."""
        return self.sector + self.sectors

    def __repr__(self) -> str:
        """Show kind and range."""
        return f"<{'write' if self.write else 'read'} {self.sector}+{self.sectors}>"


class Target(Protocol):
    """Takes commands: a disk, a partition of one, an adapter on the way to one."""

    @property
    def sectors(self) -> int:
        """How many sectors can be addressed."""

    def submit(self, command: Command) -> bool:
        """Take a command; False if there is no room now, and nothing has happened."""


@dataclass(frozen=True)
class DiskPartition:
    """A range of the sectors of a disk, itself addressed from 0."""

    name: str  # as in sdc1
    disk: Target  # whose sectors they are
    start: int  # its first sector there
    sectors: int  # how many

    def submit(self, command: Command) -> bool:
        """Pass a command on to the disk; ValueError if it leaves the partition."""
        if command.sector < 0 or command.end > self.sectors:
            raise ValueError(f"{self.name}: {command!r} is beyond its {self.sectors} sectors")
        command.sector += self.start
        taken = self.disk.submit(command)
        if not taken:
            command.sector -= self.start
        return taken


def disk_partitions(disk: Target, ranges: Iterable[tuple[str, int, int]]) -> list[DiskPartition]:
    """Cut a disk into partitions.

    Args:
        disk: that is cut.
        ranges: name, first sector and number of sectors of each partition.

    Raises:
        ValueError: a partition is empty, lies beyond the disk or over another one.
    """
    cut: list[DiskPartition] = []
    for name, start, sectors in ranges:
        if start < 0 or sectors < 1 or start + sectors > disk.sectors:
            raise ValueError(
                f"partition {name}: sectors {start} to {start + sectors - 1} are not within the"
                f" disk's 0 to {disk.sectors - 1}"
            )
        for other in cut:
            if other.name == name:
                raise ValueError(f"partition {name}: there are two of this name")
            if start < other.start + other.sectors and other.start < start + sectors:
                raise ValueError(
                    f"partition {name}: sectors {start} to {start + sectors - 1} overlap partition"
                    f" {other.name}, {other.start} to {other.start + other.sectors - 1}"
                )
        cut.append(DiskPartition(name, disk, start, sectors))
    return cut
