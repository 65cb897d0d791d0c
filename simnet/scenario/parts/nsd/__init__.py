"""Servers of a parallel file system."""

from __future__ import annotations

from simnet.scenario.core.subject import ModelFiles, Subject
from simnet.scenario.parts.nsd.schema import Filesystem, Storage

__all__ = ["SUBJECT"]

SUBJECT = Subject(
    "nsd",
    models=(
        ModelFiles("storage", "storages", Storage, order=90),
        ModelFiles("filesystem", "filesystems", Filesystem, order=100),
    ),
)
