"""Disks of a host, and virtual SCSI."""

from simnet.scenario.core.subject import HostPart, Part, Setup, Subject, late
from simnet.scenario.parts.storage.schema import FfsbGroup, HostDisk, Vscsi

SUBJECT = Subject(
    "storage",
    order=50,
    adds={"kernel": late("storage.schema:StorageKernel")},
    parts=(
        Part("vscsi", Vscsi, key="vscsi", doc="how the peer's disks are the system's", order=120),
        Part(
            "ffsb",
            FfsbGroup,
            key="ffsb",
            doc="thread groups of FFSB, with test = files",
            several=True,
            order=130,
        ),
    ),
    host_parts=(
        HostPart(
            "disks",
            HostDisk,
            key="disks",
            item="disk",
            form=late("storage.load:DiskTable"),
            load=late("storage.load:graft_disks"),
            order=40,
        ),
    ),
    knobs=late("storage.knobs:STORAGE"),
    settings=late("storage.settings:storage_parameters"),
    delayed_actions=late("storage.build:delayed_actions"),
    setups=(
        Setup(
            late("storage.build:build_storage"),
            late("storage.checks:check_storage"),
            types=("ffsb",),
            tests=("files",),
            doc=", files are read and written on its disks",
            load="requests",
            order=20,
        ),
    ),
    columns=late("storage.columns:COLUMNS"),
    lifts=late("storage.lift:LIFTS"),
)
