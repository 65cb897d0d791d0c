"""Clients of a parallel file system."""

from __future__ import annotations

from simnet.scenario.core.subject import ModelFiles, Part, Subject, late
from simnet.scenario.parts.scale.schema import Lpars, Scale

__all__ = ["SUBJECT"]

SUBJECT = Subject(
    "scale",
    order=80,
    models=(
        ModelFiles("lpars", "lpars", Lpars, order=110),
        ModelFiles("client", "clients", Scale, order=120),
    ),
    parts=(
        Part(
            "lpars",
            Lpars,
            key="lpars",
            doc="partitions of the server that are clients of a file system",
            kind="lpars",
            absent="only where partitions are clients of a file system",
            order=40,
        ),
        Part(
            "scale",
            Scale,
            key="client",
            doc="file system on those partitions",
            kind="client",
            absent="only where partitions are clients of a file system",
            order=50,
        ),
    ),
    knobs=late("scale.knobs:SCALE"),
)
