"""An NVMe drive under fio with four I/O schedulers, from one process to many."""

from simnet.documents.nvme.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="nvme",
    systems={"nvme980": "fio on a Samsung 980 Pro"},
    answers=ANSWERS,
    kinds={"*:iops": "storage throughput", "*:*us*": "storage latency"},
    differing={"nvme980.*": ("load", "setting", "load")},
)
