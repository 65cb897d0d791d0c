"""The POWER5 document: partitions that share a machine, its virtual LAN and its virtual SCSI."""

from simnet.documents.power5 import virtual_lan, virtual_scsi
from simnet.study.validate.document import Document

__all__ = ["DOCUMENT"]

DOCUMENT = Document(name="power5", answers={**virtual_lan.ANSWERS, **virtual_scsi.ANSWERS})
