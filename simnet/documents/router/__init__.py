"""Home routers with two and four slow cores and one receive queue."""

from simnet.documents.router.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="router",
    systems={"router": "home routers with OpenWrt"},
    answers=ANSWERS,
    kinds={"*:mbit_s": "throughput"},
    differing={"router.*": ("hardware", "setting")},
)
