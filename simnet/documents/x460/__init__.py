"""The IBM x460 document: TCP over Gigabit Ethernet on four NUMA nodes."""

from simnet.documents.x460 import bonding
from simnet.documents.x460.answers import ANCHOR, ANSWERS, MESSAGES
from simnet.documents.x460.listing import LISTING_1
from simnet.study.validate.document import Answer, Document

__all__ = ["DOCUMENT", "MESSAGES"]

DOCUMENT = Document(
    name="x460",
    answers={
        **ANSWERS,
        "x460.bonding": Answer(bonding.CASES, bonding.numbers, anchors=(ANCHOR,)),
    },
    listings=(LISTING_1,),
    anchor=ANCHOR,
)
