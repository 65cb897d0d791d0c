"""Servers of a parallel file system."""

from simnet.scenario.core.subject import ModelFiles, Part, Subject, late
from simnet.scenario.parts.disks.schema import Disk
from simnet.scenario.parts.nsd.schema import Filesystem, Storage

SUBJECT = Subject(
    "nsd",
    models=(
        ModelFiles("storage", "storages", Storage, order=90),
        ModelFiles("filesystem", "filesystems", Filesystem, order=100),
    ),
    parts=(
        Part(
            "storage",
            Storage,
            key="storage",
            doc="storage model: servers and disks",
            kind="storage",
            order=60,
        ),
        Part("disk", Disk, key="disk", kind="disk", named_by="storage", order=70),
        Part("log_disk", Disk, key="log_disk", kind="disk", named_by="storage", order=80),
        Part(
            "filesystem",
            Filesystem,
            key="file_system",
            doc="file system model, on its servers",
            kind="filesystem",
            absent="only where partitions are clients of a file system",
            order=90,
        ),
    ),
    lifts=late("nsd.lift:LIFTS"),
)
