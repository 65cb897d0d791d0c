"""Why a factor changes nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from simnet.study.whatif.same import why_same
from simnet.study.work.cases import Case, Member

if TYPE_CHECKING:
    from simnet.study.screen.factors import Factor


def why_idle(base: Case, factor: Factor) -> str:
    """What is known of why turning a factor changes nothing."""
    now = Member(base).effective()
    ends = dict.fromkeys((factor.values[0], factor.values[-1]))
    others = [value for value in ends if value != factor.usual]
    turned = [
        Member(factor.on(base, value)).effective() for value in others if factor.goes(base, value)
    ]
    return why_same(now, turned)
