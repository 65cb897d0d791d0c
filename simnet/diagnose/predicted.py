"""What cures would change: simulated on the host that the same files describe.

A prediction is of the load that the files show. Where they show none, or where the simulated host
does not lose what the real one loses, nothing is predicted, and why is said.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from simnet.diagnose.described import Described
from simnet.diagnose.diagnosis import Diagnosis, Finding
from simnet.diagnose.prediction import WOULD_TELL, Moves, Prediction
from simnet.errors import InputError
from simnet.study.run.measures import LOSS
from simnet.study.whatif.plain import plain
from simnet.study.whatif.verdict import interval_text, percent_text
from simnet.study.whatif.whatif import Judged, WhatIf, whatif
from simnet.study.work.cases import Progress

# of findings, the heaviest ones; and of pairs of runs: the answer comes in seconds
_MOST: Final = 3
_PAIRS: Final = 4
_MEMBERS: Final = 8
# places where packets are lost by a queue that is full
_LOSES: Final = frozenset({"ring", "qdisc"})
_WORKLOAD: Final = "workload: "


def predicted(
    found: Diagnosis,
    described: Described,
    *,
    progress: Progress | None = None,
    jobs: int | None = None,
) -> Diagnosis:
    """Return a diagnosis whose heaviest findings say what their cures would change.

    Args:
        found: the diagnosis.
        described: what it was made of.
        progress: is called with how many simulations are done, and of how many.
        jobs: simulations at a time.
    """
    asked = [one for one in found.findings if not one.rule.outside and _cure(one)][:_MOST]
    if not asked:
        return found
    answers = _answers(asked, described, progress, jobs)
    findings = tuple(
        replace(one, prediction=answers.get(_cure(one))) if one in asked else one
        for one in found.findings
    )
    return replace(found, findings=findings)


def _cure(one: Finding) -> str:
    """The cure as a what-if takes it, all settings of it together; empty if none is modelled."""
    return ",".join(dict.fromkeys(action.whatif for action in one.hit.actions if action.whatif))


def _answers(
    asked: Sequence[Finding], described: Described, progress: Progress | None, jobs: int | None
) -> dict[str, Prediction]:
    cures = list(dict.fromkeys(_cure(one) for one in asked))
    try:
        host, scenario = described.host
        if not host.load:
            said = [one for one in host.notes if one.startswith(_WORKLOAD)]
            why = f"{said[0].removeprefix(_WORKLOAD) if said else 'no load'}; {WOULD_TELL}"
            return {cure: Prediction(whatif=cure, why=why) for cure in cures}
        given: dict[str, Any] = {"seeds": _PAIRS, "members": _MEMBERS, "jobs": jobs}
        answer = whatif(scenario, cures, progress=progress, **given)
    except InputError as error:
        return {cure: Prediction(whatif=cure, why=error.message) for cure in cures}
    loses = {_cure(one) for one in asked if one.rule.place in _LOSES}
    judged = {one.tuning: one for one in answer.tunings}
    return {
        cure: _prediction(cure, judged.get(cure), answer, host.load, loses=cure in loses)
        for cure in cures
    }


def _prediction(
    cure: str, judged: Judged | None, answer: WhatIf, load: str, *, loses: bool
) -> Prediction:
    if judged is None:
        why = next((line for line in answer.refused if cure in line), "the model does not take it")
        return Prediction(whatif=cure, why=why)
    lost = next((one.before for one in judged.changes if one.metric == LOSS), None)
    if loses and not lost:
        why = "the simulated host loses no packet: what makes this one lose is not in the files"
        return Prediction(whatif=cure, why=why)
    changes = tuple(
        Moves(
            metric=one.metric,
            unit=one.unit,
            before=one.before,
            after=one.after,
            change=percent_text(one),
            range=interval_text(one.hull) if one.hull is not None else "",
        )
        for one in judged.changes
        if one.before is not None
    )
    return Prediction(
        whatif=cure,
        verdict=judged.verdict,
        said=plain(judged, answer.judged_by),
        load=load,
        changes=changes,
    )
