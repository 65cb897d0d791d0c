"""Why a factor changes nothing."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Final

from simnet.scenario.core.section import Reads, reads
from simnet.scenario.system.build import build
from simnet.study.whatif.whatif import values_read
from simnet.study.work.cases import Case, Member

if TYPE_CHECKING:
    from simnet.scenario.core.effective import Effective
    from simnet.study.screen.factors import Factor

__all__ = ["why_idle"]

_NOT_READ: Final = "nothing of this system reads it"
_NOT_DECIDED: Final = "what it decides did not come up in these runs"


def why_idle(base: Case, factor: Factor) -> str:
    """What is known of why turning a factor changes nothing."""
    now = Member(base).effective()
    ends = dict.fromkeys((factor.values[0], factor.values[-1]))
    others = [value for value in ends if value != factor.usual]
    turned = [
        Member(factor.on(base, value)).effective() for value in others if factor.goes(base, value)
    ]
    remarks = [remark for one in turned for remark in one.remarks if remark not in now.remarks]
    if remarks:
        return remarks[0].partition(": ")[2] or remarks[0]
    if all(values_read(one) == values_read(now) for one in turned):
        return "that is how the system is already"
    if factor.knob is not None:
        effective, found = _read_by(base)
        section = effective.kernel if factor.of_kernel else effective.ports[0].nic
        if not found.had(section, factor.knob.target):
            return _NOT_READ
    return _NOT_DECIDED


@lru_cache(maxsize=1)
def _read_by(base: Case) -> tuple[Effective, Reads]:
    """The configuration, and what the builder of its system reads of it."""
    effective = Member(base).effective()
    with reads() as found:
        build(effective, seed=effective.run.seed)
    return effective, found
