"""A key-value server on a modern host: interrupts deferred, polled busily, suspended."""

from simnet.documents.memcached.answers import ANSWERS
from simnet.study.validate.document import Document

DOCUMENT = Document(
    name="memcached",
    systems={"memcached": "memcached over 100 GbE"},
    answers=ANSWERS,
    kinds={
        "*:qps": "throughput",
        "*:p*_us": "latency",
        "*:cpu_*": "CPU share",
        "*:irqs_per_s": "rate of interrupts",
        "*:polls_per_s": "rate of polls",
        "*:packets_per_poll": "rate of polls",
    },
    differing={"memcached.*": ("setting", "load")},
)
