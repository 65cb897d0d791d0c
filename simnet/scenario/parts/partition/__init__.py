"""Partitions of a hypervisor."""

from simnet.scenario.core.subject import HostPart, ModelFiles, Part, Subject, Way, late
from simnet.scenario.parts.partition.schema import Hypervisor, Partition, Pool

SUBJECT = Subject(
    "partition",
    order=70,
    models=(ModelFiles("hypervisor", "hypervisors", Hypervisor, order=80),),
    parts=(
        Part(
            "hypervisor",
            Hypervisor,
            key="hypervisor",
            doc="hypervisor model; system and peers are its partitions then",
            kind="hypervisor",
            order=30,
        ),
        Part(
            "pool",
            Pool,
            key="pool",
            doc="the hypervisor's pool of processors",
            early=True,
            order=35,
        ),
    ),
    host_parts=(
        HostPart(
            "partition",
            Partition,
            key="partition",
            doc="its share of the server, under a hypervisor",
            cpus="logical_cpus",
            absent="is no partition of a hypervisor",
            order=30,
        ),
    ),
    ways=(Way("hypervisor", late("partition.build:connect"), copied=True),),
    drivers=late("partition.driver:DRIVERS"),
    knobs=late("partition.knobs:PARTITION"),
    delayed_actions=late("partition.build:delayed_actions"),
    join=late("partition.build:join"),
    columns=late("partition.columns:COLUMNS"),
    check=late("partition.checks:check_partitions"),
    lifts=late("partition.lift:LIFTS"),
)
