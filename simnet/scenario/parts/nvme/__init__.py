"""NVMe drives of a host, and the driver with its queues."""

from simnet.scenario.core.subject import HostPart, Part, Subject, late
from simnet.scenario.parts.nvme.schema import HostDrive, NvmeDriver

SUBJECT = Subject(
    "nvme",
    order=55,
    parts=(
        Part(
            "nvme",
            NvmeDriver,
            key="nvme",
            doc="the NVMe driver, and what the block layer costs",
            order=135,
        ),
    ),
    host_parts=(
        HostPart(
            "drives",
            HostDrive,
            key="drives",
            item="drive",
            form=late("nvme.schema:DriveTable"),
            load=late("nvme.load:graft_drives"),
            order=45,
        ),
    ),
    unread=("io_poll",),
    knobs=late("nvme.knobs:NVME"),
    settings=late("nvme.settings:drive_parameters"),
    lifts=late("nvme.lift:LIFTS"),
)
