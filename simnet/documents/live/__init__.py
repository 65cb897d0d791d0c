"""A worker that spins on each datagram, between two namespaces of a running kernel."""

from simnet.documents.live.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="live",
    systems={"live": "datagrams between two namespaces of Linux 6.18"},
    answers=ANSWERS,
    kinds={"*_percent": "ratio"},
)
