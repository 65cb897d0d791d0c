"""Models of disks."""

from __future__ import annotations

from simnet.scenario.core.subject import ModelFiles, Subject
from simnet.scenario.parts.disks.schema import Disk

SUBJECT = Subject(
    "disks",
    models=(ModelFiles("disk", "disks", Disk, order=70),),
)
