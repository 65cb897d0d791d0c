"""A router on a modern host: routed, dropped by rules, and how idle its CPUs are."""

from simnet.documents.forward.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="forward",
    systems={
        "forward": "a router of two 100 GbE ports",
        "drop": "the same router drops by rules",
        "idle": "the same router at a load that it carries",
    },
    answers=ANSWERS,
    kinds={"*:pps": "throughput", "*:idle_percent": "CPU share"},
)
