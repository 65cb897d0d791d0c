"""The IPoIB document: TCP over InfiniBand on Sunway nodes."""

from simnet.documents.ipoib.answers import ANSWERS
from simnet.study.validate.document import Document

__all__ = ["DOCUMENT"]

DOCUMENT = Document(name="ipoib", answers=ANSWERS)
