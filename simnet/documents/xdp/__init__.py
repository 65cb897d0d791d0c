"""Programs of XDP on two modern hosts: how much they drop and send on, and what is lost."""

from simnet.documents.xdp.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="xdp",
    systems={
        "xdp-drop": "XDP drops packets",
        "xdp-ladder": "a firewall of XDP, step by step",
        "xdp-redirect": "XDP redirects packets",
    },
    answers=ANSWERS,
    kinds={
        "*:pps": "throughput",
        "*:rx_pps": "throughput",
        "*:drop_pps": "rate of drops",
        "*:softirq_pct": "CPU share",
        "*:idle_percent": "CPU share",
    },
)
