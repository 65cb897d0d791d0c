"""The POWER5 document: partitions that share a machine, its virtual LAN and its virtual SCSI."""

from simnet.documents.power5 import virtual_lan, virtual_scsi
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="power5",
    systems={
        "vlan": "the virtual LAN of two POWER5 partitions",
        "vscsi": "virtual SCSI disks of a POWER5 partition",
    },
    answers={**virtual_lan.ANSWERS, **virtual_scsi.ANSWERS},
    kinds={
        "vlan.*:interrupts_per_s": "rate of interrupts",
        "vlan.*:context_switches_per_s": "rate of interrupts",
        "vlan.*_percent": "CPU share",
        "vlan.*": "throughput",
        "vscsi.*_ms": "storage latency",
        "vscsi.*util": "share",
        "vscsi.*_sz": "storage queue",
        "vscsi.*": "storage throughput",
    },
    differing={"vlan.*": ("hardware",), "vscsi.*": ("load",)},
)
