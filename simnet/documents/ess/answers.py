"""What answers the Spectrum Scale document's measurements, and what is left to predict."""

from collections.abc import Mapping
from typing import Final

from simnet.documents.ess.ensemble import kept
from simnet.documents.ess.numbers import (
    FASTER,
    LARGER,
    THIRTY,
    TWENTY,
    of_faster,
    of_larger,
    of_thirty,
    of_twenty,
)
from simnet.study.validate.document import Answer, Numbers
from simnet.study.work.cases import Case


def _answer(
    cases: Mapping[str, Case], of: Numbers, *, fitted: bool = True, compares: str = ""
) -> Answer:
    """Return an answer without anchors: its workloads are those that fit what was measured."""
    return Answer(cases, of, ensemble=kept, hours=True, fitted=fitted, compares=compares)


ANSWERS: Final = {
    "ess.sas20_one_node_40gbe": _answer(TWENTY, of_twenty),
    "ess.sas30_four_nodes_40gbe": _answer(THIRTY, of_thirty),
    "ess.56gbe": _answer(FASTER, of_faster, compares="56gbe"),
    "ess.pagepool": _answer(LARGER, of_larger, fitted=False),
}
