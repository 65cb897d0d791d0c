"""Guests of a host with KVM and vhost-net."""

from simnet.scenario.core.subject import HostPart, ModelFiles, Part, Subject, Way, late
from simnet.scenario.parts.kvm.schema import Guest, Kvm

SUBJECT = Subject(
    "kvm",
    order=75,
    models=(ModelFiles("kvm", "kvm", Kvm, order=85),),
    parts=(
        Part(
            "kvm",
            Kvm,
            key="kvm",
            doc="model of KVM and vhost-net; system and peers are guests of one host then",
            kind="kvm",
            absent="the machines are no guests of a host",
            order=32,
        ),
    ),
    host_parts=(
        HostPart(
            "guest",
            Guest,
            key="guest",
            doc="its virtual CPUs and vhost workers, under KVM",
            cpus="vcpus",
            absent="is no guest of a host",
            order=32,
        ),
    ),
    ways=(Way("kvm", late("kvm.build:connect"), copied=True),),
    knobs=late("kvm.knobs:KNOBS"),
    join=late("kvm.build:join"),
    columns=late("kvm.columns:COLUMNS"),
    check=late("kvm.checks:check_guests"),
)
