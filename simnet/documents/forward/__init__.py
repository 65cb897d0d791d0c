"""A router on a modern host: routed, dropped by rules, and how idle its CPUs are."""

from simnet.documents.forward.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="forward",
    answers=ANSWERS,
    kinds={"*:pps": "throughput", "*:idle_percent": "CPU share"},
)
