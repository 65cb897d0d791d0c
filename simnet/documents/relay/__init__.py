"""The relay document: a server that passes small messages on."""

from simnet.documents.relay.answers import ANSWERS, CONFIGURATIONS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="relay",
    systems={"relay": "a relay of small packets, RHEL 5 and 6.1"},
    answers=ANSWERS,
    kinds={
        "relay.imbalance:*": "imbalance",
        "*_percent_every_cpu": "CPU share",
        "relay.*": "throughput",
    },
    configurations={
        f"relay.capacity:{name}_mbit_s": f"relay.capacity.{name}" for name in CONFIGURATIONS
    },
)
