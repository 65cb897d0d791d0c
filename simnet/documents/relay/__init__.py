"""The relay document: a server that passes small messages on."""

from simnet.documents.relay.answers import ANSWERS
from simnet.study.validate.document import Document

__all__ = ["DOCUMENT"]

DOCUMENT = Document(name="relay", answers=ANSWERS)
