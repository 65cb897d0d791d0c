"""A worker that spins on each datagram, between two namespaces of a running kernel."""

from simnet.documents.live.answers import ANSWERS
from simnet.documents.live.recorded import configurations, recorded
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="live",
    systems={"live": "sockets of Linux 6.18 between two namespaces"},
    answers=ANSWERS,
    kinds={"*_percent": "ratio"},
    differing={"live.listen.*": ("setting", "load", "setting")},
    recorded=recorded,
    others=dict(configurations()),
)
