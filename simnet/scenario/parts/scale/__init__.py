"""Clients of a parallel file system."""

from simnet.scenario.core.subject import ModelFiles, Part, Setup, Subject, late
from simnet.scenario.parts.scale.schema import Lpars, Scale

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
    setups=(
        Setup(
            late("scale.build:build_clients"),
            late("scale.checks:check_clients"),
            part="lpars",
            types=("sas", "gpfsperf"),
            tests=("20-test", "30-test", "create-seq", "read-seq", "mixrw-seq"),
            doc="; of sas, how many jobs run at once on a node; of gpfsperf, what it does",
            load="jobs",
            order=30,
        ),
    ),
    idle=late("scale.checks:idle"),
    listings=late("scale.listings:LISTINGS"),
    columns=late("scale.columns:COLUMNS"),
    lifts=late("scale.lift:LIFTS"),
)
