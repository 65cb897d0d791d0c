"""The IBM x460 document: TCP over Gigabit Ethernet on four NUMA nodes."""

from simnet.documents.x460 import bonding
from simnet.documents.x460.answers import ANCHOR, ANSWERS
from simnet.documents.x460.listing import LISTING_1
from simnet.study.validate.document import Answer, Document

DOCUMENT = Document(
    name="x460",
    systems={"x460": "TCP over eight gigabit ports of an IBM xSeries 460"},
    answers={**ANSWERS, "x460.bonding": Answer(bonding.CASES, bonding.numbers, anchors=(ANCHOR,))},
    kinds={
        "x460.listing1.cpu*": "CPU share",
        "*:interrupts_*": "rate of interrupts",
        "x460.listing1.interrupts_per_second:*": "rate of interrupts",
        "*_percent": "CPU share",
        "*_mbit_s": "throughput",
        "*:cpu_*": "ratio",
        "*:throughput_*": "ratio",
    },
    configurations={"x460.listing1.*": "x460.listing1"},
    differing={"x460.*": ("hardware",)},
    listings=(LISTING_1,),
    anchor=ANCHOR,
)
