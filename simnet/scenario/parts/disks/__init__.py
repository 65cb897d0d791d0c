"""Models of disks."""

from simnet.scenario.core.subject import ModelFiles, Subject
from simnet.scenario.parts.disks.schema import Disk

SUBJECT = Subject("disks", models=(ModelFiles("disk", "disks", Disk, order=70),))
