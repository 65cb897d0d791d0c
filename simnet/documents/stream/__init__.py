"""The stream host: one TCP stream over 100 GbE, whose optimisations are switched on one by one."""

from simnet.documents.stream.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="stream",
    systems={"stream": "one TCP stream over 100 GbE"},
    answers=ANSWERS,
    kinds={
        "*_percent": "CPU share",
        "*:share_*": "share",
        "*_loss": "share",
        "stream.*": "throughput",
    },
)
