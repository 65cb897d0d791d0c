"""Whether a change hurts: what is asked before a merge, of the verdicts of a what-if.

What is worth it, or makes no difference, does not hurt; what gets something worse for certain that
counts does (`verdict`). Where that is open, a check cannot tell.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

    from simnet.study.whatif.whatif import WhatIf

_WORSE: Final = "no"
_OPEN: Final = "cannot tell"


def harm(found: WhatIf, left_out: Sequence[str] = ()) -> tuple[int, str]:
    """Return the exit status of a check, 0, 1 or 3, and what it says in one line.

    Args:
        found: the answer.
        left_out: settings that were to be checked and that nobody simulates.
    """
    worse, unclear = (
        [f"{one.tuning}: {one.reason}" for one in found.tunings if one.verdict == kind]
        for kind in (_WORSE, _OPEN)
    )
    unclear += found.refused
    if worse:
        return 1, f"worse: {'; '.join(worse)}"
    if unclear:
        return 3, f"cannot tell: {'; '.join(unclear)}"
    names = ", ".join(one.tuning for one in found.tunings)
    but = f"; simnet does not know {', '.join(left_out)}" if left_out else ""
    return 0, f"not worse: {names}{but}"
