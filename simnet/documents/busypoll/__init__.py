"""Requests and responses of one byte: interrupts moderated, or the device polled by who waits."""

from simnet.documents.busypoll.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="busypoll",
    systems={"busypoll": "netperf's TCP_RR over an X710, with busy polling"},
    answers=ANSWERS,
    kinds={"*:transactions_per_s": "throughput"},
)
